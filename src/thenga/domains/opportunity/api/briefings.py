"""Briefings of a tender, and your attendance."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.opportunity.api.tender_fields import (
    AttendanceBody,
    BriefingView,
    TenderOpportunityId,
)
from thenga.domains.opportunity.permissions import Permission
from thenga.domains.opportunity.services import amendments, tenants
from thenga.domains.opportunity.services.amendments import OpportunityBriefingAfterClosing
from thenga.domains.opportunity.services.notices import OpportunityNotKeeper
from thenga.domains.opportunity.tables import Briefing, TenderOpportunity
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Conflict, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, TimeZoneName, lines, text

router = make_router("Opportunity / Briefings")

BriefingId = Annotated[UUID, Path(alias="briefingId")]
Kind = Annotated[Literal["meeting", "site_visit", "online"], Field(description="Kind.")]


class ScheduleBriefing(Body):
    """A briefing. If you do not manage the tender, only you see it."""

    kind: Kind = "meeting"
    starts_at: Annotated[Instant, Field(description="When it begins.")]
    ends_at: Annotated[Instant | None, Field(description="When it ends.")] = None
    time_zone: Annotated[TimeZoneName, Field(description="Time zone of the dates.")] = (
        "Africa/Johannesburg"
    )
    venue: Annotated[
        Annotated[str, text(1, 500)] | None, Field(description="Where it is held.")
    ] = None
    compulsory: Annotated[bool, Field(description="Whether bidders must attend.")]
    note: Annotated[Annotated[str, lines(1, 1000)] | None, Field(description="Note.")] = None
    attendance: Annotated[AttendanceBody | None, Field(description="Your own attendance.")] = None


class ChangeBriefing(Body):
    """Fields to change, a move, or your attendance. Only its organization can move a briefing."""

    kind: Kind = "meeting"
    starts_at: Annotated[Instant | None, Field(description="When it begins.")] = None
    ends_at: Annotated[Instant | None, Field(description="When it ends.")] = None
    time_zone: Annotated[TimeZoneName, Field(description="Time zone of the dates.")] = (
        "Africa/Johannesburg"
    )
    venue: Annotated[
        Annotated[str, text(1, 500)] | None, Field(description="Where it is held.")
    ] = None
    compulsory: Annotated[bool, Field(description="Whether bidders must attend.")] = False
    note: Annotated[Annotated[str, lines(1, 1000)] | None, Field(description="Note.")] = None
    move: Annotated[Literal["cancel"] | None, Field(description="Move to make.")] = None
    attendance: Annotated[AttendanceBody | None, Field(description="Your own attendance.")] = None


@router.post(
    "/opportunities/{tenderOpportunityId}/briefings",
    status_code=201,
    responses=problems(OpportunityBriefingAfterClosing, RuleViolated, Conflict),
)
async def create_briefing(
    tender_opportunity_id: TenderOpportunityId,
    body: ScheduleBriefing,
    work: Annotated[Work, writes(Permission.BRIEFING_TRACK)],
) -> BriefingView:
    """Add a briefing to a tender, optionally with your attendance."""
    await tenants.act_for_platform(work)
    fields = body.model_dump(exclude={"attendance"})
    briefing = await amendments.schedule(
        work, tender_opportunity_id, fields, _recorded(body.attendance)
    )
    return await _shown(work, briefing)


@router.get("/opportunities/{tenderOpportunityId}/briefings/{briefingId}")
async def get_briefing(
    tender_opportunity_id: TenderOpportunityId,
    briefing_id: BriefingId,
    read: Annotated[Reader, reads(Permission.OPPORTUNITY_READ)],
) -> BriefingView:
    """Retrieve a briefing with your attendance."""
    await tenants.act_for_platform(read)
    briefing = await amendments.get_briefing(read, tender_opportunity_id, briefing_id)
    return await _shown(read, briefing)


@router.patch(
    "/opportunities/{tenderOpportunityId}/briefings/{briefingId}",
    responses=problems(
        OpportunityNotKeeper,
        OpportunityBriefingAfterClosing,
        InvalidTransition,
        Conflict,
    ),
)
async def change_briefing(
    tender_opportunity_id: TenderOpportunityId,
    briefing_id: BriefingId,
    body: ChangeBriefing,
    work: Annotated[Work, writes(Permission.BRIEFING_TRACK)],
) -> BriefingView:
    """Change or cancel a briefing that you manage, or record your attendance at any."""
    await tenants.act_for_platform(work)
    sent = body.changes()
    fields = {name: sent[name] for name in sent if name not in ("move", "attendance")}
    if fields.get("starts_at", 0) is None:
        fields.pop("starts_at")
    briefing = await amendments.change_briefing(
        work,
        tender_opportunity_id,
        briefing_id,
        fields,
        cancel=body.move == "cancel",
        attendance=_recorded(body.attendance),
    )
    return await _shown(work, briefing)


def _recorded(attendance: AttendanceBody | None) -> dict[str, Any] | None:
    return None if attendance is None else attendance.columns()


async def shown_briefings(read: Reader, tender: TenderOpportunity) -> list[BriefingView]:
    """All briefings of a tender, with the caller's attendance."""
    found, attended = await amendments.briefings_of(read, tender.id)
    return [
        BriefingView.of(
            one,
            attended.get(one.id),
            read.now,
            own=one.organization_id != tender.organization_id,
        )
        for one in found
    ]


async def _shown(read: Reader, briefing: Briefing) -> BriefingView:
    tender = await read.get(TenderOpportunity, briefing.tender_opportunity_id)
    shown = await shown_briefings(read, tender)
    return next(one for one in shown if one.id == briefing.id)
