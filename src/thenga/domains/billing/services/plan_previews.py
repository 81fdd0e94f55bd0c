"""A change of plan as it would be made, with what is held beyond the new limits (BIL-24)."""

from dataclasses import dataclass

from thenga.domains.billing.services import entitlement_types, plan_quotes, usage_totals
from thenga.domains.billing.services.entitlement_types import Limit
from thenga.domains.billing.services.plan_changes import (
    check_changeable,
    check_day,
    check_expected,
    check_settled,
)
from thenga.domains.billing.services.plan_quotes import Effective, Quoted, Wanted
from thenga.domains.billing.tables import STANDING, Account, OfferedPlan, Subscription
from thenga.kernel.db.reader import Reader
from thenga.kernel.money import Money


@dataclass(frozen=True, slots=True)
class Over:
    """So much is held of a key that the new plan limits to less."""

    key: str
    held: int
    limit: int


@dataclass(frozen=True, slots=True)
class Preview:
    quoted: Quoted
    over: list[Over]


async def preview(
    read: Reader, subscription: Subscription, wanted: Wanted, *, expected_due: Money | None
) -> Preview:
    """What asking for it now would be answered with, and what would come of it."""
    check_changeable(subscription)
    quoted = await plan_quotes.quote(read, subscription, wanted)
    check_expected(quoted, expected_due)
    if quoted.change.effective is Effective.NOW:
        account = await read.get(Account, subscription.account_id)
        await check_settled(read, account, quoted)
        check_day(subscription, quoted)
    return Preview(quoted, await _over(read, quoted.change.plan))


async def _over(read: Reader, plan: OfferedPlan) -> list[Over]:
    """What is there stays readable; only new holdings are refused."""
    totals = await usage_totals.of_month(read, STANDING)
    found = []
    for one in entitlement_types.read(plan.entitlements):
        total = totals.get(one.key)
        if not isinstance(one, Limit) or one.limit is None or total is None:
            continue
        if total.quantity > one.limit:
            found.append(Over(one.key, total.quantity, one.limit))
    return found
