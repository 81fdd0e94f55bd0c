"""Directors as they are shown: with what is declared and found of them, and every check."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, or_

from thenga.domains.organization.services import evidence, records
from thenga.domains.organization.services.people import flags
from thenga.domains.organization.services.records import Place, Subject
from thenga.domains.organization.tables import (
    Director,
    DirectorStatus,
    DirectorVerification,
    Verification,
)
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.errors import Erased
from thenga.kernel.values.calendar import local_day

SORTS: dict[str, ColumnElement[Any] | None] = {"createdAt": None}


@dataclass(frozen=True)
class Portrait:
    """A director with what stands in rows below."""

    director: Director
    statements: list[flags.Statement]
    checks: list[Verification]


async def get(read: Reader, director_id: UUID) -> Portrait:
    """One director, archived ones too; an erased one is gone for good."""
    director = await read.get(Director, director_id)
    if director.erased_at is not None:
        raise Erased()
    return await portrait(read, director)


async def list_all(
    read: Reader,
    paged: Paged,
    *,
    status: DirectorStatus | None,
    role: str | None,
    verification_status: DirectorVerification | None,
    flag: str | None,
    archived: bool,
) -> Slice[Director]:
    """The directors of the organization; erased ones are in no list."""
    statement = records.kept(Director, archived=archived).where(Director.erased_at.is_(None))
    statement = where_given(statement, (Director.status, status), (Director.role, role))
    if verification_status is not None:
        statement = statement.where(_verification_is(verification_status, read.now))
    if flag is not None:
        statement = statement.where(flags.flagged(flag, local_day(read.now)))
    return await read.page(statement, paged, SORTS[paged.sort])


async def portrait(read: Reader, director: Director) -> Portrait:
    return (await portraits(read, [director]))[director.id]


async def portraits(read: Reader, directors: Sequence[Director]) -> dict[UUID, Portrait]:
    """Several at once, by a few statements for all of them together."""
    said = await flags.statements_of(read, directors)
    checked = await evidence.of_records(read, directors)
    return {one.id: Portrait(one, said[one.id], checked[one.id]) for one in directors}


async def id_numbers(read: Reader, directors: Sequence[Director]) -> dict[UUID, str]:
    """The identity numbers themselves, for a disclosure only (ORG-14); an erased one is gone."""
    keys = await records.keys_of(read, [Subject("director", one.id) for one in directors])
    found = {}
    for one in directors:
        key = keys.get(Subject("director", one.id))
        if key is not None and one.id_number is not None:
            place = Place(one.organization_id, one.id, "idNumber", one.id_number_version)
            found[one.id] = records.unseal(key, one.id_number, place)
    return found


def verification_on(director: Director, now: datetime) -> DirectorVerification:
    """A check that has run out is over, whether or not anybody wrote that down."""
    until = director.verified_until
    if director.verification_status is DirectorVerification.VERIFIED and until and until <= now:
        return DirectorVerification.EXPIRED
    return director.verification_status


def _verification_is(status: DirectorVerification, now: datetime) -> ColumnElement[bool]:
    over = and_(
        Director.verification_status == DirectorVerification.VERIFIED,
        Director.verified_until <= now,
    )
    if status is DirectorVerification.EXPIRED:
        return or_(Director.verification_status == status, over)
    return and_(Director.verification_status == status, ~over)
