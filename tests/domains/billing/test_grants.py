"""Grants: goodwill adds to a plan, ends by itself, and only operators give it."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.factories import billing, held
from tests.factories import identity as people
from tests.factories.held import RUNS, SEATS
from thenga.domains.billing.services.entitlements import current, grants
from thenga.domains.billing.tables import Grant, GrantStatus
from thenga.kernel.process.host import Host

WHY = "The import was down for two days."


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    who = await people.member(host, uuid4(), role="owner")
    await held.subscribed(host, who.organization_id)
    return who


@pytest.fixture
async def operator(host: Host, owner: people.Member) -> dict[str, str]:
    staff = await people.staff(host, "platform_operator")
    return staff.headers | {"X-Organization-Id": str(owner.organization_id)}


def body(host: Host, entitlement: str, value: bool | int, days: int = 7) -> dict[str, Any]:
    ends = (host.now() + timedelta(days=days)).isoformat().replace("+00:00", "Z")
    return {"entitlement": entitlement, "value": value, "expiresAt": ends, "reason": WHY}


async def limit(host: Host, who: people.Member, feature: str, days: int = 0) -> int | None:
    work = billing.working(host, who.organization_id, ahead=timedelta(days=days))
    said = await current.signal(work, feature)
    await work.close()
    return said.limit


@pytest.mark.rule("BIL-3")
async def test_a_grant_adds_and_ends_by_itself_before_any_sweep(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, operator: dict[str, str]
):
    made = await api.post("/billing/grants", json=body(host, SEATS, 2), headers=operator)
    on = await api.post(
        "/billing/grants", json=body(host, "analytics.briefings", True), headers=operator
    )
    whole = await api.get("/billing/entitlements", headers=owner.acting)

    assert (made.status_code, on.status_code) == (201, 201)
    (seats,) = [one for one in whole.json()["items"] if one["feature"] == SEATS]
    assert (seats["limit"], seats["source"]) == (5, ["plan", "grant"])
    assert [await limit(host, owner, SEATS, days) for days in (6, 8)] == [5, 3]
    told = await held.told(host, owner.organization_id, "EntitlementChanged")
    assert [one["changes"][0]["reason"] for one in told[1:]] == ["grant_issued", "grant_issued"]


@pytest.mark.rule("BIL-3")
async def test_a_grant_is_taken_back_once_and_listed(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, operator: dict[str, str]
):
    made = (await api.post("/billing/grants", json=body(host, RUNS, 50), headers=operator)).json()
    path = f"/billing/grants/{made['id']}/revoke"
    first = await api.post(path, headers=operator)
    second = await api.post(path, headers=operator)
    running = await api.get("/billing/grants?status=active", headers=operator)
    over = await api.get(f"/billing/grants?entitlement={RUNS}", headers=operator)

    assert (first.json()["status"], second.json()) == ("revoked", first.json())
    assert (running.json()["items"], len(over.json()["items"])) == ([], 1)
    assert await limit(host, owner, RUNS) == 100
    assert len(await held.told(host, owner.organization_id, "EntitlementChanged")) == 3


@pytest.mark.rule("BIL-3")
async def test_time_ends_a_grant_and_then_nobody_revokes_it(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, operator: dict[str, str]
):
    work = billing.working(host, owner.organization_id)
    made = await grants.issue_grant(
        work,
        entitlement=RUNS,
        value=50,
        expires_at=work.now + timedelta(seconds=1),
        reason=WHY,
    )
    await work.finish()
    later = billing.working(host, owner.organization_id, ahead=timedelta(days=1))
    await grants.expire_grant(later, made.id)
    await later.finish()

    refused = await api.post(f"/billing/grants/{made.id}/revoke", headers=operator)
    listed = await api.get("/billing/grants?status=expired", headers=operator)

    assert (refused.status_code, refused.json()["from"]) == (409, "expired")
    assert (listed.status_code, refused.json()["allowed"]) == (200, [])
    read = billing.working(host, owner.organization_id)
    kept = await read.get(Grant, made.id)
    await read.close()
    assert (kept.status, kept.next_check_at) == (GrantStatus.EXPIRED, None)


@pytest.mark.parametrize(
    ("entitlement", "value", "days", "rule"),
    [
        ("bid.flights", 1, 7, "known-entitlement"),
        (SEATS, True, 7, "grant-value"),
        ("analytics.briefings", 3, 7, "grant-value"),
        ("analytics.briefings", False, 7, "grant-value"),
        (SEATS, 1, -1, "grant-expiry"),
    ],
)
async def test_what_is_no_gift_is_refused(
    api: httpx2.AsyncClient,
    host: Host,
    operator: dict[str, str],
    entitlement: str,
    value: bool | int,
    days: int,
    rule: str,
):
    answer = await api.post(
        "/billing/grants", json=body(host, entitlement, value, days), headers=operator
    )

    assert (answer.status_code, answer.json()["rule"]) == (422, rule)


async def test_customers_give_themselves_nothing(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, operator: dict[str, str]
):
    mine = await api.post("/billing/grants", json=body(host, SEATS, 9), headers=owner.acting)
    nowhere = {name: value for name, value in operator.items() if name == "Authorization"}
    unnamed = await api.post("/billing/grants", json=body(host, SEATS, 9), headers=nowhere)

    assert (mine.status_code, unnamed.status_code) == (403, 404)


def test_a_planted_gift_that_outlives_its_day_would_be_found():
    now = datetime.now().astimezone()
    over = Grant(
        organization_id=uuid4(),
        entitlement=SEATS,
        value=1,
        expires_at=now - timedelta(seconds=1),
        reason=WHY,
    )

    assert over.status is GrantStatus.ACTIVE
    assert grants.grant_status(over, now) is GrantStatus.EXPIRED
