"""Permissions that a service asks for beside the one of its route."""

from thenga.domains.identity.public.deciding import ActorRef, Decision, Decisions, ResourceRef
from thenga.kernel.access import gate
from thenga.kernel.access.actors import Actor, ActorKind
from thenga.kernel.db.reader import Reader


async def holds(read: Reader, permission: str, *, on: str) -> bool:
    """Whether whoever acts holds a further permission on a type of resource."""
    return (await _ask(read, permission, on)).decision == "allow"


async def demand(read: Reader, permission: str, *, on: str) -> None:
    """Refuse whoever does not hold a further permission, as the entrance of a route would."""
    decided = await _ask(read, permission, on)
    if decided.decision != "allow":
        refusal = gate.Refusal(
            reason_code=decided.reason_code,
            remedy=decided.remedy,
            decision_id=decided.decision_id,
        )
        raise gate.problem_of(refusal, permission)


def _reference(actor: Actor) -> ActorRef:
    """The actor as Identity is asked about it."""
    if actor.id is None:
        raise LookupError("nobody acts in this unit of work")
    by_key = actor.kind is ActorKind.API_KEY
    return ActorRef(type="api_key" if by_key else "user", id=actor.id, session_id=actor.session_id)


async def _ask(read: Reader, permission: str, on: str) -> Decision:
    return await read.port(Decisions).check(
        actor=_reference(read.actor),
        organization_id=read.organization_id,
        action=permission,
        resource=ResourceRef(type=on),
        channel="http",
        request_id=read.origin.request_id,
    )
