"""All that is live about some facts, read together: a picture a fact."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import Select, func, select

from thenga.domains.organization.services import records
from thenga.domains.organization.services.facts import fact_values
from thenga.domains.organization.services.facts._choosing import Said
from thenga.domains.organization.services.records import Place, Subject
from thenga.domains.organization.tables import (
    CustomerStatement,
    Fact,
    FactFreshness,
    FactSuggestion,
    FactVerification,
    ImportedStatement,
    Origin,
    Outcome,
    SuggestionStatus,
    Verification,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among

Source = CustomerStatement | ImportedStatement | Verification
S = TypeVar("S", CustomerStatement, ImportedStatement, Verification, Fact, FactFreshness)


@dataclass
class Picture:
    """One fact: its pointer, and every statement and check that is live."""

    key: str
    fact: Fact | None = None
    customer: CustomerStatement | None = None
    held: CustomerStatement | None = None
    imported: list[ImportedStatement] = field(default_factory=list)
    checks: list[Verification] = field(default_factory=list)
    freshness: FactFreshness | None = None
    suggestions: int = 0

    def stated(self, now: datetime) -> CustomerStatement | None:
        """The customer's statement; a change that was held back counts when its time has come."""
        return self.held if self.is_held_over(now) else self.customer

    def is_held_over(self, now: datetime) -> bool:
        return self.held is not None and self.held.effective_from <= now

    def effective(self, now: datetime) -> Source | None:
        """What counts now, read through the pointer."""
        if self.fact is None:
            return None
        if self.is_held_over(now) and self.points_at(self.customer):
            return self.held
        sources: list[Source] = [*self.checks, *self.imported]
        if self.customer is not None:
            sources.append(self.customer)
        return next((source for source in sources if self.points_at(source)), None)

    def points_at(self, source: Source | None) -> bool:
        return source is not None and self.fact is not None and pointed(self.fact) == source.id

    def live(self, now: datetime) -> list[Source]:
        """Everything that is said of the fact now, the customer's own first."""
        stated = self.stated(now)
        checks = [check for check in self.checks if is_valid(check, now)]
        return [*([stated] if stated else []), *self.imported, *checks]

    def verification(self, now: datetime) -> FactVerification:
        """As it is now, also where no sweep has written down that a check is over."""
        if self.fact is None:
            return FactVerification.UNVERIFIED
        over = self.fact.verified_until is not None and self.fact.verified_until <= now
        if self.fact.verification_status is FactVerification.VERIFIED and over:
            return FactVerification.EXPIRED
        if self.is_held_over(now) and self.points_at(self.customer):
            return FactVerification.UNVERIFIED
        return self.fact.verification_status


def pointed(fact: Fact) -> UUID | None:
    """Which statement or check a fact points at."""
    return fact.customer_statement_id or fact.imported_statement_id or fact.verification_id


def is_valid(check: Verification, now: datetime) -> bool:
    in_time = check.valid_until is None or check.valid_until > now
    return check.outcome is Outcome.VERIFIED and check.ended_at is None and in_time


def origin_of(source: Source) -> Origin:
    if isinstance(source, CustomerStatement):
        return Origin.CUSTOMER_SUPPLIED
    return Origin.IMPORTED if isinstance(source, ImportedStatement) else Origin.VERIFIED


def author_of(source: Source) -> UUID | None:
    return source.checked_by if isinstance(source, Verification) else source.stated_by


def digest_of(source: Source | None) -> bytes | None:
    return None if source is None else source.canonical_hash


def said_of(source: Source, rank: Mapping[str, int]) -> Said:
    """A statement or check as it is weighed; a check of a register has that register's rank."""
    origin = origin_of(source)
    if isinstance(source, CustomerStatement):
        weight = rank["customer"]
    elif isinstance(source, ImportedStatement):
        weight = rank.get(source.register, rank["import"])
    else:
        weight = rank.get(str(source.source.get("register")), rank["verified_document"])
    return Said(source.id, origin, source.canonical_hash or b"", weight, source.created_at)


async def load(read: Reader, keys: Collection[str] | None = None) -> dict[str, Picture]:
    """The pictures of some facts, or of all that are there."""
    made: dict[str, Picture] = {key: Picture(key) for key in keys or ()}

    def of(key: str) -> Picture:
        return made.setdefault(key, Picture(key))

    for fact in await read.all(_about(read, select(Fact), Fact, keys)):
        of(fact.fact_key).fact = fact
    live = select(CustomerStatement).where(CustomerStatement.withdrawn_at.is_(None))
    for stated in await read.all(_about(read, live, CustomerStatement, keys)):
        if stated.next_check_at is None:
            of(stated.fact_key).customer = stated
        else:
            of(stated.fact_key).held = stated
    imports = select(ImportedStatement).where(ImportedStatement.withdrawn_at.is_(None))
    for imported in await read.all(_about(read, imports, ImportedStatement, keys)):
        of(imported.fact_key).imported.append(imported)
    checks = select(Verification).where(
        Verification.fact_key.is_not(None),
        Verification.ended_at.is_(None),
        Verification.outcome == Outcome.VERIFIED,
    )
    for check in await read.all(_about(read, checks, Verification, keys)):
        of(str(check.fact_key)).checks.append(check)
    for fresh in await read.all(_about(read, select(FactFreshness), FactFreshness, keys)):
        of(fresh.fact_key).freshness = fresh
    for key, count in await _pending(read):
        if key in made:
            made[key].suggestions = count
    return made


async def load_one(read: Reader, key: str) -> Picture:
    return (await load(read, [key]))[key]


def _about(
    read: Reader, statement: Select[S], row: type[S], keys: Collection[str] | None
) -> Select[S]:
    # Said here once more: rows of two companies must never be weighed against each other.
    statement = statement.where(row.__table__.c.organization_id == read.organization_id)
    if keys is None:
        return statement
    return statement.where(among(row.__table__.c.fact_key, keys))


async def _pending(read: Reader) -> list[tuple[str, int]]:
    """How many suggestions wait for a person; all that is read of them here (ORG-1)."""
    statement = (
        select(FactSuggestion.fact_key, func.count())
        .where(
            FactSuggestion.organization_id == read.organization_id,
            FactSuggestion.status == SuggestionStatus.PENDING,
            FactSuggestion.expires_at > read.now,
            FactSuggestion.fact_key.is_not(None),
        )
        .group_by(FactSuggestion.fact_key)
    )
    return [(record[0], record[1]) for record in await read.records(statement)]


class Values:
    """Reads values of statements and checks; sealed ones with the organization's own key."""

    def __init__(self, organization_id: UUID, key: bytes | None) -> None:
        self._organization_id = organization_id
        self._key = key

    def plain(self, key: str, source: Source) -> Any:
        """The value itself, null where its key was destroyed; views show `shown` instead."""
        sealed = _sealed(source)
        if sealed is None:
            return _open(source)
        if self._key is None:
            return None
        place = Place(self._organization_id, source.id, key)
        return fact_values.from_text(records.unseal(self._key, sealed, place))

    def shown(self, key: str, source: Source) -> Any:
        """The value as every view shows it (ORG-14)."""
        return fact_values.shown_value(key, self.plain(key, source))


async def values_for(read: Reader, sources: Collection[Source]) -> Values:
    """A reader of the values of these; the key is fetched only where something is sealed."""
    organization_id = read.organization_id
    if not any(_sealed(source) for source in sources):
        return Values(organization_id, None)
    subject = Subject("organization", organization_id)
    keys = await records.keys_of(read, [subject])
    return Values(organization_id, keys.get(subject))


def _sealed(source: Source) -> bytes | None:
    if isinstance(source, CustomerStatement):
        return source.sealed
    return source.imported_sealed if isinstance(source, ImportedStatement) else source.found_sealed


def _open(source: Source) -> Any:
    if isinstance(source, CustomerStatement):
        return source.value
    return source.imported_value if isinstance(source, ImportedStatement) else source.found_value
