"""What the database refuses whatever a service does, and what strangers are told."""

from typing import Any
from uuid import uuid4

import asyncpg
import httpx2
import pytest

from tests.conftest import Time
from tests.domains.contract.deals import Deal, deal, zar
from tests.factories.contract_money import working
from tests.factories.identity import member
from thenga.domains.contract.provider import LocalCashPlans
from thenga.domains.contract.services import ledger
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

pytestmark = pytest.mark.no_retry

REFUSED = {
    "a changed line": "UPDATE contract.journal_line SET amount_minor = 1 WHERE account = 'bank'",
    "a removed entry": "DELETE FROM contract.journal_entry",
    "more than the value": "UPDATE contract.workspace_money SET billed_minor = value_minor + 1",
    "more than was retained": "UPDATE contract.workspace_money SET released_minor = 10 ^ 15",
    "more than was advanced": "UPDATE contract.workspace_money SET recovered_minor = 10 ^ 15",
    "more than the milestone": "UPDATE contract.milestone SET billed_minor = amount_minor + 1",
    "more than the invoice": "UPDATE contract.invoice SET paid_minor = payable_minor + 1",
    "another total": "UPDATE contract.invoice SET payable_minor = payable_minor + 100",
    "another number": "UPDATE contract.invoice SET number = 'INV-9999'",
    "a settled debt": "UPDATE contract.invoice SET status = 'settled'",
    "a removed print": "DELETE FROM contract.document_pdf",
}


@pytest.mark.rule("CON-27")
async def test_the_database_refuses_what_no_service_does(e: Deal) -> None:
    invoice = await e.invoice(M1="966000.00")
    await e.pay(invoice, "100.00")

    refused = []
    async with e.host.engines.connection("contract", "contract_system") as connection:
        for what, statement in REFUSED.items():
            try:
                await connection.execute(statement)
            except asyncpg.PostgresError:
                refused.append(what)

    print(f"statements={len(REFUSED)} refused={len(refused)}")
    assert refused == list(REFUSED)


@pytest.mark.rule("CON-27")
async def test_an_unbalanced_entry_and_a_late_line_are_refused(e: Deal) -> None:
    await e.invoice(M1="966000.00")
    line = (
        "INSERT INTO contract.journal_line SELECT gen_random_uuid(), now(), now(), 1, "
        "organization_id, id, workspace_id, 'bank', 100, 'ZAR' FROM contract.journal_entry "
        "WHERE organization_id = $1 LIMIT 1"
    )

    async with e.host.engines.connection("contract", "contract_system") as connection:
        with pytest.raises(asyncpg.PostgresError, match="own transaction"):
            await connection.execute(line, e.id)


@pytest.mark.rule("CON-27")
async def test_the_nightly_check_finds_nothing(e: Deal, host: Host) -> None:
    await e.claim("advance", "483000.00")
    invoice = await e.receive(await e.invoice(M2="1690500.00"))
    await e.pay(invoice, "1000.00")
    await e.move(invoice, "credit", amount=zar("500.00"), reason="Remeasured")
    origin = Origin(action="test", request_id="test", correlation_id="test")
    work = Work(host, "contract", Scope(actor=SYSTEM), origin, login="contract_system")

    check = await ledger.verify_money(work)
    await work.close()

    print(" ".join(f"{name}={found}" for name, found in check.found.items()))
    assert check.passed


async def paths(e: Deal) -> dict[str, tuple[str, Any]]:
    """Every operation of money with something of this contract in its path."""
    invoice = await e.receive(await e.invoice(M1="966000.00"))
    payment = (await e.pay(invoice, "1.00")).json()
    line = [{"description": "x", "amount": zar("1.00")}]
    workspace, paid = f"/contracts/workspaces/{e.workspace_id}", {"verb": "confirm"}
    pay = {"amount": zar("1.00"), "receivedOn": "2026-11-02"}
    vary = {"title": "x", "kinds": ["scope"], "scope": "x", "reasonCode": "error"}
    return {
        f"GET /contracts/invoices/{invoice['id']}": ("", None),
        f"GET /contracts/invoices/{invoice['id']}/pdf": ("", None),
        f"PATCH /contracts/invoices/{invoice['id']}": ("", {"move": {"verb": "receive"}}),
        f"POST /contracts/invoices/{invoice['id']}/payments": ("", pay),
        f"GET /contracts/payments/{payment['id']}": ("", None),
        f"PATCH /contracts/payments/{payment['id']}": ("", {"move": paid}),
        f"POST {workspace}/invoices": ("", {"kind": "advance", "lines": line}),
        f"POST {workspace}/variations": ("", vary),
        f"GET {workspace}/journal": ("", None),
    }


def without_request(answer: httpx2.Response) -> Any:
    body = answer.json()
    return {name: body[name] for name in body if name not in ("requestId", "instance")}


@pytest.mark.rule("CON-2")
async def test_a_stranger_is_told_what_a_random_id_is_told(e: Deal) -> None:
    stranger = await member(e.host, uuid4(), role="owner")
    headers = stranger.acting | {"If-Match": '"1"'}

    for known, (_, body) in (await paths(e)).items():
        method, path = known.split(" ")
        parts = path.split("/")
        random = "/".join(str(uuid4()) if part.count("-") == 4 else part for part in parts)
        seen, unseen = [
            await e.api.request(method, one, json=body, headers=headers) for one in (path, random)
        ]
        assert seen.status_code == unseen.status_code == 404, (known, seen.text)
        assert without_request(seen) == without_request(unseen)


@pytest.mark.rule("CON-2")
async def test_a_strangers_milestone_is_no_milestone(
    e: Deal, api: httpx2.AsyncClient, host: Host, clock: Time
) -> None:
    other = await deal(api, host, clock)
    answers = []
    for milestone_id in (other.milestones["M1"], uuid4()):
        line = {
            "milestoneId": str(milestone_id), "description": "Claim", "amount": zar("1.00")
        }  # fmt: skip
        answers.append(await e.draft([line]))

    assert [answer.status_code for answer in answers] == [422, 422]
    assert without_request(answers[0]) == without_request(answers[1])


async def test_the_cash_plan_says_what_comes_in_and_names_nobody(e: Deal, host: Host) -> None:
    invoice = await e.receive(await e.invoice(M1="966000.00"))
    port = LocalCashPlans(host)

    plan = await port.describe(organization_id=e.id, workspace_id=e.workspace_id)
    unknown = await port.describe(organization_id=uuid4(), workspace_id=e.workspace_id)

    assert plan is not None and unknown is None
    assert plan.value_excl_vat.amount == "4200000.00"
    assert (plan.terms_days, len(plan.milestones)) == (30, 4)
    assert str(plan.milestones[0].expected_on) == "2026-12-02"
    assert [str(one.id) for one in plan.invoices] == [invoice["id"]]
    assert "Emfuleni" not in plan.model_dump_json()


async def test_money_waits_for_an_active_contract(e: Deal) -> None:
    async with e.host.engines.connection("contract", "contract_system") as connection:
        await connection.execute(
            "DELETE FROM contract.workspace_money WHERE organization_id = $1", e.id
        )

    refused = await e.draft(e.lines(M1="1.00"))

    assert (refused.status_code, refused.json()["code"]) == (409, "contract-not-active")
    work = working(e.host, e.id)
    assert await ledger.money_of(work, e.workspace_id) is None
    await work.close()
