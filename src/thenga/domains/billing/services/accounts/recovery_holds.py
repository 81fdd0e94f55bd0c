"""Recoveries of a parked account wait: what nobody can pay reduces nothing (BIL-51)."""

from sqlalchemy import select

from thenga.domains.billing.lifecycles import PaymentFailureLifecycle
from thenga.domains.billing.services import access, entitlements, pricing
from thenga.domains.billing.tables import PaymentFailure
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work

_DAYS_LEFT = 3  # once it goes on there is at least so much time to pay
_UNSETTLED = (
    select(PaymentFailure)
    .where(
        among(
            PaymentFailure.__table__.c.status,
            [one.value for one in PaymentFailureLifecycle.UNSETTLED],
        )
    )
    .order_by(PaymentFailure.id)
)


async def hold(work: Work) -> None:
    """The account was parked: from now on time takes nothing away."""
    for known in await work.select_prepared(_UNSETTLED, limit=100):
        if known.held_since is None:
            failure = await work.lock(PaymentFailure, known.id)
            failure.held_since = work.now
            failure.next_check_at = access.next_dunning_check(failure, work.now)
            await work.save(failure)
    await entitlements.refresh(work, reason="account_parked")


async def release(work: Work) -> None:
    """The account goes on: what would have been reduced or ended meanwhile has some days left."""
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
