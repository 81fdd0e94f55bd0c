"""Who reports usage, and how fast: services and staff, and in a sandbox its own keys."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.factories import held
from tests.factories import identity as people
from tests.factories.held import RUNS
from thenga.domains.billing.api import usage as api_of_usage
from thenga.domains.billing.permissions import Permission
from thenga.kernel.http.doors import Door
from thenga.kernel.http.entrances import permitted
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.main import build
from thenga.starting import make_host

RECORD = Permission.USAGE_RECORD.value
READ = "organization:equipment:read"
# A minute, a second. Few enough that a busy machine still sends more than that in a second.
OF_ACTORS, OF_REPORTERS = 10, 12


def batch(host: Host, key: str) -> dict[str, Any]:
    at = host.now().isoformat().replace("+00:00", "Z")
    return {"records": [{"meter": RUNS, "key": key, "quantity": 1, "occurredAt": at}]}


async def key_of(
    api: httpx2.AsyncClient, owner: people.Member, scope: str
) -> tuple[int, dict[str, Any]]:
    body = {"name": "Meter", "scopes": [scope], "reason": "to try metering"}
    answer = await api.post("/identity/api-keys", json=body, headers=owner.acting)
    return answer.status_code, dict(answer.json())


def showing(key: dict[str, Any]) -> dict[str, str]:
    return {"Authorization": f"Bearer {key['plaintext']}"}


@pytest.mark.rule("BIL-19")
async def test_a_sandbox_reports_with_a_key_of_its_own(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    owner = await people.member(host, uuid4(), role="owner", sandbox=True)
    await held.subscribed(host, owner.organization_id)

    _, key = await key_of(api, owner, RECORD)
    said = await api.post("/billing/usage", json=batch(host, "a"), headers=showing(key))
    again = await api.post("/billing/usage", json=batch(host, "b"), headers=showing(key))
    by_hand = await api.post("/billing/usage", json=batch(host, "c"), headers=owner.acting)
    shown = await api.get(f"/billing/signal?feature={RUNS}", headers=owner.acting)

    print(f"sandbox key={said.status_code} owner={by_hand.status_code} used={shown.json()['used']}")
    assert (said.status_code, said.json()["accepted"], again.json()["accepted"]) == (200, 1, 1)
    assert (by_hand.status_code, shown.json()["used"]) == (403, 2)


@pytest.mark.rule("BIL-19")
async def test_a_live_key_reports_nothing_whatever_its_scopes_say(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    """It cannot have the scope; and one that got it by another way is refused at the gate."""
    owner = await people.member(host, uuid4(), role="owner")
    await held.subscribed(host, owner.organization_id)

    asked = await key_of(api, owner, RECORD)
    _, key = await key_of(api, owner, READ)
    async with host.engines.connection("identity", "identity_system") as connection:
        await connection.execute(
            "UPDATE identity.api_key SET scopes = $1 WHERE organization_id = $2",
            [RECORD],
            owner.organization_id,
        )
    forged = await api.post("/billing/usage", json=batch(host, "a"), headers=showing(key))

    print(f"live: scope={asked[0]} {asked[1]['code']} forged={forged.status_code}")
    assert (asked[0], asked[1]["code"], asked[1]["unfit"]) == (
        422, "identity-scope-unfit", [RECORD],
    )  # fmt: skip
    assert (forged.status_code, forged.json()["reasonCode"]) == (403, "key_scope_missing")


@pytest.fixture
async def limited(settings: Settings, seeded: None) -> AsyncIterator[httpx2.AsyncClient]:
    """The application with limits that a test can reach."""
    strict = {
        "actor_per_minute": OF_ACTORS,
        "usage_batches_per_second": OF_REPORTERS,
        "redis": settings.redis.replace("/0", "/3"),
    }
    host = make_host(settings.model_copy(update=strict))
    transport = httpx2.ASGITransport(app=build(host.settings, host))
    async with httpx2.AsyncClient(transport=transport, base_url="http://thenga.test/v1") as client:
        yield client
    await host.close()


async def reporting(host: Host) -> dict[str, str]:
    organization_id = uuid4()
    await people.mirror(host, organization_id)
    await held.subscribed(host, organization_id)
    staff = await people.staff(host, "platform_operator")
    return staff.headers | {"X-Organization-Id": str(organization_id)}


async def sent(
    api: httpx2.AsyncClient, host: Host, headers: dict[str, str], count: int
) -> list[httpx2.Response]:
    return [
        await api.post("/billing/usage", json=batch(host, f"{number}"), headers=headers)
        for number in range(count)
    ]


@pytest.mark.rule("BIL-19")
async def test_a_reporter_has_a_limit_of_its_own(limited: httpx2.AsyncClient, host: Host):
    headers = await reporting(host)

    within = await sent(limited, host, headers, OF_REPORTERS - 1)
    floods = (sent(limited, host, headers, OF_REPORTERS) for _ in range(8))
    flood = [one for each in await asyncio.gather(*floods) for one in each]
    other = await limited.get("/billing/meters", headers=headers)

    statuses = Counter(one.status_code for one in flood)
    refused = next(one.json() for one in flood if one.status_code == 429)
    print(f"within={len(within)} flood={dict(statuses)} policy={refused['policy']}")
    assert {one.status_code for one in within} == {200}
    assert len(within) > OF_ACTORS
    assert (refused["policy"], refused["limit"], refused["windowSeconds"]) == (
        "usage", OF_REPORTERS, 1,
    )  # fmt: skip
    assert other.status_code == 200  # a flood of reports costs nothing of the other limit


async def test_a_planted_reporter_like_any_actor_would_be_found(
    limited: httpx2.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
):
    (door,) = [
        one
        for one in api_of_usage.router.routes
        if isinstance(one, Door) and one.path == "/billing/usage"
    ]
    monkeypatch.setattr(door.entrance, "limit", permitted.of_actors)

    answers = await sent(limited, host, await reporting(host), OF_REPORTERS - 1)

    statuses = Counter(one.status_code for one in answers)
    print(f"planted: {dict(statuses)}")
    assert statuses[429] == OF_REPORTERS - 1 - OF_ACTORS
