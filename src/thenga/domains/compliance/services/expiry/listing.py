"""What expires: documents and verifications with a last day, as one list (CMP-25)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import func, select

from thenga.domains.compliance.services.documents import Sight
from thenga.domains.compliance.settings import EXPIRY_WINDOWS
from thenga.domains.compliance.tables import (
    Document,
    DocumentStatus,
    Evidence,
    EvidenceLink,
    EvidenceStatus,
    Requirement,
    TrackedTender,
)
from thenga.domains.compliance.values import windows
from thenga.domains.compliance.values.windows import ExpiryState
from thenga.kernel.db import configuration
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.values.calendar import HOME_ZONE, local_day

DOCUMENT, VERIFICATION = "document", "verification"


@dataclass(frozen=True, slots=True)
class ExpiryFilters:
    """What the list may be narrowed to."""

    state: ExpiryState | None = None
    window_days: int | None = None
    before: date | None = None


@dataclass(frozen=True, slots=True)
class ExpiryEntry:
    """One last day."""

    kind: str
    ref: UUID
    title: str | None
    valid_until: date
    days_left: int
    window: int | None
    state: ExpiryState
    renewal_expected_on: date | None
    requirement_codes: list[str]
    tracked_tenders_affected: int


async def list_expiries(
    read: Reader, paged: Paged, filters: ExpiryFilters, sight: Sight
) -> tuple[list[ExpiryEntry], str | None]:
    """Documents that the caller may read, and verifications of proofs that show nothing else, by
    their last day. States are those of today."""
    today = local_day(read.now, HOME_ZONE)
    spans = await configuration.value(read, EXPIRY_WINDOWS)
    listed = _entries(read.organization_id, sight).subquery("listed")
    statement = select(listed).where(*_narrowed(listed, filters, today, spans))
    records, following = await read.page_records(
        statement, paged, (listed.c.valid_until, listed.c.ref)
    )
    closings = await _closings(read, today)
    return [_entry(record, today, spans, closings) for record in records], following


def _entries(organization_id: UUID, sight: Sight) -> sa.CompoundSelect[*tuple[Any, ...]]:
    codes = _codes(organization_id).subquery("codes")
    documents = (
        select(
            sa.literal(DOCUMENT).label("kind"),
            Document.id.label("ref"),
            func.coalesce(Document.title, Document.document_type_code).label("title"),
            Document.valid_until.label("valid_until"),
            Document.renewal_expected_on.label("renewal_expected_on"),
            func.array_agg(codes.c.code)
            .filter(codes.c.code.is_not(None))
            .label("requirement_codes"),
        )
        .outerjoin(codes, codes.c.document_id == Document.id)
        .where(
            Document.organization_id == organization_id,
            Document.valid_until.is_not(None),
            Document.current_version > 0,
            Document.status == DocumentStatus.ACTIVE,
            sight.shown(),
        )
        .group_by(Document.organization_id, Document.id)
    )
    return documents.union_all(_of_verifications(organization_id, codes, sight))


def _of_verifications(
    organization_id: UUID, codes: sa.Subquery, sight: Sight
) -> sa.Select[*tuple[Any, ...]]:
    of_evidence = codes.alias("of_evidence")
    return (
        select(
            sa.literal(VERIFICATION),
            Evidence.latest_verification_id,
            func.min(of_evidence.c.code),
            Evidence.verified_until,
            sa.cast(None, sa.Date),
            func.array_agg(of_evidence.c.code.distinct()).filter(of_evidence.c.code.is_not(None)),
        )
        .outerjoin(of_evidence, of_evidence.c.evidence_id == Evidence.id)
        .where(
            Evidence.organization_id == organization_id,
            Evidence.status == EvidenceStatus.VERIFIED,
            Evidence.verified_until.is_not(None),
            Evidence.latest_verification_id.is_not(None),
            sight.names_no_hidden(organization_id, Evidence.document_id),
        )
        .group_by(Evidence.organization_id, Evidence.id)
    )


def _codes(organization_id: UUID) -> sa.Select[*tuple[Any, ...]]:
    return (
        select(
            Evidence.id.label("evidence_id"),
            Evidence.document_id.label("document_id"),
            Requirement.definition_code.label("code"),
        )
        .join(
            EvidenceLink,
            (EvidenceLink.organization_id == Evidence.organization_id)
            & (EvidenceLink.evidence_id == Evidence.id),
        )
        .join(
            Requirement,
            (Requirement.organization_id == EvidenceLink.organization_id)
            & (Requirement.id == EvidenceLink.requirement_id),
        )
        .where(Evidence.organization_id == organization_id, EvidenceLink.removed_at.is_(None))
        .distinct()
    )


def _narrowed(
    listed: sa.Subquery, filters: ExpiryFilters, today: date, spans: Sequence[int]
) -> list[sa.ColumnElement[bool]]:
    """The filters as conditions on days, so that a page is cut in the database."""
    last, renewal = listed.c.valid_until, listed.c.renewal_expected_on
    found: list[sa.ColumnElement[bool]] = []
    if filters.before is not None:
        found.append(last < filters.before)
    if filters.window_days is not None:
        found.append(last <= today + timedelta(days=filters.window_days))
    if filters.state is not None:
        running, widest = last >= today, today + timedelta(days=max(spans))
        conditions = {
            ExpiryState.EXPIRED: last < today,
            ExpiryState.RENEWAL_IN_PROGRESS: sa.and_(running, renewal >= today),
            ExpiryState.RENEWAL_LATE: sa.and_(running, renewal < today),
            ExpiryState.EXPIRING: sa.and_(running, renewal.is_(None), last <= widest),
            ExpiryState.VALID: sa.and_(renewal.is_(None), last > widest),
        }
        found.append(conditions[filters.state])
    return found


async def _closings(read: Reader, today: date) -> list[tuple[date, date]]:
    """Closing and last needed day of each tracked tender that is open."""
    statement = select(
        TrackedTender.closing_at, TrackedTender.validity_ends_on, TrackedTender.expected_award_on
    ).where(
        TrackedTender.organization_id == read.organization_id,
        TrackedTender.ended_at.is_(None),
        TrackedTender.closing_at.is_not(None),
    )
    found = []
    for record in await read.records(statement.limit(500)):
        closing = local_day(record["closing_at"], HOME_ZONE)
        later = [day for day in (record[1], record[2]) if day is not None]
        if closing >= today:
            found.append((closing, max([closing, *later])))
    return found


def _entry(
    record: Any, today: date, spans: Sequence[int], closings: list[tuple[date, date]]
) -> ExpiryEntry:
    last_day: date = record["valid_until"]
    window = windows.window_of(last_day, today, spans)
    codes = sorted(set(record["requirement_codes"] or []))
    return ExpiryEntry(
        kind=record["kind"],
        ref=record["ref"],
        title=record["title"],
        valid_until=last_day,
        days_left=windows.days_left(last_day, today),
        window=window,
        state=windows.state_of(
            window, renewal_expected_on=record["renewal_expected_on"], today=today
        ),
        renewal_expected_on=record["renewal_expected_on"],
        requirement_codes=codes,
        tracked_tenders_affected=sum(last_day < ends for _, ends in closings) if codes else 0,
    )
