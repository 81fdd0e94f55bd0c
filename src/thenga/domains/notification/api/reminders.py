"""Reminders before a deadline."""

from datetime import datetime, time
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.notification.api.about import (
    AboutBody,
    AboutView,
    ReferenceType,
    TopicCode,
)
from thenga.domains.notification.api.requests import FactName, FactValue
from thenga.domains.notification.api.schedules import TargetView
from thenga.domains.notification.api.targets import Audience, targets_of
from thenga.domains.notification.api.times import Duration, LocalTime, duration, written
from thenga.domains.notification.lifecycles import ReminderLifecycle
from thenga.domains.notification.permissions import Permission
from thenga.domains.notification.public import Offset
from thenga.domains.notification.services import reminders
from thenga.domains.notification.services.recipients import AudienceEmpty
from thenga.domains.notification.services.reminders import (
    AnchorUnknown,
    ReminderFilters,
    Wished,
)
from thenga.domains.notification.services.requests import FactsMismatch
from thenga.domains.notification.services.templates import TopicUnknown
from thenga.domains.notification.tables import Reminder, ReminderOccurrence, ReminderStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, TimeZoneName, matching, whole
from thenga.kernel.values.references import Reference

router = make_router("Notification / Reminders")

ReminderId = Annotated[UUID, Path(alias="reminderId")]
Calendar = Annotated[
    Literal["clock", "calendar", "working"],
    Field(
        description="`clock` counts hours, `calendar` days, `working` days without weekends and "
        "South African public holidays."
    ),
]


def _check_days(length: str, calendar: str) -> None:
    if calendar != "clock" and not length.endswith("D"):
        raise RuleViolated("Use whole days like P5D with this calendar.", rule="NOT-40")


class OffsetBody(Body):
    """Time before the deadline at which people are reminded."""

    before: Annotated[Duration, Field(description="Duration before the deadline, like P5D.")]
    calendar: Calendar = "clock"
    at_local_time: Annotated[
        LocalTime | None,
        Field(description="Local time on that day. Defaults to the time of the deadline."),
    ] = None

    def offset(self) -> Offset:
        _check_days(self.before, self.calendar)
        clock = time.fromisoformat(self.at_local_time) if self.at_local_time else None
        return Offset(before=duration(self.before), calendar=self.calendar, at_local_time=clock)


class RepeatBody(Body):
    """Repeats of the last reminder."""

    every: Annotated[Duration, Field(description="Time between two repeats.")]
    calendar: Calendar = "clock"
    until: Annotated[
        Literal["anchor", "acknowledged"],
        Field(description="When repeats end: at the deadline, or once someone acknowledges it."),
    ]
    max: Annotated[int, whole(1, 30), Field(description="Maximum number of repeats.")]

    def stored(self) -> dict[str, Any]:
        _check_days(self.every, self.calendar)
        return self.model_dump(mode="json")


class AnchorBody(Body):
    """Deadline of a resource. The reminder moves with it."""

    reference: Annotated[AboutBody, Field(description="Resource that has the deadline.")]
    kind: Annotated[
        Annotated[str, matching("^[a-z_]{1,40}$", 40)],
        Field(
            description="Which deadline of the resource: `deadline`, `closing`, `briefing`, "
            "`expiry`, `renewal` or `payment`."
        ),
    ]


class CreateReminder(Body):
    """Reminder of a deadline, given as `anchor` or as `dueAt` with `timeZone`."""

    topic_code: Annotated[TopicCode, Field(description="Topic that is open to organizations.")]
    about: AboutBody
    audience: Audience
    facts: Annotated[
        dict[FactName, FactValue],
        Field(max_length=40, description="Values of the variables that the template declares."),
    ]
    anchor: AnchorBody | None = None
    due_at: Annotated[Instant | None, Field(description="Deadline, if there is no anchor.")] = None
    time_zone: Annotated[
        TimeZoneName | None, Field(description="Time zone in which days are counted.")
    ] = None
    offsets: Annotated[list[OffsetBody], Field(min_length=1, max_length=10)]
    repeat: RepeatBody | None = None

    def wished(self) -> Wished:
        anchor = self.anchor
        own = (self.due_at is not None, self.time_zone is not None)
        if own != (anchor is None, anchor is None):
            raise RuleViolated("Send `anchor`, or `dueAt` together with `timeZone`.", rule="NOT-39")
        return Wished(
            topic_code=self.topic_code,
            about=Reference.model_validate(self.about.model_dump()),
            audience=targets_of(self.audience),
            facts=self.facts,
            offsets=[one.offset() for one in self.offsets],
            anchor=Reference.model_validate(anchor.reference.model_dump()) if anchor else None,
            anchor_kind=anchor.kind if anchor else None,
            due_at=self.due_at,
            time_zone=self.time_zone,
            repeat=self.repeat.stored() if self.repeat else None,
        )


class OffsetView(View):
    """Time before the deadline at which people are reminded."""

    before: Annotated[str, Field(description="ISO 8601 duration.")]
    calendar: Calendar
    at_local_time: str | None

    @classmethod
    def of(cls, stored: dict[str, Any]) -> "OffsetView":
        offset = Offset.model_validate(stored)
        at = offset.at_local_time
        return cls(
            before=written(offset.before),
            calendar=offset.calendar,
            at_local_time=at.strftime("%H:%M") if at else None,
        )


class RepeatView(View):
    """Repeats of the last reminder."""

    every: Annotated[str, Field(description="ISO 8601 duration.")]
    calendar: Calendar
    until: Annotated[Literal["anchor", "acknowledged"], Field(description="When repeats end.")]
    max: Annotated[int, Field(description="Maximum number of repeats.")]


class OccurrenceView(View):
    """A time at which a reminder is sent."""

    offset_index: Annotated[int, Field(description="Index in `offsets`, from 0.")]
    round: Annotated[int, Field(description="Number of restarts by a moved deadline up to then.")]
    repeat_no: Annotated[int, Field(description="Number of the repeat, 0 for the offset itself.")]
    due_at: Annotated[datetime, Field(description="When the message is due.")]
    fired_at: Annotated[datetime | None, Field(description="When the message was sent.")]
    request_id: Annotated[UUID | None, Field(description="Request that sent the message.")]
    skipped_reason: Annotated[
        str | None,
        Field(
            description="Why it was not sent: `already_past`, `superseded`, `deadline_passed`, "
            "`acknowledged`, `moved` or `cancelled`."
        ),
    ]


class ReminderView(Stored):
    """A reminder with all its times. `nextCheckAt` is when the next message is sent."""

    organization_id: UUID
    status: ReminderStatus
    source_domain: Annotated[str, Field(description="Domain that created it.")]
    topic_code: str
    about: AboutView
    audience: list[TargetView]
    facts: dict[str, str]
    anchor_id: Annotated[
        UUID | None, Field(description="Deadline that it follows. Null if it has its own time.")
    ]
    due_at: Annotated[datetime | None, Field(description="Deadline. Null until it is known.")]
    time_zone: str | None
    anchor_sequence: Annotated[
        int | None, Field(description="Version of the deadline that it follows.")
    ]
    offsets: list[OffsetView]
    repeat: RepeatView | None
    round: Annotated[int, Field(description="Number of times a moved deadline restarted it.")]
    next_check_at: Annotated[datetime | None, Field(description="When the next message is sent.")]
    cancelled_reason: Annotated[
        str | None,
        Field(
            description="Why it was cancelled: `requested`, `cleared`, `anchor_withdrawn` or "
            "`requester_not_allowed`."
        ),
    ]
    occurrences: list[OccurrenceView]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/notifications/reminders/{self.id}"

    @classmethod
    def of(
        cls, reminder: Reminder, occurrences: list[ReminderOccurrence], now: datetime
    ) -> "ReminderView":
        values = reminder.__dict__ | {
            "offsets": [OffsetView.of(one) for one in reminder.offsets],
            "occurrences": [OccurrenceView.model_validate(one) for one in occurrences],
            "allowed_moves": ReminderLifecycle.allowed(reminder, now),
        }
        return cls.model_validate({name: values[name] for name in cls.model_fields})


@router.post(
    "/notifications/reminders",
    status_code=201,
    responses=problems(TopicUnknown, FactsMismatch, AudienceEmpty, AnchorUnknown, RuleViolated),
)
async def create_reminder(
    body: CreateReminder,
    work: Annotated[Work, writes(Permission.REMINDER_CREATE)],
) -> ReminderView:
    """Remind people before a deadline. With an anchor, the reminder moves with the deadline."""
    reminder = await reminders.create_reminder(work, body.wished())
    return await _shown(work, reminder)


@router.get("/notifications/reminders")
async def list_reminders(
    read: Annotated[Reader, reads(Permission.REMINDER_READ)],
    page: Annotated[Paged, paged("createdAt", "nextCheckAt", default="-createdAt")],
    status: Annotated[ReminderStatus | None, Query()] = None,
    about_type: Annotated[ReferenceType | None, Query(alias="aboutType")] = None,
    about_id: Annotated[UUID | None, Query(alias="aboutId")] = None,
    due_from: Annotated[
        Instant | None, Query(alias="dueFrom", description="Earliest deadline.")
    ] = None,
    due_to: Annotated[
        Instant | None, Query(alias="dueTo", description="Only deadlines before this time.")
    ] = None,
    mine: Annotated[bool, Query(description="Only reminders that you created.")] = False,
) -> PageOf[ReminderView]:
    """List the reminders of the organization."""
    filters = ReminderFilters(status, about_type, about_id, due_from, due_to, mine)
    found = await reminders.list_reminders(read, page, filters)
    times = await reminders.occurrences_of(read, [one.id for one in found.items])
    return PageOf[ReminderView].of(found, lambda one: ReminderView.of(one, times[one.id], read.now))


@router.get("/notifications/reminders/{reminderId}")
async def get_reminder(
    reminder_id: ReminderId,
    read: Annotated[Reader, reads(Permission.REMINDER_READ)],
) -> ReminderView:
    """Retrieve a reminder with the times at which it was and will be sent."""
    return await _shown(read, await read.get(Reminder, reminder_id))


@router.delete(
    "/notifications/reminders/{reminderId}",
    status_code=204,
    responses=problems(InvalidTransition),
)
async def remove_reminder(
    reminder_id: ReminderId,
    work: Annotated[Work, writes(Permission.REMINDER_CANCEL)],
) -> Response:
    """Cancel a reminder. Messages already sent are not affected."""
    await reminders.cancel_reminder(work, reminder_id)
    return Response(status_code=204)


async def _shown(read: Reader, reminder: Reminder) -> ReminderView:
    times = await reminders.occurrences_of(read, [reminder.id])
    return ReminderView.of(reminder, times[reminder.id], read.now)
