"""Plans: what customers can buy, with prices and limits."""

from copy import copy
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.billing.api.catalogue.terms import EntitlementView, PriceView
from thenga.domains.billing.api.common_fields import AllowedMoves, PlanCodeText, PlanVersionNumber
from thenga.domains.billing.lifecycles import PlanVersionLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import catalogue, pricing
from thenga.domains.billing.services.catalogue import AnyPlan, Entitlement, serialize_entitlements
from thenga.domains.billing.tables import Interval, PlanKind, PlanStatus, PlanVersion
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.http.bodies import PageOf, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import paged
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Day, matching
from thenga.kernel.values.money import Money

router = make_router("Billing / Plan")

Code = Annotated[str, matching("^[a-z][a-z0-9-]{1,39}$", 40)]
PlanCode = Annotated[
    Code, Path(alias="planCode", description="Code of the plan, for example `professional`.")
]


class DifferenceView(View):
    """One entitlement compared between two plans."""

    key: Annotated[str, Field(description="Entitlement key.")]
    change: Annotated[
        Literal["same", "gained", "lost"],
        Field(description="What changes when moving from the other plan to this one."),
    ]
    here: Annotated[
        EntitlementView | None, Field(description="Entitlement in this plan. Null if not included.")
    ]
    there: Annotated[
        EntitlementView | None,
        Field(description="Entitlement in the other plan. Null if not included."),
    ]


class PriceDifference(View):
    """The price difference for one interval."""

    interval: Annotated[Interval, Field(description="Billing interval.")]
    difference: Annotated[Money, Field(description="How much more this plan costs, VAT included.")]


class ComparisonView(View):
    """This plan compared with another."""

    plan_code: Annotated[str, Field(description="Code of the other plan.")]
    plan_version: Annotated[int, Field(description="Version of the other plan.")]
    prices: Annotated[list[PriceDifference], Field(description="Price differences by interval.")]
    entitlements: Annotated[list[DifferenceView], Field(description="Entitlements side by side.")]


class PlanView(Stored):
    """A version of a plan, identified by `planCode` and `planVersion`. Published versions never
    change."""

    plan_code: PlanCodeText
    plan_version: PlanVersionNumber
    name: Annotated[str, Field(description="Name of the plan.")]
    description: Annotated[str, Field(description="What the plan offers.")]
    kind: Annotated[PlanKind, Field(description="Base plan or add-on.")]
    rank: Annotated[
        int, Field(description="Order of plans. Moving to a higher rank is an upgrade.")
    ]
    public: Annotated[bool, Field(description="Whether customers can see and buy it.")]
    trial_eligible: Annotated[bool, Field(description="Whether it can be tried for free.")]
    prices: Annotated[list[PriceView], Field(description="Prices by interval.")]
    entitlements: Annotated[list[EntitlementView], Field(description="What the plan includes.")]
    effective_from: Annotated[date, Field(description="First day it is sold.")]
    effective_to: Annotated[
        date | None, Field(description="Day the next version replaces it. Null if there is none.")
    ]
    status: Annotated[PlanStatus, Field(description="Status today.")]
    live_subscriptions: Annotated[
        int | None,
        Field(
            description="Active subscriptions of this version. Operators only, once it is no "
            "longer sold."
        ),
    ]
    compared_to: Annotated[
        ComparisonView | None,
        Field(description="Comparison with the plan in `comparedTo`. Null if none was requested."),
    ]
    allowed_moves: AllowedMoves

    @property
    def own_path(self) -> str:
        """Where this version is read."""
        return f"{PREFIX}/billing/plans/{self.plan_code}?version={self.plan_version}"

    @classmethod
    def of(
        cls,
        plan: AnyPlan,
        *,
        now: datetime,
        rate_pct: Decimal | None,
        reader_id: UUID | None,
        compared_to: ComparisonView | None = None,
    ) -> "PlanView":
        values = {
            **plan.__dict__,
            "prices": [PriceView.of(price, rate_pct) for price in plan.prices],
            "entitlements": [EntitlementView.model_validate(item) for item in plan.entitlements],
            "status": catalogue.plan_status_on(plan, local_day(now)),
            "live_subscriptions": getattr(plan, "live_subscriptions", None),
            "compared_to": compared_to,
            "allowed_moves": _moves(plan, now, reader_id),
        }
        return cls.shown(values)


def _moves(plan: AnyPlan, now: datetime, reader_id: UUID | None) -> list[AllowedMove]:
    if not isinstance(plan, PlanVersion):
        return []
    asked = copy(plan)  # as if the reader published it: an author may not
    asked.published_by = plan.published_by or reader_id
    return PlanVersionLifecycle.allowed(asked, now)


def comparison(here: AnyPlan, there: AnyPlan) -> ComparisonView:
    """Prices and entitlements of two versions side by side."""
    found = [
        (interval, catalogue.price_of(here, interval), catalogue.price_of(there, interval))
        for interval in Interval
    ]
    return ComparisonView(
        plan_code=there.plan_code,
        plan_version=there.plan_version,
        prices=[
            PriceDifference(interval=interval, difference=ours - theirs)
            for interval, ours, theirs in found
            if ours is not None and theirs is not None
        ],
        entitlements=[
            DifferenceView(
                key=item.key, change=item.change, here=_shown(item.here), there=_shown(item.there)
            )
            for item in catalogue.compare_plans(here, there)
        ],
    )


def _shown(item: Entitlement | None) -> EntitlementView | None:
    if item is None:
        return None
    return EntitlementView.model_validate(serialize_entitlements([item])[0])


@router.get("/billing/plans")
async def list_plans(
    read: Annotated[Reader, reads(Permission.PLAN_READ)],
    page: Annotated[Paged, paged("createdAt")],
    kind: Annotated[PlanKind | None, Query(description="Filter by kind.")] = None,
    interval: Annotated[Interval | None, Query(description="Filter by billing interval.")] = None,
    at: Annotated[
        Day | None, Query(description="Day the plans are on sale. Defaults to today.")
    ] = None,
) -> PageOf[PlanView]:
    """List the plans on sale with their prices. Operators see every version, including drafts."""
    today = local_day(read.now)
    found = await catalogue.list_plans(read, page, kind=kind, interval=interval, on=at, today=today)
    rate = await pricing.vat_rate_on(read, at or today) if found.items else None
    now, me = read.now, read.actor.id
    return PageOf[PlanView].of(
        found, lambda plan: PlanView.of(plan, now=now, rate_pct=rate, reader_id=me)
    )


@router.get("/billing/plans/{planCode}")
async def get_plan(
    plan_code: PlanCode,
    read: Annotated[Reader, reads(Permission.PLAN_READ)],
    version: Annotated[
        int | None,
        Query(ge=1, le=10_000, description="Version number. Defaults to the version on sale."),
    ] = None,
    compared_to: Annotated[
        Code | None, Query(alias="comparedTo", description="Code of a plan to compare with.")
    ] = None,
) -> PlanView:
    """Get a plan with its prices and limits. Use `version` to read an earlier version."""
    today = local_day(read.now)
    plan = await catalogue.get_plan(read, plan_code, number=version, today=today)
    beside = None
    if compared_to is not None:
        other = await catalogue.get_plan(read, compared_to, number=None, today=today)
        beside = comparison(plan, other)
    rate = await pricing.vat_rate_on(read, today)
    return PlanView.of(
        plan, now=read.now, rate_pct=rate, reader_id=read.actor.id, compared_to=beside
    )
