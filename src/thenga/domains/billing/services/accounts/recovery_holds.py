"""Recoveries are on hold while the account is parked, so access is not reduced (BIL-51)."""

from sqlalchemy import select

from thenga.domains.billing.lifecycles import PaymentFailureLifecycle
from thenga.domains.billing.services import access, entitlements, pricing
from thenga.domains.billing.tables import PaymentFailure
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work

_DAYS_LEFT = 3  # least time to pay after the hold
_UNSETTLED = (
    select(PaymentFailure)
    .where(
        among(
            PaymentFailure.status,
            PaymentFailureLifecycle.UNSETTLED,
        )
    )
    .order_by(PaymentFailure.id)
)


async def hold(work: Work) -> None:
    """Put all recoveries on hold."""
    for known in await work.select_prepared(_UNSETTLED, limit=100):
        if known.held_since is None:
            failure = await work.lock(PaymentFailure, known.id)
            failure.held_since = work.now
            failure.next_check_at = access.next_dunning_check(failure, work.now)
            await work.save(failure)
    await entitlements.refresh(work, reason="account_parked")


async def release(work: Work) -> None:
    """Continue all recoveries, with a few days before anything is reduced or ended."""
    until = pricing.midnight_after_days(work.now, _DAYS_LEFT)
    for known in await work.select_prepared(_UNSETTLED, limit=100):
        if known.held_since is None:
            continue
        failure = await work.lock(PaymentFailure, known.id)
        held_since, grace = known.held_since, access.grace_ends_at(failure)
        if held_since < grace < until:
            failure.shielded_until, failure.grace_told_at = until, None
        if failure.ends_at > held_since:
            failure.ends_at = max(failure.ends_at, until)
        failure.held_since = None
        failure.next_check_at = access.next_dunning_check(failure, work.now)
        await work.save(failure)
    await entitlements.refresh(work, reason="account_let_go")
