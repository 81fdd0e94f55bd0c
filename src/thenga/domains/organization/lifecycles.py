"""Which moves exist in Organization."""

from datetime import datetime

from thenga.domains.organization.tables import Equipment, EquipmentStatus
from thenga.kernel.errors import Conflict
from thenga.kernel.lifecycle import Lifecycle, Move

E = EquipmentStatus


def not_archived(equipment: Equipment, at: datetime) -> None:
    if equipment.archived_at is not None:
        raise Conflict("This machine is archived; archived machines are not moved.")


class EquipmentLifecycle(Lifecycle, initial=E.AVAILABLE):
    assign = Move(E.AVAILABLE, to=E.IN_USE, guard=not_archived)
    release = Move(E.IN_USE, to=E.AVAILABLE, guard=not_archived)
    maintain = Move(E.AVAILABLE, to=E.MAINTENANCE, guard=not_archived)
    return_ = Move(E.MAINTENANCE, to=E.AVAILABLE, guard=not_archived)
    retire = Move(E.AVAILABLE, E.IN_USE, E.MAINTENANCE, to=E.RETIRED, guard=not_archived)


LIFECYCLES = (EquipmentLifecycle,)
