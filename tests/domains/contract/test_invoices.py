"""Invoices of a contract over HTTP: figures to the cent, limits, numbers, clock and ageing."""

import asyncio
import random
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.contract.conftest import Play
from tests.domains.contract.deals import PROOF, Deal, deal, zar
from tests.factories import contract_money
from tests.suites.sizes import size
from thenga.domains.contract.services.invoicing import invoices
from thenga.domains.contract.services.invoicing.moves import InvoiceMove
from thenga.domains.organization.public import Profiles
from thenga.kernel.process.host import Host


def figures(invoice: Any) -> tuple[str, ...]:
    names = ("retained", "recovered", "payable", "vat")
    return tuple(invoice[name]["amount"] for name in names)


@pytest.mark.rule("CON-16")
@pytest.mark.rule("CON-26")
@pytest.mark.rule("CON-42")
async def test_contract_e_is_invoiced_and_paid_to_the_cent(e: Deal) -> None:
    made = [(await e.claim("advance", "483000.00")).json()]
    for claim in (
        {"M1": "966000.00"},
        {"M2": "1690500.00"},
        {"M3": "1207500.00"},
        {"M4": "966000.00"},
    ):
        made.append(await e.invoice(**claim))
    one_cent = await e.draft(e.lines(M4="0.01"), submit=True)
    await e.at(datetime(2027, 2, 1, 8, tzinfo=UTC))
    for _ in range(2):
        made.append((await e.claim("retention_release", "120750.00")).json())
    for invoice in made:
        assert (await e.pay(invoice, invoice["payable"]["amount"])).status_code == 201

    shown = [figures(invoice) for invoice in made]
    balances = await e.balances()
    numbers = [invoice["number"] for invoice in made]
    print(*zip(numbers, shown, strict=True), sep="\n")
    print(f"balances={balances}")
    assert shown == [
        ("0.00", "0.00", "483000.00", "63000.00"),
        ("96600.00", "241500.00", "627900.00", "81900.00"),
        ("144900.00", "241500.00", "1304100.00", "170100.00"),
        ("0.00", "0.00", "1207500.00", "157500.00"),
        ("0.00", "0.00", "966000.00", "126000.00"),
        ("0.00", "0.00", "120750.00", "15750.00"),
        ("0.00", "0.00", "120750.00", "15750.00"),
    ]
    assert balances == {
        "bank": "4830000.00",
        "vat_output": "-630000.00",
        "work": "-4200000.00",
    }
    assert numbers == [f"INV-{place:04d}" for place in range(1, 8)]
    assert one_cent.status_code == 422
    assert one_cent.json()["code"] == "contract-over-value"
    assert one_cent.json()["remaining"] == zar("0.00")


@pytest.mark.rule("CON-18")
async def test_two_submits_of_the_last_milestone_pass_once(e: Deal) -> None:
    first, second = [(await e.draft(e.lines(M4="966000.00"))).json() for _ in range(2)]

    answers = await asyncio.gather(e.move(first, "submit"), e.move(second, "submit"))

    assert sorted(answer.status_code for answer in answers) == [200, 422]
    refused = next(answer for answer in answers if answer.status_code == 422)
    assert refused.json()["code"] == "contract-over-milestone"


@pytest.mark.rule("CON-18")
async def test_only_met_milestones_can_be_claimed(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
) -> None:
    e = await deal(api, host, clock, met=False)

    early = await e.draft(e.lines(M1="966000.00"), submit=True)
    await e.meet("M1")
    due = await e.draft(e.lines(M1="966000.00"), submit=True)

    assert (early.status_code, early.json()["code"]) == (422, "contract-over-milestone")
    assert early.json()["remaining"] == zar("0.00")
    assert due.status_code == 201


@pytest.mark.rule("CON-17")
async def test_retention_waits_for_completion_and_the_defects_period(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
) -> None:
    e = await deal(api, host, clock, met=False)
    await e.meet("M1", "M2", "M3")
    await e.invoice(M2="1690500.00")
    too_early = await e.claim("retention_release", "0.01")
    await e.meet("M4")
    await e.timeline.settle()

    first = await e.claim("retention_release", "84525.01")
    exact = await e.claim("retention_release", "84525.00")
    await e.timeline.until(datetime(2027, 1, 30, 22, tzinfo=UTC))
    await e.sign_in()
    rest = await e.claim("retention_release", "84525.00")

    told = await e.told("RetentionReleasable")
    assert [one.status_code for one in (too_early, first, exact, rest)] == [422, 422, 201, 201]
    assert first.json()["remaining"] == zar("84525.00")
    assert [(one["part"], one["releasableOn"]) for one in told] == [
        ("part_1", "2026-11-02"),
        ("part_2", "2027-01-31"),
    ]


async def submit_all(e: Deal, waiting: list[UUID], dice: random.Random) -> int:
    """Submit drafts, with one transaction in ten rolled back at its end; how many were."""
    rolled = 0
    while waiting:
        invoice_id = waiting.pop()
        work = contract_money.working(e.host, e.id)
        try:
            await invoices.change_invoice(
                work,
                invoice_id,
                fields={},
                lines=None,
                move=InvoiceMove("submit"),
                submit_as=contract_money.SELLER,
            )
            if dice.random() < 0.1:
                rolled += 1
                waiting.append(invoice_id)
                continue
            work._jobs.clear()
            await work.finish()
        finally:
            await work.close()
    return rolled


@pytest.mark.rule("CON-20")
async def test_parallel_submitters_leave_no_gap(e: Deal) -> None:
    count, dice = size(check=30, prove=400), random.Random(7)
    drafts = [(await e.draft(e.lines(M1="1.00"))).json() for _ in range(count)]
    waiting = [UUID(draft["id"]) for draft in drafts]

    rolled = sum(await asyncio.gather(*(submit_all(e, waiting, dice) for _ in range(8))))

    listed = [await e.get(f"/contracts/invoices/{draft['id']}") for draft in drafts]
    places = sorted(int(one["number"].removeprefix("INV-")) for one in listed)
    gaps = len(set(range(1, max(places) + 1)) - set(places))
    print(f"invoices={len(places)} max={max(places)} gaps={gaps} rolled_back={rolled}")
    assert places == list(range(1, count + 1))
    assert rolled > 0


@pytest.mark.rule("CON-19")
async def test_an_incomplete_tax_invoice_is_refused_with_pointers(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
) -> None:
    e = await deal(api, host, clock, counterparty={"name": "Emfuleni", "kind": "municipality"})

    refused = await e.draft(e.lines(M1="1.00"), submit=True)

    assert refused.status_code == 422
    assert refused.json()["code"] == "contract-tax-data-missing"
    assert refused.json()["missing"] == ["/counterparty/address"]


@pytest.mark.rule("CON-19")
async def test_a_silent_organization_uses_no_number(
    e: Deal, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(Profiles, None)
    refused = await e.draft(e.lines(M1="1.00"), submit=True)
    monkeypatch.undo()
    issued = await e.invoice(M1="1.00")

    print(f"silent={refused.status_code} then={issued['number']}")
    assert refused.status_code == 503
    assert issued["number"] == "INV-0001"


@pytest.mark.rule("CON-21")
async def test_a_return_starts_the_clock_anew(e: Deal) -> None:
    invoice = await e.invoice(M1="966000.00")
    received = await e.receive(invoice)
    await e.at(datetime(2026, 11, 20, 8, tzinfo=UTC))
    returned = (await e.move(invoice, "return", reasonCode="missing_papers")).json()
    again = await e.move(invoice, "resubmit")
    await e.at(datetime(2026, 11, 25, 8, tzinfo=UTC))
    second = await e.receive(invoice)

    history = [(run["dueOn"], run["returnedOn"]) for run in second["clockHistory"]]
    print(f"dueOn={second['dueOn']} clockHistory={history}")
    assert (received["dueOn"], returned["dueOn"]) == ("2026-12-02", None)
    assert again.status_code == 200
    assert second["dueOn"] == "2026-12-25"
    assert history == [("2026-12-02", "2026-11-20"), ("2026-12-25", None)]
    changes = [one["change"] for one in await e.told("InvoiceChanged")]
    assert changes == ["received", "returned", "resubmitted", "received"]


@pytest.mark.rule("CON-21")
async def test_a_wrong_amount_is_corrected_by_a_replacement(e: Deal) -> None:
    invoice = await e.invoice(M1="966000.00")
    await e.receive(invoice)
    await e.move(invoice, "return", reasonCode="wrong_amount")

    again = await e.move(invoice, "resubmit")
    replaced = await e.move(invoice, "replace", reason="The quantity was wrong")

    assert (again.status_code, replaced.status_code) == (409, 200)
    after = replaced.json()
    draft = await e.get(f"/contracts/invoices/{after['replacedBy']}")
    assert (after["status"], after["creditNotes"][0]["number"]) == ("credited", "CN-0001")
    assert (draft["status"], draft["replaces"]) == ("draft", invoice["id"])
    assert draft["work"] == zar("966000.00")
    assert await e.balances() == {}


@pytest.mark.rule("CON-21")
async def test_a_return_offers_only_its_own_reasons(e: Deal) -> None:
    invoice = await e.receive(await e.invoice(M1="966000.00"))

    bare = await e.move(invoice, "return")
    other = await e.move(invoice, "return", reasonCode="other")
    disputed = await e.move(invoice, "dispute", reasonCode="other")

    for refused in (bare, other):
        assert (refused.status_code, refused.json()["code"]) == (422, "validation-failed")
        assert [one["pointer"] for one in refused.json()["errors"]] == ["/move/reasonCode"]
    assert disputed.status_code == 200


@pytest.mark.rule("CON-23")
async def test_ageing_is_right_before_any_job_and_told_once(e: Deal) -> None:
    invoice = await e.receive(await e.invoice(M1="966000.00"))
    await e.at(datetime(2026, 12, 2, 21, 59, tzinfo=UTC))
    before = await e.get(f"/contracts/invoices/{invoice['id']}")
    await e.at(datetime(2026, 12, 2, 22, tzinfo=UTC))
    after = await e.get(f"/contracts/invoices/{invoice['id']}")
    await e.at(datetime(2027, 12, 7, 8, tzinfo=UTC))
    await e.timeline.settle()
    await e.timeline.settle()

    told = [(one["bucket"], one["outstanding"]["amount"]) for one in await e.told("InvoiceOverdue")]
    print(f"overdue={before['overdue']},{after['overdue']} told={[one for one, _ in told]}")
    assert (before["overdue"], after["overdue"], after["bucket"]) == (False, True, "days_1_30")
    assert [bucket for bucket, _ in told] == [
        *("days_1_30", "days_31_60", "days_61_90", "days_91_up")
    ]
    listed = await e.get("/contracts/invoices?bucket=days_91_up")
    assert [one["id"] for one in listed["items"]] == [invoice["id"]]
    assert (await e.get("/contracts/invoices?bucket=days_61_90"))["items"] == []


@pytest.mark.rule("CON-21")
async def test_a_dispute_takes_only_its_amount_out_of_overdue(e: Deal) -> None:
    invoice = await e.receive(await e.invoice(M3="1207500.00"))
    disputed = (
        await e.move(invoice, "dispute", amount=zar("207500.00"), reasonCode="wrong_amount")
    ).json()
    await e.pay(invoice, "800000.00")
    await e.at(datetime(2026, 12, 3, 8, tzinfo=UTC))

    partly = await e.get(f"/contracts/invoices/{invoice['id']}")
    reduced = (
        await e.move(
            invoice, "resolve", outcome="reduced", amount=zar("207500.00"), reason="Remeasured"
        )
    ).json()

    assert disputed["dispute"]["amount"] == zar("207500.00")
    assert (partly["overdue"], partly["outstanding"]) == (True, zar("286750.00"))
    assert reduced["dispute"] is None
    assert (reduced["credited"], reduced["outstanding"]) == (zar("207500.00"), zar("79250.00"))


@pytest.mark.rule("CON-44")
async def test_approval_needs_proof_and_leaves_the_rest_disputed(e: Deal) -> None:
    invoice = await e.receive(await e.invoice(M3="1207500.00"))

    bare = await e.move(invoice, "approve")
    partly = await e.move(
        invoice, "approve", amount=zar("1000000.00"), confirmation=PROOF, reasonCode="wrong_amount"
    )

    assert (bare.status_code, bare.json()["code"]) == (422, "contract-confirmation-missing")
    assert partly.status_code == 200, partly.text
    assert partly.json()["strength"] == "document"
    assert partly.json()["status"] == "approved"
    assert partly.json()["dispute"]["amount"] == zar("86750.00")


@pytest.mark.rule("CON-20")
async def test_an_external_number_never_takes_one_of_ours(e: Deal) -> None:
    reference = {"domain": "compliance", "type": "document", "id": str(UUID(int=7))}
    taken = await e.draft(e.lines(M1="1.00"), externalNumber="INV-0002", documentRef=reference)
    bare = await e.draft(e.lines(M1="1.00"), externalNumber="A-17")

    first = await e.draft(
        e.lines(M1="1.00"), externalNumber="A-17", documentRef=reference, submit=True
    )
    again = await e.draft(
        e.lines(M1="1.00"), externalNumber="A-17", documentRef=reference, submit=True
    )

    assert [one.status_code for one in (taken, bare, first, again)] == [422, 422, 201, 409]
    assert first.json()["number"] == "A-17"
    assert (await e.invoice(M1="1.00"))["number"] == "INV-0001"


async def test_amounts_beyond_all_measure_are_refused_and_not_a_defect(e: Deal) -> None:
    lines = e.lines(M1="9999999999999999.99") * 200

    refused = await e.draft(lines)

    assert refused.status_code == 422
