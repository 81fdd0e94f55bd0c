"""Organizations: founded, read, described by facts, and a sandbox's clock."""

import time
from uuid import uuid4

import httpx2

from tests.factories import identity as people
from tests.settling import Settle
from thenga.kernel.host import Host

PROFILE = {"legalName": "Mokoena Civils (Pty) Ltd", "legalForm": "private_company"}


async def found(api: httpx2.AsyncClient, headers: dict[str, str], **more: str) -> httpx2.Response:
    body = {"organizationType": "enterprise", "profile": PROFILE} | more
    return await api.post("/organizations", json=body, headers=headers)


async def usable(
    api: httpx2.AsyncClient, settle: Settle, headers: dict[str, str], organization_id: str
) -> httpx2.Response:
    async def look() -> httpx2.Response | None:
        answer = await api.get(f"/organizations/{organization_id}", headers=headers)
        return answer if answer.status_code == 200 else None

    return await settle(look)


async def test_a_founder_becomes_owner_when_identity_is_told(
    api: httpx2.AsyncClient, host: Host, settle: Settle
):
    founder = await people.person(host)

    made = await found(api, founder.headers)
    started = time.perf_counter()
    seen = await usable(api, settle, founder.headers, made.json()["id"])

    assert (made.status_code, made.json()["pollAfterMs"]) == (201, 250)
    assert seen.json()["profile"]["legalName"]["value"] == PROFILE["legalName"]
    assert seen.json()["profile"]["legalName"]["provenance"]["kind"] == "customer_supplied"
    print(f"\nowner_usable_ms={(time.perf_counter() - started) * 1000:.0f}")


async def test_another_companys_organization_is_not_there(
    api: httpx2.AsyncClient, host: Host, settle: Settle
):
    founder, stranger = await people.person(host), await people.person(host)
    made = await found(api, founder.headers)
    await usable(api, settle, founder.headers, made.json()["id"])

    foreign = await api.get(f"/organizations/{made.json()['id']}", headers=stranger.headers)
    missing = await api.get(f"/organizations/{uuid4()}", headers=stranger.headers)

    without = ("requestId", "instance")
    assert foreign.status_code == missing.status_code == 404
    assert {k: v for k, v in foreign.json().items() if k not in without} == {
        k: v for k, v in missing.json().items() if k not in without
    }


async def test_facts_are_stated_and_withdrawn_in_one_version_and_one_event(
    api: httpx2.AsyncClient, host: Host, settle: Settle
):
    founder = await people.person(host)
    made = await found(api, founder.headers)
    path = f"/organizations/{made.json()['id']}"
    await usable(api, settle, founder.headers, made.json()["id"])

    stated = await api.patch(
        f"{path}/profile",
        json={"tradingName": "Mokoena", "website": "https://mokoena.co.za", "employeeCount": 12},
        headers=founder.headers,
    )
    equal = await api.patch(
        f"{path}/profile", json={"tradingName": "Mokoena"}, headers=founder.headers
    )
    withdrawn = await api.patch(
        f"{path}/profile", json={"tradingName": None}, headers=founder.headers
    )
    needed = await api.patch(f"{path}/profile", json={"legalName": None}, headers=founder.headers)

    assert (stated.json()["version"], stated.json()["displayName"]) == (2, "Mokoena")
    assert equal.json()["version"] == 2
    assert (withdrawn.json()["version"], withdrawn.json()["displayName"]) == (
        3,
        PROFILE["legalName"],
    )
    assert "tradingName" not in withdrawn.json()["profile"]
    assert (needed.status_code, needed.json()["rule"]) == (422, "ORG-2")


async def test_only_a_sandbox_has_a_clock_of_its_own(
    api: httpx2.AsyncClient, host: Host, settle: Settle
):
    founder = await people.person(host)
    live = (await found(api, founder.headers)).json()["id"]
    sandbox = (await found(api, founder.headers, mode="sandbox")).json()["id"]
    await usable(api, settle, founder.headers, live)
    await usable(api, settle, founder.headers, sandbox)

    refused = await api.post(
        f"/organizations/{live}/clock", json={"forwardDays": 1}, headers=founder.headers
    )
    moved = await api.post(
        f"/organizations/{sandbox}/clock", json={"forwardDays": 400}, headers=founder.headers
    )

    assert (refused.status_code, refused.json()["code"]) == (409, "organization-not-a-sandbox")
    assert moved.json()["aheadSeconds"] == 400 * 86_400
