"""Decisions that are kept, one by one, before their answer leaves (IDN-36)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from thenga.domains.identity import public
from thenga.domains.identity.services.decisions._facts import Facts
from thenga.domains.identity.services.decisions._outcome import Outcome
from thenga.domains.identity.tables import DecisionRecord, PersonalDecision, PlatformDecision
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

_SERVICE = UUID(int=0)  # a service is no row of ours


@dataclass(frozen=True, slots=True)
class Kept:
    """A decision on its way into the records."""

    facts: Facts
    outcome: Outcome
    made: public.Decision
    resource: dict[str, Any]
    purpose: str  # entrance, question or inspection
    channel: str
    request_id: str

    @property
    def about(self) -> UUID:
        return self.facts.key_id or self.facts.user_id or _SERVICE

    @property
    def organization_id(self) -> UUID | None:
        """The organization whose record it is: one that the actor belongs to."""
        belongs = self.facts.membership_id is not None or self.facts.kind != "user"
        return self.facts.tenant_id if belongs else None

    @property
    def of_platform(self) -> bool:
        return self.outcome.held_as is HeldAs.PLATFORM or bool(self.facts.by_platform)

    def holder(self) -> Scope | None:
        """For whom the transaction is opened that writes it; none where it is nobody's."""
        if self.of_platform:
            return Scope(actor=SYSTEM, platform=True)
        if self.organization_id is not None:
            return Scope(actor=SYSTEM, organization_id=self.organization_id)
        if self.facts.user_id is not None:
            return Scope(actor=SYSTEM, user_id=self.facts.user_id)
        return None


async def record(host: Host, decisions: Iterable[Kept]) -> None:
    """Write them, one transaction for each organization or person they belong to."""
    grouped: dict[str, tuple[Scope, list[Kept]]] = {}
    for one in decisions:
        scope = one.holder()
        if scope is not None:
            grouped.setdefault(scope.opening(), (scope, []))[1].append(one)
    for scope, of_one in grouped.values():
        request_id = of_one[0].request_id
        origin = Origin("identity decision", request_id=request_id, correlation_id=request_id)
        work = Work(host, "identity", scope, origin)
        try:
            for one in of_one:
                await work.add(_row(one))
            await work.finish()
        finally:
            await work.close()


def _row(one: Kept) -> DecisionRecord | PersonalDecision | PlatformDecision:
    values: dict[str, Any] = {
        "id": one.made.decision_id,
        "user_id": one.about,
        "actor_kind": one.facts.kind,
        "action": one.facts.permission,
        "resource": one.resource,
        "decision": one.made.decision,
        "reason_code": one.made.reason_code,
        "obligations": one.made.obligations,
        "remedy": one.made.remedy,
        "policy_version": one.made.policy_version,
        "purpose": one.purpose,
        "channel": one.channel,
        "request_id": one.request_id,
    }
    if one.of_platform:
        return PlatformDecision(organization_id=one.facts.tenant_id, **values)
    if one.organization_id is not None:
        return DecisionRecord(organization_id=one.organization_id, **values)
    return PersonalDecision(**values)
