"""Statements: documents and money in order, with a balance that agrees with the books."""

import csv
import io
from datetime import datetime
from uuid import uuid4

import httpx2
import pytest

from tests.factories import documents
from tests.factories import identity as people
from tests.factories import organization as organizations
from tests.planting import plant
from thenga.domains.billing.services.ledger import account_statements
from thenga.kernel.process.host import Host


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture
async def path(host: Host, owner: people.Member) -> str:
    """An invoice that is paid later, one that is open, and a part given back."""
    organization_id = owner.organization_id
    account = await documents.account(host, organization_id)
    await documents.issued(host, organization_id, paid=True)
    invoice = await documents.issued(host, organization_id, documents.line("1499.00"))
    await documents.credited(host, invoice, "499.67")
    await documents.pay(host, organization_id, "10.00")
    return f"/billing/accounts/{account.id}/statement"


def within(who: people.Member) -> dict[str, str]:
    return who.headers | {"X-Organization-Id": str(who.organization_id)}


async def test_each_step_has_the_balance_after_it(
    api: httpx2.AsyncClient, owner: people.Member, path: str
):
    answer = (await api.get(path, headers=within(owner))).json()

    steps = [
        (one["kind"], one["amount"]["amount"], one["balance"]["amount"]) for one in answer["items"]
    ]
    assert steps == [
        ("payment", "-10.00", "989.33"),
        ("credit_note", "-499.67", "999.33"),
        ("invoice", "1499.00", "1499.00"),
        ("invoice", "499.00", "0.00"),
        ("payment", "-499.00", "-499.00"),
    ]
    assert (answer["openingBalance"]["amount"], answer["closingBalance"]["amount"]) == (
        "0.00",
        "989.33",
    )
    assert [bool(one["number"]) for one in answer["items"]] == [False, True, True, True, False]


async def test_a_page_goes_on_where_the_last_one_ended(
    api: httpx2.AsyncClient, owner: people.Member, path: str
):
    first = await api.get(f"{path}?limit=3", headers=within(owner))
    cursor = first.json()["nextCursor"]
    second = await api.get(f"{path}?limit=3&cursor={cursor}", headers=within(owner))

    balances = [one["balance"]["amount"] for one in second.json()["items"]]
    assert (balances, second.json()["nextCursor"]) == (["0.00", "-499.00"], None)
    assert 'rel="next"' in first.headers["link"]


async def test_what_was_before_is_in_the_opening_balance(
    api: httpx2.AsyncClient, owner: people.Member, path: str
):
    later = await api.get(f"{path}?from=2190-01-01&to=2190-12-31", headers=within(owner))
    long = await api.get(f"{path}?from=2190-01-01&to=2191-01-02", headers=within(owner))
    turned = await api.get(f"{path}?from=2190-01-02&to=2190-01-01", headers=within(owner))

    assert later.json()["items"] == []
    assert later.json()["openingBalance"]["amount"] == "989.33"
    assert [long.status_code, turned.status_code] == [422, 422]
    assert long.json()["rule"] == "statement-days"


async def test_the_same_as_a_file_with_all_steps(
    api: httpx2.AsyncClient, owner: people.Member, path: str
):
    shown = (await api.get(path, headers=within(owner))).json()["items"]

    answer = await api.get(f"{path}?limit=2", headers=within(owner) | {"Accept": "text/csv"})

    header, *rows = csv.reader(io.StringIO(answer.content.decode("utf-8-sig")))
    amounts = [(row[1], row[3], row[4]) for row in rows]
    print(f"rows={len(rows)} columns={header} live_formulas=0")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].startswith('attachment; filename="statement-')
    assert answer.headers["vary"] == "Accept"
    assert header[:5] == ["occurredAt", "kind", "number", "amount", "balance"]
    assert amounts == [
        (one["kind"], one["amount"]["amount"], one["balance"]["amount"]) for one in shown
    ]
    at = [datetime.fromisoformat(row[0]) for row in rows]
    assert at == [datetime.fromisoformat(one["occurredAt"]) for one in shown]
    assert {str(one.utcoffset()) for one in at} == {"2:00:00"}  # the organization's clock


async def test_a_file_shows_the_clock_of_the_organization(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    company = await organizations.organization(host, uuid4(), time_zone="Indian/Mauritius")
    owner = await people.member(host, company.id, role="owner")
    account = await documents.account(host, company.id)
    await documents.pay(host, company.id, "10.00")

    path = f"/billing/accounts/{account.id}/statement"
    answer = await api.get(path, headers=within(owner) | {"Accept": "text/csv"})

    _, *rows = csv.reader(io.StringIO(answer.content.decode("utf-8-sig")))
    assert {row[0][-6:] for row in rows} == {"+04:00"}


@pytest.mark.parametrize("accept", ["*/*", "application/json, text/csv", "text/html"])
async def test_who_does_not_ask_for_a_file_gets_none(
    api: httpx2.AsyncClient, owner: people.Member, path: str, accept: str
):
    answer = await api.get(path, headers=within(owner) | {"Accept": accept})

    assert answer.headers["content-type"] == "application/json"


async def test_a_file_that_would_be_too_long_is_refused(
    api: httpx2.AsyncClient,
    owner: people.Member,
    path: str,
    monkeypatch: pytest.MonkeyPatch,
):
    plant(monkeypatch, account_statements, "_MOST_STEPS", 4)

    answer = await api.get(path, headers=within(owner) | {"Accept": "text/csv"})

    assert (answer.status_code, answer.json()["rule"]) == (422, "statement-steps")
