"""Asking: at the gate by a credential, and by `check` for an actor who is known already."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from thenga.domains.identity import public
from thenga.domains.identity.services import policies
from thenga.domains.identity.services.decisions._facts import Facts, look_up, policy_text
from thenga.domains.identity.services.decisions._stages import Outcome, Policy, decide
from thenga.domains.identity.tables import DecisionRecord
from thenga.kernel import tokens
from thenga.kernel.actors import SYSTEM, Actor, ActorKind, Scope
from thenga.kernel.db.reader import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.gate import HeldAs, Passage, Refusal
from thenga.kernel.host import Host
from thenga.kernel.ids import new_id

_UNKNOWN = Refusal(reason_code="unknown_credential", remedy={"kind": "sign_in"})


async def enter(
    host: Host,
    *,
    credential: str | None,
    organization_id: UUID | None,
    permission: str,
    request_id: str,
) -> Passage | Refusal:
    """Let a request in or refuse it; one statement, nothing kept past the request."""
    if credential is None or tokens.parse(credential) is not tokens.Prefix.ACCESS:
        return _UNKNOWN
    facts = await look_up(
        host,
        token_hash=tokens.digest(credential),
        session_id=None,
        user_id=None,
        organization_id=organization_id,
        permission=permission,
    )
    if facts is None:
        return _UNKNOWN
    outcome = await _judge(host, facts, organization_id)
    if outcome.allowed:
        return _passage(facts, outcome)
    return await _refused(host, facts, outcome, permission, request_id)


async def check(
    host: Host,
    *,
    actor: public.ActorRef,
    organization_id: UUID | None,
    action: str,
    resource: public.ResourceRef,
    channel: str,
    request_id: str,
) -> public.Decision:
    """Answer a question about a person's own session (IDN-27, IDN-33)."""
    facts = await look_up(
        host,
        token_hash=None,
        session_id=actor.session_id,
        user_id=actor.id,
        organization_id=organization_id,
        permission=action,
    )
    # Whatever one may not know of is answered like what does not exist (IDN-33).
    outcome = Outcome("no_membership", {"kind": "ask_owner"})
    if facts is not None:
        outcome = await _judge(host, facts, organization_id)
    made = public.Decision(
        decision="allow" if outcome.allowed else "deny",
        decision_id=new_id(),
        reason_code=outcome.reason,
        policy_version=(facts.policy_label if facts else None) or "none",
        remedy=outcome.remedy,
        decided_at=host.now(),
    )
    if facts is not None and facts.membership_id is not None:
        await record(host, facts, made, action, resource.model_dump(), channel, request_id)
    return made


async def _judge(host: Host, facts: Facts, asked: UUID | None) -> Outcome:
    label = facts.policy_label
    if label is None:
        return Outcome("policy_error")
    text = "" if policies.is_parsed(label) else await policy_text(host, label)
    now = host.now()
    return decide(facts, asked=asked, now=now, policy=_policy(label, text, facts))


def _policy(label: str, text: str, facts: Facts) -> Policy:
    principal = f'Person::"{facts.user_id}"'
    resource = f'Item::"{facts.tenant_id}"'

    def judge(context: dict[str, Any]) -> policies.Verdict:
        return policies.decide(label, text, principal=principal, resource=resource, context=context)

    return judge


def _passage(facts: Facts, outcome: Outcome) -> Passage:
    by_tenant = outcome.held_as is HeldAs.TENANT
    return Passage(
        actor=_actor(facts),
        organization_id=facts.tenant_id if by_tenant else None,
        user_id=facts.user_id,
        held_as=outcome.held_as or HeldAs.PERSON,
        # What belongs to a person follows the base clock, whatever sandbox is open (IDN-51).
        clock_offset=facts.ahead if by_tenant and facts.ahead else timedelta(0),
        policy_version=facts.policy_label or "none",
    )


async def _refused(
    host: Host, facts: Facts, outcome: Outcome, permission: str, request_id: str
) -> Refusal:
    decision_id = new_id()
    if facts.membership_id is not None and outcome.reason not in _WITHOUT_RECORD:
        denied = public.Decision(
            decision="deny",
            decision_id=decision_id,
            reason_code=outcome.reason,
            policy_version=facts.policy_label or "none",
            decided_at=host.now(),
        )
        await record(host, facts, denied, permission, {}, "http", request_id)
    return Refusal(
        reason_code=outcome.reason,
        remedy=outcome.remedy,
        decision_id=decision_id,
        actor=_actor(facts),
        text=_text(outcome),
    )


# A dead credential is no decision about rights.
_WITHOUT_RECORD = frozenset(
    {"session_revoked", "session_expired", "token_expired", "account_disabled", "mfa_pending"}
)


async def record(
    host: Host,
    facts: Facts,
    made: public.Decision,
    action: str,
    resource: dict[str, Any],
    channel: str,
    request_id: str,
) -> None:
    """Keep a decision before its answer leaves (IDN-36)."""
    origin = Origin(action="identity decision", request_id=request_id, correlation_id=request_id)
    work = Work(host, "identity", Scope(actor=SYSTEM, organization_id=facts.tenant_id), origin)
    try:
        assert facts.tenant_id is not None  # noqa: S101  # there is a membership
        await work.add(
            DecisionRecord(
                id=made.decision_id,
                organization_id=facts.tenant_id,
                actor_kind=ActorKind.USER.value,
                actor_id=facts.user_id,
                action=action,
                resource=resource,
                decision=made.decision,
                reason_code=made.reason_code,
                policy_version=made.policy_version,
                channel=channel,
                request_id=request_id,
            )
        )
        await work.finish()
    finally:
        await work.close()


def _actor(facts: Facts) -> Actor:
    return Actor(ActorKind.USER, facts.user_id, facts.session_id)


def _text(outcome: Outcome) -> str | None:
    remedy = outcome.remedy or {}
    if remedy.get("kind") == "ask_role" and remedy["roles"]:
        return f"This needs one of the roles {', '.join(remedy['roles'])}; an owner can give it."
    return None
