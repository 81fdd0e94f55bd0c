"""Reminders before a deadline, which follow the deadline when it moves."""

from abc import abstractmethod
from collections.abc import Sequence
from datetime import datetime, time, timedelta
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from thenga.domains.notification.public.requests import Target
from thenga.kernel.declare.event import Event
from thenga.kernel.declare.port import Port, idempotent
from thenga.kernel.values.references import Reference


class Offset(BaseModel):
    """How long before the deadline to remind, in hours, calendar days or working days."""

    model_config = ConfigDict(frozen=True)

    before: timedelta
    calendar: Literal["clock", "calendar", "working"] = "clock"
    at_local_time: time | None = None


class Reminders(Port, name="notification.reminders", timeout=1.0):
    """Keeps reminders for other domains. If nobody answers, ask again with the same key."""

    @idempotent
    @abstractmethod
    async def set(
        self,
        *,
        key: str,
        organization_id: UUID,
        anchor: Reference,
        due_at: datetime,
        time_zone: str,
        sequence: int,
        offsets: Sequence[Offset],
        topic_code: str,
        audience: Sequence[Target],
        facts: dict[str, str],
    ) -> UUID:
        """The ID of the reminder. A higher `sequence` moves it, a lower one changes nothing."""

    @idempotent
    @abstractmethod
    async def clear(self, *, key: str, organization_id: UUID) -> None:
        """Cancel the reminder of this key. Nothing happens if there is none."""


class ReminderReanchored(Event, type="notification.ReminderReanchored.v1", subject="reminder_id"):
    """The deadline of a reminder moved: how many offsets are armed again or merged into one."""

    organization_id: UUID
    reminder_id: UUID
    reference: Reference
    from_due_at: datetime
    to_due_at: datetime
    anchor_sequence: int
    rearmed: int
    collapsed: int


EVENTS = (ReminderReanchored,)
