"""Schedules: messages that are sent later, once or again and again."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.notification.api.about import AboutView
from thenga.domains.notification.api.requests import MessageBody
from thenga.domains.notification.api.targets import targets_of
from thenga.domains.notification.api.times import Duration, LocalDateTime, duration, written
from thenga.domains.notification.lifecycles import ScheduleLifecycle
from thenga.domains.notification.permissions import Permission
from thenga.domains.notification.services import reminders
from thenga.domains.notification.services.recipients import AudienceEmpty
from thenga.domains.notification.services.reminders import (
    OnNonWorkingDay,
    RuleNotUsable,
    ScheduleEmpty,
    ScheduleFields,
)
from thenga.domains.notification.services.requests import FactsMismatch
from thenga.domains.notification.services.templates import (
    Acknowledgement,
    ChannelKind,
    TopicUnknown,
)
from thenga.domains.notification.tables import Schedule, ScheduleStatus
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
from thenga.kernel.values.fields import Name, TimeZoneName, matching

router = make_router("Notification / Schedules")

ScheduleId = Annotated[UUID, Path(alias="scheduleId")]
_LEAST, _MOST = timedelta(minutes=1), timedelta(days=7)


Rule = Annotated[
    Annotated[str, matching("^[A-Z0-9=;,+:-]{6,500}$", 500)] | None,
    Field(
        description="Recurrence rule of RFC 5545 with FREQ, INTERVAL, COUNT, UNTIL and BY lists, "
        "in local time. Omit it to send once.",
        examples=["FREQ=WEEKLY;BYDAY=MO"],
    ),
]
StartsAt = Annotated[LocalDateTime, Field(description="First local date and time, in `timeZone`.")]
Exdates = Annotated[
    list[LocalDateTime],
    Field(max_length=100, description="Local times of the rule at which nothing is sent."),
]
NonWorkingDay = Annotated[
    OnNonWorkingDay,
    Field(description="Handling of weekends and South African public holidays."),
]
Misfire = Annotated[
    Literal["fire_once", "skip"],
    Field(
        description="Handling of missed times after an outage. `fire_once` sends one message for "
        "all of them if the newest is within `misfireGrace`; `skip` sends none."
    ),
]
Grace = Annotated[
    Duration,
    Field(description="How late the newest missed time can still be sent, PT1M to P7D."),
]


class ScheduledMessage(MessageBody):
    """Message to send. Facts and audience are checked when the schedule is saved."""


class CreateSchedule(Body):
    """Message and the local times at which to send it."""

    name: Name
    kind: Annotated[
        Literal["once", "recurring"],
        Field(description="`recurring` requires `rrule`; `once` does not allow it."),
    ]
    starts_at: StartsAt
    time_zone: TimeZoneName
    rrule: Rule = None
    exdates: Exdates = []
    on_non_working_day: NonWorkingDay = "send"
    misfire: Misfire = "fire_once"
    misfire_grace: Grace = "P1D"
    request: ScheduledMessage

    def fields(self) -> ScheduleFields:
        if (self.rrule is None) != (self.kind == "once"):
            raise RuleViolated(
                "Send `rrule` only with the kind `recurring`, which requires it.", rule="NOT-38"
            )
        return ScheduleFields(**_stored({name: getattr(self, name) for name in _FIELDS}))


class ChangeSchedule(Body):
    """Fields to update. Omitted fields stay unchanged; null clears `rrule`."""

    name: Name = "unchanged"
    starts_at: StartsAt = "2027-01-04T09:00:00"
    time_zone: TimeZoneName = "Africa/Johannesburg"
    rrule: Rule = None
    exdates: Exdates = []
    on_non_working_day: NonWorkingDay = "send"
    misfire: Misfire = "fire_once"
    misfire_grace: Grace = "P1D"
    request: ScheduledMessage | None = None


_FIELDS = tuple(ScheduleFields.__slots__)


def _stored(given: dict[str, Any]) -> dict[str, Any]:
    """Fields as a row holds them."""
    if "misfire_grace" in given:
        grace = duration(given["misfire_grace"])
        if not _LEAST <= grace <= _MOST:
            raise RuleViolated("Choose a `misfireGrace` from PT1M to P7D.", rule="NOT-38")
        given["misfire_grace"] = grace // timedelta(minutes=1)
    if "request" in given:
        message = given["request"]
        audience = [one.model_dump(mode="json") for one in targets_of(message.audience)]
        given["request"] = message.model_dump(mode="json") | {"audience": audience}
    return given


class TargetView(View):
    """Group of members."""

    kind: Annotated[
        Literal["users", "role", "permission", "members"],
        Field(description="`members` are all members of the organization."),
    ]
    user_ids: list[UUID]
    role_code: str | None
    permission: Annotated[
        str | None, Field(description="Permission whose holders are notified, for `permission`.")
    ]


class ScheduledMessageView(View):
    """Message that a schedule sends."""

    topic_code: str
    about: AboutView
    audience: list[TargetView]
    exclude_actor: bool
    facts: dict[str, str]
    channel_kinds: list[ChannelKind] | None
    acknowledgement: Acknowledgement


class ScheduleView(Stored):
    """A schedule. `nextCheckAt` is when the next message is sent."""

    organization_id: UUID
    status: ScheduleStatus
    name: str
    kind: Annotated[Literal["once", "recurring"], Field(description="`once` if there is no rule.")]
    starts_at: Annotated[str, Field(description="First local date and time.")]
    time_zone: str
    rrule: Annotated[str | None, Field(description="Recurrence rule of RFC 5545.")]
    exdates: Annotated[list[str], Field(description="Local times at which nothing is sent.")]
    on_non_working_day: OnNonWorkingDay
    misfire: Literal["fire_once", "skip"]
    misfire_grace: Annotated[str, Field(description="ISO 8601 duration.")]
    request: ScheduledMessageView
    acts_for: Annotated[
        UUID, Field(description="User or API key on whose behalf the message is sent.")
    ]
    suspended_reason: Annotated[
        str | None,
        Field(
            description="Why it was suspended: `requester_not_allowed` if the creator lost the "
            "permission, `topic_unknown` if the topic no longer exists."
        ),
    ]
    next_check_at: Annotated[datetime | None, Field(description="When the next message is sent.")]
    last_fired_at: datetime | None
    fired_count: Annotated[int, Field(description="Number of messages sent.")]
    missed_count: Annotated[int, Field(description="Number of missed times.")]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/notifications/schedules/{self.id}"

    @classmethod
    def of(cls, schedule: Schedule, now: datetime) -> "ScheduleView":
        values = schedule.__dict__ | {
            "misfire_grace": written(timedelta(minutes=schedule.misfire_grace)),
            "allowed_moves": ScheduleLifecycle.allowed(schedule, now),
        }
        return cls.model_validate({name: values[name] for name in cls.model_fields})


_REFUSALS = (
    TopicUnknown,
    FactsMismatch,
    AudienceEmpty,
    RuleNotUsable,
    ScheduleEmpty,
    RuleViolated,
)


@router.post("/notifications/schedules", status_code=201, responses=problems(*_REFUSALS))
async def create_schedule(
    body: CreateSchedule,
    work: Annotated[Work, writes(Permission.SCHEDULE_CREATE)],
) -> ScheduleView:
    """Schedule a message. It is sent on your behalf as long as you have permission to send it."""
    schedule = await reminders.create_schedule(work, body.fields())
    return ScheduleView.of(schedule, work.now)


@router.get("/notifications/schedules")
async def list_schedules(
    read: Annotated[Reader, reads(Permission.SCHEDULE_READ)],
    page: Annotated[Paged, paged("createdAt", "nextCheckAt", default="-createdAt")],
    status: Annotated[ScheduleStatus | None, Query()] = None,
) -> PageOf[ScheduleView]:
    """List the schedules of the organization."""
    found = await reminders.list_schedules(read, page, status=status)
    return PageOf[ScheduleView].of(found, lambda one: ScheduleView.of(one, read.now))


@router.get("/notifications/schedules/{scheduleId}")
async def get_schedule(
    schedule_id: ScheduleId,
    read: Annotated[Reader, reads(Permission.SCHEDULE_READ)],
) -> ScheduleView:
    """Retrieve a schedule with the time of its next message."""
    return ScheduleView.of(await read.get(Schedule, schedule_id), read.now)


@router.patch(
    "/notifications/schedules/{scheduleId}", responses=problems(*_REFUSALS, InvalidTransition)
)
async def change_schedule(
    schedule_id: ScheduleId,
    body: ChangeSchedule,
    work: Annotated[Work, writes(Permission.SCHEDULE_UPDATE)],
) -> ScheduleView:
    """Update an active schedule. It is sent on your behalf from then on."""
    fields = body.changes()
    if fields.get("request", body) is None:
        del fields["request"]
    schedule = await reminders.change_schedule(work, schedule_id, _stored(fields))
    return ScheduleView.of(schedule, work.now)


@router.delete(
    "/notifications/schedules/{scheduleId}",
    status_code=204,
    responses=problems(InvalidTransition),
)
async def remove_schedule(
    schedule_id: ScheduleId,
    work: Annotated[Work, writes(Permission.SCHEDULE_CANCEL)],
) -> Response:
    """Cancel a schedule. Messages already sent are not affected."""
    await reminders.cancel_schedule(work, schedule_id)
    return Response(status_code=204)
