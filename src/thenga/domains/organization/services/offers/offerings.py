"""What services and products share: how both are checked, recorded, changed, found and told of."""

from collections.abc import Mapping
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select

from thenga.domains.organization import public
from thenga.domains.organization.services import evidence, records, reference_data
from thenga.domains.organization.tables import Offering
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move
from thenga.kernel.values.calendar import local_day

R = TypeVar("R", bound=Offering)

_SERVES = "$ ? (@.national == true || @.provinces[*] == $province)"


async def add(work: Work, row: Offering, *, once: str) -> None:
    """Record a new one; `once` is told where another of its name is offered."""
    await _check(work, row)
    with records.once(once, field="name"):
        given = await records.add(work, row)
    _tell(work, row, "added", given)


async def change(work: Work, row: Offering, fields: Mapping[str, Any], *, once: str) -> None:
    """Set the fields of a locked one that differ, and tell if any did."""
    records.not_archived(row)
    records.put_record(row, fields)
    await _check(work, row)
    with records.once(once, field="name"):
        changed = await records.save(work, row)
    if changed:
        _tell(work, row, "updated", changed)


async def move(work: Work, row: Offering, move: Move) -> None:
    """Make one of the declared moves of a locked one; what is there already stays untold."""
    if move(row, at=work.now):
        _tell(work, row, move.verb, await records.save(work, row))


async def archive(work: Work, row: Offering) -> None:
    """Take a locked one out of the lists; the record stays readable."""
    changed = await records.archive(work, row)
    if changed:
        _tell(work, row, "archived", changed)


async def _check(read: Reader, row: Offering) -> None:
    """Codes exist, places exist, references lead somewhere."""
    await reference_data.check_classification(read, row.classifications)
    await check_areas(read, row.areas)
    await evidence.check_evidence(read, row.evidence_refs)


async def check_areas(read: Reader, areas: dict[str, Any]) -> None:
    """The municipalities of areas are in the catalogue."""
    await reference_data.check_all(
        read, areas["municipalities"], on=local_day(read.now), field="areas"
    )


def narrowed(
    statement: Select[R],
    row: type[Offering],
    *,
    scheme: str | None,
    code: str | None,
    province: str | None,
) -> Select[R]:
    """Only what is of a classification, or offered in a province."""
    if scheme is not None:
        statement = statement.where(reference_data.matches(row.classifications, scheme, code))
    if province is not None:
        statement = statement.where(serves(row.areas, province))
    return statement


def serves(areas: ColumnElement[Any], province: str) -> ColumnElement[bool]:
    """Whether areas include a province; the whole country includes all."""
    return reference_data.holds(areas, _SERVES, province=province)


def _tell(work: Work, row: Offering, change: str, fields: list[str]) -> None:
    told = records.change_event(row, change, fields)
    status = row.__dict__["status"]
    work.publish(public.OfferingChanged(**told, record_type=records.type_of(row), status=status))
