"""Jobs that send what schedules and reminders have due."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.notification.jobs.declared import jobs
from thenga.domains.notification.services import reminders
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
