"""What one company has on a tender, and where the tender comes from."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.opportunity.tables import (
    Attendance,
    Match,
    Qualification,
    Recommendation,
    SavedOpportunity,
    Source,
    SourceRecord,
    TenderOpportunity,
)
from thenga.kernel.db.reader import Reader


@dataclass(frozen=True)
class Mine:
    """The company's own records on a tender, in short."""

    match: dict[str, Any] | None
    saved: dict[str, Any] | None
    qualification: dict[str, Any] | None
    recommendation: dict[str, Any] | None
    attendance: list[dict[str, Any]]


@dataclass(frozen=True)
class Provenance:
    """Where a notice comes from and what was repaired in it (OPP-7, OPP-9)."""

    source_id: UUID | None
    source_name: str | None
    licence: str | None
    attribution: str | None
    last_success_at: datetime | None
    health: str | None
    received_at: datetime | None
    content_hash: str | None
    report: list[dict[str, Any]]


async def mine_of(read: Reader, tender_id: UUID) -> Mine:
    """Everything that the organization has on a tender; nobody else's."""
    match = await read.find(Match, tender_opportunity_id=tender_id)
    saved = await read.find(SavedOpportunity, tender_opportunity_id=tender_id)
    recommendation = await read.find(Recommendation, tender_opportunity_id=tender_id)
    newest = select(Qualification).where(Qualification.tender_opportunity_id == tender_id)
    revisions = await read.all(newest.order_by(Qualification.revision.desc()), limit=1)
    attended = await read.all(
        select(Attendance).where(Attendance.tender_opportunity_id == tender_id)
    )
    return Mine(
        match=_short(match, ("id", "band", "eligible", "failed_gates")),
        saved=_short(saved, ("id", "stage", "priority", "led_by")),
        qualification=_short(revisions[0] if revisions else None, ("id", "revision", "verdict")),
        recommendation=_short(recommendation, ("id", "status", "verdict", "preliminary")),
        attendance=[
            {"briefingId": str(one.briefing_id), "state": str(one.state)} for one in attended
        ],
    )


def _short(row: Any, names: tuple[str, ...]) -> dict[str, Any] | None:
    if row is None:
        return None
    made = {_camel(name): getattr(row, name) for name in names}
    return {name: str(v) if isinstance(v, UUID | str) else v for name, v in made.items()}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


async def provenance_of(read: Reader, tender: TenderOpportunity) -> Provenance:
    """The source of a tender and its newest record."""
    source = record = None
    if tender.primary_source_id is not None:
        source = await read.find(Source, id=tender.primary_source_id)
        records = await read.all(
            select(SourceRecord)
            .where(
                SourceRecord.source_id == tender.primary_source_id,
                SourceRecord.tender_opportunity_id == tender.id,
            )
            .order_by(SourceRecord.received_at.desc()),
            limit=1,
        )
        record = records[0] if records else None
    return Provenance(
        source_id=tender.primary_source_id,
        source_name=source.name if source else None,
        licence=source.licence if source else None,
        attribution=source.attribution if source else None,
        last_success_at=source.last_success_at if source else None,
        health=source.health if source else None,
        received_at=record.received_at if record else None,
        content_hash=record.content_hash if record else None,
        report=record.report if record else [],
    )
