"""Lists of documents, and what belongs to one: versions and links."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ColumnElement, select

from thenga.domains.compliance.services.documents import classes
from thenga.domains.compliance.services.documents.classes import PERSONAL
from thenga.domains.compliance.services.documents.facts import UNDATED
from thenga.domains.compliance.services.documents.uploads import SAME_BYTES
from thenga.domains.compliance.tables import (
    Document,
    DocumentStatus,
    DocumentVersion,
    Evidence,
    EvidenceLink,
)
from thenga.domains.compliance.values.windows import Validity
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.files.contents import ContentStatus
from thenga.kernel.values.calendar import local_day

_NEVER = sa.literal_column("DATE '9999-12-31'", sa.Date)
_EXPIRES: ColumnElement[Any] = sa.func.coalesce(Document.expires_on, _NEVER)
_SORTS: dict[str, ColumnElement[Any] | None] = {
    "createdAt": None,
    "expiresOn": _EXPIRES,
    "title": sa.func.coalesce(Document.title, Document.document_type_code),
}
_EXPIRING_DAYS = 90


@dataclass(frozen=True, slots=True)
class DocumentFilters:
    """What a list of documents is narrowed to."""

    type_code: str | None = None
    document_class: str | None = None
    validity: Validity | None = None
    content_status: ContentStatus | None = None
    subject_kind: str | None = None
    requirement_id: UUID | None = None
    expires_before: date | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """One page, the newest versions of its documents, and how many personal ones are hidden."""

    page: Slice[Document]
    versions: dict[UUID, list[DocumentVersion]]
    personal_hidden: int


async def list_documents(read: Reader, paged: Paged, filters: DocumentFilters) -> Found:
    """Documents that the caller may read. Hidden personal ones are counted without the filters,
    which would narrow down what each of them says (CMP-48)."""
    sight = await classes.sight_of(read)
    is_active = Document.status == DocumentStatus.ACTIVE
    statement = where_given(
        select(Document).where(is_active, sight.shown()),
        (Document.document_type_code, filters.type_code),
        (Document.document_class, filters.document_class),
        (Document.subject_kind, filters.subject_kind),
    )
    for condition in _conditions(filters, local_day(read.now)):
        statement = statement.where(condition)
    hidden = 0
    if sight.hides_personal:
        personal = select(Document.id).where(
            Document.organization_id == read.organization_id,
            Document.document_class == PERSONAL,
            is_active,
        )
        counted = select(sa.func.count()).select_from(personal.subquery())
        hidden = await read.value(counted) or 0
    page = await read.page(statement, paged, _SORTS[paged.sort])
    versions = await versions_of(read, [one.id for one in page.items])
    return Found(page, versions, hidden)


async def versions_of(
    read: Reader, document_ids: Sequence[UUID]
) -> dict[UUID, list[DocumentVersion]]:
    """The versions of documents, newest first."""
    found: dict[UUID, list[DocumentVersion]] = {one: [] for one in document_ids}
    if found:
        statement = select(DocumentVersion).where(
            among(DocumentVersion.document_id, document_ids),
            DocumentVersion.refusal_reason.is_distinct_from(SAME_BYTES),
        )
        for version in await read.all(statement.order_by(DocumentVersion.number.desc())):
            found[version.document_id].append(version)
    return found


async def links_of(read: Reader, document_id: UUID) -> list[tuple[UUID, UUID]]:
    """Evidence and requirement of each link that rests on a document."""
    statement = (
        select(EvidenceLink.evidence_id, EvidenceLink.requirement_id)
        .join(
            Evidence.__table__,
            sa.and_(
                Evidence.organization_id == EvidenceLink.organization_id,
                Evidence.id == EvidenceLink.evidence_id,
            ),
        )
        .where(
            EvidenceLink.organization_id == read.organization_id,
            Evidence.document_id == document_id,
            EvidenceLink.removed_at.is_(None),
        )
        .order_by(EvidenceLink.id)
        .limit(1000)
    )
    return [(row[0], row[1]) for row in await read.records(statement)]


def _conditions(filters: DocumentFilters, today: date) -> list[ColumnElement[bool]]:
    found = []
    if filters.validity is not None:
        found.append(_in_state(filters.validity, today))
    if filters.content_status is not None:
        newest = select(DocumentVersion.id).where(
            DocumentVersion.organization_id == Document.organization_id,
            DocumentVersion.document_id == Document.id,
            DocumentVersion.number == Document.latest_version,
            DocumentVersion.content_status == filters.content_status,
        )
        found.append(newest.exists())
    if filters.expires_before is not None:
        found.append(Document.valid_until < filters.expires_before)
    if filters.requirement_id is not None:
        linked = (
            select(EvidenceLink.id)
            .join(
                Evidence.__table__,
                sa.and_(
                    Evidence.organization_id == EvidenceLink.organization_id,
                    Evidence.id == EvidenceLink.evidence_id,
                ),
            )
            .where(
                EvidenceLink.organization_id == Document.organization_id,
                EvidenceLink.requirement_id == filters.requirement_id,
                Evidence.document_id == Document.id,
                EvidenceLink.removed_at.is_(None),
            )
        )
        found.append(linked.exists())
    return found


def _in_state(state: Validity, today: date) -> ColumnElement[bool]:
    """The validity of the current version, as it is derived for one document."""
    last = Document.valid_until
    edge = today + timedelta(days=_EXPIRING_DAYS)
    has_content = Document.current_version > 0
    conditions: dict[Validity, ColumnElement[bool]] = {
        Validity.EXPIRED: last < today,
        Validity.EXPIRING: sa.and_(last >= today, last <= edge),
        Validity.VALID: last > edge,
        Validity.UNDATED: sa.and_(last.is_(None), Document.valid_basis == UNDATED),
        Validity.NO_EXPIRY: sa.and_(last.is_(None), Document.valid_basis.is_(None)),
        Validity.NOT_YET_VALID: sa.false(),  # a paper of the future is refused
    }
    return sa.and_(has_content, conditions[state])
