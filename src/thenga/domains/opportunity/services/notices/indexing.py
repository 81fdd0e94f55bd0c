"""What search finds of a tender, written with the tender (OPP-18).

A shared tender is in `notice_search`, which everybody reads; what one keeper alone sees is in
`capture_search`. The words are made by the database.
"""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, select

from thenga.domains.opportunity.tables import (
    Briefing,
    BriefingStatus,
    Document,
    Requirement,
    RequirementStatus,
    TenderOpportunity,
    TenderStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_midnight

NEVER = datetime(9999, 1, 1, tzinfo=UTC)

_COLUMNS = """(
        id, created_at, updated_at, version, organization_id, status, opens_at, closes_at,
        closing_sort, published_sort, number_key, ocid, buyer_name, source_buyer_id, sphere, method,
        main_category, category_text, provinces, municipality_code, classification_prefixes,
        cidb_classes, cidb_grade, value_minor, briefing, has_documents, source_id,
        buyer_words, title_words, words
    ) VALUES (
        $1, $2, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
        $20, $21, $22, $23, $24, $25, $26,
        to_tsvector('opportunity.za', $12), to_tsvector('opportunity.za', $27),
        setweight(to_tsvector('opportunity.za', $27), 'A')
            || setweight(to_tsvector('opportunity.za', $28), 'C')
    )"""
_UPDATED = """ON CONFLICT (organization_id, id) DO UPDATE SET
        updated_at = excluded.updated_at, version = excluded.version, status = excluded.status,
        opens_at = excluded.opens_at, closes_at = excluded.closes_at,
        closing_sort = excluded.closing_sort, published_sort = excluded.published_sort,
        number_key = excluded.number_key, ocid = excluded.ocid, buyer_name = excluded.buyer_name,
        source_buyer_id = excluded.source_buyer_id, sphere = excluded.sphere,
        method = excluded.method, main_category = excluded.main_category,
        category_text = excluded.category_text, provinces = excluded.provinces,
        municipality_code = excluded.municipality_code,
        classification_prefixes = excluded.classification_prefixes,
        cidb_classes = excluded.cidb_classes, cidb_grade = excluded.cidb_grade,
        value_minor = excluded.value_minor, briefing = excluded.briefing,
        has_documents = excluded.has_documents, source_id = excluded.source_id,
        buyer_words = excluded.buyer_words, title_words = excluded.title_words,
        words = excluded.words"""
_SHARED = f"INSERT INTO opportunity.notice_search {_COLUMNS} {_UPDATED}"
_PRIVATE = f"INSERT INTO opportunity.capture_search {_COLUMNS} {_UPDATED}"
_FORGET = "DELETE FROM opportunity.capture_search WHERE organization_id = $1 AND id = $2"
_PREFIXES = (2, 4, 6, 8)


async def index(work: Work, tender: TenderOpportunity) -> None:
    """Let search find the tender as it stands now."""
    classes, grade = await _cidb(work, tender)
    text = " ".join(
        part
        for part in (
            tender.description,
            tender.buyer_name,
            tender.category_text,
            tender.delivery_text,
            tender.special_conditions,
        )
        if part
    )
    closing = tender.closing_at or NEVER
    arguments: tuple[Any, ...] = (
        *(tender.id, work.now, tender.version, tender.organization_id, str(tender.status)),
        *(tender.opens_at, tender.closes_at or NEVER, closing, _published(tender)),
        *(tender.number_key, tender.ocid, tender.buyer_name, tender.source_buyer_id),
        *(tender.buyer_sphere, tender.method, tender.main_category, tender.category_text),
        *(tender.provinces, tender.municipality_code, _prefixes(tender)),
        *(classes, grade, tender.value_minor, await _briefing(work, tender)),
        *(await _has_documents(work, tender), tender.primary_source_id),
        *(tender.title, text),
    )
    await work.run(_SHARED if tender.shared else _PRIVATE, *arguments)
    if tender.shared:
        await work.run(_FORGET, tender.organization_id, tender.id)


def _published(tender: TenderOpportunity) -> datetime:
    if tender.published_on is not None:
        return local_midnight(tender.published_on)
    return tender.published_at or tender.created_at


def _prefixes(tender: TenderOpportunity) -> list[str]:
    codes = [one["code"] for one in tender.classifications]
    found = {code[:length] for code in codes for length in _PREFIXES if len(code) >= length}
    return sorted(found | set(codes))


async def _briefing(read: Reader, tender: TenderOpportunity) -> str:
    held = await read.values(
        select(Briefing.compulsory).where(
            Briefing.tender_opportunity_id == tender.id,
            Briefing.organization_id == tender.organization_id,
            Briefing.status == BriefingStatus.SCHEDULED,
        )
    )
    if not held:
        return "none"
    return "compulsory" if any(held) else "any"


async def _has_documents(read: Reader, tender: TenderOpportunity) -> bool:
    found = await read.value(
        select(func.count()).where(
            Document.tender_opportunity_id == tender.id,
            Document.organization_id == tender.organization_id,
        )
    )
    return bool(found)


async def _cidb(read: Reader, tender: TenderOpportunity) -> tuple[list[str], int | None]:
    asked = await read.values(
        select(Requirement.criterion).where(
            Requirement.tender_opportunity_id == tender.id,
            Requirement.organization_id == tender.organization_id,
            Requirement.criterion_kind == "cidb_grade",
            Requirement.status == RequirementStatus.ACTIVE,
        )
    )
    grades = [one["minGrade"] for one in asked if "minGrade" in one]
    return sorted({one["class"] for one in asked}), max(grades, default=None)


LIVE = (TenderStatus.PLANNED, TenderStatus.OPEN)
