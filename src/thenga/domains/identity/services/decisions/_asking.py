"""Asking: at the gate by a credential, and by `check` for an actor who is known already."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from thenga.domains.identity import public
from thenga.domains.identity.permissions import PLATFORM_ROLES
from thenga.domains.identity.services import organizations
from thenga.domains.identity.services.decisions import (
    _entitled,
    _recording,
    _statement,
    _tallies,
    key_uses,
    policies,
)
from thenga.domains.identity.services.decisions._facts import Facts, Question
from thenga.domains.identity.services.decisions._outcome import Outcome
from thenga.domains.identity.services.decisions._stages import Policy, decide, proof_methods
from thenga.kernel.access.actors import Actor, ActorKind
from thenga.kernel.access.gate import HeldAs, Passage, Refusal
from thenga.kernel.crypto import tokens
from thenga.kernel.declare.permission import Sensitivity
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

_NOBODY = Refusal(reason_code="unknown_credential", remedy={"kind": "sign_in"})
_PRINCIPALS = {"user": "Person", "api_key": "Key", "service": "Service"}
_KEYS = (tokens.Prefix.KEY_LIVE, tokens.Prefix.KEY_TEST)


async def enter(
    host: Host,
    *,
    credential: str | None,
    organization_id: UUID | None,
    permission: str,
    network: str,
    request_id: str,
) -> Passage | Refusal:
    """Let a request in or refuse it; one statement, nothing kept past the request."""
    # A text with a wrong checksum is nobody's, and is refused without the database (IDN-1).
    prefix = None if credential is None else tokens.parse(credential)
    if credential is None or (prefix is not tokens.Prefix.ACCESS and prefix not in _KEYS):
        return _NOBODY
    facts = await _shown(host, credential, prefix, organization_id, permission, network)
    if facts is None:
        return _NOBODY
    question = Question(organization_id=organization_id, at_door=True)
    facts, outcome = await judge(host, facts, question)
    if outcome.reason in _DEAD:
        return _refusal(facts, outcome, None)
    made, now = None, host.now()
    if not outcome.allowed or facts.sensitivity != Sensitivity.NORMAL:
        made = _made(facts, outcome, now)
        kept = _recording.Kept(facts, outcome, made, {}, "entrance", "http", request_id)
        await _recording.record(host, [kept])
    decision_id = made.decision_id if made else None
    _tallies.note(host, facts, question, outcome, decided_at=now, decision_id=decision_id)
    if not outcome.allowed:
        return _refusal(facts, outcome, decision_id)
    if facts.key_id is not None and facts.tenant_id is not None:
        key_uses.note(host, facts.tenant_id, facts.key_id, network)
    return _passage(facts, outcome, decision_id)


async def _shown(
    host: Host,
    credential: str,
    prefix: tokens.Prefix | None,
    organization_id: UUID | None,
    permission: str,
    network: str,
) -> Facts | None:
    digest = tokens.digest(credential)
    asked: dict[str, Any] = {"organization_id": organization_id, "permission": permission}
    if prefix in _KEYS:
        return await _statement.of_key(host, digest, network=network, **asked)
    return await _statement.of_token(host, digest, **asked)


# A dead credential is no decision about rights.
_DEAD = frozenset(
    {
        *("unknown_credential", "session_revoked", "session_expired", "token_expired"),
        *("key_revoked", "key_expired", "key_rotated", "account_disabled", "mfa_pending"),
    }
)


async def check(host: Host, asked: public.Question) -> public.Decision:
    """Answer one question; whoever asks may know the answer, which the caller has made sure of."""
    (made,) = await check_many(host, [asked])
    return made


async def check_many(
    host: Host, asked: list[public.Question], *, purpose: str = "question"
) -> list[public.Decision]:
    """Answer questions in order; the facts of all come from one statement (IDN-27)."""
    found = await facts_of(host, asked)
    answers, kept = [], []
    for one, facts in zip(asked, found, strict=True):
        # Whatever one may not know of is answered like what does not exist (IDN-33).
        outcome, question = UNKNOWN, question_of(one)
        if facts is not None:
            facts, outcome = await judge(host, facts, question)
        made = _made(facts, outcome, host.now())
        answers.append(made)
        if facts is not None:
            at, made_id = made.decided_at, made.decision_id
            _tallies.note(host, facts, question, outcome, decided_at=at, decision_id=made_id)
            resource = one.resource.model_dump()
            told = (resource, purpose, one.channel, one.request_id)
            kept.append(_recording.Kept(facts, outcome, made, *told))
    await _recording.record(host, kept)
    return answers


UNKNOWN = Outcome("no_membership", {"kind": "ask_owner"})


async def facts_of(host: Host, asked: list[public.Question]) -> list[Facts | None]:
    """The facts of every question, in order; none where nobody is known by that identifier."""
    found: list[Facts | None] = [None] * len(asked)
    keys = [n for n, one in enumerate(asked) if one.actor.type == "api_key"]
    others = [n for n, one in enumerate(asked) if one.actor.type != "api_key"]
    known = await _statement.of_known(host, [_known(asked[n]) for n in others])
    for n, facts in zip(others, known, strict=True):
        exists = facts.user_status is not None or facts.kind == "service"
        found[n] = _alone(facts, asked[n]) if exists else None
    network = next((one.network for one in asked if one.network is not None), "")
    of_keys = await _statement.of_known_keys(
        host,
        [(asked[n].actor.id, asked[n].organization_id, asked[n].action) for n in keys],
        network=network,
    )
    for n, held in zip(keys, of_keys, strict=True):
        found[n] = held
    return found


def _known(one: public.Question) -> _statement.Known:
    actor = one.actor
    if actor.type == "service":
        return "service", None, None, one.organization_id, one.action
    return "user", actor.session_id, actor.id, one.organization_id, one.action


def _alone(facts: Facts, asked: public.Question) -> Facts:
    """A question that names no organization is about none, whatever one is open elsewhere."""
    if asked.organization_id is not None or facts.tenant_id is None:
        return facts
    return replace(facts, tenant_id=None, membership_id=None, membership_status=None)


def question_of(asked: public.Question) -> Question:
    """The question in the form that the stages look at."""
    domain = asked.action.partition(":")[0]
    resource = asked.resource
    return Question(
        organization_id=asked.organization_id,
        resource_type=_whole(resource.type, domain),
        resource_id=resource.id,
        parents=tuple(_whole(parent, domain) for parent in resource.parents),
        channel=asked.channel,
        agent=asked.agent is not None or asked.channel == "agent",
        amount=-1 if asked.amount is None else asked.amount,
    )


def _whole(name: str, domain: str) -> str:
    """A type without its domain is one of the domain whose action it is."""
    return name if "." in name.partition("/")[0] else f"{domain}.{name}"


async def judge(host: Host, facts: Facts, question: Question) -> tuple[Facts, Outcome]:
    """The stages, and Billing asked in between where the last known signal does not suffice."""
    if facts.policy_label is None:
        return facts, Outcome("policy_error")
    policy = await policy_for(host, facts)
    outcome = decide(facts, question, now=host.now(), policy=policy)
    if outcome is _entitled.ASK:
        facts = await _asked(host, facts)
        outcome = decide(facts, question, now=host.now(), policy=policy)
    return facts, outcome


async def _asked(host: Host, facts: Facts) -> Facts:
    if facts.tenant_id is None or facts.feature is None:
        return replace(facts, billing="silent")
    said = await organizations.ask_entitlement(host, facts.tenant_id, facts.feature)
    if said is None:
        return replace(facts, billing="silent")
    return replace(
        facts,
        billing="answered",
        signal_state=said.state,
        signal_access=said.access,
        signal_limit=said.limit,
        signal_used=said.used,
        signal_resets_at=said.resets_at,
        signal_checked_at=host.now(),
        signal_remedy=organizations.remedy_of(said),
    )


async def policy_for(host: Host, facts: Facts) -> Policy:
    """The policies in force, as a function of the context alone; no process decides by old ones."""
    label = facts.policy_label or ""
    text = "" if policies.is_parsed(label) else await _statement.policy_text(host, label)
    kind = "Staff" if facts.staff else _PRINCIPALS[facts.kind]
    principal = f'{kind}::"{facts.key_id or facts.user_id}"'
    resource = f'Item::"{facts.tenant_id}"'

    def verdict(context: dict[str, Any]) -> policies.Verdict:
        return policies.decide(label, text, principal=principal, resource=resource, context=context)

    return verdict


def _made(facts: Facts | None, outcome: Outcome, now: datetime) -> public.Decision:
    return public.Decision.model_construct(
        decision="allow" if outcome.allowed else "deny",
        decision_id=new_id(),
        reason_code=outcome.reason,
        obligations=list(outcome.obligations),
        policy_version=(facts.policy_label if facts else None) or "none",
        entitlement=_entitled.shown(facts) if facts else None,
        remedy=outcome.remedy,
        decided_at=now,
    )


def _passage(facts: Facts, outcome: Outcome, decision_id: UUID | None) -> Passage:
    in_tenant = outcome.held_as in (HeldAs.TENANT, HeldAs.PLATFORM)
    return Passage(
        actor=_actor(facts),
        organization_id=facts.tenant_id if in_tenant else None,
        user_id=facts.user_id,
        held_as=outcome.held_as or HeldAs.PERSON,
        # What belongs to a person follows the base clock, whatever sandbox is open (IDN-51).
        clock_offset=facts.ahead if in_tenant and facts.ahead else timedelta(0),
        decision_id=decision_id,
        obligations=list(outcome.obligations),
        policy_version=facts.policy_label or "none",
        proven_at=facts.proven_at,
        proof_methods=proof_methods(facts),
    )


def _refusal(facts: Facts, outcome: Outcome, decision_id: UUID | None) -> Refusal:
    return Refusal(
        reason_code=outcome.reason,
        remedy=outcome.remedy,
        decision_id=decision_id,
        actor=_actor(facts),
        text=_text(outcome),
        facts=outcome.facts,
    )


def _actor(facts: Facts) -> Actor:
    if facts.kind == "api_key":
        return Actor(ActorKind.API_KEY, facts.key_id, answered_by=facts.sponsor_user_id)
    return Actor(ActorKind.USER, facts.user_id, facts.session_id)


def _text(outcome: Outcome) -> str | None:
    if outcome.reason == "person_required":
        return "Only a person can do this. Sign in and send the access token of your session."
    remedy = outcome.remedy or {}
    if remedy.get("kind") != "ask_role":
        return None
    ours = [role for role in remedy["roles"] if role not in PLATFORM_ROLES]
    if ours:
        return f"This needs {_one_of(ours)}. An owner of the organization can assign it."
    return f"This needs {_one_of(remedy['roles'])}. Platform roles are assigned by platform staff."


def _one_of(roles: list[str]) -> str:
    return f"the role {roles[0]}" if len(roles) == 1 else f"one of the roles {', '.join(roles)}"
