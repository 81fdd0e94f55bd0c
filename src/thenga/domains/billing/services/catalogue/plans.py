"""Plans for customers: what is sold on a day, and how two plans differ."""

from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from sqlalchemy import BindParameter, ColumnElement, Date, Select, bindparam, or_, select

from thenga.domains.billing.services.catalogue.entitlement_types import Boolean, Entitlement
from thenga.domains.billing.services.catalogue.entitlement_types import (
    parse_entitlements as read_entitlements,
)
from thenga.domains.billing.tables import Interval, OfferedPlan, PlanKind, PlanStatus, PlanVersion
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.errors import NotFound, Problem, extensions
from thenga.kernel.values.money import Money

AnyPlan = PlanVersion | OfferedPlan


class PlanNotAvailable(Problem):
    """This plan is not sold, not in this interval, or not as a trial. `GET /billing/plans` lists
    the plans you can choose."""

    code, status, title = "billing-plan-not-available", 422, "This plan is not available"
    members = extensions(
        planCode=(str, "Requested plan."),
        interval=(str, "Requested billing interval."),
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """One entitlement in two plans. None if a plan does not include it."""

    key: str
    here: Entitlement | None
    there: Entitlement | None

    @property
    def change(self) -> Literal["same", "gained", "lost"]:
        """Whether changing from the other plan to this one gains or loses the entitlement."""
        here, there = _worth(self.here), _worth(self.there)
        return "same" if self.here == self.there else "gained" if here > there else "lost"


def compare_plans(here: AnyPlan, there: AnyPlan) -> list[Difference]:
    """The differences by key, in the order of the first plan."""
    ours = {entitlement.key: entitlement for entitlement in read_entitlements(here.entitlements)}
    theirs = {entitlement.key: entitlement for entitlement in read_entitlements(there.entitlements)}
    return [Difference(key, ours.get(key), theirs.get(key)) for key in {**ours, **theirs}]


def _worth(entitlement: Entitlement | None) -> tuple[float, bool]:
    """A sort key: how much is included, and whether more is available."""
    if entitlement is None:
        return 0, False
    if isinstance(entitlement, Boolean):
        return int(entitlement.value), False
    return (
        float("inf") if entitlement.limit is None else entitlement.limit
    ), entitlement.mode == "soft"


def plan_status_on(plan: AnyPlan, day: date) -> PlanStatus:
    """The status of a version on a day, before the job has updated the row."""
    if isinstance(plan, PlanVersion) and plan.status is not PlanStatus.ACTIVE:
        return plan.status
    if plan.retired_at is not None:
        return PlanStatus.RETIRED
    over = plan.effective_to is not None and plan.effective_to <= day
    return PlanStatus.GRANDFATHERED if over else PlanStatus.ACTIVE


def price_of(plan: AnyPlan, interval: Interval) -> Money | None:
    """The gross price for an interval. None if it is not sold for it."""
    for price in plan.prices:
        if price["interval"] == interval:
            return Money(price["grossMinor"], price["currency"])
    return None


async def list_plans(
    read: Reader,
    paged: Paged,
    *,
    kind: PlanKind | None,
    interval: Interval | None,
    on: date | None,
    today: date,
) -> Slice[Any]:
    """The plans sold on a day. Operators see all versions, including drafts, unless they name a
    day."""
    by_staff = read.held_as == HeldAs.PLATFORM
    row = PlanVersion if by_staff else OfferedPlan
    statement: Select[Any] = select(row)
    if not by_staff:
        statement = statement.where(OfferedPlan.public.is_(True), OfferedPlan.retired_at.is_(None))
    if not by_staff or on is not None:
        statement = statement.where(*is_sold_on(row, on or today))
    statement = where_given(statement, (row.kind, kind))
    if interval is not None:
        statement = statement.where(row.prices.contains([{"interval": interval.value}]))
    return await read.page(statement, paged)


async def get_plan(read: Reader, plan_code: str, *, number: int | None, today: date) -> AnyPlan:
    """The named version, or the one sold today. Operators can also get drafts."""
    if number is not None:
        row = PlanVersion if read.held_as == HeldAs.PLATFORM else OfferedPlan
        named = await read.find(row, plan_code=plan_code, plan_version=number)
        if named is None:
            raise NotFound()
        return named  # type: ignore[return-value]  # one of the two
    found = await plan_on(read, plan_code, today)
    if found is None:
        raise NotFound()
    return found


async def plan_on(read: Reader, plan_code: str, on: date) -> OfferedPlan | None:
    """The version of a plan that is sold on a day."""
    found = await read.select_prepared(_IN_FORCE, limit=1, plan_code=plan_code, on=on)
    return found[0] if found else None


def is_sold_on(row: type[AnyPlan], on: date | BindParameter[date]) -> list[ColumnElement[bool]]:
    """Conditions that select the version sold on a day."""
    ends = row.effective_to
    return [row.effective_from <= on, or_(ends.is_(None), ends > on)]


_IN_FORCE = select(OfferedPlan).where(
    OfferedPlan.plan_code == bindparam("plan_code"),
    *is_sold_on(OfferedPlan, bindparam("on", type_=Date())),
)


async def plan_version(read: Reader, code: str, number: int) -> OfferedPlan:
    """A version by code and number. Versions are never removed from the catalogue."""
    found = await read.find(OfferedPlan, plan_code=code, plan_version=number)
    if found is None:
        raise LookupError(f"{code} {number} is not in the catalogue")
    return found


async def renewal_version(read: Reader, plan_code: str, number: int, on: date) -> int:
    """The version that a renewal on a day uses, following planned migrations."""
    seen = {number}
    while True:
        held = await read.find(OfferedPlan, plan_code=plan_code, plan_version=number)
        if held is None or held.migrates_to is None or held.migrates_after is None:
            return number
        if on < held.migrates_after or held.migrates_to in seen:
            return number
        number = held.migrates_to
        seen.add(number)
