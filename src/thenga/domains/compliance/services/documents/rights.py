"""Rights beyond the one of the operation, asked of Identity: personal papers have their own."""

from thenga.domains.compliance.permissions import Permission
from thenga.domains.identity import public as identity
from thenga.kernel.access import gate
from thenga.kernel.access.actors import Actor, ActorKind
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.reader import Reader


async def holds(read: Reader, permission: Permission) -> bool:
    """Whether whoever acts holds a further permission."""
    return (await _ask(read, permission)).decision == "allow"


async def demand(read: Reader, permission: Permission) -> None:
    """Refuse whoever does not hold a further permission, as the entrance of a route would."""
    decided = await _ask(read, permission)
    if decided.decision != "allow":
        refusal = gate.Refusal(
            reason_code=decided.reason_code,
            remedy=decided.remedy,
            decision_id=decided.decision_id,
        )
        raise gate.problem_of(refusal, permission)


def reference_of(actor: Actor) -> identity.ActorRef:
    """The actor as Identity is asked about it."""
    if actor.id is None:
        raise LookupError("nobody acts in this unit of work")
    by_key = actor.kind is ActorKind.API_KEY
    return identity.ActorRef(
        type="api_key" if by_key else "user", id=actor.id, session_id=actor.session_id
    )


def is_staff(read: Reader) -> bool:
    """Whether the caller acts as staff of the platform."""
    return read.held_as == HeldAs.PLATFORM


async def _ask(read: Reader, permission: Permission) -> identity.Decision:
    return await read.port(identity.Decisions).check(
        actor=reference_of(read.actor),
        organization_id=read.organization_id,
        action=permission,
        resource=identity.ResourceRef(type="compliance.document"),
        channel="http",
        request_id=read.origin.request_id,
    )
