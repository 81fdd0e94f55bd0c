"""The decision: allow, deny with a remedy, and what one may not know of."""

from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx2
import pytest

from tests.factories import identity as people
from thenga.domains.identity.services.decisions import policies
from thenga.domains.identity.tables import SessionStatus
from thenga.kernel.process.host import Host

CREATE = "organization:equipment:create"


def question(user_id: UUID, organization_id: UUID, action: str = CREATE) -> dict[str, Any]:
    return {
        "actor": {"type": "user", "id": str(user_id)},
        "tenant": {"type": "organization", "id": str(organization_id)},
        "action": {"name": action},
        "resource": {"type": "equipment"},
        "context": {"requestId": "a-question", "channel": "http"},
    }


async def test_decision_and_route_name_the_role_that_would_help(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    viewer = await people.member(host, uuid4(), role="viewer")
    asked = question(viewer.user_id, viewer.organization_id)

    answer = await api.post("/identity/authorize", json=asked, headers=viewer.headers)
    route = await api.post(
        f"/organizations/{viewer.organization_id}/equipment",
        json={"name": "Crane", "quantity": 1},
        headers=viewer.headers,
    )

    told = answer.json()
    assert (answer.status_code, told["decision"], told["reasonCode"]) == (
        200,
        "deny",
        "permission_missing",
    )
    assert told["remedy"]["kind"] == "ask_role"
    assert "owner" in told["remedy"]["roles"]
    assert (route.status_code, route.json()["remedy"]) == (403, told["remedy"])
    assert route.json()["decisionId"] != told["decisionId"]


async def test_an_owner_is_allowed_and_every_question_is_recorded(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    owner = await people.member(host, uuid4(), role="owner")
    asked = question(owner.user_id, owner.organization_id)

    answer = await api.post("/identity/authorize", json=asked, headers=owner.headers)

    admin = await asyncpg.connect(host.settings.admin_database.get_secret_value())
    kept = await admin.fetchrow(
        "SELECT decision, reason_code FROM identity.decision_record WHERE id = $1",
        UUID(answer.json()["decisionId"]),
    )
    await admin.close()
    assert answer.json()["decision"] == "allow"
    assert kept is not None
    assert (kept["decision"], kept["reason_code"]) == ("allow", "allowed")


async def test_a_foreign_tenant_and_a_foreign_actor_are_answered_alike(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    owner = await people.member(host, uuid4(), role="owner")
    other = await people.member(host, uuid4(), role="owner")

    async def asked(user_id: UUID, organization_id: UUID) -> dict[str, Any]:
        answer = await api.post(
            "/identity/authorize", json=question(user_id, organization_id), headers=owner.headers
        )
        told: dict[str, Any] = answer.json()
        return {k: told[k] for k in ("decision", "reasonCode", "remedy", "obligations")}

    foreign = await asked(owner.user_id, other.organization_id)
    missing = await asked(owner.user_id, uuid4())
    actor = await asked(other.user_id, other.organization_id)

    assert foreign == missing == actor
    assert foreign["reasonCode"] == "no_membership"


@pytest.mark.parametrize("part", ["actor", "tenant", "action", "resource", "context"])
async def test_all_five_parts_are_required(
    api: httpx2.AsyncClient, host: Host, seeded: None, part: str
):
    somebody = await people.person(host)
    asked = question(somebody.user_id, uuid4())
    del asked[part]

    answer = await api.post("/identity/authorize", json=asked, headers=somebody.headers)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == f"/{part}"


async def test_a_half_session_reaches_nothing(api: httpx2.AsyncClient, host: Host, seeded: None):
    half = await people.person(host, session=SessionStatus.PENDING_MFA)

    answer = await api.get("/identity/sessions", headers=half.headers)

    assert (answer.status_code, answer.json()["code"]) == (401, "mfa-required")


def test_an_erring_policy_denies():
    erring = policies.BASE + '\n@id("x")\n@reason("x")\nforbid (principal, action, resource)\n'
    erring += "when { context.unheardOf };\n"
    context = {
        "held": True,
        "sessionKind": "interactive",
        "effect": "read",
        "agent": False,
        "agents": "allowed",
        "networkAllowed": True,
        "methodAllowed": True,
    }

    verdict = policies.decide(
        policies.label_of(erring),
        erring,
        principal='Person::"a"',
        resource='Item::"b"',
        context=context,
    )

    assert verdict == policies.Verdict(False, "policy_error")
