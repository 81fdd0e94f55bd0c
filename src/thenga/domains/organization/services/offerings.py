"""What services and products share: what is checked of both, how both are found and told of."""

from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select

from thenga.domains.organization.services import (
    classifications,
    evidence,
    json_paths,
    municipalities,
    records,
)
from thenga.domains.organization.tables import Offering
from thenga.kernel.calendar import local_day
from thenga.kernel.db.reader import Reader

R = TypeVar("R", bound=Offering)

_SERVES = "$ ? (@.national == true || @.provinces[*] == $province)"


async def check(read: Reader, row: Offering) -> None:
    """Codes exist, places exist, references lead somewhere."""
    await classifications.check(read, row.classifications)
    await check_areas(read, row.areas)
    await evidence.check(read, row.evidence_refs)


async def check_areas(read: Reader, areas: dict[str, Any]) -> None:
    """The municipalities of areas are in the catalogue."""
    await municipalities.check_all(
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
        statement = statement.where(classifications.matches(row.classifications, scheme, code))
    if province is not None:
        statement = statement.where(serves(row.areas, province))
    return statement


def serves(areas: ColumnElement[Any], province: str) -> ColumnElement[bool]:
    """Whether areas include a province; the whole country includes all."""
    return json_paths.holds(areas, _SERVES, province=province)


def told(row: Offering, change: str, fields: list[str]) -> dict[str, Any]:
    return records.told(row, change, fields) | {
        "record_type": records.type_of(row),
        "status": row.__dict__["status"],
    }
