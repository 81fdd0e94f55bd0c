"""Tenders, shared ones of the platform and captures of a company."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from thenga.domains.opportunity.services import amendments, notices
from thenga.domains.opportunity.tables import Briefing, Deadline, TenderOpportunity
from thenga.kernel.access.actors import OPERATOR, SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

CLOSING = datetime.fromisoformat("2198-12-20T09:00:00+00:00")
BRIEFING = datetime.fromisoformat("2198-12-10T09:00:00+00:00")


def working(host: Host, organization_id: UUID = OPERATOR, *, action: str = "factory") -> Work:
    """A unit of work of the platform or of one organization."""
    origin = Origin(action=action, request_id="factory", correlation_id="factory")
    return Work(host, "opportunity", Scope(SYSTEM, organization_id), origin)


def fields(**given: Any) -> dict[str, Any]:
    """The columns of a tender that can be published."""
    return {
        "tender_number": f"SCM {uuid4().hex[:10]}/2026",
        "title": "Construction of a community hall",
        "description": "Building work for the hall.",
        "buyer_name": "Umzimkhulu Municipality",
        "buyer_sphere": "municipal",
        "buyer_regime": "mfma",
        "closing_at": CLOSING,
        "main_category": "works",
        "provinces": ["KZN"],
        "classifications": [{"scheme": "UNSPSC", "code": "72141100"}],
    } | given


async def tender(
    host: Host,
    organization_id: UUID = OPERATOR,
    *,
    publish: bool = True,
    briefing: bool = False,
    **given: Any,
) -> TenderOpportunity:
    """A tender: shared where the platform keeps it, else a capture."""
    visibility = "shared" if organization_id == OPERATOR else "private"
    work = working(host, organization_id)
    made = await notices.create(work, fields(visibility=visibility) | given)
    if briefing:
        await amendments.schedule(
            work, made.id, {"starts_at": BRIEFING, "compulsory": True, "venue": "Hall"}, None
        )
    if publish:
        await notices.publish(work, await notices.keep(work, made.id))
    await work.finish()
    read = working(host, organization_id)
    found = await read.get(TenderOpportunity, made.id)
    await read.close()
    return found


async def briefing(host: Host, organization_id: UUID, tender_id: UUID) -> Briefing:
    """A briefing that the organization keeps."""
    work = working(host, organization_id)
    made = await amendments.schedule(
        work, tender_id, {"starts_at": BRIEFING, "compulsory": False, "venue": "Hall"}, None
    )
    await work.finish()
    return made


async def deadline(host: Host, organization_id: UUID, tender_id: UUID) -> Deadline:
    """A deadline that the organization keeps."""
    work = working(host, organization_id)
    wished = notices.WishedDeadline(
        "own", f"Visit {uuid4().hex[:6]}", BRIEFING, None, "minute", "Africa/Johannesburg", False
    )
    made, _ = await notices.set_deadline(work, await work.get(TenderOpportunity, tender_id), wished)
    await work.finish()
    return made
