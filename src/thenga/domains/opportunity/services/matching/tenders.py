"""What matching reads of a tender, from its row, its requirements and its briefings."""

import re
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ColumnElement, func, literal, literal_column, select
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.opportunity.services.matching.features import (
    BriefingAsked,
    CidbAsked,
    TenderFeatures,
)
from thenga.domains.opportunity.tables import (
    Attendance,
    Briefing,
    BriefingStatus,
    CategoryMap,
    Requirement,
    RequirementStatus,
    TenderOpportunity,
    TenderStatus,
)
from thenga.kernel.db.reader import Reader

TAKES_BIDS = (TenderStatus.PLANNED, TenderStatus.OPEN)

_BUYER_TYPES = {
    "national": "national_department",
    "provincial": "provincial_department",
    "municipal": "municipality",
    "state_company": "state_company",
    "other": "other",
}
# A grading that only the words of the notice name is a hint and no requirement.
_GRADING = re.compile(r"\b([1-9])(GB|CE|ME|EP|EB|S[BCDEFGHIJKLMNOQ])( ?PE)?\b")
_WORDS: ColumnElement[Any] = literal_column("'opportunity.za'")


async def tender_features(read: Reader, tender: TenderOpportunity) -> TenderFeatures:
    """The features of a tender as this organization sees it, with what it captured itself."""
    requirements = await read.all(
        select(Requirement).where(
            Requirement.tender_opportunity_id == tender.id,
            Requirement.status == RequirementStatus.ACTIVE,
        )
    )
    briefings = await read.all(
        select(Briefing).where(
            Briefing.tender_opportunity_id == tender.id,
            Briefing.status == BriefingStatus.SCHEDULED,
            Briefing.compulsory,
        )
    )
    text = f"{tender.title} {tender.description or ''}"
    return TenderFeatures(
        codes=await _codes(read, tender),
        words=frozenset((await lexemes(read, [text]))[text]),
        provinces=frozenset(tender.provinces),
        municipality=tender.municipality_code,
        cidb=_gradings(requirements) or _hinted(text),
        value_minor=tender.value_minor if tender.value_currency == "ZAR" else None,
        closes_at=tender.closing_at,
        is_open=tender.status in TAKES_BIDS and not _is_over(tender, read),
        buyer_type=_BUYER_TYPES.get(tender.buyer_sphere or ""),
        method=tender.method,
        briefings=tuple(BriefingAsked(one.id, one.starts_at) for one in briefings),
        mandatory_codes=frozenset(
            one.code
            for one in requirements
            if one.requirement_class == "mandatory"
            and one.criterion_kind == "document"
            and one.code is not None
        ),
    )


async def own_attendance(read: Reader, tender_id: UUID) -> dict[UUID, str]:
    """What this organization recorded of each briefing, for the date on which it is held now."""
    held = Briefing.__table__
    statement = (
        select(Attendance)
        .join(held, held.c.id == Attendance.briefing_id)
        .where(
            Attendance.tender_opportunity_id == tender_id,
            Attendance.starts_at == held.c.starts_at,
        )
    )
    rows = await read.all(statement)
    return {row.briefing_id: row.state.value for row in rows}


async def lexemes(read: Reader, texts: list[str]) -> dict[str, tuple[str, ...]]:
    """The words of texts as search knows them."""
    if not texts:
        return {}
    given = func.unnest(literal(texts, pg.ARRAY(sa.Text))).column_valued("given")
    words = func.tsvector_to_array(func.to_tsvector(_WORDS, given))
    found = await read.records(select(given.label("given"), words.label("words")))
    return {record["given"]: tuple(record["words"]) for record in found}


def _is_over(tender: TenderOpportunity, read: Reader) -> bool:
    return tender.closes_at is not None and tender.closes_at <= read.now


async def _codes(read: Reader, tender: TenderOpportunity) -> tuple[str, ...]:
    stated = [one["code"] for one in tender.classifications if one["scheme"].lower() == "unspsc"]
    if stated or tender.category_text is None:
        return tuple(stated)
    mapped = await read.all(select(CategoryMap).where(CategoryMap.text == tender.category_text))
    return tuple(code for one in mapped for code in one.unspsc)


def _gradings(requirements: list[Requirement]) -> tuple[CidbAsked, ...]:
    return tuple(
        CidbAsked(
            works=str(one.criterion["class"]),
            grade=int(one.criterion["minGrade"]),
            emerging_allowed=bool(one.criterion.get("peAllowed")),
        )
        for one in requirements
        if one.criterion_kind == "cidb_grade"
    )


def _hinted(text: str) -> tuple[CidbAsked, ...]:
    found = _GRADING.search(text)
    if found is None:
        return ()
    return (CidbAsked(found[2], int(found[1]), emerging_allowed=bool(found[3]), sure=False),)
