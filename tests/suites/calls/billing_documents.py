"""Calls of invoices, credit notes and statements."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from tests.factories import documents, identity
from tests.factories.identity import Person
from tests.suites.calls.sending import Maker, Sent, filled
from thenga.domains.billing.tables import Book, Invoice
from thenga.kernel.process.host import Host

Before = Callable[[Host, UUID], Awaitable[dict[str, UUID]]]


async def _issued(host: Host, organization_id: UUID) -> Invoice:
    made = await documents.issued(host, organization_id, book=Book.SANDBOX)
    await documents.print_all(host, organization_id, made.id)
    return made


async def _invoice(host: Host, organization_id: UUID) -> dict[str, UUID]:
    return {"invoiceId": (await _issued(host, organization_id)).id}


async def _note(host: Host, organization_id: UUID) -> dict[str, UUID]:
    (note,) = await documents.credited(host, await _issued(host, organization_id), "10.00")
    await documents.print_all(host, organization_id, note.id)
    return {"creditNoteId": note.id}


async def _account(host: Host, organization_id: UUID) -> dict[str, UUID]:
    return {"accountId": (await _issued(host, organization_id)).account_id}


def _in(before: Before, *, named: bool = True) -> Maker:
    """In an organization that the header names."""

    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        ids = await before(host, organization_id)
        headers = {"X-Organization-Id": str(organization_id)}
        return Sent(ids if named else {}, headers=headers)

    return make


async def _by_staff(host: Host, organization_id: UUID) -> dict[str, str]:
    operator = await identity.staff(host, "platform_operator")
    return operator.headers | {"X-Organization-Id": str(organization_id)}


async def _crediting(host: Host, who: Person, organization_id: UUID) -> Sent:
    invoice = await _issued(host, organization_id)
    line = (await documents.lines(host, invoice))[0]
    body: dict[str, Any] = filled({"reasonCode": "goodwill", "explanation": "As agreed *"})
    gross = {"amount": "1.00", "currency": "ZAR"}
    body["lines"] = [{"invoiceLineId": str(line.id), "gross": gross}]
    headers = await _by_staff(host, organization_id)
    return Sent({"invoiceId": invoice.id}, lambda _: body, headers, by_staff=True)


async def _writing_off(host: Host, who: Person, organization_id: UUID) -> Sent:
    invoice = await _issued(host, organization_id)
    body = filled({"reason": "Asked for in case */2026"})
    headers = await _by_staff(host, organization_id)
    return Sent({"invoiceId": invoice.id}, lambda _: body, headers, by_staff=True)


MAKERS: dict[str, Maker] = {
    "list_invoices": _in(_invoice, named=False),
    "get_invoice": _in(_invoice),
    "print_invoice": _in(_invoice),
    "write_off_invoice": _writing_off,
    "issue_credit_note": _crediting,
    "list_credit_notes": _in(_note, named=False),
    "get_credit_note": _in(_note),
    "print_credit_note": _in(_note),
    "get_billing_statement": _in(_account),
}
