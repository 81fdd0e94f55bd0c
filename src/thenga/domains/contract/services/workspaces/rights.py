"""Permissions that a move needs beside the one of its route."""

from thenga.domains.contract.permissions import GRANTED, Permission
from thenga.domains.identity import public as identity
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
    await identity.demand(read, permission, on="contract.workspace")
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
