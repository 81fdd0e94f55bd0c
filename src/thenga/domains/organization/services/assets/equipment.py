"""Equipment: machines and tools; the smallest worked example of a resource with moves."""

from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, literal
from sqlalchemy.dialects.postgresql import JSONB

from thenga.domains.organization import public
from thenga.domains.organization.services import offers, records, reference_data
from thenga.domains.organization.services.assets import expiries, expiry_watch
from thenga.domains.organization.services.assets.expiries import Expiry, ExpiryState
from thenga.domains.organization.tables import Equipment, EquipmentStatus
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move
from thenga.kernel.values.calendar import local_day

SORTS: dict[str, ColumnElement[Any] | None] = {
    "createdAt": None,
    "name": Equipment.name,
    "nextExpiry": expiry_watch.by_next_expiry(Equipment),
}
_ONCE = "A machine with this serial number is recorded already."
_ENDS_WITHIN = "$[*] ? (@.expires_on >= $first && @.expires_on <= $last)"


async def add_equipment(work: Work, *, fields: dict[str, Any]) -> Equipment:
    """Record a machine."""
    item = Equipment(organization_id=work.organization_id, **fields)
    with records.once(_ONCE, field="serialNumber"):
        given = await expiry_watch.add(work, item, equipment_papers(item))
    work.publish(public.EquipmentAdded(**expiry_watch.told(item, "added", given)))
    return item


async def list_equipment(
    read: Reader,
    paged: Paged,
    *,
    status: EquipmentStatus | None,
    category: str | None,
    expiry_state: ExpiryState | None,
    expires_before: date | None,
    archived: bool,
) -> Slice[Equipment]:
    """The machines of the organization."""
    statement = records.kept(Equipment, archived=archived)
    if status is not None:
        statement = statement.where(Equipment.status == status)
    if category is not None:
        statement = statement.where(Equipment.category == category)
    if expiry_state is not None:
        statement = statement.where(_in_state(expiry_state, local_day(read.now)))
    if expires_before is not None:
        statement = statement.where(Equipment.next_expiry < expires_before)
    return await read.page(statement, paged, SORTS[paged.sort])


async def change_equipment(work: Work, equipment_id: UUID, *, fields: dict[str, Any]) -> Equipment:
    """Change the fields named; the rest stays."""
    item = await work.lock(Equipment, equipment_id)
    with records.once(_ONCE, field="serialNumber"):
        changed = await expiry_watch.change(work, item, fields, equipment_papers)
    if changed:
        work.publish(public.EquipmentChanged(**expiry_watch.told(item, "updated", changed)))
    return item


async def move_equipment(work: Work, equipment_id: UUID, move: Move) -> Equipment:
    """Make one of the declared moves; a machine that is there already stays untold."""
    item = await work.lock(Equipment, equipment_id)
    if move(item, at=work.now):
        if move.to is EquipmentStatus.RETIRED:
            item.next_check_at = None
        changed = await records.save(work, item)
        work.publish(public.EquipmentChanged(**expiry_watch.told(item, move.verb, changed)))
    return item


async def archive_equipment(work: Work, equipment_id: UUID) -> None:
    """Take it out of the lists; the record stays readable."""
    item = await work.lock(Equipment, equipment_id)
    changed = await expiry_watch.archive(work, item)
    if changed:
        work.publish(public.EquipmentChanged(**expiry_watch.told(item, "archived", changed)))
        await offers.recheck_capabilities(work, [item.id])


async def publish_equipment_expiry(work: Work, equipment_id: UUID) -> None:
    """Tell what is due of a machine's papers."""
    item = await work.lock(Equipment, equipment_id)
    await expiry_watch.tell_due(work, item, equipment_papers(item))


def equipment_papers(item: Equipment) -> list[Expiry]:
    """The papers of a machine that run out."""
    return [Expiry(one["kind"], date.fromisoformat(one["expires_on"])) for one in item.expiries]


def _in_state(state: ExpiryState, today: date) -> ColumnElement[bool]:
    if state is ExpiryState.NOT_GIVEN:
        return Equipment.expiries == literal([], JSONB)
    first, last = expiries.days_in(state, today)
    return reference_data.holds(
        Equipment.expiries, _ENDS_WITHIN, first=first.isoformat(), last=last.isoformat()
    )
