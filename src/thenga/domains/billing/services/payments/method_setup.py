"""Adding a payment method: a charge of one rand verifies the card and stays as credit."""

from uuid import UUID

from thenga.domains.billing.services import invoicing
from thenga.domains.billing.services.invoicing import DraftLine
from thenga.domains.billing.services.payments import attempts, providers
from thenga.domains.billing.services.payments.attempts import PaymentChoice
from thenga.domains.billing.tables import Account, LineKind, Payment, Purpose
from thenga.kernel.db.work import Work
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.money import Money

_FIRST_CHARGE = Money.of("1.00")


async def add_method(
    work: Work, account_id: UUID, *, provider: str, return_url: str | None
) -> Payment:
    """Send the customer to the provider. The method exists once the charge succeeds."""
    account = await work.lock(Account, account_id)
    await providers.check_charging(work, account, provider)
    line = DraftLine(
        kind=LineKind.ADJUSTMENT,
        description="Card verification, kept as credit",
        quantity=1,
        unit_price=_FIRST_CHARGE,
        gross=_FIRST_CHARGE,
        service=None,
        subscription_id=None,
        plan_code=None,
        plan_version=None,
        key=f"method:{new_id()}",
    )
    invoice = await invoicing.draft_invoice(
        work, account, purpose=Purpose.METHOD, lines=[line], subscription_id=None
    )
    how = PaymentChoice(provider=provider, return_url=return_url)
    return await attempts.begin_payment(work, account, invoice, how=how, initiated_by="customer")
