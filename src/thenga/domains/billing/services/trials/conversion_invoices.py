"""The unpaid invoice of a trial conversion, which any later decision replaces."""

from datetime import datetime

from sqlalchemy import select

from thenga.domains.billing.services import invoicing, payments
from thenga.domains.billing.tables import (
    Invoice,
    InvoiceStatus,
    Payment,
    Purpose,
    Subscription,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work


async def drop_unpaid_conversion(work: Work, subscription: Subscription) -> None:
    """Discard an unpaid conversion, unless it is being charged.

    A later payment for the discarded draft becomes credit (BIL-33).
    """
    await check_no_charge_in_progress(work, subscription)
    for draft in await _waiting(work, subscription):
        await invoicing.discard_draft(work, await work.lock(Invoice, draft.id))


async def check_no_charge_in_progress(read: Reader, subscription: Subscription) -> None:
    """Refuse while the conversion is being charged."""
    charged = await charging(read, subscription)
    if charged is not None:
        raise payments.PaymentInProgress(
            "This purchase is being charged. Wait for the result of the payment.",
            paymentId=str(charged.id),
        )


async def charging(read: Reader, subscription: Subscription) -> Payment | None:
    """The charge in progress. A page that waits for the customer is not one."""
    for draft in await _waiting(read, subscription):
        payment = await payments.charge_in_progress(read, draft.id)
        if payment is not None:
            return payment
    return None


async def transfer_awaited_until(read: Reader, subscription: Subscription) -> datetime | None:
    """Until when the conversion waits for a bank transfer. None if it waits for none."""
    for draft in await _waiting(read, subscription):
        until = await payments.transfer_awaited_until(read, draft.id)
        if until is not None and read.now < until:
            return until
    return None


async def _waiting(read: Reader, subscription: Subscription) -> list[Invoice]:
    statement = select(Invoice).where(
        Invoice.subscription_id == subscription.id,
        Invoice.purpose == Purpose.CONVERSION,
        Invoice.status == InvoiceStatus.DRAFT,
        Invoice.released_at.is_(None),
    )
    return await read.all(statement, limit=10)
