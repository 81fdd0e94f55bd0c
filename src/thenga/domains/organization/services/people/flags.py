"""What is declared and found of a director, side by side, and what counts today (ORG-13)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Literal
from uuid import UUID

import orjson
from sqlalchemy import ColumnElement, and_, exists, or_, select

from thenga.domains.organization.services import records
from thenga.domains.organization.services.records import Place, Subject
from thenga.domains.organization.tables import Director, FlagDeclaration, FlagFinding
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated
from thenga.kernel.values.ids import new_id

FLAGS = ("publicServant", "restricted", "politicallyExposed")
Effective = Literal["yes", "no", "unknown", "possible"]
_FRESH = timedelta(days=90)
_SERVES = "publicServant"


@dataclass(frozen=True)
class Given:
    """What somebody says of a director."""

    flag: str
    value: str
    until: date | None
    source: dict[str, Any] | None
    particulars: dict[str, str | None] | None


@dataclass(frozen=True)
class Statement:
    """One declaration or finding as it is shown; a number in it is masked (ORG-14)."""

    director_id: UUID
    flag: str
    value: str
    kind: Literal["customer_supplied", "verified"]
    as_of: date
    until: date | None
    source: dict[str, Any] | None
    particulars: dict[str, Any] | None


def effective_flags(statements: Sequence[Statement], today: date) -> Effective:
    """What counts of one flag: the newest declaration and the newest finding, each while live."""
    live = [one for one in statements if one.until is None or today <= one.until]
    said = next((one for one in reversed(live) if one.kind == "customer_supplied"), None)
    found = next((one for one in reversed(live) if one.kind == "verified"), None)
    if "yes" in (said and said.value, found and found.value):
        return "yes"
    if found is not None and found.value == "possible":
        return "possible"
    if found is not None and found.value == "no" and today - found.as_of <= _FRESH:
        return "no"
    if said is not None and said.value == "no" and said.as_of.year == today.year:
        return "no"
    return "unknown"


async def declare(work: Work, director: Director, given: Given, today: date) -> None:
    """Write down what the company says."""
    _check(given)
    made = new_id()
    await work.add(
        FlagDeclaration(
            id=made,
            organization_id=director.organization_id,
            director_id=director.id,
            flag=given.flag,
            declared_value=given.value,
            declared_on=today,
            until=given.until,
            source=given.source,
            particulars=await _sealed(work, director, made, given),
            declared_by=work.actor.id,
        )
    )


async def find(work: Work, director: Director, given: Given, today: date) -> None:
    """Write down what a verifier found."""
    made = new_id()
    await work.add(
        FlagFinding(
            id=made,
            organization_id=director.organization_id,
            director_id=director.id,
            flag=given.flag,
            found_value=given.value,
            found_on=today,
            until=given.until,
            source=given.source,
            particulars=await _sealed(work, director, made, given),
            found_by=work.actor.id,
        )
    )


async def statements_of(read: Reader, directors: Iterable[Director]) -> dict[UUID, list[Statement]]:
    """All statements about several directors, the oldest first; what was erased is left out."""
    ids = [one.id for one in directors]
    found: dict[UUID, list[Statement]] = {one: [] for one in ids}
    declared = await read.all(
        select(FlagDeclaration).where(among(FlagDeclaration.director_id, ids))
    )
    checked = await read.all(select(FlagFinding).where(among(FlagFinding.director_id, ids)))
    rows: list[FlagDeclaration | FlagFinding] = [*declared, *checked]
    rows.sort(key=lambda row: (row.created_at, row.id))
    holders = {row.director_id for row in rows if row.particulars is not None}
    keys = await records.keys_of(read, [Subject("director", one) for one in holders])
    for row in rows:
        key = keys.get(Subject("director", row.director_id))
        found[row.director_id].append(_shown(row, key))
    return found


def flagged(flag: str, today: date) -> ColumnElement[bool]:
    """The directors of whom a flag is declared or found to be so, or possibly so."""
    return or_(
        _newest(FlagDeclaration, FlagDeclaration.declared_value, flag, today),
        _newest(FlagFinding, FlagFinding.found_value, flag, today),
    )


def _newest(
    row: type[FlagDeclaration] | type[FlagFinding],
    value: ColumnElement[str],
    flag: str,
    today: date,
) -> ColumnElement[bool]:
    later = row.__table__.alias()
    same = and_(
        later.c.organization_id == row.organization_id,
        later.c.director_id == row.director_id,
        later.c.flag == row.flag,
        later.c.id > row.id,
    )
    return exists().where(
        row.organization_id == Director.organization_id,
        row.director_id == Director.id,
        row.flag == flag,
        among(value, ["yes", "possible"]),
        or_(row.until.is_(None), row.until >= today),
        ~exists().where(same),
    )


def _check(given: Given) -> None:
    institution = (given.particulars or {}).get("institution")
    if given.flag == _SERVES and given.value == "yes" and not institution:
        raise RuleViolated(
            "Whoever serves the state serves an institution: name it in `particulars`.",
            rule="ORG-13",
        )
    if given.value == "possible":
        raise RuleViolated("Only a verifier finds something possible.", rule="ORG-13")


async def _sealed(work: Work, director: Director, made: UUID, given: Given) -> bytes | None:
    if given.particulars is None:
        return None
    key = await records.key_for(work, Subject("director", director.id))
    text = orjson.dumps(given.particulars).decode()
    return records.seal(key, text, Place(director.organization_id, made, "particulars"))


def _shown(row: FlagDeclaration | FlagFinding, key: bytes | None) -> Statement:
    declared = isinstance(row, FlagDeclaration)
    return Statement(
        director_id=row.director_id,
        flag=row.flag,
        value=row.declared_value if isinstance(row, FlagDeclaration) else row.found_value,
        kind="customer_supplied" if declared else "verified",
        as_of=row.declared_on if isinstance(row, FlagDeclaration) else row.found_on,
        until=row.until,
        source=row.source,
        particulars=_particulars(row, key),
    )


def _particulars(row: FlagDeclaration | FlagFinding, key: bytes | None) -> dict[str, Any] | None:
    if row.particulars is None or key is None:
        return None
    place = Place(row.organization_id, row.id, "particulars")
    held: dict[str, Any] = orjson.loads(records.unseal(key, row.particulars, place))
    number = held.pop("employee_number", None)
    return held | {"employee_number_masked": number and records.account_number(number)}
