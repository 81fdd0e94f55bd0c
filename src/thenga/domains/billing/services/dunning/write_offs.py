"""Write-offs: an operator gives up an invoice and says why (BIL-43)."""

from uuid import UUID

from thenga.domains.billing.services import customer, ledger
from thenga.domains.billing.services.dunning import recovery
from thenga.domains.billing.tables import Invoice, Subscription
from thenga.kernel.db.work import Work


async def write_off(work: Work, invoice_id: UUID, *, reason: str) -> Invoice:
    """Write off the unpaid amount and end its recovery."""
    known = await work.get(Invoice, invoice_id)
    await customer.lock_account(work)
    bought = known.subscription_id and await work.find(Subscription, id=known.subscription_id)
    if bought:
        await work.hold(bought)
    invoice = await work.lock(Invoice, invoice_id)
    if await ledger.write_off_rest(work, invoice):
        await recovery.end_written_off(work, invoice.id)
        work.note("write_off", ("invoice", invoice.id), {"reason": reason})
    return invoice
