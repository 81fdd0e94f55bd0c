"""Reading facts: one by one with all that is said of them, as lists, and as they were cited."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import and_, exists, or_, select

from thenga.domains.organization.services.facts._ledger import (
    Picture,
    Source,
    Values,
    load,
    values_for,
)
from thenga.domains.organization.services.reference_data import FACTS
from thenga.domains.organization.tables import (
    CustomerStatement,
    Fact,
    FactConflict,
    FactFreshness,
    FactVerification,
    FactVersion,
    ImportedStatement,
    Verification,
)
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.errors import NotFound

_MOST = 200  # statements of one fact that are shown, the newest first


@dataclass(frozen=True)
class Cited:
    """A fact as it stood in one version, and the statement or check behind it."""

    version: FactVersion
    source: Source | None


@dataclass(frozen=True)
class Filters:
    """What a list of facts may be narrowed to."""

    group: str | None = None
    stale: bool | None = None
    conflict_status: FactConflict | None = None
    verification_status: FactVerification | None = None


async def profile_of(
    read: Reader, keys: list[str] | None = None
) -> tuple[dict[str, Picture], Values]:
    """The facts that have a value now, and how to read their values."""
    pictures, values = await pictures_of(read, keys)
    counted = {k: p for k, p in pictures.items() if p.effective(read.now) is not None}
    return counted, values


async def pictures_of(
    read: Reader, keys: list[str] | None = None
) -> tuple[dict[str, Picture], Values]:
    """The pictures of facts, with or without a value, and how to read their values."""
    pictures = await load(read, keys)
    sources = [source for one in pictures.values() for source in _all(one, read)]
    return pictures, await values_for(read, sources)


def _all(picture: Picture, read: Reader) -> list[Source]:
    found = picture.live(read.now)
    counts = picture.effective(read.now)
    return found if counts is None or counts in found else [*found, counts]


async def list_facts(read: Reader, paged: Paged, filters: Filters) -> Slice[Fact]:
    """Facts of the profile, page by page; what time has made of them counts."""
    statement = select(Fact)
    if filters.group is not None:
        keys = [one.key for one in FACTS.values() if one.group == filters.group]
        statement = statement.where(among(Fact.fact_key, keys))
    statement = where_given(statement, (Fact.conflict_status, filters.conflict_status))
    if filters.verification_status is not None:
        statement = statement.where(_is(filters.verification_status, read))
    if filters.stale is not None:
        passed = exists().where(
            FactFreshness.organization_id == Fact.organization_id,
            FactFreshness.fact_key == Fact.fact_key,
            FactFreshness.stale_after < read.now,
        )
        statement = statement.where(passed if filters.stale else ~passed)
    return await read.page(statement, paged, Fact.fact_key if paged.sort == "factKey" else None)


def _is(status: FactVerification, read: Reader) -> Any:
    over = and_(
        Fact.verification_status == FactVerification.VERIFIED, Fact.verified_until <= read.now
    )
    if status is FactVerification.EXPIRED:
        return or_(Fact.verification_status == status, over)
    if status is FactVerification.VERIFIED:
        return and_(
            Fact.verification_status == status,
            or_(Fact.verified_until.is_(None), Fact.verified_until > read.now),
        )
    return Fact.verification_status == status


async def history_of(read: Reader, key: str) -> tuple[list[Source], list[Verification]]:
    """Every statement and every check of a fact, withdrawn and ended ones too, newest first."""
    stated = await read.all(
        select(CustomerStatement)
        .where(CustomerStatement.fact_key == key)
        .order_by(CustomerStatement.id.desc()),
        limit=_MOST,
    )
    imported = await read.all(
        select(ImportedStatement)
        .where(ImportedStatement.fact_key == key)
        .order_by(ImportedStatement.id.desc()),
        limit=_MOST,
    )
    checks = await read.all(
        select(Verification).where(Verification.fact_key == key).order_by(Verification.id.desc()),
        limit=_MOST,
    )
    return [*stated, *imported], checks


async def cited(read: Reader, key: str, number: int) -> Cited:
    """The version of a fact that somebody cites, word for word (ORG-7)."""
    found = await read.find(FactVersion, fact_key=key, number=number)
    if found is None:
        raise NotFound()
    return Cited(found, await source_of(read, found))


async def source_of(read: Reader, pointer: FactVersion | Fact) -> Source | None:
    """The statement or check that a version points at, live or not."""
    tables: list[tuple[type[Any], UUID | None]] = [
        (CustomerStatement, pointer.customer_statement_id),
        (ImportedStatement, pointer.imported_statement_id),
        (Verification, pointer.verification_id),
    ]
    for table, source_id in tables:
        if source_id is not None:
            found: Source = await read.get(table, source_id)
            return found
    return None
