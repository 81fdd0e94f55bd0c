"""Schedules, reminders and escalations of Notification."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from tests.factories.notification_requests import FACTS, TOPIC, body, working
from thenga.domains.notification.public import Offset, Target
from thenga.domains.notification.services import escalations
from thenga.domains.notification.tables import (
    Escalation,
    Reminder,
    ReminderStatus,
    Schedule,
)
from thenga.kernel.process.host import Host
from thenga.kernel.values.references import Reference

HOME = "Africa/Johannesburg"
PAYMENT_FACTS = {
    "amount": "ZAR 499.00",
    "plan": "Starter",
    "standing": "Your access stays as it is until 30 November 2026.",
    "next": "We try again on 20 November 2026.",
}
BREACH_FACTS = {
    "number": "CASE-000042",
    "priority": "high",
    "target": "first response",
    "dueAt": "2026-12-15T12:30:00Z",
}


def reference(kind: str = "organization", domain: str = "organization") -> Reference:
    return Reference(domain=domain, type=kind, id=uuid4())


def message(**given: Any) -> dict[str, Any]:
    """The message of a schedule: one for all members, the caller included."""
    return body(**given)


def schedule_body(**given: Any) -> dict[str, Any]:
    """A weekly schedule, on Mondays at nine."""
    made = {
        "name": "Weekly safety briefing",
        "kind": "recurring" if given.get("rrule", "weekly") else "once",
        "startsAt": "2027-01-04T09:00:00",
        "timeZone": HOME,
        "rrule": "FREQ=WEEKLY;BYDAY=MO",
        "request": message(),
    }
    return made | given


def reminder_body(**given: Any) -> dict[str, Any]:
    """A reminder five working days before a deadline of its own."""
    made: dict[str, Any] = {
        "topicCode": TOPIC,
        "about": reference().model_dump(mode="json"),
        "audience": [{"kind": "members"}],
        "facts": FACTS,
        "offsets": [{"before": "P5D", "calendar": "working"}],
    }
    if "anchor" not in given:
        made |= {"dueAt": "2199-04-01T09:00:00Z", "timeZone": HOME}
    return made | given


def days(number: int, calendar: str = "working") -> Offset:
    return Offset.model_validate({"before": timedelta(days=number), "calendar": calendar})


def members() -> list[Target]:
    return [Target(kind="members")]


async def schedule(host: Host, organization_id: UUID, acts_for: UUID, **given: Any) -> Schedule:
    """A schedule that is due in a year."""
    work = working(host, organization_id)
    fields: dict[str, Any] = {
        "name": "Weekly safety briefing",
        "kind": "once",
        "starts_at": "2199-01-04T09:00:00",
        "time_zone": HOME,
        "exdates": [],
        "on_non_working_day": "send",
        "misfire": "fire_once",
        "misfire_grace": 1440,
        "request": {
            "topic_code": TOPIC,
            "about": reference().model_dump(mode="json"),
            "audience": [Target(kind="members").model_dump(mode="json")],
            "exclude_actor": False,
            "facts": FACTS,
            "channel_kinds": None,
            "acknowledgement": "none",
        },
        "acts_for": acts_for,
        "acts_for_kind": "user",
        "next_local": "2199-01-04T09:00:00",
        "next_check_at": work.now + timedelta(days=365),
    }
    made = await work.add(Schedule(organization_id=organization_id, **fields | given))
    await work.finish()
    return made


async def reminder(host: Host, organization_id: UUID, acts_for: UUID, **given: Any) -> Reminder:
    """A reminder whose deadline is in a year."""
    work = working(host, organization_id)
    fields: dict[str, Any] = {
        "source_domain": "notification",
        "topic_code": TOPIC,
        "about": reference().model_dump(mode="json"),
        "audience": [Target(kind="members").model_dump(mode="json")],
        "facts": FACTS,
        "due_at": work.now + timedelta(days=365),
        "time_zone": HOME,
        "offsets": [days(5).model_dump(mode="json")],
        "status": ReminderStatus.ACTIVE,
        "acts_for": acts_for,
        "acts_for_kind": "user",
        "next_check_at": work.now + timedelta(days=358),
    }
    made = await work.add(Reminder(organization_id=organization_id, **fields | given))
    await work.finish()
    return made


async def escalation(
    host: Host, organization_id: UUID, *, due_at: datetime | None = None
) -> Escalation:
    """An open escalation at its first level; `due_at` is when the next step is due."""
    work = working(host, organization_id)
    policy = escalations.policies()["billing.payment"]
    about = reference("paymentFailure", "billing")
    made = await work.add(
        Escalation(
            organization_id=organization_id,
            policy_key=policy.key,
            policy_snapshot=policy.model_dump(mode="json"),
            about=about.model_dump(mode="json"),
            about_key=f"{about.domain}/{about.type}/{about.id}",
            facts=PAYMENT_FACTS,
            level=1,
            request_ids=[],
            log=[{"kind": "opened", "at": work.now.isoformat(), "level": 0}],
            next_check_at=due_at or work.now + timedelta(days=365),
        )
    )
    await work.finish()
    return made
