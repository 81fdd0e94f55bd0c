"""Whether what other domains cite of a company still holds (ORG-7)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select

from thenga.domains.organization import public
from thenga.domains.organization.services import facts, records
from thenga.domains.organization.services.facts import Picture
from thenga.domains.organization.services.organizations import shared_records
from thenga.domains.organization.services.reference_data import FACTS
from thenga.domains.organization.tables import (
    ClientReference,
    Contact,
    Director,
    FactVersion,
    FleetAsset,
    Organization,
    OrganizationStatus,
    Record,
    RecordVersion,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among

_FACT_ID = re.compile(
    r"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}):([A-Za-z]{1,40})"
)
# By the name that references have for them: `pastProject`, `organizationUser`.
CITED: dict[str, type[Record]] = {
    records.type_of(row): row
    for row in (
        *(shared.row for shared in shared_records.SHARED.values()),
        FleetAsset,
        ClientReference,
    )
}


def fact_ref(organization_id: UUID, key: str, version: int) -> public.Ref:
    return public.Ref(type="fact", id=f"{organization_id}:{key}", version=version)


def fact_of(ref: public.Ref) -> tuple[UUID, str] | None:
    """The organization and the key that a citation of a fact names."""
    found = _FACT_ID.fullmatch(ref.id) if ref.type == "fact" else None
    return None if found is None or found[2] not in FACTS else (UUID(found[1]), found[2])


def company_of(ref: public.Ref, organization_id: UUID | None) -> UUID | None:
    """Whose a citation would be: a fact names its company, a record is of the one asked about."""
    named = fact_of(ref)
    if named is not None:
        return named[0]
    return organization_id if ref.type in CITED else None


@dataclass(frozen=True)
class _Known:
    """All that is read to answer several citations of one company."""

    organization: Organization
    facts: Mapping[str, Picture]
    records: Mapping[UUID, Record]
    changes: Mapping[UUID, list[tuple[int, list[str]]]]


async def resolve_citations(read: Reader, refs: Sequence[public.Ref]) -> list[public.Resolved]:
    """What became of citations of one company; what one may not know of is `forbidden`."""
    organization = await read.find(Organization, id=read.organization_id)
    if organization is None:
        return [public.Resolved(ref=ref, state="forbidden") for ref in refs]
    keys = {named[1] for ref in refs if (named := fact_of(ref))}
    cited = await _records(read, refs)
    pictures = await facts.load(read, keys) if keys else {}
    known = _Known(organization, pictures, cited, await _changes(read, cited.keys()))
    return [await _resolved(read, known, ref) for ref in refs]


async def _resolved(read: Reader, known: _Known, ref: public.Ref) -> public.Resolved:
    if known.organization.status is OrganizationStatus.MERGED:
        moved_to = known.organization.merged_into
        return public.Resolved(ref=ref, state="moved", moved_to=moved_to)
    if known.organization.status is OrganizationStatus.CLOSED:
        return public.Resolved(ref=ref, state="erased")
    named = fact_of(ref)
    if named is not None:
        return await _fact(read, known.facts[named[1]], ref)
    return _record(known, ref)


async def _fact(read: Reader, picture: Picture, ref: public.Ref) -> public.Resolved:
    cited = await read.find(FactVersion, fact_key=picture.key, number=ref.version)
    if picture.fact is None or cited is None:
        return public.Resolved(ref=ref, state="forbidden")
    version = picture.fact.version
    was = await facts.source_of(read, cited)
    if facts.digest_of(was) == facts.digest_of(picture.effective(read.now)):
        return public.Resolved(ref=ref, state="live", current_version=version)
    return public.Resolved(
        ref=ref, state="stale", current_version=version, changed_fields=[picture.key]
    )


def _record(known: _Known, ref: public.Ref) -> public.Resolved:
    """Stale where a field changed since; a check of the record alone leaves it live."""
    named = id_of(ref)
    row = None if named is None else known.records.get(named)
    if row is None or records.type_of(row) != ref.type or not 1 <= ref.version <= row.version:
        return public.Resolved(ref=ref, state="forbidden")
    if is_erased(row):
        return public.Resolved(ref=ref, state="erased")
    later = [fields for number, fields in known.changes[row.id] if number > ref.version]
    return public.Resolved(
        ref=ref,
        state="stale" if later else "live",
        current_version=row.version,
        changed_fields=sorted({field for fields in later for field in fields}),
    )


def is_erased(row: Record) -> bool:
    """Whether everything of the person was destroyed."""
    return isinstance(row, Contact | Director | ClientReference) and row.erased_at is not None


def id_of(ref: public.Ref) -> UUID | None:
    """The identifier of the record that is cited, where it is one."""
    try:
        return UUID(ref.id)
    except ValueError:
        return None


async def _records(read: Reader, refs: Sequence[public.Ref]) -> dict[UUID, Record]:
    found: dict[UUID, Record] = {}
    for name, row in CITED.items():
        ids = [named for ref in refs if ref.type == name and (named := id_of(ref))]
        if ids:
            found |= {one.id: one for one in await read.all(select(row).where(among(row.id, ids)))}
    return found


async def _changes(read: Reader, ids: Iterable[UUID]) -> dict[UUID, list[tuple[int, list[str]]]]:
    """The fields that each version of some records changed."""
    found: dict[UUID, list[tuple[int, list[str]]]] = {one: [] for one in ids}
    if not found:
        return found
    statement = select(
        RecordVersion.record_id, RecordVersion.record_version, RecordVersion.changed_fields
    ).where(
        RecordVersion.organization_id == read.organization_id,
        among(RecordVersion.record_id, list(found)),
    )
    for record_id, number, fields in await read.records(statement):
        found[record_id].append((number, fields))
    return found
