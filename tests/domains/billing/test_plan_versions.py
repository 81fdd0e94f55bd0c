"""Plan versions: how operators change what is sold, and who may not."""

from datetime import date
from typing import Any
from uuid import uuid4

import asyncpg
import httpx2
import pytest

from tests.conftest import Opening
from tests.factories import billing
from tests.factories import identity as people
from tests.factories.subscriptions import subscription
from tests.settling import Settle
from thenga import topology
from thenga.domains.billing.lifecycles import PlanVersionLifecycle
from thenga.domains.billing.services.plan_admin import versions
from thenga.domains.billing.tables import OfferedPlan, PlanKind, PlanStatus, PlanVersion
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

ORGANIZATION = "X-Organization-Id"


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture
async def operator(host: Host, seeded: None) -> people.Person:
    return await people.staff(host, "platform_operator")


@pytest.fixture
async def colleague(host: Host, seeded: None) -> people.Person:
    return await people.staff(host, "platform_operator")


def terms(**fields: Any) -> dict[str, Any]:
    return {
        "name": "Cooperative",
        "description": "For members of a cooperative.",
        "rank": 5,
        "prices": [{"interval": "month", "gross": {"amount": "199.00", "currency": "ZAR"}}],
        "entitlements": [
            {"type": "limit", "key": "identity.seats", "limit": 2},
            {
                "type": "metered",
                "key": "intelligence.reasoning_runs",
                "included": 50,
                "mode": "soft",
                "overageUnitPrice": "1.75",
            },
            {"type": "boolean", "key": "identity.api_access", "value": True},
        ],
        "effectiveFrom": "2190-01-01",
        **fields,
    }


def system(host: Host) -> Work:
    scope = billing.working(host)._scope
    return Work(host, "billing", scope, Origin("test", "test", "test"), login="billing_system")


@pytest.mark.rule("BIL-1")
async def test_a_version_is_written_published_by_another_and_offered(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    operator: people.Person,
    colleague: people.Person,
):
    code = f"coop-{uuid4().hex[:10]}"
    made = await api.post("/billing/plans", json=terms(planCode=code), headers=operator.headers)
    path = f"/billing/plans/{code}/versions/1"
    unseen = await api.get(f"/billing/plans/{code}?version=1", headers=owner.headers)
    changed = await api.patch(
        path, json={"name": "Co-op"}, headers=operator.headers | {"If-Match": '"1"'}
    )
    reason = {"reason": "Agreed with the cooperative"}
    own = await api.post(f"{path}/publish", json=reason, headers=operator.headers)
    published = await api.post(f"{path}/publish", json=reason, headers=colleague.headers)
    again = await api.post(f"{path}/publish", json=reason, headers=colleague.headers)
    late = await api.patch(
        path, json={"name": "Later"}, headers=operator.headers | {"If-Match": '"3"'}
    )

    assert (made.status_code, made.json()["status"]) == (201, "draft")
    assert made.headers["location"] == f"/v1/billing/plans/{code}?version=1"
    assert unseen.status_code == 404
    assert (changed.json()["name"], changed.json()["rank"]) == ("Co-op", 5)
    assert (own.status_code, own.json()["reasonCode"]) == (403, "author_is_publisher")
    assert (published.status_code, published.json()["status"]) == (200, "active")
    assert again.json() == published.json()
    assert (late.status_code, late.json()["code"]) == (409, "invalid-transition")
    assert [one["possible"] for one in made.json()["allowedMoves"]] == [False]

    async def offered() -> Any:
        answer = await api.get(f"/billing/plans/{code}?version=1", headers=owner.headers)
        return answer.json() if answer.is_success else None

    async with Settle(host, topology.DOMAINS) as settle:
        seen = await settle(offered)
    assert (seen["name"], seen["status"], seen["prices"][0]["gross"]["amount"]) == (
        *("Co-op", "active"),
        "199.00",
    )
    written = (await api.get(f"/billing/plans/{code}?version=1", headers=operator.headers)).json()
    same = ("id", "planVersion", "prices", "entitlements", "rank", "effectiveFrom", "public")
    assert [seen[name] for name in same] == [written[name] for name in same]
    listed = await api.get("/billing/plans?at=2190-01-01", headers=owner.headers)
    assert code in [one["planCode"] for one in listed.json()["items"]]
    today = await api.get("/billing/plans", headers=owner.headers)
    assert code not in [one["planCode"] for one in today.json()["items"]]


async def test_planted_guard_letting_authors_publish_is_found(
    api: httpx2.AsyncClient, host: Host, operator: people.Person, monkeypatch: pytest.MonkeyPatch
):
    draft = await billing.plan_version(host, author=operator.user_id)
    monkeypatch.setattr(PlanVersionLifecycle.publish, "guard", None)

    answer = await api.post(
        f"/billing/plans/{draft.plan_code}/versions/1/publish",
        json={"reason": "I say so"},
        headers=operator.headers,
    )

    assert answer.status_code == 200


async def test_a_draft_is_changed_only_by_who_has_read_it(
    api: httpx2.AsyncClient, host: Host, operator: people.Person
):
    draft = await billing.plan_version(host, author=operator.user_id)
    path = f"/billing/plans/{draft.plan_code}/versions/1"

    blind = await api.patch(path, json={"rank": 7}, headers=operator.headers)
    stale = await api.patch(path, json={"rank": 7}, headers=operator.headers | {"If-Match": '"9"'})

    assert (blind.status_code, blind.json()["code"]) == (428, "precondition-required")
    assert (stale.status_code, stale.json()["code"]) == (412, "stale-version")


async def test_whoever_changes_a_draft_cannot_publish_it_either(
    api: httpx2.AsyncClient, host: Host, colleague: people.Person
):
    draft = await billing.plan_version(host)
    path = f"/billing/plans/{draft.plan_code}/versions/1"
    headers = colleague.headers | {"If-Match": '"1"'}

    await api.patch(path, json={"rank": 7}, headers=headers)
    answer = await api.post(f"{path}/publish", json={"reason": "mine"}, headers=colleague.headers)

    assert (answer.status_code, answer.json()["reasonCode"]) == (403, "author_is_publisher")


async def test_a_new_version_ends_the_one_before_it_on_its_day(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    operator: people.Person,
    colleague: people.Person,
):
    first = await billing.plan_version(host, status=PlanStatus.ACTIVE)
    work = system(host)
    await versions.publish_to_catalogue(work, first.id)
    await work.finish()
    code, reason = first.plan_code, {"reason": "Prices of next year"}
    body = terms(effectiveFrom="2191-01-01")
    made = await api.post(f"/billing/plans/{code}/versions", json=body, headers=operator.headers)
    second = await api.post(f"/billing/plans/{code}/versions", json=body, headers=operator.headers)
    published = await api.post(
        f"/billing/plans/{code}/versions/2/publish", json=reason, headers=colleague.headers
    )
    work = system(host)
    newest = await work.find(PlanVersion, plan_code=code, plan_version=2)
    assert newest is not None
    await versions.publish_to_catalogue(work, newest.id)
    await work.finish()

    async def sold(day: str) -> list[int]:
        answer = await api.get(f"/billing/plans?at={day}", headers=owner.headers)
        return [o["planVersion"] for o in answer.json()["items"] if o["planCode"] == code]

    assert (made.json()["planVersion"], published.status_code) == (2, 200)
    assert (second.status_code, second.json()["code"]) == (409, "duplicate")
    assert [await sold(day) for day in ("2190-01-01", "2190-12-31", "2191-01-01")] == [
        [1],
        [1],
        [2],
    ]


async def test_a_version_follows_the_one_before_it(
    api: httpx2.AsyncClient, host: Host, colleague: people.Person
):
    first = await billing.plan_version(host, status=PlanStatus.ACTIVE)
    await billing.plan_version(host, plan_code=first.plan_code, plan_version=2)

    answer = await api.post(
        f"/billing/plans/{first.plan_code}/versions/2/publish",
        json={"reason": "same day"},
        headers=colleague.headers,
    )

    assert (answer.status_code, answer.json()["earliest"]) == (422, "2190-01-02")
    assert answer.json()["code"] == "billing-effective-too-early"


async def test_unused_version_is_retired_and_stays_readable(
    api: httpx2.AsyncClient, host: Host, operator: people.Person, owner: people.Member
):
    held = await billing.plan_version(host, status=PlanStatus.GRANDFATHERED, live_subscriptions=3)
    free = await billing.plan_version(host, status=PlanStatus.GRANDFATHERED, live_subscriptions=0)
    reason = {"reason": "Nobody has it"}

    async def retire(version: PlanVersion) -> httpx2.Response:
        path = f"/billing/plans/{version.plan_code}/versions/1/retire"
        return await api.post(path, json=reason, headers=operator.headers)

    refused, done, again = await retire(held), await retire(free), await retire(free)

    assert (refused.status_code, refused.json()["liveSubscriptions"]) == (409, 3)
    assert (done.status_code, done.json()["status"]) == (200, "retired")
    assert again.json() == done.json()


async def test_replaced_version_is_grandfathered_and_counted(host: Host):
    over = await billing.plan_version(
        host, status=PlanStatus.ACTIVE, effective_from=_day(2020), effective_to=_day(2021)
    )
    work = system(host)
    await versions.refresh_versions(work)
    await work.finish()
    read = billing.working(host)
    found = await read.get(PlanVersion, over.id)
    await read.close()

    assert (found.status, found.live_subscriptions) == (PlanStatus.GRANDFATHERED, 0)


def to(version: PlanVersion) -> dict[str, Any]:
    return {"planCode": version.plan_code, "planVersion": version.plan_version}


@pytest.mark.parametrize("how", ["incomplete", "scheduled", "put_aside"])
async def test_who_comes_to_a_version_is_counted_before_it_is_retired(
    api: httpx2.AsyncClient, host: Host, operator: people.Person, how: str
):
    old = await billing.plan_version(host, status=PlanStatus.GRANDFATHERED, live_subscriptions=0)
    pending = {"scheduled": to(old), "put_aside": {"planCode": "starter", "former": to(old)}}
    bought = to(old) if how == "incomplete" else {"planCode": "starter", "planVersion": 1}
    await subscription(
        host,
        uuid4(),
        plan_code=bought["planCode"],
        plan_version=bought["planVersion"],
        status="incomplete" if how == "incomplete" else "active",
        kind=PlanKind.BASE,
        pending_change=pending.get(how),
    )
    work = system(host)
    await versions.refresh_versions(work)
    await work.finish()

    path = f"/billing/plans/{old.plan_code}/versions/1/retire"
    refused = await api.post(path, json={"reason": "Nobody has it"}, headers=operator.headers)

    assert (refused.status_code, refused.json()["liveSubscriptions"]) == (409, 1)


def _day(year: int) -> date:
    return date(year, 1, 1)


def _priced(*amounts: str) -> list[dict[str, Any]]:
    return [{"interval": "month", "gross": {"amount": amount}} for amount in amounts]


@pytest.mark.parametrize(
    "wrong",
    [
        {"entitlements": [{"type": "limit", "key": "bid.flights", "limit": 1}]},
        {"entitlements": [{"type": "boolean", "key": "identity.seats", "value": True}]},
        {"entitlements": [{"type": "limit", "key": "identity.seats", "limit": 1}] * 2},
        {
            "entitlements": [
                {"type": "metered", "key": "api.requests", "included": 5, "mode": "soft"}
            ]
        },
        {"prices": _priced("1.00", "2.00")},
    ],
)
async def test_terms_that_cannot_be_are_refused(
    api: httpx2.AsyncClient, operator: people.Person, wrong: dict[str, Any]
):
    body = terms(planCode=f"wrong-{uuid4().hex[:8]}") | wrong

    answer = await api.post("/billing/plans", json=body, headers=operator.headers)

    assert (answer.status_code, answer.json()["code"]) == (422, "rule-violated")
    assert answer.json()["rule"] == "plan-terms"


async def test_a_price_is_no_less_than_nothing(api: httpx2.AsyncClient, operator: people.Person):
    body = terms(planCode=f"wrong-{uuid4().hex[:8]}", prices=_priced("-1.00"))

    answer = await api.post("/billing/plans", json=body, headers=operator.headers)

    assert (answer.status_code, answer.json()["code"]) == (422, "validation-failed")
    assert [one["pointer"] for one in answer.json()["errors"]] == ["/prices/0/gross/amount"]


@pytest.mark.rule("BIL-1")
@pytest.mark.parametrize(
    "wrong",
    [
        {"prices": _priced("1.00", "2.00")},
        {"entitlements": [{"type": "limit", "key": "bid.flights", "limit": 1}]},
    ],
)
async def test_a_draft_is_not_changed_to_terms_that_cannot_be(
    api: httpx2.AsyncClient, host: Host, operator: people.Person, wrong: dict[str, Any]
):
    draft = await billing.plan_version(host, author=operator.user_id)
    path = f"/billing/plans/{draft.plan_code}/versions/1"

    answer = await api.patch(path, json=wrong, headers=operator.headers | {"If-Match": '"1"'})

    assert (answer.status_code, answer.json()["code"]) == (422, "rule-violated")
    assert answer.json()["rule"] == "plan-terms"


@pytest.mark.rule("BIL-1")
async def test_terms_that_cannot_be_are_not_published_either(
    api: httpx2.AsyncClient, host: Host, operator: people.Person
):
    price = {"interval": "month", "grossMinor": 19900, "currency": "ZAR"}
    draft = await billing.plan_version(host, prices=[price, price])
    path = f"/billing/plans/{draft.plan_code}/versions/1/publish"

    answer = await api.post(path, json={"reason": "By mistake"}, headers=operator.headers)

    assert (answer.status_code, answer.json()["code"]) == (422, "rule-violated")


@pytest.mark.rule("BIL-1")
async def test_a_new_version_is_of_the_kind_of_its_plan(
    api: httpx2.AsyncClient, host: Host, operator: people.Person
):
    first = await billing.plan_version(host, status=PlanStatus.ACTIVE, kind=PlanKind.ADDON)
    path = f"/billing/plans/{first.plan_code}/versions"
    body = terms(effectiveFrom="2191-01-01")

    other = await api.post(path, json=body | {"kind": "base"}, headers=operator.headers)
    made = await api.post(path, json=body, headers=operator.headers)
    headers = operator.headers | {"If-Match": '"1"'}
    changed = await api.patch(f"{path}/2", json={"kind": "base"}, headers=headers)

    assert (made.status_code, made.json()["kind"]) == (201, "addon")
    for refused in (other, changed):
        assert (refused.status_code, refused.json()["rule"]) == (422, "plan-kind")


async def test_operators_see_drafts_and_customers_do_not(
    api: httpx2.AsyncClient, host: Host, operator: people.Person, owner: people.Member
):
    draft = await billing.plan_version(host)
    stranger = await people.person(host)

    async def seen(who: people.Person) -> bool:
        answer = await api.get("/billing/plans?sort=-createdAt", headers=who.headers)
        return draft.plan_code in [one["planCode"] for one in answer.json()["items"]]

    assert [await seen(who) for who in (operator, owner, stranger)] == [True, False, False]


async def test_customers_write_no_plans(api: httpx2.AsyncClient, owner: people.Member):
    headers = owner.headers | {ORGANIZATION: str(owner.organization_id)}

    answer = await api.post("/billing/plans", json=terms(planCode="mine"), headers=headers)

    assert answer.status_code == 403


async def test_the_application_cannot_write_the_catalogue(host: Host, opening: Opening):
    for row in (OfferedPlan,):
        work = opening.work(uuid4(), "billing")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await work.run(f"UPDATE {row.__table__} SET name = 'free'")
        await work.close()
