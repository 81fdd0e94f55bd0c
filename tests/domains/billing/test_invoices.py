"""Invoices: what they say, what pays them, and that nothing of it is ever changed."""

import asyncio
from datetime import timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.factories import billing, documents
from tests.factories import identity as people
from thenga.domains.billing import settings
from thenga.domains.billing.services.customer.recipient import TaxDataMissing
from thenga.domains.billing.services.invoicing import invoices
from thenga.domains.billing.services.ledger import credit
from thenga.domains.billing.tables import (
    Account,
    Book,
    CollectionMethod,
    Invoice,
    InvoiceStatus,
    LineKind,
    Purpose,
)
from thenga.kernel.db import configuration
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture
async def operator(host: Host, seeded: None) -> people.Person:
    return await people.staff(host, "platform_operator")


def within(who: people.Person, organization_id: UUID) -> dict[str, str]:
    return who.headers | {"X-Organization-Id": str(organization_id)}


async def shown(api: httpx2.AsyncClient, owner: people.Member, invoice: Invoice) -> dict:
    headers = within(owner, owner.organization_id)
    answer = await api.get(f"/billing/invoices/{invoice.id}", headers=headers)
    assert answer.status_code == 200
    return answer.json()


@pytest.mark.rule("BIL-26")
async def test_an_invoice_says_all_that_a_full_tax_invoice_must(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    lines = (
        documents.line(),
        documents.line(
            "49.38",
            kind=LineKind.USAGE,
            description="Requests with API keys",
            quantity=12_345,
            unit_rate=Decimal("0.004"),
        ),
    )

    invoice = await documents.issued(host, owner.organization_id, *lines)

    seen = await shown(api, owner, invoice)
    assert seen["title"] == "Tax Invoice"
    assert seen["number"].startswith("TI-")
    assert len(seen["number"]) == 10
    assert seen["seller"]["vatNumber"] == "4000000001"
    assert seen["seller"]["address"]["postalCode"] == "2000"
    assert seen["recipient"]["legalName"] == "Mokoena Plant Hire (Pty) Ltd"
    assert seen["recipient"]["vatNumber"] == "4123456789"
    assert seen["recipient"]["address"]["line1"] == "12 Industria Road"
    assert [one["unitPrice"]["amount"] for one in seen["lines"]] == ["499.00", "0.004"]
    assert [one["quantity"] for one in seen["lines"]] == [1, 12_345]
    assert seen["taxLines"] == [
        {
            "ratePct": "15",
            "gross": {"amount": "548.38", "currency": "ZAR"},
            "net": {"amount": "476.85", "currency": "ZAR"},
            "vat": {"amount": "71.53", "currency": "ZAR"},
        }
    ]
    assert seen["issueDate"] == seen["supplyDate"] == seen["dueDate"]
    assert seen["allowedMoves"] == []


VATS = {"499.00": "65.09", "1499.00": "195.52", "4999.00": "652.04"}


@pytest.mark.rule("BIL-5")
@pytest.mark.parametrize("gross", VATS)
async def test_vat_is_computed_once_a_document(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, gross: str
):
    invoice = await documents.issued(host, owner.organization_id, documents.line(gross))

    seen = await shown(api, owner, invoice)

    net = Money.of(gross) - Money.of(VATS[gross])
    print(f"{gross} = {seen['net']['amount']} + {seen['vat']['amount']}")
    assert (seen["vat"]["amount"], seen["net"]["amount"]) == (VATS[gross], net.amount)


@pytest.mark.rule("BIL-5")
async def test_a_seller_without_vat_number_charges_none(host: Host, seeded: None):
    seller = await documents.seller(host, vat_number=None)
    organization_id = uuid4()
    made = await documents.draft(host, organization_id)
    work = billing.working(host, organization_id)
    held = await work.lock(Invoice, made.id)
    held.seller_code = seller
    await invoices.release_invoice(work, held)
    await work.finish()

    await documents.number_all(host, organization_id, seller=seller)

    found = await documents.get(host, Invoice, organization_id, made.id)
    assert (found.title, found.vat_minor, found.net_minor) == ("Invoice", 0, 49900)
    assert found.rate_pct is None


@pytest.mark.rule("BIL-26")
async def test_above_five_thousand_the_recipient_has_an_address(host: Host, seeded: None):
    organization_id = uuid4()
    await billing.account(host, organization_id)  # a name and nothing else
    work = billing.working(host, organization_id)
    account = await work.lock_by(Account)

    async def draft(gross: str) -> Invoice:
        lines = [documents.line(gross)]
        return await invoices.draft_invoice(
            work, account, purpose=invoices.Purpose.FIRST, lines=lines, subscription_id=None
        )

    allowed = await draft("5000.00")
    with pytest.raises(TaxDataMissing) as refused:
        await draft("5000.01")
    await work.close()

    assert allowed.gross_minor == 500_000
    assert refused.value.facts == {"missing": ["/billTo/address"]}


async def test_recipient_is_printed_as_it_was_when_drafted(host: Host, seeded: None):
    organization_id = uuid4()
    made = await documents.draft(host, organization_id, documents.line("6000.00"), released=True)
    work = billing.working(host, organization_id)
    account = await work.lock_by(Account)
    account.bill_to = {"legal_name": "Mokoena"}
    await work.save(account)
    await work.finish()

    await documents.number_all(host, organization_id)

    found = await documents.get(host, Invoice, organization_id, made.id)
    assert found.recipient["address"]["city"] == "Roodepoort"


# --- what pays it ---------------------------------------------------------------------------------


async def test_money_that_was_there_pays_it_at_the_issue(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    invoice = await documents.issued(host, owner.organization_id, paid=True)

    seen = await shown(api, owner, invoice)

    assert (seen["status"], seen["collectionStatus"]) == ("paid", "settled")
    assert (seen["amountPaid"]["amount"], seen["amountDue"]["amount"]) == ("499.00", "0.00")
    assert seen["creditApplied"]["amount"] == "0.00"


async def test_credit_is_applied_first_and_the_rest_is_due(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    await documents.account(host, owner.organization_id)
    await documents.pay(host, owner.organization_id, "100.00")

    invoice = await documents.issued(host, owner.organization_id)

    seen = await shown(api, owner, invoice)
    assert (seen["creditApplied"]["amount"], seen["amountDue"]["amount"]) == ("100.00", "399.00")
    assert seen["status"] == "open"


async def settled(host: Host, invoice: Invoice, **given) -> Money:
    work = billing.working(host, invoice.organization_id)
    left = await credit.pay_from_credit(work, await work.lock(Invoice, invoice.id), **given)
    await work.finish()
    return left


async def test_late_money_pays_what_is_due_and_the_rest_is_credit(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    invoice = await documents.issued(host, owner.organization_id)
    await documents.pay(host, owner.organization_id, "600.00")

    left = await settled(host, invoice, paid=Money.of("600.00"))
    again = await settled(host, invoice)

    seen = await shown(api, owner, invoice)
    headers = within(owner, owner.organization_id)
    account = (await api.get("/billing/accounts", headers=headers)).json()["items"][0]
    assert (left.amount, again.amount) == ("0.00", "0.00")
    assert (seen["status"], seen["amountPaid"]["amount"]) == ("paid", "499.00")
    assert account["creditBalance"]["amount"] == "101.00"


async def test_the_same_credit_never_pays_two_invoices(host: Host, seeded: None):
    organization_id = uuid4()
    made = [await documents.issued(host, organization_id) for _ in range(4)]
    await documents.pay(host, organization_id, "499.00")

    left = await asyncio.gather(*(settled(host, one) for one in made))

    assert sorted(one.amount for one in left) == ["0.00", "499.00", "499.00", "499.00"]


# --- written off ----------------------------------------------------------------------------------


async def test_an_operator_writes_the_rest_off_and_money_still_pays_it(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, operator: people.Person
):
    invoice = await documents.issued(host, owner.organization_id)
    path = f"/billing/invoices/{invoice.id}/write-off"
    headers = within(operator, owner.organization_id)

    before = await api.get(f"/billing/invoices/{invoice.id}", headers=headers)
    off = await api.post(path, headers=headers, json={"reason": "The company is gone"})
    again = await api.post(path, headers=headers, json={"reason": "The company is gone"})
    refused = await api.post(
        path, headers=within(owner, owner.organization_id), json={"reason": "Rather not"}
    )

    assert [one["move"] for one in before.json()["allowedMoves"]] == ["write_off"]
    assert (off.status_code, off.json()["status"]) == (200, "uncollectible")
    assert (again.status_code, again.json()) == (200, off.json())
    assert refused.status_code == 403
    await documents.pay(host, owner.organization_id, "498.99")
    part = await settled(host, invoice)
    await documents.pay(host, owner.organization_id, "0.01")
    left = await settled(host, invoice)
    seen = await shown(api, owner, invoice)
    assert (part.amount, left.amount, seen["status"]) == ("499.00", "0.00", "paid")
    entries = await api.get(
        f"/billing/ledger/entries?source={invoice.id}", headers=within(owner, owner.organization_id)
    )
    kinds = [one["kind"] for one in entries.json()["items"]]
    assert kinds == ["allocation", "write_off", "write_off", "invoice"]
    balances = await api.get(
        "/billing/ledger/trial-balance", headers=within(owner, owner.organization_id)
    )
    by_name = {one["account"]: one["balance"]["amount"] for one in balances.json()["accounts"]}
    assert (by_name["receivable"], by_name["bad_debt"]) == ("0.00", "0.00")


@pytest.mark.parametrize("status", InvoiceStatus)
async def test_only_an_open_invoice_is_written_off(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    operator: people.Person,
    status: InvoiceStatus,
):
    make = {
        InvoiceStatus.DRAFT: documents.draft,
        InvoiceStatus.DISCARDED: documents.discarded,
        InvoiceStatus.CREDITED: documents.wholly_credited,
        InvoiceStatus.UNCOLLECTIBLE: documents.written_off,
    }.get(status, documents.issued)
    more = {"paid": True} if status is InvoiceStatus.PAID else {}
    invoice = await make(host, owner.organization_id, **more)

    answer = await api.post(
        f"/billing/invoices/{invoice.id}/write-off",
        headers=within(operator, owner.organization_id),
        json={"reason": "Not expected"},
    )

    possible = status in (InvoiceStatus.OPEN, InvoiceStatus.UNCOLLECTIBLE)
    assert (await documents.get(host, Invoice, owner.organization_id, invoice.id)).status == (
        InvoiceStatus.UNCOLLECTIBLE if possible else status
    )
    assert answer.status_code == (200 if possible else 409)


# --- how they are found ---------------------------------------------------------------------------


async def test_invoices_are_found_by_state_day_and_subscription(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    organization_id = owner.organization_id
    draft = await documents.draft(host, organization_id)
    first = await documents.issued(host, organization_id)
    paid = await documents.issued(host, organization_id, paid=True)

    async def found(query: str) -> list[str]:
        headers = within(owner, organization_id)
        answer = await api.get(f"/billing/invoices{query}", headers=headers)
        assert answer.status_code == 200, answer.text
        return [one["id"] for one in answer.json()["items"]]

    day = str(first.issue_date)
    assert await found("") == [str(one.id) for one in (paid, first, draft)]
    assert await found("?status=open") == [str(first.id)]
    assert await found("?collectionStatus=settled") == [str(paid.id)]
    assert await found(f"?subscriptionId={paid.subscription_id}") == [str(paid.id)]
    assert await found(f"?issuedFrom={day}&issuedTo={day}&sort=number") == [
        str(first.id),
        str(paid.id),
    ]
    assert await found("?sort=issueDate") == [str(one.id) for one in (first, paid, draft)]
    assert await found("?overdue=true") == []
    assert len(await found("?overdue=false")) == 3
    one = await api.get(
        "/billing/invoices?limit=1&sort=number", headers=within(owner, organization_id)
    )
    after = one.json()["nextCursor"]
    assert await found(f"?limit=1&sort=number&cursor={after}") == [str(paid.id)]


async def test_overdue_is_right_before_any_sweep(api: httpx2.AsyncClient, host: Host, seeded: None):
    """By the sandbox's own clock, the day after the due date."""
    organization_id = uuid4()
    await documents.account(host, organization_id, Book.SANDBOX)
    work = billing.working(host, organization_id)
    account = await work.lock_by(Account)
    account.collection_method = CollectionMethod.SEND_INVOICE
    await work.save(account)
    await work.finish()
    invoice = await documents.issued(host, organization_id, book=Book.SANDBOX)

    read = billing.working(host, organization_id)
    days = await configuration.value(read, settings.INVOICE_DUE_DAYS, on=invoice.issue_date)
    await read.close()

    assert invoice.due_date == invoice.issue_date + timedelta(days=7)
    assert days == 7
    assert not invoices.is_overdue(invoice, invoice.due_date)
    assert invoices.is_overdue(invoice, invoice.due_date + timedelta(days=1))


async def test_the_invoices_of_another_are_not_there(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    theirs = await documents.issued(host, uuid4())
    headers = within(owner, owner.organization_id)
    missing = await api.get(f"/billing/invoices/{uuid4()}", headers=headers)

    for path in ("", "/pdf"):
        answer = await api.get(f"/billing/invoices/{theirs.id}{path}", headers=headers)
        assert (answer.status_code, answer.json()["detail"]) == (404, missing.json()["detail"])
    listed = await api.get(
        f"/billing/invoices?organizationId={theirs.organization_id}", headers=headers
    )
    assert listed.status_code == 404


async def test_an_operator_names_the_organization(
    api: httpx2.AsyncClient, host: Host, operator: people.Person
):
    invoice = await documents.issued(host, uuid4())

    listed = await api.get(
        f"/billing/invoices?organizationId={invoice.organization_id}", headers=operator.headers
    )

    assert [one["id"] for one in listed.json()["items"]] == [str(invoice.id)]


async def test_two_drafts_of_one_moment_never_count_on_the_same_credit(host: Host, seeded: None):
    organization_id = uuid4()
    await documents.account(host, organization_id)
    await documents.pay(host, organization_id, "600.00")
    planned = {"purpose": Purpose.RENEWAL, "planned_credit": Money.of("499.00")}

    made = [
        await documents.draft(host, organization_id, released=True, **planned) for _ in range(3)
    ]
    await documents.number_all(host, organization_id)

    assert [one.amount_due_minor for one in made] == [0, 39_800, 49_900]
    after = [await documents.get(host, Invoice, organization_id, one.id) for one in made]
    assert [one.amount_due_minor for one in after] == [0, 39_800, 49_900]
