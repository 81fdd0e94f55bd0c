"""Access policies: Cedar that Administration publishes, in force from its instant on."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from pydantic import ValidationError

from tests.conftest import Time
from tests.factories import identity as people
from tests.factories.identity import Member
from tests.factories.settings import change_setting
from tests.planting import plant
from thenga.domains.identity.manifest import DOMAIN
from thenga.domains.identity.services.decisions import enforcing
from thenga.domains.identity.settings import ACCESS
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

POLICY = """
@id("own.no-keys")
@reason("keys_are_closed")
forbid (principal, action == Action::"use", resource)
when { context.permission == "identity:api_key:read" && context.organizationId == "%s" };
"""


@pytest.fixture
async def owner(host: Host, seeded: None) -> AsyncIterator[Member]:
    """An owner; afterwards the built-in policies decide alone again."""
    yield await people.member(host, uuid4(), role="owner")
    await change_setting(host, DOMAIN, ACCESS, "")
    await enforce(host)


async def enforce(host: Host) -> None:
    """What the job does every ten seconds."""
    origin = Origin(action="test", request_id="test", correlation_id="test")
    work = Work(host, "identity", Scope(actor=SYSTEM), origin, login="identity_system")
    await enforcing.enforce_policies(work)
    await work.finish()


async def asked(api: httpx2.AsyncClient, owner: Member) -> tuple[int, Any]:
    within = {"X-Organization-Id": str(owner.organization_id)}
    answer = await api.get("/identity/api-keys", headers=owner.headers | within)
    return answer.status_code, answer.json().get("reasonCode")


async def _before_and_after(
    api: httpx2.AsyncClient, host: Host, owner: Member, clock: Time
) -> list[tuple[int, Any]]:
    """What the owner is answered before a policy takes effect, and at its instant."""
    text, instant = POLICY % owner.organization_id, host.now() + timedelta(minutes=10)
    await change_setting(host, DOMAIN, ACCESS, text, effective_from=instant)
    found = []
    for step in (timedelta(0), timedelta(minutes=10)):
        clock.move(step)
        await enforce(host)
        found.append(await asked(api, owner))
    clock.restore()
    await change_setting(host, DOMAIN, ACCESS, "", effective_from=instant)
    return found


@pytest.mark.rule("IDN-37")
async def test_a_policy_forbids_from_its_instant_on(
    api: httpx2.AsyncClient, host: Host, owner: Member, clock: Time
) -> None:
    found = await _before_and_after(api, host, owner, clock)

    assert found == [(200, None), (403, "policy_denied")]
    await enforce(host)
    assert await asked(api, owner) == (200, None)


async def test_a_policy_that_is_not_enforced_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    owner: Member,
    clock: Time,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def idle(_: Work) -> None: ...

    plant(monkeypatch, enforcing, "enforce_policies", idle)

    assert await _before_and_after(api, host, owner, clock) == [(200, None), (200, None)]


@pytest.mark.rule("IDN-37")
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("forbid", "permit"),
        ("forbid", "prevent"),
        ("context.permission", "context.colour"),
        ('"%s"', "7"),
        ('@reason("keys_are_closed")\n', ""),
        ('@id("own.no-keys")\n', ""),
        ("own.no-keys", "base.network"),
    ],
)
def test_a_wrong_access_policy_is_refused(right: str, wrong: str) -> None:
    assert ACCESS.parse(json.dumps(POLICY)) == POLICY

    with pytest.raises(ValidationError):
        ACCESS.parse(json.dumps(POLICY.replace(right, wrong)))
