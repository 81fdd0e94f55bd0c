"""Park instead of guess: an account whose books are in doubt is not billed by itself (BIL-51).

Access stays as it is. What a night parked, a later night that finds nothing wrong lets go again;
what lacked tax data goes on once they are told; everything else waits for an operator.
"""

from collections.abc import Set
from datetime import timedelta
from uuid import UUID

import structlog

from thenga.domains.billing.services import customer
from thenga.domains.billing.services.accounts import accounts, recovery_holds
from thenga.domains.billing.tables import (
    Cancellation,
    Invoice,
    Parked,
    PaymentFailure,
    Subscription,
    Trial,
)
from thenga.kernel.db.work import Work

log = structlog.get_logger()

IN_DOUBT = "ledger_check_failed"
BROKEN = "invariant_broken"
Timed = Trial | Subscription | Invoice | PaymentFailure | Cancellation
_LATER = timedelta(hours=1)

_PARKED = "SELECT organization_id FROM billing.account WHERE parked ->> 'reason' = $1"


async def follow_check(work: Work, wrong: Set[UUID]) -> None:
    """As the system login, after a night: stop whose books are in doubt, let go the others."""
    for organization_id in sorted(wrong):
        work.enqueue(customer.park_account, organization_id=organization_id, reason=IN_DOUBT)
    parked = {row["organization_id"] for row in await work.query(_PARKED, IN_DOUBT)}
    for organization_id in sorted(parked - wrong):
        work.enqueue(customer.free_account, organization_id=organization_id, reason=IN_DOUBT)


async def park(work: Work, *, reason: str) -> None:
    """Stop automatic billing of the account; the first reason stands."""
    account = await customer.lock_account(work)
    if account.parked is None:
        account.parked = Parked(reason, work.now).to_row()
        await work.save(account)
        await recovery_holds.hold(work)
        log.error("billing.account.parked", reason=reason)


async def park_broken(work: Work, row: type[Timed], row_id: UUID, *, broken: str) -> None:
    """What time was to do with a row would have broken an invariant: somebody has to look, and it
    is not tried again every few seconds."""
    log.error("billing.invariant.broken", row=row.__table__.name, row_id=str(row_id), broken=broken)
    await park(work, reason=BROKEN)
    held: Timed = await work.lock(row, row_id)
    held.next_check_at = work.now + _LATER
    await work.save(held)


async def unpark(work: Work, *, reason: str) -> None:
    """Go on, where it was parked for this reason and nothing else."""
    account = await customer.lock_account(work)
    if account.is_parked_for(reason):
        account.parked = None
        await work.save(account)
        await accounts.resume_billing(work)
