"""Stages of a decision as a pure function of its facts."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from thenga.domains.identity.services.decisions import Facts, Question, decide
from thenga.domains.identity.services.decisions.policies import Verdict
from thenga.kernel.access.gate import HeldAs

NOW = datetime(2026, 11, 15, 8, 0, tzinfo=UTC)
ORGANIZATION = uuid4()


def permitting(context: dict[str, Any]) -> Verdict:
    return Verdict(True, "allowed")


OWNER = Facts(
    kind="user",
    user_id=uuid4(),
    session_id=uuid4(),
    key_id=None,
    token_expires_at=NOW + timedelta(minutes=5),
    session_status="active",
    session_kind="interactive",
    assurance="aal1",
    methods=["password"],
    authenticated_at=NOW,
    proven_at=NOW,
    idle_expires_at=NOW + timedelta(days=1),
    session_expires_at=NOW + timedelta(days=1),
    user_status="active",
    staff=False,
    key_status=None,
    key_code=None,
    key_expires_at=None,
    key_grace_ends_at=None,
    key_holds=False,
    network_allowed=True,
    method_allowed=True,
    mfa_needed=False,
    max_sign_in_age=None,
    tenant_id=ORGANIZATION,
    tenant_status="active",
    capabilities_off=[],
    ahead=timedelta(0),
    membership_id=uuid4(),
    membership_status="active",
    permission="billing:plan:change",
    domain="billing",
    effect="write",
    audiences=["tenant", "platform"],
    sensitivity="sensitive",
    feature=None,
    agents="never",
    while_suspended=False,
    roles=["owner", "administrator", "platform_operator"],
    scopes=[],
    permission_status="active",
    any_role=True,
    by_role=True,
    denied=False,
    held_in=None,
    denied_in=None,
    by_platform=False,
    signal_state=None,
    signal_access=None,
    signal_limit=None,
    signal_used=None,
    signal_resets_at=None,
    signal_checked_at=None,
    policy_label="v1",
)
STAFF = replace(
    OWNER, staff=True, membership_id=None, membership_status=None, by_role=False, by_platform=True
)


@pytest.mark.rule("IDN-15")
@pytest.mark.parametrize(
    ("sensitivity", "age", "reason"),
    [
        ("sensitive", timedelta(minutes=5), "allowed"),
        ("sensitive", timedelta(minutes=5, seconds=1), "step_up_required"),
        ("administration", timedelta(hours=1), "step_up_required"),
        ("money", timedelta(hours=1), "allowed"),
        ("normal", timedelta(days=9), "allowed"),
    ],
)
def test_what_is_grave_asks_for_a_fresh_proof(sensitivity: str, age: timedelta, reason: str):
    facts = replace(OWNER, sensitivity=sensitivity, proven_at=NOW - age)

    outcome = decide(facts, Question(ORGANIZATION), now=NOW, policy=permitting)

    assert outcome.reason == reason
    if reason == "step_up_required":
        assert outcome.remedy == {
            "kind": "prove",
            "maxAgeSeconds": 300,
            "methods": ["password"],
        }


@pytest.mark.rule("IDN-29")
def test_platform_role_acts_in_any_existing_organization():
    outcome = decide(STAFF, Question(ORGANIZATION), now=NOW, policy=permitting)
    nowhere = replace(STAFF, tenant_id=None, tenant_status=None)
    elsewhere = decide(nowhere, Question(uuid4()), now=NOW, policy=permitting)
    without_role = replace(STAFF, by_platform=False)
    refused = decide(without_role, Question(ORGANIZATION), now=NOW, policy=permitting)
    not_for_staff = replace(STAFF, audiences=["tenant"])
    kept_out = decide(not_for_staff, Question(ORGANIZATION), now=NOW, policy=permitting)

    assert outcome.held_as is HeldAs.PLATFORM
    assert [elsewhere.reason, refused.reason, kept_out.reason] == ["no_membership"] * 3
