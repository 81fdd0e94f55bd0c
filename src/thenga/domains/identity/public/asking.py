"""Permissions that a service asks for beside the one of its route."""

from collections.abc import Sequence

from thenga.domains.identity.public.deciding import (
    ActorRef,
    Decision,
    Decisions,
    Question,
    ResourceRef,
)
from thenga.kernel.access import gate
from thenga.kernel.access.actors import Actor, ActorKind
from thenga.kernel.db.reader import Reader


async def holds(read: Reader, permission: str, *, on: str) -> bool:
    """Whether the caller holds a further permission on a type of resource."""
    return bool(await permitted(read, [permission], on=on))


async def permitted(read: Reader, permissions: Sequence[str], *, on: str) -> frozenset[str]:
    """Those of several further permissions that the caller holds; one question for all."""
    decided = await _ask(read, permissions, on)
    pairs = zip(permissions, decided, strict=True)
    return frozenset(permission for permission, made in pairs if made.decision == "allow")


async def demand(read: Reader, permission: str, *, on: str) -> None:
    """Refuse a caller without a further permission, as the entrance of a route would."""
    (decided,) = await _ask(read, [permission], on)
    if decided.decision != "allow":
        refusal = gate.Refusal(
            reason_code=decided.reason_code,
            remedy=decided.remedy,
            decision_id=decided.decision_id,
        )
        raise gate.problem_of(refusal, permission)


async def _ask(read: Reader, permissions: Sequence[str], on: str) -> list[Decision]:
    actor, request_id = _reference(read.actor), read.origin.request_id
    return await read.port(Decisions).check_many(
        questions=[
            Question(
                actor=actor,
                organization_id=read.organization_id,
                action=permission,
                resource=ResourceRef(type=on),
                channel="http",
                request_id=request_id,
            )
            for permission in permissions
        ]
    )


def _reference(actor: Actor) -> ActorRef:
    """The actor as Identity is asked about it."""
    if actor.id is None:
        raise LookupError("nobody acts in this unit of work")
    by_key = actor.kind is ActorKind.API_KEY
    return ActorRef(type="api_key" if by_key else "user", id=actor.id, session_id=actor.session_id)
