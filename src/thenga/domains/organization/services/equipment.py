"""Equipment: machines and tools; the smallest worked example of a resource with moves."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import asyncpg
from sqlalchemy import ColumnElement, Date, func, literal_column, select

from thenga.domains.organization import public
from thenga.domains.organization.services import expiries
from thenga.domains.organization.tables import Equipment, EquipmentStatus
from thenga.kernel.calendar import local_day
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate
from thenga.kernel.lifecycle import Move

# Machines without a date come last when sorted by date. (The driver takes 9999-12-31 for infinity.)
_NEVER = literal_column("DATE '2999-12-31'", Date)
SORTS: dict[str, ColumnElement[Any] | None] = {
    "createdAt": None,
    "name": Equipment.name,
    "nextExpiry": func.coalesce(Equipment.next_expiry, _NEVER),
}


_KEPT = select(Equipment).where(Equipment.archived_at.is_(None))
_ARCHIVED = select(Equipment).where(Equipment.archived_at.is_not(None))


async def add(work: Work, *, fields: dict[str, Any]) -> Equipment:
    """Record a machine."""
    item = Equipment(organization_id=work.organization_id, **fields)
    _plan(item, work.now)
    await _once(work, item)
    work.publish(
        public.EquipmentAdded(
            organization_id=item.organization_id, equipment_id=item.id, status=item.status
        )
    )
    return item


async def list_all(
    read: Reader,
    paged: Paged,
    *,
    status: EquipmentStatus | None,
    category: str | None,
    expires_before: date | None,
    archived: bool,
) -> Slice[Equipment]:
    """The machines of the organization."""
    statement = _ARCHIVED if archived else _KEPT
    if status is not None:
        statement = statement.where(Equipment.status == status)
    if category is not None:
        statement = statement.where(Equipment.category == category)
    if expires_before is not None:
        statement = statement.where(Equipment.next_expiry < expires_before)
    return await read.page(statement, paged, SORTS[paged.sort])


async def change(work: Work, equipment_id: UUID, *, fields: dict[str, Any]) -> Equipment:
    """Change the fields named; the rest stays."""
    item = await work.lock(Equipment, equipment_id)
    changed = [name for name, value in fields.items() if getattr(item, name) != value]
    if not changed:
        return item
    for name in changed:
        setattr(item, name, fields[name])
    if "expiries" in changed:
        _plan(item, work.now)
    await _once_saved(work, item)
    work.publish(_changed(item, "updated", changed))
    return item


async def move(work: Work, equipment_id: UUID, move: Move) -> Equipment:
    """Make one of the declared moves; a machine that is there already stays untold."""
    item = await work.lock(Equipment, equipment_id)
    if move(item, at=work.now):
        await work.save(item)
        work.publish(_changed(item, move.verb, ["status"]))
    return item


async def archive(work: Work, equipment_id: UUID) -> None:
    """Take it out of the lists; the record stays readable."""
    item = await work.lock(Equipment, equipment_id)
    if item.archived_at is None:
        item.archived_at = work.now
        item.next_check_at = None
        await work.save(item)
        work.publish(_changed(item, "archived", ["archivedAt"]))


async def tell_expiry(work: Work, equipment_id: UUID) -> None:
    """Tell the step that is due, the earliest first, and plan the next one (ORG-22)."""
    item = await work.lock(Equipment, equipment_id)
    due = item.next_check_at
    if due is None or due > work.now:
        return
    item.next_check_at = expiries.next_step(_days(item), due)
    await work.save(item)
    for one in item.expiries:
        expires_on = date.fromisoformat(one["expires_on"])
        for at, days_left in expiries.steps(expires_on):
            if at == due:
                work.publish(
                    public.ExpiryApproaching(
                        organization_id=item.organization_id,
                        equipment_id=item.id,
                        kind=one["kind"],
                        expires_on=expires_on,
                        days_left=days_left,
                        due_at=due,
                    )
                )


def _plan(item: Equipment, now: datetime) -> None:
    days = _days(item)
    today = local_day(now)
    item.next_expiry = min((day for day in days if day >= today), default=None)
    item.next_check_at = expiries.next_step(days, now)


def _days(item: Equipment) -> list[date]:
    return [date.fromisoformat(one["expires_on"]) for one in item.expiries]


async def _once(work: Work, item: Equipment) -> None:
    try:
        await work.add(item)
    except asyncpg.UniqueViolationError:
        raise _known_serial() from None


async def _once_saved(work: Work, item: Equipment) -> None:
    try:
        await work.save(item)
    except asyncpg.UniqueViolationError:
        raise _known_serial() from None


def _known_serial() -> Duplicate:
    return Duplicate("A machine with this serial number is recorded already.", field="serialNumber")


def _changed(item: Equipment, change: str, fields: list[str]) -> public.EquipmentChanged:
    return public.EquipmentChanged(
        organization_id=item.organization_id,
        equipment_id=item.id,
        change=change,
        changed_fields=fields,
        status=item.status,
    )
