"""Parked instead of guessed: too many lines in a day stop an account, an operator lets it go."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.billing.paying import pay, within
from tests.factories import billing, documents, paying
from tests.factories import identity as people
from tests.factories.paying import Payer
from tests.factories.subscriptions import customer, instant
from tests.planting import plant
from tests.providers.loopback import worker
from tests.suites import flows
from thenga.domains.billing.jobs import jobs
from thenga.domains.billing.services.accounts import parking
from thenga.domains.billing.services.entitlements import current
from thenga.domains.billing.services.invoicing import invoices
from thenga.domains.billing.tables import Book, LineKind, Subscription
from thenga.kernel.process.host import Host

TOMORROW = timedelta(days=1)


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    who = await people.member(host, uuid4(), role="owner", sandbox=True)
    await billing.account(host, who.organization_id, book=Book.SANDBOX)
    return who


async def bill(host: Host, owner: people.Member, count: int, of: UUID, **given: Any) -> UUID:
    """An invoice of so many lines of one subscription."""
    lines = [
        documents.line("1.00", subscription_id=of, kind=LineKind.ADJUSTMENT, service=None)
        for _ in range(count)
    ]
    made = await documents.draft(
        host, owner.organization_id, *lines, book=Book.SANDBOX, by_worker=True, **given
    )
    return made.id


async def account(api: httpx2.AsyncClient, owner: people.Member) -> dict[str, Any]:
    (found,) = (await api.get("/billing/accounts", headers=within(owner))).json()["items"]
    return dict(found)


async def parked_by(api: httpx2.AsyncClient, host: Host, owner: people.Member) -> dict[str, Any]:
    """The account after 15 lines of a day, more of other days and plans, and one too many."""
    subscription = uuid4()
    await bill(host, owner, 15, subscription)
    await bill(host, owner, 15, uuid4())
    await bill(host, owner, 15, subscription, ahead=TOMORROW)
    async with worker(host):
        await _no_job_waits(host, owner)
        assert (await account(api, owner))["parked"] is None
        await bill(host, owner, 1, subscription)
        await _no_job_waits(host, owner)
    return await account(api, owner)


async def _no_job_waits(host: Host, owner: people.Member) -> None:
    async def done() -> bool:
        async with host.engines.connection("billing", "billing_system") as connection:
            waits: int = await connection.fetchval(
                "SELECT count(*) FROM billing.procrastinate_jobs "
                "WHERE status IN ('todo', 'doing') AND lock LIKE $1",
                f"%:{owner.organization_id}:%",
            )
        return waits == 0

    await flows.until(done)


@pytest.mark.rule("BIL-51")
async def test_sixteenth_line_of_a_day_parks_the_account(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    invoice_id = await bill(host, owner, 1, uuid4())
    found = await parked_by(api, host, owner)
    how = {"invoiceId": str(invoice_id), "provider": "sandbox"}
    refused = await pay(api, owner, **how)
    operator = await people.staff(host, "platform_operator")
    path = f"/billing/accounts/{found['id']}/unpark"
    there = {"X-Organization-Id": str(owner.organization_id)}

    by_owner = await api.post(path, headers=within(owner))
    freed = await api.post(path, headers=operator.headers | there)
    again = await api.post(path, headers=operator.headers | there)
    paid = await pay(api, owner, **how)

    print(
        f"lines_a_day=16 parked={found['parked']['reason']} pay={refused.status_code} "
        f"owner={by_owner.status_code} operator={freed.status_code} pay_after={paid.status_code}"
    )
    assert found["parked"]["reason"] == "too_many_lines"
    assert (refused.status_code, refused.json()["code"]) == (409, "billing-account-parked")
    assert (by_owner.status_code, by_owner.json()["code"]) == (403, "forbidden")
    assert (freed.status_code, freed.json()["parked"]) == (200, None)
    assert (again.status_code, again.json()["version"]) == (200, freed.json()["version"])
    assert paid.status_code == 201


async def test_a_planted_count_that_sees_no_circle_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    monkeypatch: pytest.MonkeyPatch,
):
    plant(monkeypatch, invoices, "_MOST_LINES", 10**6)

    assert (await parked_by(api, host, owner))["parked"] is None


@pytest.mark.rule("BIL-48")
@pytest.mark.rule("BIL-51")
async def test_a_renewal_that_would_bill_a_day_twice_parks_the_account(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
):
    buyer = await customer(host, api, clock, "2026-11-14 10:00")
    bought = await buyer.buy("starter")
    # As if nobody had written down that this month is billed.
    await buyer.rows(
        "UPDATE billing.subscription SET anchor_date = '2026-10-13', period_start = '2026-10-13', "
        "period_end = '2026-11-13', next_check_at = '2026-11-14T10:00Z' "
        "WHERE organization_id = $1 RETURNING id"
    )
    job, name = jobs.moved[Subscription]
    who: dict[str, Any] = {name: UUID(bought["id"])}
    work = billing.working(host, buyer.id)
    work.enqueue(job, **who)
    await work.finish()

    async def parked() -> bool:
        (found,) = (await buyer.get("accounts"))["items"]
        return found["parked"] is not None and found["parked"]["reason"] == "invariant_broken"

    async with worker(host):
        await flows.until(parked)
    (row,) = await buyer.rows(
        "SELECT next_check_at, period_end, (SELECT count(*) FROM billing.invoice AS made "
        "WHERE made.organization_id = $1) AS invoices "
        "FROM billing.subscription WHERE organization_id = $1"
    )

    now = await buyer.read(bought["id"])
    print(f"access={now['access']} next={row['next_check_at']} invoices={row['invoices']}")
    assert (now["status"], now["access"], row["invoices"]) == ("active", "full", 1)
    assert row["next_check_at"] == instant("2026-11-14 11:00")


async def parked_in_recovery(host: Host, clock: Time) -> tuple[Payer, Subscription]:
    """Declined on 14 November, parked ten days after."""
    payer, subscription = await paying.declined(host, clock)
    await payer.at(paying.RENEWED + timedelta(days=10, hours=10))
    work = payer.work()
    await parking.park(work, reason=parking.IN_DOUBT)
    await work.finish()
    return payer, subscription


async def shown(api: httpx2.AsyncClient, payer: Payer, subscription: Subscription) -> Any:
    """The plan as its owner reads it, and the level of its organization."""
    headers = await paying.owner_of(payer.host, payer)
    seen = (await api.get(f"/billing/subscriptions/{subscription.id}", headers=headers)).json()
    work = payer.work()
    signal = await current.signal(work, "bid.workspaces")
    await work.close()
    return seen["status"], seen["access"], signal.access


@pytest.mark.rule("BIL-51")
async def test_parking_freezes_dunning_and_leaves_days_to_pay(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, subscription = await parked_in_recovery(host, clock)
    told = len(await payer.told())
    charged = len(payer.charged)

    await payer.at(paying.RENEWED + timedelta(days=40, hours=10))
    parked = await shown(api, payer, subscription)
    reminded, charges = (await payer.told())[told:], len(payer.charged) - charged
    operator = await people.staff(host, "platform_operator")
    there = operator.headers | {"X-Organization-Id": str(payer.organization_id)}
    freed = await api.post(f"/billing/accounts/{payer.account.id}/unpark", headers=there)
    await payer.at(paying.RENEWED + timedelta(days=44) - timedelta(seconds=1))
    left = await shown(api, payer, subscription)
    warned = (await payer.told())[told:]
    await payer.at(paying.RENEWED + timedelta(days=44))

    ended = await shown(api, payer, subscription)
    print(f"parked={parked} reminded={reminded} left={left} ended={ended}")
    assert parked == ("past_due", "grace", "grace")
    assert (charges, reminded.count("PaymentFailed")) == (0, 2)  # days 14 and 21
    assert "GraceEnding" not in reminded
    assert freed.status_code == 200
    assert left == ("past_due", "grace", "grace")
    assert warned.count("GraceEnding") == 1
    assert ended == ("ended", "none", "full")


@pytest.mark.rule("BIL-51")
async def test_an_operator_pays_and_tries_again_for_a_parked_account(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer, subscription = await parked_in_recovery(host, clock)
    headers = await paying.owner_of(host, payer)
    (failure,) = (await api.get("/billing/payment-failures", headers=headers)).json()["items"]
    operator = await people.staff(host, "platform_operator")
    there = operator.headers | {"X-Organization-Id": str(payer.organization_id)}
    path = f"/billing/payment-failures/{failure['id']}/retry"
    body = {"invoiceId": failure["invoiceId"], "paymentMethodId": str(payer.method.id)}

    refused = await api.post(path, json={}, headers=headers)
    tried = await api.post(path, json={}, headers=there)
    await payer.settle()
    payer.card = "ok"
    paid = await api.post("/billing/payments", json=body, headers=there)
    await payer.settle()

    now = await shown(api, payer, subscription)
    assert (refused.status_code, refused.json()["code"]) == (409, "billing-account-parked")
    assert (tried.status_code, paid.status_code) == (202, 201)
    assert now == ("active", "full", "full")
