"""Calls of Notification: requests, a person's messages and the history."""

from typing import Any
from uuid import UUID, uuid4

from tests.factories import notification_requests as factory
from tests.factories.identity import Person
from tests.suites.calls.sending import Body, Ids, Maker, Sent, of_person
from thenga.kernel.process.host import Host


async def _requesting(host: Host, who: Person, organization_id: UUID) -> Sent:
    key, about = uuid4().hex, {"domain": "bid", "type": "workspace", "id": str(uuid4())}

    def body(ids: Ids) -> dict[str, Any]:
        named = {"kind": "users", "userIds": [str(ids["userId"])]}
        return factory.body(audience=[named], about=about, dedupeKey=key)

    return Sent({"userId": who.user_id}, body)


async def _request(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.request(host, organization_id)
    return Sent({"requestId": made.id})


def _on_message(acknowledgement: str = "none", given: Body = None) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await factory.message(
            host, organization_id, who.user_id, acknowledgement=acknowledgement
        )
        note = given and {name: f"{value} {uuid4().hex[:8]}" for name, value in given.items()}
        return Sent({"notificationId": made.id}, lambda _: note)

    return sent


MAKERS: dict[str, Maker] = {
    "create_notification_request": _requesting,
    "get_notification_request": _request,
    "list_notifications": of_person,
    "get_notification": _on_message(),
    "read_notification": _on_message(),
    "acknowledge_notification": _on_message("required", {"note": "Seen by the team"}),
    "dismiss_notification": _on_message(),
    "list_notification_history": of_person,
}
