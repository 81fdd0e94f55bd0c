"""Accounts: opened by the founding, completed by who says whom to bill."""

import asyncio
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import billing, documents, paying, subscriptions
from tests.factories import identity as people
from tests.settling import Settle
from thenga import topology
from thenga.domains.billing.services.accounts import accounts
from thenga.domains.billing.services.accounts.accounts import merged_document
from thenga.domains.billing.services.ledger import journal
from thenga.domains.billing.tables import Account, AccountStatus, Book
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money

BILL_TO = {
    "legalName": "Mokoena Plant Hire (Pty) Ltd",
    "vatNumber": "ZA4123456789",
    "registrationNumber": "2019123456/07",
    "address": {
        "line1": "12 Main Road",
        "city": "Polokwane",
        "province": "Limpopo",
        "postalCode": "0699",
    },
}


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


def within(who: people.Member, **more: str) -> dict[str, str]:
    return who.headers | {"X-Organization-Id": str(who.organization_id)} | more


async def provisional(host: Host, owner: people.Member) -> Account:
    return await billing.account(host, owner.organization_id, status=AccountStatus.PROVISIONAL)


async def told(host: Host, organization_id: UUID) -> list[str]:
    """Without what is held, which has tests of its own."""
    async with host.engines.connection("billing", "billing_system") as connection:
        found = await connection.fetch(
            "SELECT envelope::jsonb ->> 'type' AS type FROM billing.outbox "
            "WHERE organization_id = $1 AND envelope::jsonb ->> 'type' NOT LIKE '%.Entitlement%' "
            "ORDER BY position",
            organization_id,
        )
    return [row["type"] for row in found]


@pytest.mark.parametrize("mode", ["live", "sandbox"])
async def test_the_founding_of_an_organization_opens_its_account_once(
    api: httpx2.AsyncClient, host: Host, seeded: None, mode: str
):
    who = await people.person(host)
    async with Settle(host, topology.DOMAINS) as settle:
        profile = {"legalName": "Mokoena Plant Hire", "legalForm": "private_company"}
        body = {"organizationType": "enterprise", "mode": mode, "profile": profile}
        founded = await api.post("/organizations", json=body, headers=who.headers)
        company_id = UUID(founded.json()["id"])
        headers = who.headers | {"X-Organization-Id": str(company_id)}

        async def listed() -> list[dict[str, Any]] | None:
            answer = await api.get("/billing/accounts", headers=headers)
            return answer.json()["items"] if answer.is_success and answer.json()["items"] else None

        (account,) = await settle(listed)
    again = billing.working(host, company_id)
    await accounts.open_account(again, sandbox=False)
    await again.finish()

    assert (account["status"], account["book"], account["billTo"]) == ("provisional", mode, None)
    assert (account["standing"], account["creditBalance"]["amount"]) == ("good", "0.00")
    assert await told(host, company_id) == ["billing.BillingAccountOpened.v1"]


async def test_who_is_billed_completes_the_account_once(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    await provisional(host, owner)
    body = {
        "billTo": BILL_TO,
        "invoiceEmails": ["accounts@mokoena.example"],
        "orderNumber": "PO-17",
        "spendCap": {"amount": "500.00", "currency": "ZAR"},
    }

    made = await api.post("/billing/accounts", json=body, headers=within(owner))
    again = await api.post("/billing/accounts", json=body, headers=within(owner))
    read = await api.get(f"/billing/accounts/{made.json()['id']}", headers=within(owner))

    account = made.json()
    assert (made.status_code, account["status"]) == (201, "active")
    assert account["billTo"]["vatNumber"] == "4123456789"
    assert account["billTo"]["registrationNumber"] == "2019/123456/07"
    assert account["billTo"]["address"]["country"] == "ZA"
    assert account["billToProvenance"]["kind"] == "customer_supplied"
    assert account["spendCap"] == {"amount": "500.00", "currency": "ZAR"}
    assert read.json() == account
    assert (again.status_code, again.json()["code"]) == (409, "duplicate")
    assert again.json()["existing"]["id"] == account["id"]


async def test_two_who_complete_at_once_are_one(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    await provisional(host, owner)

    answers = await asyncio.gather(
        *(
            api.post("/billing/accounts", json={"billTo": BILL_TO}, headers=within(owner))
            for _ in range(4)
        )
    )

    assert sorted(one.status_code for one in answers) == [201, 409, 409, 409]


async def test_an_account_that_is_not_open_yet_is_waited_for(
    api: httpx2.AsyncClient, owner: people.Member
):
    answer = await api.post("/billing/accounts", json={"billTo": BILL_TO}, headers=within(owner))

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")


async def test_a_patch_merges_and_asks_which_version_was_read(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    await provisional(host, owner)
    made = await api.post("/billing/accounts", json={"billTo": BILL_TO}, headers=within(owner))
    path = f"/billing/accounts/{made.json()['id']}"
    patch = {
        "billTo": {"tradingName": "MPH", "vatNumber": None, "address": {"line2": "Unit 4"}},
        "orderNumber": "PO-18",
    }

    blind = await api.patch(path, json=patch, headers=within(owner))
    changed = await api.patch(path, json=patch, headers=within(owner, **{"If-Match": '"2"'}))
    stale = await api.patch(path, json=patch, headers=within(owner, **{"If-Match": '"2"'}))

    assert (blind.status_code, stale.status_code) == (428, 412)
    bill_to = changed.json()["billTo"]
    assert (bill_to["legalName"], bill_to["tradingName"]) == (BILL_TO["legalName"], "MPH")
    assert (bill_to["vatNumber"], bill_to["address"]["line2"]) == (None, "Unit 4")
    assert (bill_to["address"]["city"], changed.json()["orderNumber"]) == ("Polokwane", "PO-18")
    assert changed.json()["version"] == 3


async def test_billing_details_complete_a_provisional_account(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    account = await provisional(host, owner)
    path = f"/billing/accounts/{account.id}"
    headers = within(owner, **{"If-Match": '"1"'})

    nameless = await api.patch(path, json={"billTo": {"tradingName": "MPH"}}, headers=headers)
    homeless = await api.patch(
        path,
        json={"billTo": {"legalName": "M", "address": {"line1": "1 Main Road"}}},
        headers=headers,
    )
    named = await api.patch(path, json={"billTo": {"legalName": "Mokoena"}}, headers=headers)

    assert (nameless.status_code, nameless.json()["missing"]) == (422, ["/billTo/legalName"])
    assert homeless.json()["missing"] == [
        "/billTo/address/city",
        "/billTo/address/postalCode",
    ]
    assert (named.status_code, named.json()["status"]) == (200, "active")


@pytest.mark.parametrize(
    "wrong",
    [
        {"vatNumber": "5123456789"},
        {"vatNumber": "412345678"},
        {"registrationNumber": "19/123456/07"},
        {"registrationNumber": "2099/123456/07"},
        {"address": {"line1": "1 Main Road", "city": "Pretoria", "postalCode": "2"}},
        {"legalName": ""},
    ],
)
async def test_numbers_that_cannot_be_are_refused(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, wrong: dict[str, Any]
):
    await provisional(host, owner)

    answer = await api.post(
        "/billing/accounts", json={"billTo": BILL_TO | wrong}, headers=within(owner)
    )

    assert answer.status_code == 422


async def test_a_cap_below_zero_or_in_dollars_is_refused(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    await provisional(host, owner)
    for cap in ({"amount": "-1.00"}, {"amount": "1.00", "currency": "USD"}):
        answer = await api.post(
            "/billing/accounts", json={"billTo": BILL_TO, "spendCap": cap}, headers=within(owner)
        )
        assert answer.status_code == 422


async def test_only_operators_let_somebody_pay_by_invoice(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    operator = await people.staff(host, "platform_operator")
    account = await billing.account(host, owner.organization_id)
    path, patch = f"/billing/accounts/{account.id}", {"collectionMethod": "send_invoice"}
    there = {"X-Organization-Id": str(owner.organization_id), "If-Match": '"1"'}

    refused = await api.patch(path, json=patch, headers=within(owner, **{"If-Match": '"1"'}))
    done = await api.patch(path, json=patch, headers=operator.headers | there)

    assert (refused.status_code, refused.json()["reasonCode"]) == (403, "operator_only")
    assert (done.status_code, done.json()["collectionMethod"]) == (200, "send_invoice")


async def test_operators_name_whose_account_they_read(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    operator = await people.staff(host, "platform_operator")
    account = await billing.account(host, owner.organization_id)
    query = f"/billing/accounts?organizationId={owner.organization_id}"

    named = await api.get(query, headers=operator.headers)
    unnamed = await api.get(f"/billing/accounts/{account.id}", headers=operator.headers)
    other = await api.get(f"/billing/accounts?organizationId={uuid4()}", headers=within(owner))
    own = await api.get(query, headers=within(owner))

    assert [one["id"] for one in named.json()["items"]] == [str(account.id)]
    assert (unnamed.status_code, other.status_code, own.status_code) == (404, 404, 200)


async def test_later_profile_change_asks_for_review_only(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    account = await billing.account(host, owner.organization_id)
    path = f"/billing/accounts/{account.id}"
    for keys in (["website"], ["legalName", "tradingName"], ["vatNumber"]):
        work = billing.working(host, owner.organization_id)
        await accounts.flag_for_review(work, keys)
        await work.finish()

    asked = await api.get(path, headers=within(owner))
    looked = await api.patch(
        path,
        json={"billTo": {"legalName": "Mokoena Holdings"}},
        headers=within(owner, **{"If-Match": '"3"'}),
    )

    review = asked.json()["billToReview"]
    assert review["fields"] == ["legalName", "tradingName", "vatNumber"]
    assert asked.json()["billTo"]["legalName"] == billing.BILL_TO["legal_name"]
    assert looked.json()["billToReview"] is None


@pytest.mark.rule("BIL-29")
async def test_credit_comes_from_the_journal(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    account = await billing.account(host, owner.organization_id, book=Book.SANDBOX)
    for booking in (
        journal.payment_booking("sandbox", Money.of("499.00")),
        journal.invoice_booking(net=Money.of("86.96"), vat=Money.of("13.04")),
        journal.allocation(Money.of("100.00")),
    ):
        await billing.entry(host, owner.organization_id, booking, book=Book.SANDBOX)

    read = await api.get(f"/billing/accounts/{account.id}", headers=within(owner))

    assert read.json()["creditBalance"] == {"amount": "399.00", "currency": "ZAR"}


async def test_new_credit_invalidates_a_cached_account(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    path = f"/billing/accounts/{(await billing.account(host, owner.organization_id)).id}"

    before = await api.get(path, headers=within(owner))
    await billing.entry(
        host, owner.organization_id, journal.payment_booking("eft", Money.of("499.00"))
    )
    kept = {"If-None-Match": before.headers["ETag"]}
    after = await api.get(path, headers=within(owner, **kept))

    assert before.json()["version"] == after.json()["version"]
    assert (after.status_code, after.json()["creditBalance"]["amount"]) == (200, "499.00")


async def close(
    api: httpx2.AsyncClient, who: people.Person, account: Account, **more: str
) -> httpx2.Response:
    there = {"X-Organization-Id": str(account.organization_id)}
    path = f"/billing/accounts/{account.id}/close"
    body = {"reason": "The company is wound up"}
    return await api.post(path, json=body, headers=who.headers | there | more)


async def test_an_operator_closes_an_account_with_which_all_is_done(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    operator = await people.staff(host, "platform_operator")
    account = await documents.account(host, owner.organization_id, Book.SANDBOX)
    await documents.issued(host, owner.organization_id, paid=True)

    by_owner = await close(api, owner, account)
    done = await close(api, operator, account)
    again = await close(api, operator, account)
    bought = await api.post(
        "/billing/subscriptions",
        json={"planCode": "starter", "interval": "month", "provider": "sandbox"},
        headers=within(owner),
    )
    tried = await api.post("/billing/trials", json={}, headers=within(owner))
    changed = await api.patch(
        f"/billing/accounts/{account.id}",
        json={"orderNumber": "PO-1"},
        headers=within(owner, **{"If-Match": f'"{done.json()["version"]}"'}),
    )

    assert [one.status_code for one in (by_owner, done, again)] == [403, 200, 200]
    assert (done.json()["status"], done.json()["allowedMoves"]) == ("closed", [])
    assert again.json()["version"] == done.json()["version"]
    codes = {one.json()["code"] for one in (bought, tried, changed)}
    assert codes == {"invalid-transition"}


async def test_an_account_with_which_something_is_open_is_not_closed(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    operator = await people.staff(host, "platform_operator")
    others = [await people.member(host, uuid4(), role="owner") for _ in range(3)]
    held, owing, rich = [one.organization_id for one in others]
    await subscriptions.base(host, held)
    await documents.issued(host, owing)
    await documents.account(host, rich)
    await documents.pay(host, rich, "5.00")
    unsaid = await provisional(host, owner)

    found = {}
    for name, organization_id in (("held", held), ("due", owing), ("credit", rich)):
        account = await documents.account(host, organization_id)
        found[name] = await close(api, operator, account)
    incomplete = await close(api, operator, unsaid)
    shown = await api.get(f"/billing/accounts?organizationId={owing}", headers=operator.headers)

    for name, refused in found.items():
        assert (refused.status_code, refused.json()["code"]) == (409, "invalid-transition")
        assert refused.json()["unmet"] == [name]
    assert incomplete.status_code == 409
    (move,) = shown.json()["items"][0]["allowedMoves"]
    assert (move["move"], move["possible"]) == ("close", False)
    assert "unpaid amount" in move["reason"]


@pytest.mark.rule("BIL-43")
async def test_who_has_left_and_owes_is_delinquent(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, _ = await paying.declined(host, clock)
    await payer.at(datetime(2026, 12, 15, 8, tzinfo=UTC))

    headers = await paying.owner_of(host, payer)
    (shown,) = (await api.get("/billing/accounts", headers=headers)).json()["items"]
    due = await payer.rows(
        "SELECT sum(amount_due_minor)::bigint AS minor FROM billing.invoice "
        "WHERE organization_id = $1 AND status = 'open'"
    )

    assert (shown["subscriptions"], due[0]["minor"]) == ([], 74950)
    assert shown["standing"] == "delinquent"


def test_a_merge_patch_follows_its_standard():
    known = {"a": 1, "b": {"c": 2, "d": 3}}

    assert merged_document(known, {"a": None, "b": {"c": 4}, "e": {"f": None, "g": 5}}) == {
        "b": {"c": 4, "d": 3},
        "e": {"g": 5},
    }
