"""What the database itself refuses: issued documents stay, and drafts add up."""

from uuid import uuid4

import asyncpg
import pytest

from tests.factories import billing, documents
from thenga.domains.billing.services.invoicing import invoices
from thenga.domains.billing.tables import Invoice
from thenga.kernel.errors import InvalidTransition
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

CHANGES = {
    "gross": "UPDATE billing.invoice SET gross_minor = gross_minor + 1, net_minor = net_minor + 1",
    "number": "UPDATE billing.invoice SET number = 'TI-9999999'",
    "date": "UPDATE billing.invoice SET issue_date = issue_date - 1",
    "recipient": "UPDATE billing.invoice SET recipient = '{}'",
    "seller": "UPDATE billing.invoice SET seller = '{}'",
    "delete": "DELETE FROM billing.invoice",
    "line": "UPDATE billing.invoice_line SET description = 'Something else'",
    "line delete": "DELETE FROM billing.invoice_line",
}


@pytest.mark.rule("BIL-27")
@pytest.mark.parametrize("change", CHANGES)
async def test_even_the_administrator_cannot_change_an_issued_invoice(
    host: Host, settings: Settings, seeded: None, change: str
):
    invoice = await documents.issued(host, uuid4())
    where = "invoice_id" if "invoice_line" in CHANGES[change] else "id"
    admin = await asyncpg.connect(settings.admin_database.get_secret_value())

    with pytest.raises(asyncpg.RaiseError, match="was issued and stays as it is"):
        await admin.execute(f"{CHANGES[change]} WHERE {where} = $1", invoice.id)
    await admin.close()


@pytest.mark.rule("BIL-27")
async def test_a_planted_line_does_not_join_an_issued_invoice(host: Host, seeded: None):
    invoice = await documents.issued(host, uuid4())
    work = billing.working(host, invoice.organization_id)

    with pytest.raises(asyncpg.RaiseError, match="joins only what was not issued yet"):
        await work.add(invoices._line(invoice, 2, documents.line()))
    await work.close()


BROKEN = {
    "adds_up": "SET vat_minor = vat_minor + 1",
    "numbered": "SET status = 'open'",
    "dated": "SET number = 'TI-9999998', status = 'open'",
    "due": "SET amount_due_minor = gross_minor + 1",
}


@pytest.mark.rule("BIL-48")
@pytest.mark.parametrize("rule", BROKEN)
async def test_a_planted_draft_that_does_not_add_up_is_refused(host: Host, seeded: None, rule: str):
    made = await documents.draft(host, uuid4())
    async with host.engines.connection("billing", "billing_system") as connection:
        with pytest.raises(asyncpg.CheckViolationError, match=f"invoice_{rule}"):
            await connection.execute(
                f"UPDATE billing.invoice {BROKEN[rule]} WHERE id = $1", made.id
            )


async def test_what_waits_for_its_number_cannot_be_discarded(host: Host, seeded: None):
    made = await documents.draft(host, uuid4(), released=True)
    work = billing.working(host, made.organization_id)
    held = await work.lock(Invoice, made.id)

    with pytest.raises(InvalidTransition, match="is being issued"):
        await invoices.discard_draft(work, held)
    await work.close()
