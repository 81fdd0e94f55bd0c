"""The tender of a workspace: asked of Opportunity, kept by reference with its terms (BID-2, 3)."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from thenga.domains.bid.tables import TenderRef, Workspace
from thenga.domains.opportunity.public import Tender, Tenders
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import DependencyUnavailable, Problem
from thenga.kernel.ports.binding import Unbound, within
from thenga.kernel.values.calendar import local_day, local_midnight

TenderState = Literal["live", "stale", "unavailable"]
_TERMS = {
    "buyer",
    "preference",
    "functionality",
    "submission",
    "forms",
    "briefings",
    "deadlines",
    "documents",
}


class BidTenderUnknown(Problem):
    """This tender does not exist, or your organization cannot see it."""

    code, status, title = "bid-tender-unknown", 422, "Unknown tender"


class BidTenderNotOpen(Problem):
    """A bid can be started only while the tender is open and its closing is in the future."""

    code, status, title = "bid-tender-not-open", 409, "This tender is not open"


async def ask_tender(read: Reader, tender_id: UUID) -> Tender | None:
    """The tender as Opportunity describes it now; silence is 503."""
    try:
        port = read.port(Tenders)
    except Unbound:
        raise DependencyUnavailable(dependency=Tenders.port_name) from None
    asked = port.describe(organization_id=read.organization_id, tender_ids=[tender_id])
    return next(iter(await within(port.port_timeout, port.port_name, asked)), None)


async def tender_of(read: Reader, workspace: Workspace) -> Tender | None:
    """The tender of a workspace, or nothing where Opportunity is silent or there is none."""
    if workspace.tender_opportunity_id is None:
        return None
    try:
        return await ask_tender(read, workspace.tender_opportunity_id)
    except DependencyUnavailable:
        return None


async def stored_tender(read: Reader, workspace: Workspace) -> TenderRef | None:
    """What was last read of the tender; nothing for a bid outside of the platform."""
    return await read.find(TenderRef, workspace_id=workspace.id)


def check_open_tender(tender: Tender | None, now: datetime) -> Tender:
    """Refuse what is unknown, not open or closed; at the closing instant it is too late (BID-5)."""
    if tender is None:
        raise BidTenderUnknown()
    gate = gate_of(tender)
    if tender.status != "open" or gate is None or now >= gate:
        raise BidTenderNotOpen()
    return tender


def gate_of(tender: Tender) -> datetime | None:
    """From when on nothing is opened or sealed; a closing known by its day gates at midnight."""
    if tender.closing_at is None or tender.closing_precision != "day":
        return tender.closing_at
    return local_midnight(local_day(tender.closing_at, tender.time_zone), tender.time_zone)


def state_of(stored: TenderRef, tender: Tender | None) -> TenderState:
    """Whether what is stored is what Opportunity says now."""
    if tender is None:
        return "unavailable"
    return "live" if tender.amendment_number == stored.amendment_number else "stale"


async def store_tender(work: Work, workspace: Workspace, tender: Tender) -> TenderRef:
    """Keep the named fields of a tender for a workspace, with the time at which they were read."""
    known = await stored_tender(work, workspace)
    if known is None:
        row = TenderRef(
            organization_id=work.organization_id,
            workspace_id=workspace.id,
            tender_opportunity_id=tender.id,
            **_fields(tender),
            as_of=work.now,
        )
        return await work.add(row)
    held = await work.hold(known)
    for name, value in _fields(tender).items():
        setattr(held, name, value)
    held.as_of = work.now
    return await work.save(held)


def read_terms(tender: Tender) -> dict[str, Any]:
    """The terms of a tender as they are stored."""
    return tender.model_dump(mode="json", include=_TERMS)


def _fields(tender: Tender) -> dict[str, Any]:
    return {
        "number": tender.number,
        "title": tender.title,
        "tender_status": tender.status,
        "amendment_number": tender.amendment_number,
        "requirement_set_version": tender.requirement_set_version,
        "closing_at": tender.closing_at,
        "closing_precision": tender.closing_precision,
        "time_zone": tender.time_zone,
        "validity_days": tender.validity_days,
        "terms": read_terms(tender),
    }
