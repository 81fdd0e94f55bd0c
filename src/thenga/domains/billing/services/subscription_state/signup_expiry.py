"""A sign-up that is not paid in time expires without a document (BIL-15)."""

from sqlalchemy import select

from thenga.domains.billing.lifecycles import SubscriptionLifecycle
from thenga.domains.billing.services import invoicing, payments
from thenga.domains.billing.services.subscription_state.transitions import (
    UNPAID_FOR,
    publish_change,
    schedule_next_check,
)
from thenga.domains.billing.tables import (
    Invoice,
    InvoiceStatus,
    Purpose,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work


async def run_due_signup_steps(work: Work, subscription: Subscription) -> None:
    """Expire a sign-up that was not paid in time."""
    if await is_signup_expired(work, subscription):
        await expire(work, subscription)


async def is_signup_expired(read: Reader, subscription: Subscription) -> bool:
    """Whether a sign-up has expired. A charge in progress or a bank transfer delays it."""
    if subscription.status is not SubscriptionStatus.INCOMPLETE:
        return False
    if read.now < subscription.created_at + UNPAID_FOR:
        return False
    draft = await first_invoice(read, subscription)
    if draft is None:
        return True
    until = await payments.transfer_awaited_until(read, draft.id)
    awaited = until is not None and read.now < until
    return not awaited and await payments.charge_in_progress(read, draft.id) is None


async def expire_previous_signup(work: Work, subscription: Subscription) -> None:
    """Expire an unpaid sign-up that a new one replaces."""
    if subscription.status is SubscriptionStatus.INCOMPLETE:
        await expire(work, subscription)


async def expire(work: Work, subscription: Subscription) -> None:
    """Expire a sign-up and discard its draft. A later payment becomes credit (BIL-33)."""
    if not SubscriptionLifecycle.expire(subscription, at=work.now):
        return
    draft = await first_invoice(work, subscription)
    if draft is not None:
        await invoicing.discard_draft(work, await work.lock(Invoice, draft.id))
    await schedule_next_check(work, subscription)
    await work.save(subscription)
    await publish_change(work, subscription, "expired")


async def first_invoice(read: Reader, subscription: Subscription) -> Invoice | None:
    """The draft of the first payment."""
    statement = select(Invoice).where(
        Invoice.subscription_id == subscription.id,
        Invoice.purpose == Purpose.FIRST,
        Invoice.status == InvoiceStatus.DRAFT,
    )
    found = await read.all(statement, limit=1)
    return found[0] if found else None
