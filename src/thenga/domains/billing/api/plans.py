"""Plans: what can be bought, at which price, with which limits."""

from copy import copy
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.billing.api.terms import EntitlementView, PriceView
from thenga.domains.billing.lifecycles import PlanVersionLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import catalogue, pricing
from thenga.domains.billing.services.catalogue import AnyPlan, Entitlement, serialize_entitlements
from thenga.domains.billing.tables import Interval, PlanKind, PlanStatus, PlanVersion
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.http.bodies import PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import paged
from thenga.kernel.http.operations import PREFIX
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Day, matching
from thenga.kernel.values.money import Money

router = make_router("Billing / Plan")

Code = Annotated[str, matching("^[a-z][a-z0-9-]{1,39}$", 40)]
PlanCode = Annotated[Code, Path(alias="planCode")]


class DifferenceView(View):
    key: str
    change: Annotated[
        Literal["same", "gained", "lost"], Field(description="By coming from the other plan here.")
    ]
    here: EntitlementView | None
    there: EntitlementView | None


class PriceDifference(View):
    interval: Interval
    difference: Annotated[Money, Field(description="How much more this plan costs, VAT included.")]


class ComparisonView(View):
    """This plan beside another one."""

    plan_code: str
    plan_version: int
    prices: list[PriceDifference]
    entitlements: list[DifferenceView]


class PlanView(Stored):
    """A version of a plan. `planCode` and `planVersion` name it; published ones never change."""

    plan_code: str
    plan_version: int
    name: str
    description: str
    kind: PlanKind
    rank: Annotated[int, Field(description="A higher rank is up, a lower one down.")]
    public: bool
    trial_eligible: bool
    prices: list[PriceView]
    entitlements: list[EntitlementView]
    effective_from: date
    effective_to: Annotated[
        date | None, Field(description="The day on which the next version takes over.")
    ]
    status: PlanStatus
    live_subscriptions: Annotated[
        int | None, Field(description="For operators, once it is not sold any more.")
    ]
    compared_to: ComparisonView | None
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        """Where this version is read again."""
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
            "prices": [PriceView.of(one, rate_pct) for one in plan.prices],
            "entitlements": [EntitlementView.model_validate(one) for one in plan.entitlements],
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
        (one, catalogue.price_of(here, one), catalogue.price_of(there, one)) for one in Interval
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
                key=one.key, change=one.change, here=_shown(one.here), there=_shown(one.there)
            )
            for one in catalogue.compare_plans(here, there)
        ],
    )


def _shown(one: Entitlement | None) -> EntitlementView | None:
    return None if one is None else EntitlementView.model_validate(serialize_entitlements([one])[0])


@router.get("/billing/plans")
async def list_plans(
    read: Annotated[Reader, reads(Permission.PLAN_READ)],
    page: Annotated[Paged, paged("createdAt")],
    kind: Annotated[PlanKind | None, Query()] = None,
    interval: Annotated[Interval | None, Query(description="Sold by this interval.")] = None,
    at: Annotated[Day | None, Query(description="Sold on that day; today if left out.")] = None,
) -> PageOf[PlanView]:
    """The plans that are sold, with their prices. Operators see every version, drafts too."""
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
        Query(ge=1, le=10_000, description="A version by its number; the one sold if left out."),
    ] = None,
    compared_to: Annotated[
        Code | None, Query(alias="comparedTo", description="Show how it differs from that plan.")
    ] = None,
) -> PlanView:
    """One plan with its prices and limits. Earlier versions stay readable by their number."""
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
