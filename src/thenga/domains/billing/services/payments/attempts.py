"""Payments: one attempt to collect an invoice, never two at once (BIL-30)."""

import secrets
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal
from uuid import UUID

from sqlalchemy import bindparam, select

from thenga.domains.billing.lifecycles import PaymentLifecycle
from thenga.domains.billing.services import invoicing, ledger
from thenga.domains.billing.services.customer import AccountParked
from thenga.domains.billing.services.payments import (
    card_networks,
    methods,
    polling,
    provider_orders,
    providers,
)
from thenga.domains.billing.tables import (
    Account,
    Book,
    Decline,
    Invoice,
    Payment,
    PaymentMethod,
    PaymentStatus,
    ProviderStatement,
)
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, on_local_days, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import NotFound, Problem, RuleViolated, extensions

_RUNNING = (
    select(Payment)
    .where(
        Payment.invoice_id == bindparam("invoice_id"),
        among(Payment.status, PaymentLifecycle.OPEN),
    )
    .order_by(Payment.id.desc())
)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_REFERENCE_LENGTH = 16  # fits every provider's limit

start_payment = job_stub("billing.start_payment", form=Form.OUTSIDE, key="{payment_id}")
charge_payment = job_stub("billing.charge_payment", form=Form.OUTSIDE, key="{payment_id}")


class PaymentInProgress(Problem):
    """A payment is in progress, and an invoice is charged once at a time. Wait for its result:
    read the payment in `paymentId`, then try again if it failed."""

    code, status, title = "billing-payment-in-progress", 409, "A payment is in progress"
    members = extensions(paymentId=(UUID, "Payment in progress."))


class PaymentMethodRequired(Problem):
    """No saved payment method can be charged. Add one, or pay with a provider."""

    code, status, title = "billing-payment-method-required", 422, "A payment method is required"


class RetryLimit(Problem):
    """A failed payment can be retried five times in 24 hours, and a card as often as the card
    networks allow. Try again after `nextAllowedAt`, or use another payment method."""

    code, status, title = "billing-retry-limit", 409, "Too many payment attempts"
    members = extensions(nextAllowedAt=(datetime, "Time from which it is possible again."))


def exactly_one_choice() -> RuleViolated:
    """The refusal if a request names both a payment method and a provider, or neither."""
    return RuleViolated(
        "Name either a saved payment method or a provider, not both.", rule="one-way"
    )


@dataclass(frozen=True, slots=True)
class PaymentChoice:
    """How an invoice is paid: with a saved method or on a provider's page."""

    payment_method_id: UUID | None = None
    provider: str | None = None
    return_url: str | None = None

    def __post_init__(self) -> None:
        if self.payment_method_id is not None and self.provider is not None:
            raise exactly_one_choice()


async def begin_payment(
    work: Work,
    account: Account,
    invoice: Invoice,
    *,
    how: PaymentChoice,
    initiated_by: Literal["customer", "system"],
    attempt: int = 0,
) -> Payment:
    """Start collecting the amount due. Repeating the same choice returns the payment in
    progress."""
    if account.parked is not None and work.held_as != HeldAs.PLATFORM:
        raise AccountParked()
    _check_due(invoice)
    await invoicing.check_seller(work, invoice.seller_code, invoice.book)
    method = await _method(work, how)
    provider = method.provider if method is not None else how.provider
    if provider is None:
        raise PaymentMethodRequired()
    await providers.check(work, account, provider)
    await providers.check_return(work, how.return_url)
    known = await payment_in_progress(work, invoice.id)
    if known is not None and _is_same(known, provider, method, invoice, work.now):
        return known
    if method is not None:
        await _check_bounds(work, method, invoice)
    await _supersede(work, known)
    payment = _made(account, invoice, provider, method, how)
    payment.initiated_by, payment.attempt = initiated_by, attempt
    await _send(work, payment, invoice.book)
    await ledger.refresh_collection_status(work, invoice)
    return payment


def _check_due(invoice: Invoice) -> None:
    if invoice.amount_due_minor <= 0:
        raise not_possible(
            "Nothing is due on this invoice, so there is nothing to pay.",
            status=invoice.status,
            operation="pay",
            allowed=[],
        )


async def _method(work: Work, how: PaymentChoice) -> PaymentMethod | None:
    if how.payment_method_id is None:
        return None
    try:
        method = await work.get(PaymentMethod, how.payment_method_id)
    except NotFound:
        raise PaymentMethodRequired(
            "This payment method does not exist. Choose a saved one, or add one."
        ) from None
    if not methods.is_chargeable(method, work.now):
        raise PaymentMethodRequired(
            "This payment method can no longer be charged. Choose another, or add one."
        )
    return method


async def _check_bounds(read: Reader, method: PaymentMethod, invoice: Invoice) -> None:
    allowed = await next_charge_allowed(read, method.id, invoice)
    if allowed > read.now:
        raise RetryLimit(nextAllowedAt=allowed.isoformat())


async def next_charge_allowed(read: Reader, method_id: UUID, invoice: Invoice) -> datetime:
    """When a method can be charged again. Card networks count every decline of the same amount,
    whatever it was for (BIL-42)."""
    table = Payment.__table__
    statement = select(table.c.created_at).where(
        table.c.payment_method_id == method_id,
        table.c.amount_minor == invoice.amount_due_minor,
        table.c.currency == invoice.currency,
        table.c.status == PaymentStatus.FAILED.value,
        table.c.created_at > read.now - card_networks.MONTH,
    )
    refusals = await read.values(statement.order_by(table.c.created_at.desc()), limit=100)
    return card_networks.next_attempt_at(refusals, read.now)


def _is_same(
    known: Payment, provider: str, method: PaymentMethod | None, invoice: Invoice, now: datetime
) -> bool:
    """Whether it is the same choice and, if the customer has yet to pay, the amount still due."""
    if (known.provider, known.payment_method_id) != (provider, method and method.id):
        return False
    due = known.amount_minor == invoice.amount_due_minor
    return known.status is PaymentStatus.PROCESSING or (
        due and not provider_orders.is_payment_expired(known, now)
    )


async def _supersede(work: Work, known: Payment | None) -> None:
    """Supersede a payment that waits for the customer. It can still succeed (BIL-33)."""
    if known is None:
        return
    if known.status is PaymentStatus.PROCESSING:
        raise PaymentInProgress(paymentId=str(known.id))
    former = await work.lock(Payment, known.id)
    if former.status is PaymentStatus.PROCESSING:
        raise PaymentInProgress(paymentId=str(known.id))
    if former.status in PaymentLifecycle.OPEN:
        PaymentLifecycle.cancel(former, at=work.now)
        former.next_check_at, former.next_action = None, None
        await work.save(former)


def new_reference() -> str:
    """The reference that identifies a payment at the provider."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_REFERENCE_LENGTH))


def _made(
    account: Account,
    invoice: Invoice,
    provider: str,
    method: PaymentMethod | None,
    how: PaymentChoice,
) -> Payment:
    return Payment(
        organization_id=account.organization_id,
        account_id=account.id,
        invoice_id=invoice.id,
        subscription_id=invoice.subscription_id,
        payment_method_id=None if method is None else method.id,
        provider=provider,
        reference=new_reference(),
        amount_minor=invoice.amount_due_minor,
        currency=invoice.currency,
        return_url=how.return_url,
        initiated_by="customer",
    )


async def _send(work: Work, payment: Payment, book: Book) -> None:
    """Enqueue the call to the provider. A bank transfer needs none."""
    if payment.payment_method_id is not None:
        payment.status = PaymentStatus.PROCESSING
        payment.next_check_at = polling.next_poll_at(work.now, work.now)
        await work.add(payment)
        work.enqueue(charge_payment, payment_id=payment.id)
        return
    if payment.provider == providers.EFT:
        bank = await providers.bank(work, book)
        payment.status = PaymentStatus.REQUIRES_ACTION
        payment.next_action = {
            "kind": "bank_transfer",
            "url": None,
            "fields": ordered_fields({**bank, "reference": payment.reference}),
            "expiresAt": None,  # a bank transfer is valid whenever it arrives
        }
        await work.add(payment)
        return
    payment.next_check_at = polling.next_poll_while_open(work.now, work.now)
    await work.add(payment)
    work.enqueue(start_payment, payment_id=payment.id)


_BY_CODE = {
    "51": "There are not enough funds on this card. Try again later, or pay another way.",
    "54": "This card has expired. Add a new one.",
}
_BY_CATEGORY = {
    "soft": "The bank declined this payment. Try again later, or pay another way.",
    "hard": "The bank no longer accepts this card. Add another payment method.",
    "authentication": "Your bank needs you to approve this payment. Complete it on the provider's "
    "page.",
    "technical": "The provider could not process this payment. Nothing was charged. Try again.",
}


def describe_decline(decline: Decline) -> str:
    """Explain to the payer why a payment failed."""
    return _BY_CODE.get(decline.code or "") or _BY_CATEGORY[decline.category]


def ordered_fields(fields: dict[str, str] | None) -> list[dict[str, str]] | None:
    """Form fields as a list, because a signature can depend on their order."""
    if fields is None:
        return None
    return [{"name": name, "value": value} for name, value in fields.items()]


async def payment_in_progress(read: Reader, invoice_id: UUID) -> Payment | None:
    """The payment in progress of an invoice, a charge before others."""
    found = await read.select_prepared(_RUNNING, limit=100, invoice_id=invoice_id)
    charged = [payment for payment in found if payment.status is PaymentStatus.PROCESSING]
    return next(iter([*charged, *found]), None)


async def charge_in_progress(read: Reader, invoice_id: UUID) -> Payment | None:
    """The charge in progress of an invoice. A page that waits for the customer is not one."""
    known = await payment_in_progress(read, invoice_id)
    return known if known is not None and known.status is PaymentStatus.PROCESSING else None


async def transfer_awaited_until(read: Reader, invoice_id: UUID) -> datetime | None:
    """Until when a purchase waits for a bank transfer. None if none was chosen.

    It counts from the first choice. A page opened later does not end it, because the money may be
    on its way.
    """
    statement = select(Payment).where(
        Payment.invoice_id == invoice_id, Payment.provider == providers.EFT
    )
    found = await read.all(statement.order_by(Payment.id), limit=1)
    return found[0].created_at + polling.TRANSFER_FOR if found else None


async def payments_of_invoice(read: Reader, invoice_id: UUID) -> list[Payment]:
    """All attempts to pay an invoice, oldest first."""
    statement = select(Payment).where(Payment.invoice_id == invoice_id)
    return await read.all(statement.order_by(Payment.id), limit=200)


async def pay_invoice(work: Work, *, invoice_id: UUID, how: PaymentChoice) -> tuple[Payment, bool]:
    """Pay an invoice, and return whether the payment is new."""
    if how.payment_method_id is None and how.provider is None:
        raise exactly_one_choice()
    account = await work.lock_by(Account)
    invoice = await work.get(Invoice, invoice_id)
    known = await payment_in_progress(work, invoice.id)
    payment = await begin_payment(work, account, invoice, how=how, initiated_by="customer")
    return payment, known is None or known.id != payment.id


async def reports_of(read: Reader, payment_id: UUID) -> list[ProviderStatement]:
    """The reports about a payment, in the order received."""
    statement = select(ProviderStatement).where(ProviderStatement.payment_id == payment_id)
    return await read.all(statement.order_by(ProviderStatement.id), limit=200)


async def list_payments(
    read: Reader,
    paged: Paged,
    *,
    status: PaymentStatus | None,
    invoice_id: UUID | None,
    provider: str | None,
    since: date | None,
    until: date | None,
) -> Slice[Payment]:
    """The organization's payments. Days are local and both included."""
    statement = select(Payment)
    statement = where_given(
        statement,
        (Payment.status, status),
        (Payment.invoice_id, invoice_id),
        (Payment.provider, provider),
    )
    statement = on_local_days(statement, Payment.created_at, since, until)
    return await read.page(statement, paged)
