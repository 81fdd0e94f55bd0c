"""Usage: reported once, read by month and meter, reserved where a limit must be exact."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field
from typing_extensions import TypedDict  # the one that pydantic can read

from thenga.domains.billing import public
from thenga.domains.billing.api.entitlements import SubscriptionId
from thenga.domains.billing.api.terms import Key
from thenga.domains.billing.api.trials import OfOrganization
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import usage
from thenga.domains.billing.services.acting import act_for
from thenga.domains.billing.services.usage import MeterUsage, UsageState, UsageSummary
from thenga.domains.billing.tables import (
    MeterKind,
    Operation,
    Reservation,
    ReservationStatus,
    UsageRecord,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, InvalidTransition, PlanLimitReached, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.limits import Rule
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.http.shared import Shared
from thenga.kernel.values.fields import BigInt, Day, Instant, matching, text, whole
from thenga.kernel.values.json_writer import to_json
from thenga.kernel.values.money import Money

router = make_router("Billing / Usage")

Name = Annotated[str, matching("^[A-Za-z][A-Za-z0-9_.-]{0,79}$", 80)]
ReservationKey = Annotated[str, matching("^[A-Za-z0-9._:-]{1,200}$", 200)]


def by_reporter(shared: Shared) -> Rule:
    """Batches are few and large: who reports has a limit of its own (BIL-19)."""
    return shared.rules.usage


class SubjectBody(Body):
    """What is held open: a resource of another domain."""

    domain: Name
    type: Name
    id: Annotated[str, text(1, 100)]


class UsageBody(Body):
    meter: Annotated[Name, Field(description="A key of `GET /billing/meters`.")]
    key: Annotated[
        str,
        matching("^[!-~](?:[ -~]{0,198}[!-~])?$", 200),
        Field(description="Your name for this use, in ASCII; counted once a meter."),
    ]
    quantity: Annotated[
        BigInt, Field(description="1 to 1 000 000 000; of a meter that is told, the number now.")
    ]
    occurred_at: Annotated[Instant, Field(description="Decides the month it counts in.")]
    subject: Annotated[SubjectBody | None, Field(description="Needed for gauges.")] = None
    operation: Annotated[
        Literal["add", "hold", "release"], Field(description="`hold` and `release` for gauges.")
    ] = "add"

    @property
    def entry(self) -> usage.UsageEntry:
        subject = None if self.subject is None else self.subject.model_dump()
        told = (self.meter, self.key, self.quantity, self.occurred_at)
        return usage.UsageEntry(*told, subject, self.operation)


class RecordUsage(Body):
    records: Annotated[list[UsageBody], Field(min_length=1, max_length=usage.MAX_ENTRIES)]


class OutcomeView(TypedDict):
    """What became of one record; a dictionary, because an answer has many."""

    meter: str
    key: str
    outcome: Literal["accepted", "duplicate", "rejected"]
    code: Annotated[str | None, Field(description="Why it was rejected.")]
    late: Annotated[bool, Field(description="Its month is billed; it comes on the next invoice.")]


class ReceiptView(View):
    """What became of each record, in the order they were sent."""

    accepted: int
    duplicate: int
    rejected: int
    items: list[OutcomeView]

    @classmethod
    def of(cls, sent: Sequence[UsageBody], made: public.UsageReceipt) -> "ReceiptView":
        items = [
            {"meter": one.meter, "key": one.key, **said.__dict__}
            for one, said in zip(sent, made.items, strict=True)
        ]
        return cls.shown(
            {
                "accepted": made.accepted,
                "duplicate": made.duplicate,
                "rejected": made.rejected,
                "items": items,
            }
        )


class UseView(View):
    meter: str
    kind: MeterKind
    unit: str
    used: int
    reserved: int
    limit: Annotated[int | None, Field(description="Null is no limit.")]
    remaining: int | None
    percent: int | None
    state: UsageState
    overage: Annotated[Money, Field(description="What is above the included costs so far.")]
    projected: Annotated[int | None, Field(description="At the end of the month, if it goes on.")]

    @classmethod
    def of(cls, use: MeterUsage) -> "UseView":
        return cls.model_validate(use)


class MonthView(View):
    """One usage month; its last day is the day before `monthEnd`."""

    month_start: date
    month_end: date
    meters: list[UseView]

    @classmethod
    def of(cls, picture: UsageSummary) -> "MonthView":
        return cls(
            month_start=picture.month.start,
            month_end=picture.month.end,
            meters=[UseView.of(use) for use in picture.uses],
        )


class SubjectView(View):
    domain: str
    type: str
    id: str


class UsageRecordView(Stored):
    organization_id: UUID
    meter: str
    key: str
    quantity: int
    occurred_at: datetime
    recorded_at: datetime
    subject: SubjectView | None
    operation: Operation
    usage_month: date
    late: bool

    @classmethod
    def of(cls, record: UsageRecord) -> "UsageRecordView":
        return cls.model_validate(record.__dict__ | {"recorded_at": record.created_at})


class Reserve(Body):
    meter: Key
    quantity: Annotated[int, whole(1, 10**9)]
    key: Annotated[ReservationKey, Field(description="Also the key of the usage it becomes.")]
    ttl_seconds: Annotated[int, whole(1, 3600)] = 900


class Settle(Body):
    quantity: Annotated[int, whole(0, 10**9), Field(description="At most what was reserved.")]


class ReservationView(Stored):
    """Usage that may go ahead; unsettled it is free again at `expiresAt`."""

    organization_id: UUID
    meter: str
    key: str
    quantity: int
    settled_quantity: int | None
    usage_month: date
    expires_at: datetime
    status: ReservationStatus

    own_path: ClassVar[None] = None  # it is settled by its key and read nowhere

    @classmethod
    def of(cls, row: Reservation, now: datetime) -> "ReservationView":
        over = row.status is ReservationStatus.HELD and row.expires_at <= now
        status = ReservationStatus.RELEASED if over else row.status
        return cls.shown(row.__dict__ | {"status": status})


_HELD: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "This key holds it already, or has been settled.",
        "model": ReservationView,
        "content": {"application/json": {"examples": {"held": {"value": "as at 201"}}}},
    }
}


@router.post("/billing/usage")
async def record_usage(
    body: RecordUsage, work: Annotated[Work, writes(Permission.USAGE_RECORD, limit=by_reporter)]
) -> ReceiptView:
    """Report up to 1 000 uses. Repeat a batch freely: what was counted is not counted again.

    Instead of 600 calls a minute a reporter has 60 a second.
    """
    made = await usage.record_usage(work, [one.entry for one in body.records])
    return ReceiptView.of(body.records, made)


@router.get("/billing/subscriptions/{subscriptionId}/usage")
async def get_usage(
    subscription_id: SubscriptionId,
    read: Annotated[Reader, reads(Permission.USAGE_READ)],
    month: Annotated[
        Day | None, Query(description="Any day of the month; today where it is left out.")
    ] = None,
) -> MonthView:
    """What was used in a month, meter by meter, and what it will come to."""
    return MonthView.of(await usage.summarize(read, subscription_id, month))


@router.get("/billing/usage-records")
async def list_usage_records(
    read: Annotated[Reader, reads(Permission.USAGE_READ)],
    page: Annotated[Paged, paged("createdAt")],
    meter: Annotated[Key | None, Query()] = None,
    occurred_from: Annotated[Instant | None, Query(alias="from")] = None,
    occurred_to: Annotated[Instant | None, Query(alias="to", description="Not counted.")] = None,
    late: Annotated[bool | None, Query()] = None,
    organization_id: OfOrganization = None,
) -> PageOf[UsageRecordView]:
    """Every record as it was reported, for 13 months."""
    await act_for(read, organization_id)
    found = await usage.list_records(
        read,
        page,
        meter=meter,
        occurred_from=occurred_from,
        occurred_to=occurred_to,
        late=late,
    )
    return PageOf[UsageRecordView].of(found, UsageRecordView.of)


@router.post(
    "/billing/usage/reservations",
    status_code=201,
    response_model=ReservationView,
    responses=_HELD | problems(PlanLimitReached, Duplicate, RuleViolated),
)
async def reserve_usage(
    body: Reserve, work: Annotated[Work, writes(Permission.USAGE_RECORD)]
) -> ReservationView | Response:
    """Make sure of room before something costly begins. The same key is one reservation; one whose
    time is over holds nothing, so it is held anew or refused."""
    made, new = await usage.reserve_usage(
        work,
        meter=body.meter,
        quantity=body.quantity,
        key=body.key,
        ttl=timedelta(seconds=body.ttl_seconds),
    )
    view = ReservationView.of(made, work.now)
    return view if new else Response(to_json(view), media_type="application/json")


@router.post(
    "/billing/usage/reservations/{key}/settle",
    responses=problems(InvalidTransition, RuleViolated),
)
async def settle_reservation(
    key: Annotated[ReservationKey, Path()],
    body: Settle,
    work: Annotated[Work, writes(Permission.USAGE_RECORD)],
) -> ReservationView:
    """Book what was really used; the rest of the reservation is free again."""
    settled, _ = await usage.settle_reservation(work, key, body.quantity)
    return ReservationView.of(settled, work.now)
