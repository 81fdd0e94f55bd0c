"""Calls of Notification: schedules, reminders and escalations."""

import random
from typing import Any
from uuid import UUID, uuid4

from tests.factories import notification_times as factory
from tests.factories.identity import Person
from tests.suites.calls.sending import Body, Ids, Maker, Sent, of_person
from thenga.kernel.process.host import Host


def _for(ids: Ids) -> list[dict[str, Any]]:
    return [{"kind": "users", "userIds": [str(ids["userId"])]}]


async def _scheduling(host: Host, who: Person, organization_id: UUID) -> Sent:
    name, about = f"Briefing {uuid4().hex[:8]}", factory.reference().model_dump(mode="json")

    def body(ids: Ids) -> dict[str, Any]:
        message = factory.message(audience=_for(ids), about=about)
        return factory.schedule_body(name=name, request=message, startsAt="2199-01-07T09:00:00")

    return Sent({"userId": who.user_id}, body)


def _on_schedule(given: Body = None) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await factory.schedule(host, organization_id, who.user_id)
        body = given and given | {"misfireGrace": f"PT{random.randrange(1, 9999)}M"}
        return Sent({"scheduleId": made.id}, lambda _: body)

    return sent


async def _reminding(host: Host, who: Person, organization_id: UUID) -> Sent:
    about = factory.reference().model_dump(mode="json")

    def body(ids: Ids) -> dict[str, Any]:
        return factory.reminder_body(audience=_for(ids), about=about)

    return Sent({"userId": who.user_id}, body)


async def _on_reminder(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.reminder(host, organization_id, who.user_id)
    return Sent({"reminderId": made.id})


async def _on_escalation(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.escalation(host, organization_id)
    return Sent({"escalationId": made.id})


async def _resolving(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.escalation(host, organization_id)
    body = {"code": "done", "note": f"Paid by transfer {uuid4().hex[:8]}."}
    return Sent({"escalationId": made.id}, lambda _: body)


MAKERS: dict[str, Maker] = {
    "create_schedule": _scheduling,
    "list_schedules": of_person,
    "get_schedule": _on_schedule(),
    "change_schedule": _on_schedule({"name": "Weekly briefing"}),
    "remove_schedule": _on_schedule(),
    "create_reminder": _reminding,
    "list_reminders": of_person,
    "get_reminder": _on_reminder,
    "remove_reminder": _on_reminder,
    "list_escalations": of_person,
    "get_escalation": _on_escalation,
    "resolve_escalation": _resolving,
}
