"""Plans: what is sold, and how it is loaded."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any
from uuid import uuid4

import asyncpg
import httpx2
import pytest

from tests.factories import billing
from tests.factories import identity as people
from thenga.domains.billing.services.plan_admin import catalogue_seed
from thenga.domains.billing.services.plan_admin.catalogue_seed import CatalogueChanged
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

ORGANIZATION = "X-Organization-Id"


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


def system(host: Host) -> Work:
    scope = billing.working(host)._scope
    return Work(host, "billing", scope, Origin("test", "test", "test"), login="billing_system")


async def counts(settings: Settings) -> dict[str, tuple[int, int]]:
    """Rows of the deployed catalogue in each of its tables, and how often they were changed."""
    deployed = catalogue_seed.deployed()
    plans = [plan["planCode"] for plan in deployed["plans"]]
    features = [feature["key"] for feature in deployed["features"]]
    sellers = [seller["sellerCode"] for seller in deployed["sellers"]]
    tables = {
        **dict.fromkeys(("plan_version", "offered_plan"), ("plan_code", plans)),
        **dict.fromkeys(("feature", "meter"), ("key", features)),
        "seller": ("seller_code", sellers),
    }
    admin = await asyncpg.connect(settings.admin_database.get_secret_value())
    found = {}
    for table, (column, codes) in tables.items():
        text = f"SELECT count(*), sum(version) FROM billing.{table} WHERE {column} = ANY ($1)"
        found[table] = tuple(await admin.fetchrow(text, codes))
    await admin.close()
    return found


@pytest.mark.rule("BIL-2")
async def test_loading_the_catalogue_twice_changes_nothing(
    api: httpx2.AsyncClient, host: Host, settings: Settings, owner: people.Member
):
    before = await counts(settings)
    await catalogue_seed.seed_catalogue(host, [])
    after = await counts(settings)

    shown = await api.get("/billing/plans/starter", headers=owner.headers)
    listed = await api.get("/billing/plans?at=2026-11-20", headers=owner.headers)

    (month,) = (one for one in shown.json()["prices"] if one["interval"] == "month")
    amounts = [month[name]["amount"] for name in ("gross", "vat", "net")]
    print(f"plans={len(listed.json()['items'])} starter={amounts[0]} ", end="")
    print(f"vat={amounts[1]} net={amounts[2]} changed_by_second_load={int(before != after)}")
    assert before == after
    assert all(rows > 0 for rows, _ in before.values())
    assert amounts == ["499.00", "65.09", "433.91"]
    codes = ["explorer", "starter", "professional", "enterprise", "ai-boost"]
    assert [one["planCode"] for one in listed.json()["items"]] == codes


@pytest.mark.rule("BIL-1")
async def test_planted_price_change_of_a_sold_version_stops_deploy(host: Host, seeded: None):
    planted = deepcopy(catalogue_seed.deployed())
    planted["plans"][1]["prices"][0]["grossMinor"] = 39900
    work = system(host)

    with pytest.raises(CatalogueChanged, match="starter 1 differs in prices"):
        await catalogue_seed.load(work, planted)
    await work.close()


# Explorer, starter, professional, enterprise.
LIMITS: dict[str, tuple[Any, ...]] = {
    "learning.assigned_people": (1, 5, 25, None),
    "learning.own_courses": (0, 0, 3, 25),
    "opportunity.sources": (0, 0, 2, 10),
    "analytics.custom_kpis": (0, 0, 10, 50),
    "analytics.report_schedules": (0, 1, 5, 50),
    "analytics.embedding": (False, False, False, True),
}
GAUGES = LIMITS.keys() - {"analytics.embedding"}


def limit_faults(plans: Sequence[dict[str, Any]]) -> list[str]:
    """The features of Learning, Opportunity and Analytics that a plan has otherwise."""
    found = []
    for plan, place in zip(plans, range(4), strict=False):
        held = {one["key"]: one for one in plan["entitlements"]}
        for key, wanted in LIMITS.items():
            said = held[key]["limit" if key in GAUGES else "value"]
            if said != wanted[place]:
                found.append(f"{plan['planCode']}: {key}")
    return found


async def test_each_plan_has_its_limits_of_later_domains(
    api: httpx2.AsyncClient, owner: people.Member
):
    listed = await api.get("/billing/plans?at=2026-11-20", headers=owner.headers)
    meters = {one["key"]: one["meter"] for one in catalogue_seed.deployed()["features"]}

    assert limit_faults(listed.json()["items"]) == []
    assert {key for key in LIMITS if (meters[key] or {}).get("kind") == "gauge"} == GAUGES


def test_a_planted_limit_of_another_plan_is_found():
    planted = deepcopy(catalogue_seed.deployed()["plans"])
    planted[1]["entitlements"] = planted[2]["entitlements"]

    assert "starter: opportunity.sources" in limit_faults(planted)


def test_every_plan_key_is_a_feature_and_has_its_meter():
    lines = catalogue_seed.deployed()
    features = {one["key"]: one for one in lines["features"]}
    held = [one for plan in lines["plans"] for one in plan["entitlements"]]

    assert [one for one in held if features[one["key"]]["type"] != one["type"]] == []
    for feature in features.values():
        assert (feature["meter"] is None) == (feature["type"] == "boolean")


async def test_a_plan_is_shown_beside_another(api: httpx2.AsyncClient, owner: people.Member):
    answer = await api.get("/billing/plans/professional?comparedTo=starter", headers=owner.headers)

    beside = answer.json()["comparedTo"]
    by_key = {one["key"]: one for one in beside["entitlements"]}
    assert beside["planCode"] == "starter"
    assert beside["prices"][0]["difference"] == {"amount": "1000.00", "currency": "ZAR"}
    assert by_key["identity.seats"]["change"] == "gained"
    assert (
        by_key["identity.seats"]["here"]["limit"],
        by_key["identity.seats"]["there"]["limit"],
    ) == (10, 3)
    assert by_key["identity.api_access"]["change"] == "same"
    worse = await api.get("/billing/plans/starter?comparedTo=professional", headers=owner.headers)
    changes = {one["key"]: one["change"] for one in worse.json()["comparedTo"]["entitlements"]}
    assert changes["analytics.briefings"] == "lost"


async def test_lists_are_filtered_by_kind_interval_and_day(
    api: httpx2.AsyncClient, owner: people.Member
):
    async def codes(query: str) -> list[str]:
        answer = await api.get(f"/billing/plans?{query}", headers=owner.headers)
        return [one["planCode"] for one in answer.json()["items"]]

    assert await codes("kind=addon&at=2026-11-20") == ["ai-boost"]
    assert "ai-boost" not in await codes("interval=year&at=2026-11-20")
    assert await codes("at=2026-10-31") == []
    assert await codes("at=1900-01-01") == []


async def test_what_is_not_there_is_not_found(api: httpx2.AsyncClient, owner: people.Member):
    for path in ("nothing-such", "starter?version=7", "starter?comparedTo=nothing-such"):
        answer = await api.get(f"/billing/plans/{path}", headers=owner.headers)
        assert answer.status_code == 404


async def test_meters_are_listed(api: httpx2.AsyncClient, owner: people.Member):
    headers = owner.headers | {ORGANIZATION: str(owner.organization_id)}

    listed = await api.get("/billing/meters", headers=headers)
    told = await api.get("/billing/meters?kind=told", headers=headers)

    assert len(listed.json()["items"]) == 17
    keys = [one["key"] for one in told.json()["items"]]
    assert keys == ["identity.seats", "compliance.storage_mb"]
