"""The authorization flow with Billing: allowed, refused with the price of a yes, and dead."""

import asyncio
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx2
import pytest
from fastapi import FastAPI

from tests import statements
from tests.conftest import Time
from tests.factories import billing, held
from tests.factories import identity as people
from tests.factories.identity import Member
from tests.factories.subscriptions import customer
from tests.letters import Letters
from tests.planting import plant
from tests.settling import Settle
from tests.suites.processes import ApiProcess, Child
from tests.suites.sizes import size
from thenga.domains.billing.public import Entitlements
from thenga.domains.billing.tables import PlanKind
from thenga.domains.identity.provider import LocalDecisions
from thenga.domains.identity.services import decisions
from thenga.domains.identity.services.memberships import seats
from thenga.domains.identity.services.organizations import billing_signals
from thenga.kernel.access.gate import Passage
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.tooling.dev import servers

pytestmark = pytest.mark.domains("identity", "billing")

MAKE_KEY, READ = "identity:api_key:create", "organization:equipment:read"
PAY = "billing:payment:create"
FEATURE = "identity.api_access"


def key() -> dict[str, Any]:
    return {"name": f"Import {uuid4().hex[:6]}", "scopes": [READ], "reason": "import"}


@pytest.fixture
async def owner(host: Host, seeded: None) -> Member:
    who = await people.member(host, uuid4(), role="owner")
    await billing.account(host, who.organization_id)
    return who


async def kept(host: Host, who: Member) -> str | None:
    """What Identity remembers of the feature."""
    work = people.working(host, who.organization_id)
    found = await billing_signals.last_known(work, FEATURE)
    await work.close()
    return None if found is None else found.state


@pytest.mark.rule("BIL-46")
async def test_refusal_names_plan_and_price_and_buying_it_helps(
    api: httpx2.AsyncClient, host: Host, owner: Member, paid_for: Host
):
    refused = await api.post("/identity/api-keys", json=key(), headers=owner.acting)
    plan = await api.get("/billing/plans/starter", headers=owner.acting)
    signal = await api.get(f"/billing/signal?feature={FEATURE}", headers=owner.acting)
    trial = await api.post("/billing/trials", json={}, headers=owner.acting)
    allowed = await api.post("/identity/api-keys", json=key(), headers=owner.acting)

    told = refused.json()
    print(
        f"{refused.status_code} {told['code']} remedy={told['remedy']['planCode']} "
        f"amountToday={told['remedy']['amountToday']['amount']} then {allowed.status_code}"
    )
    assert (refused.status_code, told["code"]) == (402, "entitlement-required")
    assert told["remedy"] == {
        "kind": "upgrade",
        "planCode": "starter",
        "amountToday": {"amount": "499.00", "currency": "ZAR"},
        "feature": FEATURE,
    }
    assert plan.json()["prices"][0]["gross"] == told["remedy"]["amountToday"]
    assert signal.json()["remedy"]["amountToday"] == told["remedy"]["amountToday"]
    assert (trial.status_code, allowed.status_code) == (201, 201)


@pytest.mark.rule("BIL-46")
async def test_refusal_preview_and_invoice_have_the_same_price(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
):
    """Starter on 14 Nov, refused on 24 Nov: professional for the rest is 666.66, and is charged."""
    buyer = await customer(host, api, clock, "2026-11-14 10:00")
    plan = await buyer.buy()
    await buyer.at("2026-11-24 10:00")
    path = f"subscriptions/{plan['id']}/change-plan"

    refused = await buyer.get("signal?feature=analytics.briefings")
    shown = (await buyer.post(f"{path}/preview", planCode="professional")).json()
    asked = await buyer.post(path, planCode="professional", expectedAmountDue=shown["amountDue"])
    payment = asked.json()["pendingChange"]["paymentId"]
    charged = await buyer.get(f"payments/{payment}")
    await buyer.pay(payment)
    allowed = await buyer.get("signal?feature=analytics.briefings")

    helps = refused["remedy"]
    amounts = [one["amount"] for one in (helps["amountToday"], shown["amountDue"])]
    print(f"remedy={amounts[0]} preview={amounts[1]} charged={charged['amount']['amount']}")
    assert (refused["entitled"], helps["planCode"]) == (False, "professional")
    assert [*amounts, charged["amount"]["amount"]] == ["666.66"] * 3
    assert (allowed["entitled"], allowed["remedy"]) == (True, None)


@pytest.mark.rule("BIL-21")
async def test_what_identity_remembers_is_moved_by_the_event_at_once(
    api: httpx2.AsyncClient, host: Host, owner: Member, paid_for: Host, settle: Settle
):
    trial = (await api.post("/billing/trials", json={}, headers=owner.acting)).json()
    allowed = await api.post("/identity/api-keys", json=key(), headers=owner.acting)

    async def state(wanted: str) -> bool:
        return await kept(host, owner) == wanted

    await settle(lambda: state("granted"))
    await api.post(f"/billing/trials/{trial['id']}/cancel", headers=owner.acting)
    began = time.perf_counter()
    await settle(lambda: state("missing"))
    took = time.perf_counter() - began
    refused = await api.post("/identity/api-keys", json=key(), headers=owner.acting)

    print(f"signal kept 60 s, moved by EntitlementChanged after {took:.2f} s")
    assert (allowed.status_code, refused.status_code) == (201, 402)


async def test_a_planted_memory_that_refuses_by_itself_would_be_found(
    api: httpx2.AsyncClient,
    host: Host,
    owner: Member,
    paid_for: Host,
    monkeypatch: pytest.MonkeyPatch,
):
    """A plan bought a moment ago counts at once, because every no is asked for."""
    await api.post("/identity/api-keys", json=key(), headers=owner.acting)
    await held.subscribed(host, owner.organization_id, kind=PlanKind.BASE)
    right = await api.post("/identity/api-keys", json=key(), headers=owner.acting)

    monkeypatch.setattr(decisions._stages, "entitled", lambda facts, now: _by_memory(facts))
    work = people.working(host, owner.organization_id)
    await work.run(
        "UPDATE identity.entitlement_signal SET state = 'missing' WHERE organization_id = $1",
        owner.organization_id,
    )
    await work.finish()
    planted = await api.post("/identity/api-keys", json=key(), headers=owner.acting)

    assert (right.status_code, planted.status_code) == (201, 402)


@pytest.mark.rule("IDN-22")
@pytest.mark.parametrize(("asked_anew", "answers"), [(True, [402, 201]), (False, [402, 402])])
async def test_seats_of_a_plan_begun_a_moment_ago_count_at_once(
    api: httpx2.AsyncClient,
    owner: Member,
    paid_for: Host,
    monkeypatch: pytest.MonkeyPatch,
    asked_anew: bool,
    answers: list[int],
):
    """No event has come yet. Planted: who goes by memory alone refuses the second one too."""

    async def invited() -> int:
        email = f"{uuid4().hex[:12]}@example.org"
        asked = {"organizationId": str(owner.organization_id), "email": email}
        body = asked | {"roleCodes": ["viewer"]}
        answer = await api.post("/identity/invitations", json=body, headers=owner.acting)
        return answer.status_code

    async def by_memory(_: Host, organization_id: UUID, feature: str) -> None:
        return None

    await billing_signals.ask_entitlement(paid_for, owner.organization_id, seats.FEATURE)
    if not asked_anew:
        plant(monkeypatch, billing_signals, "ask_entitlement", by_memory)
    full = await invited()
    trial = await api.post("/billing/trials", json={}, headers=owner.acting)
    after = await invited()

    print(f"seats before={full} after={after} asked_anew={asked_anew}")
    assert trial.status_code == 201
    assert [full, after] == answers


def _by_memory(facts: Any) -> Any:
    missing = facts.signal_state == "missing"
    return decisions.Outcome("entitlement_missing") if missing else None


# --- apart ----------------------------------------------------------------------------------------


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="thenga-billing-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
async def features(settings: Settings) -> AsyncIterator[None]:
    """A reading and a paying permission that need the feature, while the test runs."""
    admin = await asyncpg.connect(settings.admin_database.get_secret_value())
    change = "UPDATE identity.permission SET feature = $1 WHERE code = ANY ($2)"
    await admin.execute(change, FEATURE, [READ, PAY])
    yield
    await admin.execute(change, None, [READ, PAY])
    await admin.close()


@pytest.fixture
async def apart(
    home: Path, letters: Letters, seeded: None, folder: Path, features: None
) -> AsyncIterator[tuple[ApiProcess, ApiProcess]]:
    """Identity with Organization, and Billing, in processes of their own."""
    env = servers.up(home) | {
        "THENGA_ACTOR_PER_MINUTE": "10000000",
        "THENGA_SMTP_PORT": str(letters.port),
    }
    patient = "tests.patient"  # a late answer is no silence
    paid = ApiProcess(env, folder, name="api-billing", program=patient)
    gate = ApiProcess(
        env
        | {
            "THENGA_DOMAINS": "identity,organization,notification",
            "THENGA_REMOTE_BILLING": paid.internal,
        },
        folder,
        name="api-gate",
        program=patient,
    )
    paid = ApiProcess(
        env
        | {
            "THENGA_DOMAINS": "billing",
            "THENGA_REMOTE_IDENTITY": gate.internal,
            "THENGA_REMOTE_NOTIFICATION": gate.internal,
        },
        folder,
        name="api-billing",
        program=patient,
        port=paid.port,
        internal_port=paid.internal_port,
    )
    try:
        await asyncio.gather(*(asyncio.to_thread(one.start) for one in (gate, paid)))
        yield gate, paid
    finally:
        await asyncio.gather(*(asyncio.to_thread(Child.kill, one) for one in (gate, paid)))


async def aged(host: Host, who: Member, age: timedelta) -> None:
    work = people.working(host, who.organization_id)
    await work.run(
        "UPDATE identity.entitlement_signal SET checked_at = checked_at - $2::interval "
        "WHERE organization_id = $1",
        *(who.organization_id, age),
    )
    await work.finish()


@pytest.mark.rule("BIL-4")
async def test_without_billing_reads_work_for_five_minutes(
    apart: tuple[ApiProcess, ApiProcess], host: Host, owner: Member
):
    gate, paid = apart
    await held.subscribed(host, owner.organization_id)
    reading = f"/organizations/{owner.organization_id}/equipment"

    async with httpx2.AsyncClient(base_url=gate.url, timeout=60, trust_env=False) as client:

        async def ask(action: str) -> str:
            body = {
                "actor": {"type": "user", "id": str(owner.user_id)},
                "tenant": {"type": "organization", "id": str(owner.organization_id)},
                "action": {"name": action},
                "resource": {"type": "payment"},
                "context": {"requestId": "flow", "channel": "http"},
            }
            said = await client.post("/identity/authorize", json=body, headers=owner.headers)
            return str(said.json()["reasonCode"])

        async def read() -> int:
            return (await client.get(reading, headers=owner.headers)).status_code

        async def answered() -> int:
            """A busy machine answers a first call late, and says so by 503."""
            async with asyncio.timeout(120):
                while (status := await read()) == 503:
                    await asyncio.sleep(0.2)
            return status

        alive = (await answered(), await ask(PAY))
        await asyncio.to_thread(paid.kill)
        await aged(host, owner, timedelta(seconds=90))
        dead = (await answered(), await ask(PAY))
        await aged(host, owner, timedelta(minutes=5))
        later = (await read(), await ask(PAY))
        await asyncio.to_thread(paid.start)
        again = (await answered(), await ask(PAY))

    print(f"billing alive={alive} killed={dead} killed_5_min={later} back={again}")
    assert alive == again == (200, "allowed")
    assert dead == (200, "entitlement_unknown")
    assert later == (503, "entitlement_unknown")


@dataclass
class Cost:
    """What entering takes: CPU milliseconds, statements, and questions that Billing is asked."""

    took: list[float] = field(default_factory=list)
    statements: list[int] = field(default_factory=list)
    questions: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{median(self.took[20:]):.2f}"


async def costs(
    host: Host, who: Member, monkeypatch: pytest.MonkeyPatch, *permissions: str
) -> list[Cost]:
    """What entering with each costs, many times.

    They take turns, so that a machine which gets slower meanwhile is as slow for all of them.
    """
    gate, asked = LocalDecisions(host), []
    port = host.bindings.of(Entitlements)
    signal = port.signal

    async def counting(**given: Any) -> Any:
        asked.append(given)
        return await signal(**given)

    monkeypatch.setattr(port, "signal", counting)
    found = {permission: Cost() for permission in permissions}
    for permission in permissions * size(30, 2000):
        cost = found[permission]
        asked.clear()
        with statements.counted() as sent:
            began = time.process_time()
            passed = await gate.enter(
                credential=who.token,
                organization_id=who.organization_id,
                permission=permission,
                network="127.0.0.1",
                request_id="cost",
            )
            cost.took.append((time.process_time() - began) * 1000)
        cost.statements.append(len(sent))
        cost.questions.append(len(asked))
        assert isinstance(passed, Passage)
    return list(found.values())


async def test_the_gate_with_and_without_a_feature(
    app: FastAPI,
    host: Host,
    owner: Member,
    features: None,
    monkeypatch: pytest.MonkeyPatch,
):
    """Remembered it costs nothing more; asked live, one question of Billing."""
    await held.subscribed(host, owner.organization_id)
    own: Host = app.state.shared.host

    plain = "organization:fleet_asset:read"
    without, remembered, live = await costs(own, owner, monkeypatch, plain, READ, PAY)

    print(f"gate cpu_ms plain={without} remembered={remembered} asked={live}")
    print(f"questions={without.questions[1:2] + remembered.questions[1:2] + live.questions[1:2]}")
    assert {*without.questions, *remembered.questions[1:]} == {0}
    assert set(live.questions) == {1}
    assert set(remembered.statements[1:]) == set(without.statements[1:])
    if size(0, 1):  # beside other work the time tells of that work
        assert median(remembered.took[20:]) < median(without.took[20:]) * 2
