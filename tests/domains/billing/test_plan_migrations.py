"""Customers of an earlier version come to a later one, with notice and at their renewal."""

from datetime import date, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import billing
from tests.factories import identity as people
from tests.factories.subscriptions import Customer, customer
from tests.planting import plant
from thenga.domains.billing.services.catalogue import plans
from thenga.domains.billing.services.plan_admin import versions
from thenga.domains.billing.tables import OfferedPlan, PlanStatus, PlanVersion
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day


@pytest.fixture
async def operator(host: Host, seeded: None) -> people.Person:
    return await people.staff(host, "platform_operator")


def system(host: Host) -> Work:
    scope = billing.working(host)._scope
    return Work(host, "billing", scope, Origin("test", "test", "test"), login="billing_system")


async def offer(host: Host, version: PlanVersion) -> None:
    work = system(host)
    await versions.publish_to_catalogue(work, version.id)
    await work.finish()


YEARLY = {"interval": "year", "grossMinor": 199000, "currency": "ZAR"}


def price(gross: int) -> list[dict[str, Any]]:
    return [{"interval": "month", "grossMinor": gross, "currency": "ZAR"}]


async def two_versions(
    host: Host, *, prices: list[dict[str, Any]] | None = None
) -> tuple[PlanVersion, PlanVersion]:
    """One that was sold in one November, and the one that has been sold since."""
    code, sold = f"coop-{uuid4().hex[:10]}", date(2190, 11, 1)
    first = await billing.plan_version(
        host,
        plan_code=code,
        prices=prices or price(19900),
        status=PlanStatus.GRANDFATHERED,
        effective_from=sold,
        effective_to=sold + timedelta(days=30),
        live_subscriptions=1,
    )
    second = await billing.plan_version(
        host,
        plan_code=code,
        plan_version=2,
        prices=price(24900),
        status=PlanStatus.ACTIVE,
        effective_from=sold + timedelta(days=30),
    )
    for version in (first, second):
        await offer(host, version)
    return first, second


async def migrate(
    api: httpx2.AsyncClient, operator: people.Person, left: PlanVersion, **body: Any
) -> httpx2.Response:
    asked = {"fromVersion": 1, "applyAfter": "2190-12-20", "reason": "Costs have risen"} | body
    path = f"/billing/plans/{left.plan_code}/versions/2/migrate"
    return await api.post(path, json=asked, headers=operator.headers)


async def held(host: Host, api: httpx2.AsyncClient, clock: Time, code: str) -> tuple[Customer, Any]:
    buyer = await customer(host, api, clock, "2190-11-14 10:00")
    return buyer, await buyer.buy(code)


@pytest.mark.rule("BIL-1")
async def test_a_renewal_after_the_day_takes_the_later_version(
    api: httpx2.AsyncClient, host: Host, clock: Time, operator: people.Person
):
    first, _ = await two_versions(host)
    planned = await migrate(api, operator, first)
    again = await migrate(api, operator, first)
    await offer(host, first)
    buyer, bought = await held(host, api, clock, first.plan_code)

    await buyer.at("2190-12-14 10:00")
    await buyer.sweep()
    before = await buyer.read(bought["id"])
    await buyer.at("2191-01-10 10:00")
    upcoming = await buyer.get(f"subscriptions/{bought['id']}/upcoming-invoice")
    await buyer.at("2191-01-14 10:00")
    await buyer.sweep()
    after = await buyer.read(bought["id"])

    billed = await buyer.rows(
        "SELECT gross_minor FROM billing.invoice WHERE organization_id = $1 ORDER BY id"
    )
    print(f"versions={before['planVersion']},{after['planVersion']} billed={[*map(list, billed)]}")
    assert (planned.status_code, planned.json()["subscriptions"]) == (202, 1)
    assert again.json() == planned.json()
    assert (before["planVersion"], after["planVersion"]) == (1, 2)
    assert [row["gross_minor"] for row in billed] == [19900, 19900, 24900]
    assert upcoming["gross"]["amount"] == "249.00"
    assert (await buyer.told()).count("SubscriptionChanged:plan_changed") == 1


@pytest.mark.rule("BIL-1")
async def test_customers_are_told_thirty_days_before(
    api: httpx2.AsyncClient, host: Host, operator: people.Person
):
    first, _ = await two_versions(host)
    today = local_day(host.now())

    early = await migrate(api, operator, first, applyAfter=str(today + timedelta(days=29)))
    in_time = await migrate(api, operator, first, applyAfter=str(today + timedelta(days=30)))

    told = early.json()
    assert (early.status_code, told["code"]) == (422, "billing-effective-too-early")
    assert told["earliest"] == str(today + timedelta(days=30))
    assert in_time.status_code == 202


@pytest.mark.parametrize("status", [s for s in PlanStatus if s is not PlanStatus.GRANDFATHERED])
async def test_only_what_is_sold_no_more_is_left(
    api: httpx2.AsyncClient, host: Host, operator: people.Person, status: PlanStatus
):
    first = await billing.plan_version(host, status=status)
    await billing.plan_version(
        host, plan_code=first.plan_code, plan_version=2, status=PlanStatus.ACTIVE
    )

    answer = await migrate(api, operator, first)
    back = await migrate(api, operator, first, fromVersion=2)

    assert (answer.status_code, answer.json()["from"]) == (409, status)
    assert (back.status_code, back.json()["rule"]) == (422, "later-version")


async def test_a_planted_migration_before_its_day_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    clock: Time,
    operator: people.Person,
    monkeypatch: pytest.MonkeyPatch,
):
    async def at_once(*_: Any) -> int:
        return 2

    first, _ = await two_versions(host)
    buyer, bought = await held(host, api, clock, first.plan_code)
    plant(monkeypatch, plans, "renewal_version", at_once)

    await buyer.at("2190-12-14 10:00")
    await buyer.sweep()

    assert (await buyer.read(bought["id"]))["planVersion"] != 1


@pytest.mark.rule("BIL-1")
async def test_migration_needs_a_price_for_every_interval(
    api: httpx2.AsyncClient, host: Host, operator: people.Person
):
    first, _ = await two_versions(host, prices=[*price(19900), YEARLY])

    refused = await migrate(api, operator, first)

    told = refused.json()
    assert (refused.status_code, told["rule"]) == (422, "every-interval-has-a-price")
    assert told["missing"] == ["year"]


async def leave(host: Host, left: PlanVersion, after: date) -> None:
    """The catalogue says that a version is left, whatever was asked for."""
    work = system(host)
    offered = await work.lock(OfferedPlan, left.id)
    offered.migrates_to, offered.migrates_after = 2, after
    await work.save(offered)
    await work.finish()


@pytest.mark.rule("BIL-51")
async def test_a_renewal_without_a_price_is_parked_and_not_free(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
):
    first, _ = await two_versions(host, prices=[*price(19900), YEARLY])
    buyer = await customer(host, api, clock, "2190-11-14 10:00")
    bought = await buyer.buy(first.plan_code, "year")
    await leave(host, first, date(2190, 12, 20))

    await buyer.at("2191-11-13 22:00")
    await buyer.sweep()

    shown = await buyer.get(f"subscriptions/{bought['id']}/renewal")
    (account,) = (await buyer.get("accounts"))["items"]
    now = await buyer.read(bought["id"])
    assert account["parked"]["reason"] == "price_missing"
    assert (now["planVersion"], now["currentPeriod"]["end"]) == (1, "2191-11-14")
    assert shown["blockers"] == ["price_missing", "account_parked"]


@pytest.mark.rule("BIL-1")
async def test_scheduled_change_follows_a_migrated_version(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
):
    first, _ = await two_versions(host)
    buyer = await customer(host, api, clock, "2190-11-14 10:00")
    bought = await buyer.buy("starter")
    path = f"subscriptions/{bought['id']}"
    asked = await buyer.post(f"{path}/change-plan", planCode=first.plan_code)
    assert asked.json()["pendingChange"]["planVersion"] == 1, asked.text
    await leave(host, first, date(2190, 12, 1))

    shown = await buyer.get(f"{path}/upcoming-invoice")
    await buyer.at("2190-12-13 22:00")
    await buyer.sweep()

    (billed,) = await buyer.rows(
        "SELECT gross_minor FROM billing.invoice WHERE organization_id = $1 AND purpose = 'renewal'"
    )
    now = await buyer.read(bought["id"])
    print(f"upcoming={shown['gross']['amount']} billed={billed[0]} version={now['planVersion']}")
    assert (shown["gross"]["amount"], shown["planVersion"]) == ("249.00", 2)
    assert (billed["gross_minor"], now["planVersion"]) == (24900, 2)
    assert (await buyer.told()).count("SubscriptionChanged:plan_changed") == 1
