"""The gate that every entrance passes: asked of Identity, known to the kernel only by its shape.

Identity's port `Decisions` is the one implementation; the kernel names no domain.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from thenga.kernel import errors
from thenga.kernel.access.actors import Actor
from thenga.kernel.errors import Problem


class HeldAs(StrEnum):
    """By which right the caller is let in; the service chooses the view by it."""

    PERSON = "person"
    TENANT = "tenant"
    PLATFORM = "platform"
    SERVICE = "service"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Let in: who acts, for whom, and what the service must keep to.

    A dataclass, because one is made for every request; ports carry it like any value.
    """

    actor: Actor
    organization_id: UUID | None
    user_id: UUID | None
    held_as: HeldAs
    policy_version: str
    clock_offset: timedelta = timedelta(0)
    decision_id: UUID | None = None
    obligations: list[dict[str, Any]] = field(default_factory=list)
    proven_at: datetime | None = None  # when the person last showed who they are
    proof_methods: tuple[str, ...] = ()  # by which they could show it again
    outcome: Literal["passage"] = "passage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Not let in: the reason code of Identity's stages, and what would help."""

    reason_code: str
    remedy: dict[str, Any] | None = None
    decision_id: UUID | None = None
    actor: Actor | None = None
    text: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)  # told beside the reason: limit, used
    outcome: Literal["refusal"] = "refusal"


class Gate(ABC):
    """May this credential use this permission here and now?"""

    @abstractmethod
    async def enter(
        self,
        *,
        credential: str | None,
        organization_id: UUID | None,
        permission: str,
        network: str,
        request_id: str,
    ) -> Passage | Refusal: ...


# IDN-29: the reason of the first stage that fails, and what the entrance answers.
REFUSALS: dict[str, type[Problem]] = {
    "unknown_credential": errors.Unauthenticated,
    "token_expired": errors.TokenExpired,
    "session_revoked": errors.SessionRevoked,
    "session_expired": errors.SessionExpired,
    "key_revoked": errors.KeyRevoked,
    "key_expired": errors.KeyExpired,
    "key_rotated": errors.KeyRotated,
    "account_disabled": errors.AccountDisabled,
    "mfa_pending": errors.MfaRequired,
    "no_membership": errors.NotFound,
    "membership_inactive": errors.NotFound,
    "tenant_suspended": errors.TenantSuspended,
    "tenant_restricted": errors.TenantRestricted,
    "entitlement_missing": errors.EntitlementRequired,
    "read_only": errors.EntitlementRequired,
    "limit_reached": errors.PlanLimitReached,
    "entitlement_unknown": errors.DependencyUnavailable,
    "step_up_required": errors.StepUpRequired,
}


def problem_of(refusal: Refusal, permission: str) -> Problem:
    """What a refused caller is answered; whatever is not listed is a plain 403."""
    found = REFUSALS.get(refusal.reason_code, errors.Forbidden)
    if found.status in (401, 404):
        return found()
    return found(
        refusal.text,
        action=permission,
        reasonCode=refusal.reason_code,
        decisionId=None if refusal.decision_id is None else str(refusal.decision_id),
        remedy=refusal.remedy,
        **_proof(refusal),
        **refusal.facts,
    )


def _proof(refusal: Refusal) -> dict[str, Any]:
    """A missing proof says at the top how fresh it must be and by what it can be given."""
    if refusal.reason_code != "step_up_required" or refusal.remedy is None:
        return {}
    return {name: refusal.remedy[name] for name in ("maxAgeSeconds", "methods")}
