"""Calls of Notification: deliveries, channels and the callbacks of providers."""

import json
from uuid import UUID, uuid4

from tests.factories import identity
from tests.factories import notification_requests as factory
from tests.factories.identity import Person
from tests.providers import messaging
from tests.suites.calls.sending import Maker, Sent
from thenga.kernel.process.host import Host


async def _message(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.message(host, organization_id, who.user_id)
    return Sent({"notificationId": made.id})


async def _channels(host: Host, who: Person, organization_id: UUID) -> Sent:
    operator = await identity.staff(host, "platform_operator")
    return Sent(headers=operator.headers, by_staff=True)


async def _calling(host: Host, who: Person, organization_id: UUID) -> Sent:
    """Mailgun signs a time and a token, so its JSON can be written anew."""
    message_id = f"{uuid4()}@thenga.example"
    made = messaging.mailgun(message_id, "delivered", "a@example.test", at=host.now())
    body = json.loads(made.body)
    return Sent({}, lambda _: body, parts={"channelId": messaging.EMAIL})


MAKERS: dict[str, Maker] = {
    "list_deliveries": _message,
    "list_channels": _channels,
    "receive_channel_callback": _calling,
}
