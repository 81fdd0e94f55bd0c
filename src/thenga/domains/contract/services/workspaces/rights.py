"""Permissions that a move needs beside the one of its route."""

from thenga.domains.contract.permissions import GRANTED, Permission
from thenga.domains.identity import public as identity
from thenga.kernel.access import gate
from thenga.kernel.access.actors import Actor, ActorKind
from thenga.kernel.db import step_up
from thenga.kernel.db.reader import Reader
from thenga.kernel.declare.permission import Sensitivity
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.ports.binding import within

_GRAVE = {one.code for one in GRANTED if one.sensitivity is not Sensitivity.NORMAL}


async def demand(read: Reader, permission: Permission) -> None:
    """Refuse whoever does not hold the permission of a move, as an entrance would.

    Call it before the first write. What is grave needs a fresh proof as well.
    """
    decided = await read.port(identity.Decisions).check(
        actor=_reference(read.actor),
        organization_id=read.organization_id,
        action=permission,
        resource=identity.ResourceRef(type="contract.workspace"),
        channel="http",
        request_id=read.origin.request_id,
    )
    if decided.decision != "allow":
        refusal = gate.Refusal(
            reason_code=decided.reason_code,
            remedy=decided.remedy,
            decision_id=decided.decision_id,
        )
        raise gate.problem_of(refusal, permission)
    if permission in _GRAVE:
        step_up.demand(read)


async def sole_holder(read: Reader, permission: Permission) -> bool:
    """Whether one person alone holds a permission; silence demands a second person (CON-44)."""
    port = read.port(identity.Members)
    asked = port.holding(organization_id=read.organization_id, permission=permission, limit=2)
    try:
        holders = await within(port.port_timeout, port.port_name, asked)
    except DependencyUnavailable:
        return False
    return holders == [read.actor.id]


def _reference(actor: Actor) -> identity.ActorRef:
    if actor.id is None:
        raise LookupError("nobody acts in this unit of work")
    by_key = actor.kind is ActorKind.API_KEY
    return identity.ActorRef(
        type="api_key" if by_key else "user", id=actor.id, session_id=actor.session_id
    )
