"""Bank transfers that an operator confirms."""

from datetime import date
from uuid import UUID

import asyncpg

from thenga.domains.billing.services import customer, payments
from thenga.domains.billing.services.payments import ReportSource
from thenga.domains.billing.services.settlement import provider_results
from thenga.domains.billing.tables import (
    Payment,
    PaymentStatus,
)
from thenga.domains.billing.values.provider import (
    ProviderReport,
    StatedStatus,
    StatementKind,
)
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import Duplicate, RuleViolated
from thenga.kernel.values.calendar import local_day, local_midnight
from thenga.kernel.values.money import Money


async def confirm_transfer(
    work: Work, payment_id: UUID, *, bank_reference: str, received_on: date, amount: Money
) -> Payment:
    """Record a received transfer. Repeating it with the same bank reference changes nothing."""
    await customer.lock_account(work)
    payment = await work.lock(Payment, payment_id)
    done = payment.status is PaymentStatus.SUCCEEDED
    if done and payment.bank_reference == bank_reference:
        return payment
    if done or payment.provider != payments.EFT:
        raise not_possible(
            "Only a pending bank transfer can be confirmed. Check the provider and status.",
            status=payment.status,
            operation="confirm",
            allowed=[],
        )
    _check(payment, received_on, amount, local_day(work.now))
    payment.bank_reference = bank_reference
    try:
        await work.save(payment)
    except asyncpg.UniqueViolationError:
        raise Duplicate(
            "This bank reference already confirmed another payment. Use the reference of the "
            "transfer that paid this one.",
            field="bankReference",
        ) from None
    stated = ProviderReport(
        reference=payment.reference,
        kind=StatementKind.PAYMENT,
        status=StatedStatus.SUCCEEDED,
        provider_reference=bank_reference,
        amount_minor=amount.minor,
        currency=amount.currency,
        provider_at=local_midnight(received_on),
    )
    recorded = await provider_results.apply_report(
        work, payment.id, stated, ReportSource("operator")
    )
    return recorded.payment


def _check(payment: Payment, received_on: date, amount: Money, today: date) -> None:
    if amount != payment.amount:
        raise RuleViolated(
            f"This payment is for {payment.amount}. Ask finance to record any other amount.",
            rule="amount-as-due",
        )
    if received_on > today:
        raise RuleViolated(
            "`receivedOn` is in the future. Confirm the transfer once it has arrived.",
            rule="not-in-future",
        )
