"""Parking: automatic billing of an account stops if its books are in doubt (BIL-51).

Access does not change. A later check without findings unparks what a check parked; adding the
missing tax data unparks an account parked for it; everything else needs an operator.
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


async def apply_check_result(work: Work, wrong: Set[UUID]) -> None:
    """Park accounts with errors and unpark those without, as the system login."""
    for organization_id in sorted(wrong):
        work.enqueue(customer.park_account, organization_id=organization_id, reason=IN_DOUBT)
    parked = {row["organization_id"] for row in await work.query(_PARKED, IN_DOUBT)}
    for organization_id in sorted(parked - wrong):
        work.enqueue(customer.free_account, organization_id=organization_id, reason=IN_DOUBT)


async def park(work: Work, *, reason: str) -> None:
    """Stop automatic billing of the account. The first reason is kept."""
    account = await customer.lock_account(work)
    if account.parked is None:
        account.parked = Parked(reason, work.now).to_row()
        await work.save(account)
        await recovery_holds.hold(work)
        log.error("billing.account.parked", reason=reason)


async def park_broken(work: Work, row: type[Timed], row_id: UUID, *, broken: str) -> None:
    """Park the account of a row whose scheduled step would break an invariant, and try that step
    again only in an hour."""
    log.error("billing.invariant.broken", row=row.__table__.name, row_id=str(row_id), broken=broken)
    await park(work, reason=BROKEN)
    held: Timed = await work.lock(row, row_id)
    held.next_check_at = work.now + _LATER
    await work.save(held)


async def unpark(work: Work, *, reason: str) -> None:
    """Resume billing if the account was parked for this reason."""
    account = await customer.lock_account(work)
    if account.is_parked_for(reason):
        account.parked = None
        await work.save(account)
        await accounts.resume_billing(work)
