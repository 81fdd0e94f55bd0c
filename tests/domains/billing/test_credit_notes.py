"""Credit notes: what is given back, with its VAT to the cent, and never more than was charged."""

import asyncio
from datetime import date
from uuid import uuid4

import asyncpg
import httpx2
import pytest

from tests.factories import billing, documents
from tests.factories import identity as people
from thenga.domains.billing.services.invoicing import billed_periods, credit_notes, invoices
from thenga.domains.billing.services.invoicing.credit_notes import CreditExceeds
from thenga.domains.billing.services.invoicing.unused_time import UnusedTime
from thenga.domains.billing.services.ledger import journal
from thenga.domains.billing.services.ledger.journal import EntrySource
from thenga.domains.billing.services.pricing.periods import Period
from thenga.domains.billing.tables import (
    Account,
    Book,
    CreditNote,
    CreditReason,
    Invoice,
    InvoiceStatus,
    LineKind,
    Purpose,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money

THIRDS = ("499.67", "499.67", "499.66")


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture
async def operator(host: Host, seeded: None) -> people.Person:
    return await people.staff(host, "platform_operator")


def within(who: people.Person, organization_id) -> dict[str, str]:
    return who.headers | {"X-Organization-Id": str(organization_id)}


def asked(line_id, amount: str, **given) -> dict:
    gross = {"amount": amount, "currency": "ZAR"}
    known = {
        "lines": [{"invoiceLineId": str(line_id), "gross": gross}],
        "reasonCode": "goodwill",
        "explanation": "The service was away for a day",
    }
    return known | given


@pytest.mark.rule("BIL-27")
async def test_three_parts_give_back_exactly_the_vat_that_was_charged(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    invoice = await documents.issued(host, owner.organization_id, documents.line("1499.00"))

    made = await documents.credited(host, invoice, *THIRDS)

    headers = within(owner, owner.organization_id)
    shown = [
        (await api.get(f"/billing/credit-notes/{one.id}", headers=headers)).json() for one in made
    ]
    vats = [one["vat"]["amount"] for one in shown]
    after = (await api.get(f"/billing/invoices/{invoice.id}", headers=headers)).json()
    print(f"vat={' + '.join(vats)} = {after['vat']['amount']}")
    assert vats == ["65.17", "65.18", "65.17"]
    assert after["vat"]["amount"] == "195.52"
    assert (after["status"], after["amountDue"]["amount"]) == ("credited", "0.00")
    assert [one["number"] for one in after["creditNotes"]] == [one["number"] for one in shown]


@pytest.mark.rule("BIL-27")
@pytest.mark.rule("BIL-47")
async def test_credit_note_reduces_net_of_its_own_lines_only(host: Host, seeded: None):
    usage = documents.line("55.50", kind=LineKind.USAGE, service=None, key=f"usage:{uuid4()}")
    plan = documents.line("1499.00")
    invoice = await documents.issued(host, uuid4(), plan, usage, paid=True)

    (note,) = await documents.credited(host, invoice, "1449.03")

    lines = await documents.lines(host, invoice)
    work = billing.working(host, invoice.organization_id)
    (entry,) = (
        await journal.list_entries(
            work, Paged(), account=None, since=None, until=None, source_id=note.id
        )
    ).items
    sides = (await journal.entry_lines(work, [entry]))[entry.id]
    await work.close()
    print(f"net={[one.net_minor for one in lines]} {[(s.account, s.amount_minor) for s in sides]}")
    assert [one.credited_net_minor for one in lines] == [126003, 0]
    assert {one.account: one.amount_minor for one in sides} == {
        "deferred_revenue": 126003,
        "vat_output": 18900,
        "customer_credit": -144903,
    }


@pytest.mark.rule("BIL-27")
async def test_an_operator_gives_a_part_back(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, operator: people.Person
):
    invoice = await documents.issued(host, owner.organization_id, paid=True)
    (line,) = await documents.lines(host, invoice)
    headers = within(operator, owner.organization_id)
    path = f"/billing/invoices/{invoice.id}/credit-notes"

    answer = await api.post(path, headers=headers, json=asked(line.id, "100.00"))
    told = await documents.number_all(host, owner.organization_id)

    assert answer.status_code == 201
    assert answer.json()["status"] == "draft"
    note = await api.get(answer.headers["location"].removeprefix("/v1"), headers=headers)
    assert note.json()["number"].startswith("CN-")
    assert (note.json()["vat"]["amount"], note.json()["net"]["amount"]) == ("13.04", "86.96")
    assert note.json()["invoiceNumber"] == invoice.number
    assert [event.type for event in told] == ["billing.CreditNoteIssued.v1"]
    mine = within(owner, owner.organization_id)
    accounts = (await api.get("/billing/accounts", headers=mine)).json()["items"]
    assert accounts[0]["creditBalance"]["amount"] == "100.00"
    listed = await api.get(f"/billing/credit-notes?invoiceId={invoice.id}", headers=mine)
    assert [one["id"] for one in listed.json()["items"]] == [note.json()["id"]]


@pytest.mark.rule("BIL-48")
async def test_no_more_is_given_back_than_was_charged(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, operator: people.Person
):
    invoice = await documents.issued(host, owner.organization_id)
    (line,) = await documents.lines(host, invoice)
    headers = within(operator, owner.organization_id)
    path = f"/billing/invoices/{invoice.id}/credit-notes"

    first = await api.post(path, headers=headers, json=asked(line.id, "400.00"))
    second = await api.post(path, headers=headers, json=asked(line.id, "99.01"))
    nothing = await api.post(path, headers=headers, json=asked(line.id, "0.00"))
    elsewhere = await api.post(path, headers=headers, json=asked(uuid4(), "1.00"))

    assert [one.status_code for one in (first, second, nothing, elsewhere)] == [201, 422, 422, 404]
    assert second.json()["code"] == "billing-credit-exceeds"
    assert second.json()["left"] == {"amount": "99.00", "currency": "ZAR"}
    assert (nothing.json()["code"], nothing.json()["rule"]) == ("rule-violated", "credit-positive")


@pytest.mark.rule("BIL-48")
async def test_two_notes_at_once_never_exceed_the_line(host: Host, seeded: None):
    invoice = await documents.issued(host, uuid4())
    (line,) = await documents.lines(host, invoice)
    drafts = []
    for _ in range(2):
        work = billing.working(host, invoice.organization_id)
        held = await work.lock(Invoice, invoice.id)
        amount = [(line.id, Money.of("300.00"))]
        reason = {"reason_code": CreditReason.ERROR, "explanation": "Wrong price"}
        drafts.append(await credit_notes.draft_credit_note(work, held, credited=amount, **reason))
        await work.finish()

    async def release(note: CreditNote) -> str:
        work = billing.working(host, note.organization_id)
        try:
            await credit_notes.release_credit_note(work, await work.lock(CreditNote, note.id))
            await work.finish()
            return "released"
        except CreditExceeds:
            return "refused"
        finally:
            await work.close()

    outcomes = await asyncio.gather(*(release(note) for note in drafts))

    assert sorted(outcomes) == ["refused", "released"]


@pytest.mark.rule("BIL-48")
async def test_database_refuses_a_planted_credit_above_the_line(host: Host, seeded: None):
    invoice = await documents.issued(host, uuid4())
    async with host.engines.connection("billing", "billing_system") as connection:
        with pytest.raises(asyncpg.CheckViolationError, match="invoice_line_credited"):
            await connection.execute(
                "UPDATE billing.invoice_line SET credited_minor = gross_minor + 1 "
                "WHERE invoice_id = $1",
                invoice.id,
            )


async def test_only_an_open_or_paid_invoice_is_credited(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, operator: people.Person
):
    made = await documents.draft(host, owner.organization_id)
    (line,) = await documents.lines(host, made)
    path = f"/billing/invoices/{made.id}/credit-notes"
    headers = within(operator, owner.organization_id)

    refused = await api.post(path, headers=headers, json=asked(line.id, "1.00"))
    by_customer = await api.post(
        path, headers=within(owner, owner.organization_id), json=asked(line.id, "1.00")
    )

    assert (refused.status_code, refused.json()["code"]) == (409, "invalid-transition")
    assert by_customer.status_code == 403


# --- the documents of a change (BIL-10, must-show 4) ----------------------------------------------

FEBRUARY = Period(date(2027, 1, 31), date(2027, 2, 28))
YEAR = Period(date(2027, 3, 1), date(2028, 3, 1))
STARTER, PROFESSIONAL = ("starter", "499.00"), ("professional", "1499.00")
CHANGES = {
    "a": (documents.NOVEMBER, STARTER, PROFESSIONAL, date(2026, 11, 24)),
    "c": (FEBRUARY, PROFESSIONAL, STARTER, date(2027, 2, 15)),
    "d": (YEAR, ("starter", "4990.00"), ("professional", "14990.00"), date(2027, 9, 10)),
}
FIGURES = {
    "a": ("332.67", "43.39", "999.33", "130.35", "666.66", "0.00"),
    "c": ("695.96", "90.78", "231.68", "30.22", "0.00", "464.28"),
    "d": ("2358.66", "307.65", "7085.44", "924.19", "4726.78", "0.00"),
}


async def bought(host: Host, organization_id, period: Period, plan: tuple[str, str]):
    subscription = uuid4()
    line = documents.line(
        plan[1],
        plan_code=plan[0],
        service=period,
        subscription_id=subscription,
        key=f"recurring:{subscription}:{period.start}",
    )
    await documents.issued(host, organization_id, line, paid=True, book=Book.SANDBOX)
    return subscription


async def changed(host: Host, organization_id, subscription, period: Period, plan, day: date):
    """As a plan change does: quote, credit note, invoice, money, both released."""
    work = billing.working(host, organization_id)
    account = await work.lock_by(Account)
    running = await billed_periods.running_line(work, subscription, day)
    assert running is not None
    price = Money.of(plan[1])
    rest = UnusedTime(Period(day, period.end), period.days, running)
    credit = rest.credit("ZAR")
    of = await work.lock(Invoice, running.invoice_id)
    note = await credit_notes.draft_credit_note(
        work,
        of,
        credited=[(running.line_id, credit)],
        reason_code=CreditReason.PLAN_CHANGE,
        explanation=f"Another plan from {day} on",
    )
    line = documents.line(
        rest.charge(price).amount,
        kind=LineKind.PRORATION,
        plan_code=plan[0],
        unit_price=price,
        service=rest.left,
        subscription_id=subscription,
        key=f"change:{uuid4()}",
    )
    made = await invoices.draft_invoice(
        work,
        account,
        purpose=Purpose.CHANGE,
        lines=[line],
        subscription_id=subscription,
        planned_credit=credit,
    )
    due = Money(made.amount_due_minor, "ZAR")
    if due:
        source = EntrySource("payment", uuid4(), f"payment:{made.id}")
        booking = journal.payment_booking("sandbox", due)
        await journal.post(work, booking, book=Book.SANDBOX, source=source, occurred_at=work.now)
    # The later document first: the numbering puts the credit before the charge all the same.
    await credit_notes.release_credit_note(work, note, cut_span_at=day)
    await invoices.release_invoice(work, made, paid=due)
    await work.finish()
    told = await documents.number_all(host, organization_id)
    note = await documents.get(host, CreditNote, organization_id, note.id)
    return note, await documents.get(host, Invoice, organization_id, made.id), due, told


async def credit_of(api: httpx2.AsyncClient, owner: people.Member) -> str:
    headers = within(owner, owner.organization_id)
    found = (await api.get("/billing/accounts", headers=headers)).json()["items"][0]
    return found["creditBalance"]["amount"]


async def journal_sum(api: httpx2.AsyncClient, owner: people.Member) -> int:
    headers = within(owner, owner.organization_id)
    found = (await api.get("/billing/ledger/trial-balance", headers=headers)).json()["accounts"]
    return sum(int(one["balance"]["amount"].replace(".", "")) for one in found)


@pytest.mark.rule("BIL-10")
@pytest.mark.parametrize("vector", CHANGES)
async def test_documents_of_a_change_have_the_worked_figures(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, vector: str
):
    period, before, after, day = CHANGES[vector]
    subscription = await bought(host, owner.organization_id, period, before)

    note, invoice, due, told = await changed(
        host, owner.organization_id, subscription, period, after, day
    )

    kept = await credit_of(api, owner)
    total = await journal_sum(api, owner)
    figures = (
        *(Money(note.gross_minor, "ZAR").amount, Money(note.vat_minor, "ZAR").amount),
        *(Money(invoice.gross_minor, "ZAR").amount, Money(invoice.vat_minor, "ZAR").amount),
        *(due.amount, kept),
    )
    print(
        f"{vector}) credit={figures[0]} vat={figures[1]} charge={figures[2]} vat={figures[3]} "
        f"due={figures[4]} kept={figures[5]} {note.number} {invoice.number} journal_sum={total}"
    )
    assert figures == FIGURES[vector]
    assert (note.number, invoice.number) == ("SBX-CN-0000001", "SBX-TI-0000002")
    assert (invoice.status, total) == (InvoiceStatus.PAID, 0)
    assert [one.short_name() for one in told] == ["CreditNoteIssued", "InvoiceIssued"]


@pytest.mark.rule("BIL-10")
async def test_a_second_change_credits_what_the_first_one_charged(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    period, before, after, day = CHANGES["a"]
    subscription = await bought(host, owner.organization_id, period, before)
    await changed(host, owner.organization_id, subscription, period, after, day)

    enterprise, later = ("enterprise", "4999.00"), date(2026, 12, 4)
    note, invoice, due, _ = await changed(
        host, owner.organization_id, subscription, period, enterprise, later
    )

    credit, charge = Money(note.gross_minor, "ZAR"), Money(invoice.gross_minor, "ZAR")
    print(f"b) credit={credit.amount} charge={charge.amount} due={due.amount}")
    assert (credit.amount, charge.amount, due.amount) == ("499.67", "1666.33", "1166.66")
    assert (note.number, invoice.number) == ("SBX-CN-0000002", "SBX-TI-0000003")
    assert await journal_sum(api, owner) == 0


@pytest.mark.rule("BIL-48")
async def test_no_day_of_a_subscription_is_billed_twice(host: Host, seeded: None):
    organization_id, subscription = uuid4(), uuid4()
    line = documents.line(subscription_id=subscription)
    await documents.issued(host, organization_id, line)
    overlapping = documents.line(
        subscription_id=subscription, service=Period(date(2026, 12, 13), date(2027, 1, 13))
    )

    with pytest.raises(asyncpg.ExclusionViolationError):
        await documents.draft(host, organization_id, overlapping, released=True)

    next_one = documents.line(
        subscription_id=subscription, service=Period(date(2026, 12, 14), date(2027, 1, 14))
    )
    assert (await documents.issued(host, organization_id, next_one)).status == "open"


@pytest.mark.rule("BIL-48")
async def test_what_was_billed_is_billed_once(host: Host, seeded: None):
    organization_id, line = uuid4(), documents.line()
    await documents.issued(host, organization_id, line)

    with pytest.raises(asyncpg.UniqueViolationError):
        await documents.draft(host, organization_id, line)
