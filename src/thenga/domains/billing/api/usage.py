"""Usage: report it once, read it by month and meter, reserve it when a limit must be exact."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal

from fastapi import Path, Query, Response
from pydantic import Field
from typing_extensions import TypedDict  # the one that pydantic can read

from thenga.domains.billing import public
from thenga.domains.billing.api.catalogue.terms import Key
from thenga.domains.billing.api.common_fields import OrganizationRef, SubscriptionId
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import usage
from thenga.domains.billing.services.usage import MeterUsage, UsageState, UsageSummary
from thenga.domains.billing.tables import (
    MeterKind,
    Operation,
    Reservation,
    ReservationStatus,
    UsageRecord,
)
from thenga.kernel.db.acting import on_behalf_of
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, InvalidTransition, PlanLimitReached, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.limits import Rule
from thenga.kernel.http.lists import OfOrganization, paged
from thenga.kernel.http.reference import problems
from thenga.kernel.http.shared import Shared
from thenga.kernel.values.fields import BigInt, Day, Instant, matching, text, whole
from thenga.kernel.values.json_writer import to_json
from thenga.kernel.values.money import Money

router = make_router("Billing / Usage")

Name = Annotated[str, matching("^[A-Za-z][A-Za-z0-9_.-]{0,79}$", 80)]
ReservationKey = Annotated[str, matching("^[A-Za-z0-9._:-]{1,200}$", 200)]


def by_reporter(shared: Shared) -> Rule:
    """Reporters send few, large batches, so they have their own rate limit (BIL-19)."""
    return shared.rules.usage


class SubjectBody(Body):
    """A resource of another domain that a gauge counts."""

    domain: Annotated[Name, Field(description="Domain that owns the resource.")]
    type: Annotated[Name, Field(description="Type of the resource.")]
    id: Annotated[str, text(1, 100), Field(description="ID of the resource.")]


class UsageBody(Body):
    """One use to record."""

    meter: Annotated[Name, Field(description="Meter key from `GET /billing/meters`.")]
    key: Annotated[
        str,
        matching("^[!-~](?:[ -~]{0,198}[!-~])?$", 200),
        Field(
            description="Your unique key for this use, in ASCII. Each key counts once per meter."
        ),
    ]
    quantity: Annotated[
        BigInt,
        Field(
            description="Quantity from 1 to 1 000 000 000. For a `told` meter, the current number."
        ),
    ]
    occurred_at: Annotated[
        Instant, Field(description="When it happened. Decides which usage month it counts in.")
    ]
    subject: Annotated[
        SubjectBody | None, Field(description="Resource that is counted. Required for gauges.")
    ] = None
    operation: Annotated[
        Literal["add", "hold", "release"],
        Field(description="`add` for counters, `hold` and `release` for gauges."),
    ] = "add"

    @property
    def entry(self) -> usage.UsageEntry:
        subject = None if self.subject is None else self.subject.model_dump()
        use = (self.meter, self.key, self.quantity, self.occurred_at)
        return usage.UsageEntry(*use, subject, self.operation)


class ReportUsage(Body):
    """A batch of uses to record."""

    records: Annotated[
        list[UsageBody],
        Field(min_length=1, max_length=usage.MAX_ENTRIES, description="Uses to record."),
    ]


class OutcomeView(TypedDict):
    """The result of one record."""

    meter: Annotated[str, Field(description="Meter key.")]
    key: Annotated[str, Field(description="Key of the use.")]
    outcome: Annotated[
        Literal["accepted", "duplicate", "rejected"],
        Field(description="Whether it was counted, known already or rejected."),
    ]
    code: Annotated[str | None, Field(description="Why it was rejected. Null if it was not.")]
    late: Annotated[
        bool,
        Field(
            description="Whether its month is already billed. It is charged on the next invoice."
        ),
    ]


class ReceiptView(View):
    """The result of each record, in the order sent."""

    accepted: Annotated[int, Field(description="Number of records counted.")]
    duplicate: Annotated[int, Field(description="Number of records already known.")]
    rejected: Annotated[int, Field(description="Number of records rejected.")]
    items: Annotated[list[OutcomeView], Field(description="Result of each record.")]

    @classmethod
    def of(cls, sent: Sequence[UsageBody], made: public.UsageReceipt) -> "ReceiptView":
        items = [
            {"meter": record.meter, "key": record.key, **outcome.__dict__}
            for record, outcome in zip(sent, made.items, strict=True)
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
    """Usage of one meter in a month."""

    meter: Annotated[str, Field(description="Meter key.")]
    kind: Annotated[MeterKind, Field(description="Kind of meter.")]
    unit: Annotated[str, Field(description="Unit that is counted.")]
    used: Annotated[int, Field(description="Quantity used.")]
    reserved: Annotated[int, Field(description="Quantity reserved and not yet settled.")]
    limit: Annotated[
        int | None, Field(description="Included quantity or limit. Null means unlimited.")
    ]
    remaining: Annotated[int | None, Field(description="Quantity left. Null means unlimited.")]
    percent: Annotated[int | None, Field(description="Percentage used. Null if unlimited.")]
    state: Annotated[UsageState, Field(description="How close usage is to the limit.")]
    overage: Annotated[
        Money, Field(description="Cost so far of usage above the included quantity.")
    ]
    projected: Annotated[
        int | None, Field(description="Expected quantity at the end of the month at this rate.")
    ]

    @classmethod
    def of(cls, use: MeterUsage) -> "UseView":
        return cls.model_validate(use)


class MonthView(View):
    """Usage in one usage month. Its last day is the day before `monthEnd`."""

    month_start: Annotated[date, Field(description="First day of the usage month.")]
    month_end: Annotated[date, Field(description="Day after the last day of the usage month.")]
    meters: Annotated[list[UseView], Field(description="Usage by meter.")]

    @classmethod
    def of(cls, picture: UsageSummary) -> "MonthView":
        return cls(
            month_start=picture.month.start,
            month_end=picture.month.end,
            meters=[UseView.of(use) for use in picture.uses],
        )


class SubjectView(View):
    """A resource of another domain that a gauge counts."""

    domain: Annotated[str, Field(description="Domain that owns the resource.")]
    type: Annotated[str, Field(description="Type of the resource.")]
    id: Annotated[str, Field(description="ID of the resource.")]


class UsageRecordView(Stored):
    """One recorded use."""

    organization_id: OrganizationRef
    meter: Annotated[str, Field(description="Meter key.")]
    key: Annotated[str, Field(description="Key of the use.")]
    quantity: Annotated[int, Field(description="Quantity recorded.")]
    occurred_at: Annotated[datetime, Field(description="When it happened.")]
    recorded_at: Annotated[datetime, Field(description="When it was recorded.")]
    subject: Annotated[
        SubjectView | None, Field(description="Resource that is counted. Null for counters.")
    ]
    operation: Annotated[Operation, Field(description="What the record did.")]
    usage_month: Annotated[date, Field(description="First day of the usage month it counts in.")]
    late: Annotated[
        bool, Field(description="Whether its month was already billed when it arrived.")
    ]

    @classmethod
    def of(cls, record: UsageRecord) -> "UsageRecordView":
        return cls.model_validate(record.__dict__ | {"recorded_at": record.created_at})


class Reserve(Body):
    """A quantity to reserve."""

    meter: Annotated[Key, Field(description="Meter key.")]
    quantity: Annotated[int, whole(1, 10**9), Field(description="Quantity to reserve.")]
    key: Annotated[
        ReservationKey,
        Field(
            description="Your unique key of the reservation. The usage it becomes has the same key."
        ),
    ]
    ttl_seconds: Annotated[
        int, whole(1, 3600), Field(description="Seconds until the reservation expires.")
    ] = 900


class Settle(Body):
    """The quantity that was used."""

    quantity: Annotated[
        int, whole(0, 10**9), Field(description="Quantity used, at most the quantity reserved.")
    ]


class ReservationView(Stored):
    """A reserved quantity. It is released at `expiresAt` unless it is settled."""

    organization_id: OrganizationRef
    meter: Annotated[str, Field(description="Meter key.")]
    key: Annotated[str, Field(description="Key of the reservation.")]
    quantity: Annotated[int, Field(description="Quantity reserved.")]
    settled_quantity: Annotated[
        int | None, Field(description="Quantity used. Null until it is settled.")
    ]
    usage_month: Annotated[date, Field(description="First day of the usage month it counts in.")]
    expires_at: Annotated[datetime, Field(description="When it is released if not settled.")]
    status: Annotated[ReservationStatus, Field(description="Status now.")]

    own_path: ClassVar[None] = None  # it is settled by its key and read nowhere

    @classmethod
    def of(cls, row: Reservation, now: datetime) -> "ReservationView":
        over = row.status is ReservationStatus.HELD and row.expires_at <= now
        status = ReservationStatus.RELEASED if over else row.status
        return cls.shown(row.__dict__ | {"status": status})


_HELD: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The existing reservation of this key, held or settled.",
        "model": ReservationView,
        "content": {"application/json": {"examples": {"held": {"value": "as at 201"}}}},
    }
}


@router.post("/billing/usage")
async def record_usage(
    body: ReportUsage, work: Annotated[Work, writes(Permission.USAGE_RECORD, limit=by_reporter)]
) -> ReceiptView:
    """Record up to 1 000 uses. Batches can be repeated safely: each key counts once.

    Reporters may send 60 requests per second instead of 600 per minute.
    """
    made = await usage.record_usage(work, [record.entry for record in body.records])
    return ReceiptView.of(body.records, made)


@router.get("/billing/subscriptions/{subscriptionId}/usage")
async def get_usage(
    subscription_id: SubscriptionId,
    read: Annotated[Reader, reads(Permission.USAGE_READ)],
    month: Annotated[
        Day | None, Query(description="Any day of the month. Defaults to today.")
    ] = None,
) -> MonthView:
    """Get the usage of a month by meter, with a projection for its end."""
    return MonthView.of(await usage.summarize(read, subscription_id, month))


@router.get("/billing/usage-records")
async def list_usage_records(
    read: Annotated[Reader, reads(Permission.USAGE_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    meter: Annotated[Key | None, Query(description="Filter by meter.")] = None,
    occurred_from: Annotated[
        Instant | None, Query(alias="from", description="Happened at or after this time.")
    ] = None,
    occurred_to: Annotated[
        Instant | None, Query(alias="to", description="Happened before this time.")
    ] = None,
    late: Annotated[
        bool | None, Query(description="Filter by whether the month was already billed.")
    ] = None,
    organization_id: OfOrganization = None,
) -> PageOf[UsageRecordView]:
    """List usage records, kept for 13 months."""
    await on_behalf_of(read, organization_id)
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
    """Reserve a quantity before you start something costly. The same key is one reservation; an
    expired reservation is reserved again or refused."""
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
    key: Annotated[ReservationKey, Path(description="Key of the reservation.")],
    body: Settle,
    work: Annotated[Work, writes(Permission.USAGE_RECORD)],
) -> ReservationView:
    """Record what was used. The rest of the reservation is released."""
    settled, _ = await usage.settle_reservation(work, key, body.quantity)
    return ReservationView.of(settled, work.now)
