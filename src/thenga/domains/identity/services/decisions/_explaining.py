"""Explaining: every stage of a decision, also those behind the first that fails."""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from thenga.domains.identity import public
from thenga.domains.identity.services.decisions._asking import (
    UNKNOWN,
    check_many,
    facts_of,
    policy_for,
    question_of,
)
from thenga.domains.identity.services.decisions._entitled import ASK
from thenga.domains.identity.services.decisions._facts import Facts
from thenga.domains.identity.services.decisions._stages import STAGES
from thenga.kernel.process.host import Host


@dataclass(frozen=True)
class Step:
    """One stage: whether it lets pass, and if not why and what would help."""

    stage: str
    passes: bool
    reason_code: str | None = None
    remedy: dict[str, Any] | None = None


@dataclass(frozen=True)
class Explained:
    """A decision as it would be made now, and all stages behind it; nobody is bound by it."""

    decision: public.Decision
    stages: list[Step]


async def explain(host: Host, asked: public.Question, *, everybody: bool) -> Explained:
    """Why the answer is what it is, kept as an inspection (IDN-33)."""
    (facts,) = await facts_of(host, [asked])
    if facts is not None and not everybody and _is_stranger(facts, asked):
        asked = asked.model_copy(update={"actor": public.ActorRef(type="user", id=_NOBODY)})
        facts = None
    (decision,) = await check_many(host, [asked], purpose="inspection")
    if facts is None or facts.policy_label is None:
        return Explained(decision, [Step("tenant", False, UNKNOWN.reason, UNKNOWN.remedy)])
    question, policy = question_of(asked), await policy_for(host, facts)
    steps = []
    for name, stage in STAGES:
        failed = stage(facts, question, host.now(), policy)
        if failed is ASK:
            # Billing was asked for the decision just made; what it said is read with the facts.
            failed = stage(replace(facts, billing="silent"), question, host.now(), policy)
        if failed is None:
            steps.append(Step(name, True))
        else:
            steps.append(Step(name, False, failed.reason, failed.remedy))
    return Explained(decision, steps)


_NOBODY = UUID(int=0)


def _is_stranger(facts: Facts, asked: public.Question) -> bool:
    """Whether an organization asks about somebody who is not its own."""
    if asked.organization_id is None:
        return False  # about oneself; others were not let through
    return facts.tenant_id is None or (facts.kind == "user" and facts.membership_id is None)
