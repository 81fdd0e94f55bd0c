"""Events and letters of a recovery: first failure, each attempt, end of grace (BIL-40)."""

from typing import Literal
from uuid import UUID

from thenga.domains.billing import public
from thenga.domains.billing.services import access, customer
from thenga.domains.billing.tables import FailureCategory, FailureKind, Invoice, PaymentFailure
from thenga.kernel.db.work import Work
from thenga.kernel.values.money import Money

_UNUSABLE = (FailureCategory.HARD,)


def failure_remedy(
    invoice: Invoice, category: FailureCategory, kind: FailureKind = FailureKind.DECLINED
) -> public.RemedyTold:
    """What helps: pay, add another method after a hard decline, or contact us after a dispute."""
    helps: Literal["pay_invoice", "update_method", "contact"] = "pay_invoice"
    if kind is FailureKind.DISPUTED:
        helps = "contact"
    elif category in _UNUSABLE:
        helps = "update_method"
    return public.RemedyTold(
        kind=helps,
        invoice_id=invoice.id,
        amount=Money(invoice.amount_due_minor, invoice.currency),
    )


async def notify_failed(
    work: Work, failure: PaymentFailure, invoice: Invoice, *, payment_id: UUID | None
) -> None:
    """Notify of the first failure, each further attempt and each reminder."""
    await work.touch(invoice)
    number = failure.notices - 1
    work.publish(
        public.PaymentFailed(
            organization_id=failure.organization_id,
            payment_id=payment_id,
            failure_id=failure.id,
            invoice_id=invoice.id,
            subscription_id=failure.subscription_id,
            attempt=number,
            category=failure.category.value,
            next_retry_at=failure.next_retry_at,
            grace_ends_at=failure.grace_ends_at,
            remedy=failure_remedy(invoice, failure.category, failure.kind),
        )
    )
    disputed = failure.kind is FailureKind.DISPUTED
    topic = customer.DISPUTE_LOST if disputed else customer.PAYMENT_FAILED
    customer.notify(work, topic, failure.id, number)


async def notify_grace_ending(work: Work, failure: PaymentFailure, invoice: Invoice) -> None:
    """Notify once, some days before access is reduced."""
    grace = access.grace_ends_at(failure)
    work.publish(
        public.GraceEnding(
            organization_id=failure.organization_id,
            failure_id=failure.id,
            subscription_id=failure.subscription_id,
            at=grace,
            amount=Money(invoice.amount_due_minor, invoice.currency),
            remedy=failure_remedy(invoice, failure.category, failure.kind),
        )
    )
    customer.notify(work, customer.GRACE_ENDING, failure.id)
