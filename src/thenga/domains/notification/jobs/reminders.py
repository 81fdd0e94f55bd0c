"""Jobs that send what schedules and reminders have due, and follow dates that move."""

import json
from datetime import datetime, timedelta
from uuid import UUID

from thenga.domains.notification.jobs.declared import jobs
from thenga.domains.notification.services import reminders
from thenga.domains.notification.services.reminders import AnchorKind, News
from thenga.domains.notification.tables import Reminder, Schedule
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due


@when_due(jobs, Schedule, every=timedelta(seconds=10))
async def fire_schedule(work: Work, *, schedule_id: UUID) -> None:
    """Send the message of a schedule, or suspend a schedule whose creator may no longer send."""
    await reminders.fire_schedule(work, schedule_id)


@when_due(jobs, Reminder, every=timedelta(seconds=10))
async def fire_reminder(work: Work, *, reminder_id: UUID) -> None:
    """Send a reminder before its deadline."""
    await reminders.fire_reminder(work, reminder_id)


@jobs.implements(reminders.follow_everywhere)
async def follow_everywhere(
    work: Work,
    *,
    reference_key: str,
    kind: str,
    due_at: datetime | None,
    time_zone: str,
    sequence: int,
    beside_key: str | None,
    news: str | None,
) -> None:
    """Have every organization with a reminder follow a date of a shared tender (NOT-39)."""
    await reminders.enqueue_followers(
        work,
        reference_key,
        beside_key=beside_key,
        kind=kind,
        due_at=due_at,
        time_zone=time_zone,
        sequence=sequence,
        news=news,
    )


@jobs.implements(reminders.follow_date)
async def follow_date(
    work: Work,
    *,
    reference_key: str,
    kind: AnchorKind,
    due_at: datetime | None,
    time_zone: str,
    sequence: int,
    beside_key: str | None,
    news: str | None,
) -> None:
    """Move the reminders of one organization on a date, and tell them the news."""
    await reminders.follow(
        work,
        reminders.reference_of(reference_key),
        kind,
        due_at=due_at,
        time_zone=time_zone,
        sequence=sequence,
        beside=None if beside_key is None else reminders.reference_of(beside_key),
        news=None if news is None else News(**json.loads(news)),
    )
