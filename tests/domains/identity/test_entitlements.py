"""Plans: what an organization has paid for stands behind what it may do (IDN-32)."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx2
import pytest
from fastapi import FastAPI

from tests.factories import identity as people
from tests.factories.identity import Member
from tests.through_json import through_json
from thenga.domains.billing import public as billing
from thenga.domains.identity.services import decisions
from thenga.domains.identity.services.organizations import billing_signals
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.process.host import Host

CREATE = "organization:equipment:create"
READ = "organization:equipment:read"
MAKE_KEY = "identity:api_key:create"


def question(who: Member, action: str = CREATE, **context: Any) -> dict[str, Any]:
    return {
        "actor": {"type": "user", "id": str(who.user_id)},
        "tenant": {"type": "organization", "id": str(who.organization_id)},
        "action": {"name": action},
        "resource": {"type": "equipment"},
        "context": {"requestId": "a-question", "channel": "http"} | context,
    }


def asking(who: Member) -> dict[str, str]:
    return who.headers | {"X-Organization-Id": str(who.organization_id)}


@pytest.fixture
async def owner(host: Host, seeded: None) -> Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture
async def viewer(host: Host, owner: Member) -> Member:
    return await people.member(host, owner.organization_id, role="viewer")


async def told(api: httpx2.AsyncClient, who: Member, **asked: Any) -> dict[str, Any]:
    answer = await api.post("/identity/authorize", json=question(who, **asked), headers=who.headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


class Plan(billing.Entitlements):
    """Billing as it will be asked: answers one signal, or is silent."""

    def __init__(self) -> None:
        self.access: str | None = "full"
        self.asked = 0
        self.more: dict[str, Any] = {}
        self.silence: Exception = DependencyUnavailable(dependency="billing.entitlements")

    async def signal(
        self, *, organization_id: UUID, feature: str, quantity: int = 1
    ) -> billing.EntitlementSignal:
        self.asked += 1
        if self.access is None:
            raise self.silence
        return billing.EntitlementSignal.model_validate(
            {
                "feature": feature,
                "entitled": self.access in ("full", "grace"),
                "reason": "included",
                "state": "granted",
                "access": self.access,
                "as_of": "2026-11-15T00:00:00Z",
                "sequence": self.asked,
            }
            | self.more
        )

    async def signal_many(
        self, *, organization_id: UUID, features: list[str]
    ) -> list[billing.EntitlementSignal]:
        asked = [self.signal(organization_id=organization_id, feature=one) for one in features]
        return [await one for one in asked]


@pytest.fixture
def plan(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plan]:
    """A deployment that has Billing."""
    made, host = Plan(), app.state.shared.host
    monkeypatch.setitem(
        host.bindings._bound, billing.Entitlements, through_json(billing.Entitlements, made)
    )
    yield made


@pytest.mark.rule("IDN-28")
async def test_a_no_tells_which_role_or_plan_would_make_it_a_yes(
    api: httpx2.AsyncClient, owner: Member, viewer: Member, plan: Plan
):
    by_question = await told(api, viewer)
    route = await api.post(
        f"/organizations/{viewer.organization_id}/equipment",
        json={"name": "Crane", "quantity": 1},
        headers=viewer.headers,
    )
    plan.access = "none"
    body = {"name": "Import", "scopes": [READ], "reason": "x"}
    unpaid = await api.post("/identity/api-keys", json=body, headers=asking(owner))
    half = question(viewer)
    del half["context"]
    missing = await api.post("/identity/authorize", json=half, headers=viewer.headers)

    shape = {"decision", "decisionId", "reasonCode", "obligations", "policyVersion", "entitlement"}
    print(
        f"question={by_question['decision']} {by_question['reasonCode']} "
        f"remedy={by_question['remedy']['kind']} route={route.status_code} "
        f"plan={unpaid.status_code} {unpaid.json()['remedy']['kind']} missing={missing.status_code}"
    )
    assert by_question.keys() == shape | {"remedy", "decidedAt"}
    assert (by_question["decision"], by_question["reasonCode"]) == ("deny", "permission_missing")
    assert by_question["remedy"]["roles"][:2] == ["owner", "administrator"]
    told_by_route = {n: route.json()[n] for n in ("reasonCode", "remedy")}
    assert told_by_route == {n: by_question[n] for n in ("reasonCode", "remedy")}
    assert route.json()["decisionId"] not in (None, by_question["decisionId"])
    assert (unpaid.status_code, unpaid.json()["code"]) == (402, "entitlement-required")
    assert unpaid.json()["remedy"] == {"kind": "plan", "feature": "identity.api_access"}
    assert missing.status_code == 422


async def test_a_planted_remedy_that_says_nothing_is_found(
    api: httpx2.AsyncClient, viewer: Member, monkeypatch: pytest.MonkeyPatch
):
    stages = decisions._stages
    known = dict(stages.STAGES)

    def dumb(*asked: Any) -> decisions.Outcome | None:
        failed = known["permission"](*asked)
        return None if failed is None else decisions.Outcome(failed.reason)

    monkeypatch.setattr(stages, "STAGES", tuple((known | {"permission": dumb}).items()))

    assert (await told(api, viewer))["remedy"] is None


@pytest.mark.rule("IDN-32")
@pytest.mark.parametrize(
    "silence",
    [
        DependencyUnavailable(dependency="billing.entitlements"),
        asyncpg.ConnectionDoesNotExistError("the database is away"),
        ConnectionRefusedError(),
    ],
    ids=lambda one: type(one).__name__,
)
async def test_a_signal_serves_a_minute_and_silence_five(
    api: httpx2.AsyncClient,
    app: FastAPI,
    host: Host,
    owner: Member,
    plan: Plan,
    silence: Exception,
):
    host, plan.silence = app.state.shared.host, silence
    first = await told(api, owner, action=MAKE_KEY)
    again = await told(api, owner, action=MAKE_KEY)
    asked_while_fresh = plan.asked
    plan.access = None
    await aged_signal(host, owner, timedelta(seconds=90))
    remembered = await told(api, owner, action=MAKE_KEY)
    await aged_signal(host, owner, timedelta(minutes=5))
    forgotten = await told(api, owner, action=MAKE_KEY)
    entrance = await api.post(
        "/identity/api-keys",
        json={"name": "Import", "scopes": [READ], "reason": "x"},
        headers=asking(owner),
    )

    assert [one["decision"] for one in (first, again, remembered)] == ["allow"] * 3
    assert first["entitlement"]["access"] == "full"
    assert asked_while_fresh == 1
    assert forgotten["reasonCode"] == "entitlement_unknown"
    assert (entrance.status_code, entrance.json()["code"]) == (503, "dependency-unavailable")


async def aged_signal(host: Host, who: Member, age: timedelta) -> None:
    work = people.working(host, who.organization_id)
    await work.run(
        "UPDATE identity.entitlement_signal SET checked_at = checked_at - $2::interval "
        "WHERE organization_id = $1",
        *(who.organization_id, age),
    )
    await work.finish()


@pytest.mark.rule("IDN-32")
async def test_the_newer_signal_wins(host: Host, owner: Member, plan: Plan):
    for sequence, access in ((5, "grace"), (4, "none"), (6, "read_only"), (6, "read_only")):
        plan.access, plan.more = access, {"sequence": sequence}
        said = await plan.signal(organization_id=owner.organization_id, feature="bid.workspaces")
        work = people.working(host, owner.organization_id)
        await billing_signals.take(work, said, now=work.now)
        kept = await billing_signals.last_known(work, "bid.workspaces")
        await work.finish()
        assert kept is not None
        assert (kept.access, kept.source_sequence) == {
            5: ("grace", 5), 4: ("grace", 5), 6: ("read_only", 6)
        }[sequence]  # fmt: skip


async def test_a_limit_that_is_used_up_is_told_with_its_numbers(
    api: httpx2.AsyncClient, owner: Member, plan: Plan
):
    plan.more = {"limit": 5, "used": 5, "state": "exhausted"}

    answer = await api.post(
        "/identity/api-keys",
        json={"name": "Import", "scopes": [READ], "reason": "x"},
        headers=asking(owner),
    )

    assert (answer.status_code, answer.json()["code"]) == (402, "plan-limit-reached")
    assert (answer.json()["limit"], answer.json()["used"]) == (5, 5)


async def test_without_billing_bound_a_feature_is_unknown(
    api: httpx2.AsyncClient, app: FastAPI, owner: Member, monkeypatch: pytest.MonkeyPatch
):
    host = app.state.shared.host
    monkeypatch.delitem(host.bindings._bound, billing.Entitlements)
    unknown = await told(api, owner, action=MAKE_KEY)
    without_feature = await told(api, owner, action=CREATE)

    reasons = [one["reasonCode"] for one in (unknown, without_feature)]
    assert reasons == ["entitlement_unknown", "allowed"]
