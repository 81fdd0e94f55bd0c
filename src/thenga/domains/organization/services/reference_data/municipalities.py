"""The municipalities of the country: a catalogue of the Demarcation Board's codes (ORG-18).

The file lists the demarcation in force since the elections of 3 August 2016: 8 metros, 44 districts
and 205 local municipalities. When boundaries move, the old line gets its last day and stays.
"""

import csv
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy import ColumnElement, or_, select

from thenga.domains.organization.tables import Municipality
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, extensions

FILE = Path(__file__).parents[2] / "content" / "municipalities.csv"
SORTS: dict[str, ColumnElement[Any] | None] = {
    "code": Municipality.code,
    "name": Municipality.name,
}
_CATALOGUE = UUID("019a0000-0000-7000-8000-00000000ca7b")
_SEED = """
    INSERT INTO organization.municipality (id, created_at, updated_at, version, code, name,
        category, province, district_code, valid_from, valid_to)
    VALUES ($1, $2, $2, 1, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (code) DO UPDATE SET updated_at = excluded.updated_at,
        version = organization.municipality.version + 1, name = excluded.name,
        category = excluded.category, province = excluded.province,
        district_code = excluded.district_code, valid_from = excluded.valid_from,
        valid_to = excluded.valid_to
"""


class MunicipalityMismatch(Problem):
    """The municipality is unknown or lies in another province.

    Look up its code with `GET /organization-catalogues/municipalities`.
    """

    code, status, title = (
        "organization-municipality-mismatch",
        422,
        "The municipality is not in this province",
    )
    members = extensions(field=(str, "Field that names the municipality."))


async def load(work: Work) -> None:
    """Bring the catalogue to what the file says."""
    with FILE.open(newline="", encoding="utf-8") as lines:
        for line in csv.DictReader(lines):
            await work.run(
                _SEED,
                uuid5(_CATALOGUE, line["code"]),
                work.now,
                line["code"],
                line["name"],
                line["category"],
                line["province"],
                line["district_code"] or None,
                date.fromisoformat(line["valid_from"]),
                date.fromisoformat(line["valid_to"]) if line["valid_to"] else None,
            )


async def list_municipalities(
    read: Reader, paged: Paged, *, province: str | None, q: str | None
) -> Slice[Municipality]:
    """The municipalities, of one province or by a part of their name or code."""
    statement = select(Municipality)
    statement = where_given(statement, (Municipality.province, province))
    if q is not None:
        named = Municipality.name.icontains(q, autoescape=True)
        statement = statement.where(or_(named, Municipality.code.istartswith(q, autoescape=True)))
    return await read.page(statement, paged, SORTS[paged.sort])


async def check_municipality(read: Reader, code: str, *, province: str | None, on: date) -> None:
    """Refuse a code that is not in force on that day, or lies in another province (ORG-18)."""
    found = await read.find(Municipality, code=code)
    if found is None or on < found.valid_from or (found.valid_to and on > found.valid_to):
        raise MunicipalityMismatch(
            f"There is no municipality with the code {code}.", field="municipalityCode"
        )
    if province is not None and found.province != province:
        raise MunicipalityMismatch(
            f"{code} ({found.name}) lies in {found.province}, not in {province}.",
            field="municipalityCode",
        )


async def check_all(read: Reader, codes: Sequence[str], *, on: date, field: str) -> None:
    """Refuse codes that are not in force on that day, in one statement (ORG-18)."""
    if not codes:
        return
    rows = await read.all(select(Municipality).where(among(Municipality.code, codes)))
    known = {r.code for r in rows if r.valid_from <= on and not (r.valid_to and on > r.valid_to)}
    unknown = [code for code in codes if code not in known]
    if unknown:
        raise MunicipalityMismatch(
            f"There is no municipality with the code {unknown[0]}.", field=field
        )
