"""Invoices that wait for money, payments under way, and ways to pay."""

import secrets
from typing import Any
from uuid import UUID

from tests.factories import billing
from thenga.domains.billing.services.invoicing import invoices
from thenga.domains.billing.services.invoicing.invoices import DraftLine
from thenga.domains.billing.services.payments import attempts, methods, refunds
from thenga.domains.billing.services.payments.attempts import PaymentChoice
from thenga.domains.billing.services.payments.provider_reports import ReportOutcome
from thenga.domains.billing.services.settlement.provider_results import apply_report
from thenga.domains.billing.tables import (
    Account,
    Invoice,
    LineKind,
    Payment,
    PaymentMethod,
    PaymentStatus,
    Purpose,
    Refund,
)
from thenga.domains.billing.values.provider import (
    MethodToken,
    ProviderReport,
    StatedStatus,
    StatementKind,
)
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.money import Money

STARTER = Money.of("499.00")


async def invoice(
    host: Host, organization_id: UUID, *, gross: Money = STARTER, purpose: Purpose = Purpose.FIRST
) -> Invoice:
    """A draft that waits for its money."""
    account = await billing.account(host, organization_id, again=True)
    work = billing.working(host, organization_id)
    line = DraftLine(
        kind=LineKind.ADJUSTMENT,
        description="Starter",
        quantity=1,
        unit_price=gross,
        gross=gross,
        service=None,
        subscription_id=None,
        plan_code="starter",
        plan_version=1,
        key=f"test:{new_id()}",
    )
    try:
        made = await invoices.draft_invoice(
            work, account, purpose=purpose, lines=[line], subscription_id=None
        )
        await work.finish()
    finally:
        await work.close()
    return made


async def payment(
    host: Host,
    organization_id: UUID,
    *,
    provider: str = "paystack",
    status: PaymentStatus = PaymentStatus.REQUIRES_ACTION,
    of: Invoice | None = None,
    **fields: Any,
) -> Payment:
    """A payment of an invoice of its own, as far as `status` says."""
    due = of or await invoice(host, organization_id)
    work = billing.working(host, organization_id)
    try:
        made = await work.add(
            Payment(
                organization_id=organization_id,
                account_id=due.account_id,
                invoice_id=due.id,
                provider=provider,
                reference=secrets.token_hex(8).upper(),
                amount_minor=due.amount_due_minor,
                currency=due.currency,
                status=status,
                initiated_by="customer",
                **fields,
            )
        )
        await work.finish()
    finally:
        await work.close()
    return made


async def method(
    host: Host, organization_id: UUID, *, provider: str = "paystack", token: str | None = None
) -> PaymentMethod:
    """A card on file; no money came with it, so no book has to say so."""
    brought = await payment(
        host, organization_id, provider=provider, status=PaymentStatus.CANCELLED
    )
    given = MethodToken(token or f"AUTH_{secrets.token_hex(6)}", brand="visa", last4="4081")
    work = billing.working(host, organization_id)
    try:
        await work.lock_by(Account)
        made = await methods.save_method(work, brought, given)
        await work.finish()
    finally:
        await work.close()
    return made


async def begun(host: Host, organization_id: UUID, how: PaymentChoice) -> Payment:
    """A payment that a service began, with its job."""
    due = await invoice(host, organization_id)
    work = billing.working(host, organization_id)
    try:
        account = await work.lock_by(Account)
        made = await attempts.begin_payment(work, account, due, how=how, initiated_by="system")
        await work.finish()
    finally:
        await work.close()
    return made


def said(of: Payment, status: StatedStatus = StatedStatus.SUCCEEDED, **more: Any) -> ProviderReport:
    """A statement that fits the payment."""
    known: dict[str, Any] = {
        "reference": of.reference,
        "kind": StatementKind.PAYMENT,
        "status": status,
        "provider_reference": f"p-{of.reference}",
        "amount_minor": of.amount_minor,
        "currency": of.currency,
    }
    return ProviderReport(**known | more)


async def taken(host: Host, of: Payment, report: ProviderReport) -> ReportOutcome:
    """What became of a report, in a unit of work of its own."""
    work = billing.working(host, of.organization_id)
    try:
        result = await apply_report(work, of.id, report)
        await work.finish()
    finally:
        await work.close()
    return result


async def paid(host: Host, organization_id: UUID, **fields: Any) -> Payment:
    """A payment whose money came."""
    made = await payment(host, organization_id, **fields)
    return (await taken(host, made, said(made))).payment


async def paid_twice(host: Host, organization_id: UUID, **fields: Any) -> Payment:
    """A payment whose money came twice: the second time it is credit."""
    made = await paid(host, organization_id, **fields)
    again = said(made, provider_reference=f"again-{made.reference}")
    return (await taken(host, made, again)).payment


async def refund(host: Host, organization_id: UUID) -> Refund:
    """A refund that was asked for."""
    made = await paid_twice(host, organization_id, provider="sandbox")
    work = billing.working(host, organization_id)
    try:
        asked = await refunds.request_refund(
            work, made.id, amount=Money.of("1.00"), reason="Paid by mistake"
        )
        await work.finish()
    finally:
        await work.close()
    return asked
