"""The orders that jobs send to a provider, and the expiry of payments (BIL-32)."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from thenga.domains.billing.lifecycles import PaymentLifecycle
from thenga.domains.billing.services.payments import methods, polling, providers
from thenga.domains.billing.tables import (
    Account,
    Invoice,
    Payment,
    PaymentMethod,
    PaymentStatus,
    Purpose,
)
from thenga.domains.billing.values.provider import (
    ChargeOrder,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Conflict

_WAITS = (PaymentStatus.CREATED, PaymentStatus.REQUIRES_ACTION)


class OrderStep(StrEnum):
    """What to do with a payment now."""

    NOTHING = "nothing"
    START = "start"
    CHARGE = "charge"
    ASK = "ask"
    EXPIRE = "expire"


@dataclass(frozen=True, slots=True)
class Due:
    """A step and the order to send."""

    step: OrderStep
    order: ChargeOrder | None = None


async def next_order_step(read: Reader, payment_id: UUID) -> Due:
    """The step that is due for a payment."""
    payment = await read.get(Payment, payment_id)
    step = _step(payment, read)
    order = None if step in (OrderStep.NOTHING, OrderStep.EXPIRE) else await _order(read, payment)
    return Due(step, order)


def _step(payment: Payment, read: Reader) -> OrderStep:
    when = payment.next_check_at
    if when is None or when > read.now:
        return OrderStep.NOTHING
    if is_payment_expired(payment, read.now):
        return OrderStep.EXPIRE
    if payment.status is PaymentStatus.CREATED:
        return OrderStep.START
    if payment.status is PaymentStatus.REQUIRES_ACTION:
        return OrderStep.ASK
    if payment.status is PaymentStatus.PROCESSING:
        return OrderStep.CHARGE if payment.charge_again else OrderStep.ASK
    return OrderStep.NOTHING


async def checkout_order(read: Reader, payment_id: UUID) -> ChargeOrder | None:
    """The order for a payment on the provider's page."""
    payment = await read.get(Payment, payment_id)
    return await _order(read, payment) if payment.status is PaymentStatus.CREATED else None


async def charge_order(read: Reader, payment_id: UUID) -> ChargeOrder | None:
    """The order for a charge of a saved method."""
    payment = await read.get(Payment, payment_id)
    return await _order(read, payment) if payment.status is PaymentStatus.PROCESSING else None


async def claim_charge(work: Work, payment_id: UUID) -> None:
    """Claim a repeated charge, so that another worker only polls if this one dies.

    A payment that was decided or claimed by another worker is a conflict, and nothing is charged.
    """
    payment = await work.lock(Payment, payment_id)
    if payment.status is not PaymentStatus.PROCESSING or not payment.charge_again:
        raise Conflict("This payment is being charged by another worker.")
    payment.charge_again = False
    await work.save(payment)


async def _order(read: Reader, payment: Payment) -> ChargeOrder:
    account = await read.get(Account, payment.account_id)
    invoice = await read.get(Invoice, payment.invoice_id)
    settings = read.host.settings
    token = None
    if payment.payment_method_id is not None:
        method = await read.get(PaymentMethod, payment.payment_method_id)
        token = methods.token_of(read.host, method) if method.sealed_token else None
    base = settings.base_url.rstrip("/")
    emails = account.invoice_emails or ["billing@thenga.example"]
    return ChargeOrder(
        provider=payment.provider,
        key=str(payment.id),
        reference=payment.reference,
        provider_reference=payment.provider_reference,
        amount_minor=payment.amount_minor,
        currency=payment.currency,
        description=_described(invoice),
        email=emails[0],
        notify_url=f"{base}/v1/billing/providers/{payment.provider}/callbacks",
        return_url=payment.return_url,
        token=token,
    )


def _described(invoice: Invoice) -> str:
    if invoice.purpose is Purpose.METHOD:
        return "Thenga card verification"
    return f"Thenga {invoice.number}" if invoice.number else "Thenga"


def is_payment_expired(payment: Payment, now: datetime) -> bool:
    """Whether nobody has paid within a day. A bank transfer can take longer."""
    waited = payment.status in _WAITS and payment.provider != providers.EFT
    return waited and now >= payment.created_at + polling.OPEN_FOR


async def expire_payment(work: Work, payment_id: UUID) -> None:
    """Mark a payment as expired. A later payment still counts (BIL-33)."""
    payment = await work.lock(Payment, payment_id)
    if is_payment_expired(payment, work.now):
        PaymentLifecycle.expire(payment, at=work.now)
        payment.next_check_at, payment.next_action = None, None
        await work.save(payment)
