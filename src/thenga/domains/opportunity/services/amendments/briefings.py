"""Briefings, and what a company recorded of its attendance (OPP-27)."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.opportunity.lifecycles import BriefingLifecycle
from thenga.domains.opportunity.public import AttendanceRecorded
from thenga.domains.opportunity.services import notices
from thenga.domains.opportunity.services.amendments.amending import amend
from thenga.domains.opportunity.services.amendments.intake import tell_briefing
from thenga.domains.opportunity.services.notices import OpportunityNotKeeper
from thenga.domains.opportunity.tables import (
    Attendance,
    AttendanceState,
    Briefing,
    TenderOpportunity,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Conflict, NotFound, Problem, RuleViolated, extensions

MOST = 20  # a tender


class OpportunityBriefingAfterClosing(Problem):
    """A briefing must start before the tender closes. Send an earlier `startsAt`."""

    code, status = "opportunity-briefing-after-closing", 422
    title = "The briefing starts after the closing date"
    members = extensions(closingAt=(str, "When the tender closes."))


async def briefings_of(
    read: Reader, tender_id: UUID
) -> tuple[list[Briefing], dict[UUID, Attendance]]:
    """Those of the keeper and the caller's own, with the caller's attendance."""
    found = select(Briefing).where(Briefing.tender_opportunity_id == tender_id)
    briefings = await read.all(found.order_by(Briefing.starts_at, Briefing.id))
    recorded: list[Attendance] = []
    if read.has_organization:
        recorded = await read.all(
            select(Attendance).where(Attendance.tender_opportunity_id == tender_id)
        )
    return briefings, {one.briefing_id: one for one in recorded}


async def get_briefing(read: Reader, tender_id: UUID, briefing_id: UUID) -> Briefing:
    """One that the caller sees, of this tender."""
    briefing = await read.get(Briefing, briefing_id)
    if briefing.tender_opportunity_id != tender_id:
        raise NotFound()
    return briefing


async def schedule(
    work: Work, tender_id: UUID, fields: dict[str, Any], attendance: dict[str, Any] | None
) -> Briefing:
    """Add a briefing: to the tender where the caller keeps it, else to the caller's own notes."""
    tender = await _held(work, tender_id)
    is_keeper = tender.organization_id == work.organization_id
    known, _ = await briefings_of(work, tender_id)
    if len(known) >= MOST:
        raise RuleViolated(
            f"A tender can have at most {MOST} briefings.", rule="OPP-27", limit=MOST
        )
    briefing = Briefing(
        organization_id=work.organization_id,
        shared=tender.shared and is_keeper,
        tender_opportunity_id=tender.id,
        moved_from=[],
        doubts=[],
        **fields,
    )
    _check_time(tender, briefing)
    await work.add(briefing)
    tell_briefing(work, tender, briefing, before=None)
    if is_keeper:
        await amend(work, tender, origin="buyer")
    if attendance is not None:
        await record_attendance(work, tender, briefing, attendance)
    return briefing


async def change_briefing(
    work: Work,
    tender_id: UUID,
    briefing_id: UUID,
    fields: dict[str, Any],
    *,
    cancel: bool = False,
    attendance: dict[str, Any] | None = None,
) -> Briefing:
    """Move or cancel a briefing that the caller keeps; record the caller's attendance at any."""
    briefing = await get_briefing(work, tender_id, briefing_id)
    if fields or cancel:
        if briefing.organization_id != work.organization_id:
            raise OpportunityNotKeeper()
        tender = await _held(work, tender_id)
        held = await work.lock(Briefing, briefing_id)
        before = held.starts_at
        merge_patch(held, fields)
        if cancel:
            BriefingLifecycle.cancel(held, at=work.now)
        if held.starts_at != before:
            held.moved_from = [*held.moved_from, before.isoformat()]
        _check_time(tender, held)
        if work.changes(held):
            await work.save(held)
            moved = before if held.starts_at != before else None
            tell_briefing(work, tender, held, before=moved)
            if tender.organization_id == work.organization_id:
                await amend(work, tender, origin="buyer")
        briefing = held
    if attendance is not None:
        tender = await work.get(TenderOpportunity, tender_id)
        await record_attendance(work, tender, briefing, attendance)
    return briefing


async def record_attendance(
    work: Work, tender: TenderOpportunity, briefing: Briefing, fields: dict[str, Any]
) -> Attendance:
    """What a person of the company says; changeable until the closing."""
    if not notices.is_live(tender, work.now) and tender.version_number:
        raise Conflict("Attendance can be recorded until the tender closes.")
    made = {"proof_refs": [], "history": []} | fields
    made |= {
        "starts_at": briefing.starts_at,
        "recorded_by": work.actor.id,
        "recorded_at": work.now,
    }
    known = await work.find(Attendance, briefing_id=briefing.id)
    if known is None:
        attendance = await work.add(
            Attendance(
                organization_id=work.organization_id,
                tender_opportunity_id=tender.id,
                briefing_id=briefing.id,
                **made,
            )
        )
    else:
        attendance = await work.hold(known)
        if attendance.starts_at != briefing.starts_at:
            attendance.history = [*attendance.history, _entry(attendance)]
        made.pop("history")
        merge_patch(attendance, made)
        await work.save(attendance)
    _publish_attendance(work, briefing, attendance)
    return attendance


def _publish_attendance(work: Work, briefing: Briefing, attendance: Attendance) -> None:
    work.publish(
        AttendanceRecorded(
            organization_id=attendance.organization_id,
            attendance_id=attendance.id,
            briefing_id=briefing.id,
            tender_opportunity_id=attendance.tender_opportunity_id,
            starts_at=briefing.starts_at,
            compulsory=briefing.compulsory,
            state=attendance.state.value,
        )
    )


def _entry(attendance: Attendance) -> dict[str, Any]:
    return {
        "startsAt": attendance.starts_at.isoformat(),
        "state": str(AttendanceState(attendance.state)),
        "recordedAt": attendance.recorded_at.isoformat(),
    }


async def _held(work: Work, tender_id: UUID) -> TenderOpportunity:
    seen = await work.get(TenderOpportunity, tender_id)
    if seen.organization_id != work.organization_id:
        return seen
    return await work.lock(TenderOpportunity, tender_id, beside=True)


def _check_time(tender: TenderOpportunity, briefing: Briefing) -> None:
    closes: datetime | None = tender.closes_at
    if tender.closing_at is not None and closes is not None and briefing.starts_at >= closes:
        raise OpportunityBriefingAfterClosing(closingAt=closes.isoformat())
