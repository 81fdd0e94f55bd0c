"""Telling of a tender: everybody of a shared one, its keeper alone of a private one."""

from typing import Any, Literal

from sqlalchemy import select

from thenga.domains.opportunity.public import (
    AmendedPath,
    TenderOpportunityAmended,
    TenderOpportunityAwarded,
    TenderOpportunityClosed,
    TenderOpportunityOpened,
    TenderOpportunityPublished,
    ToldAward,
    ToldDeadline,
)
from thenga.domains.opportunity.services.notices.deadlines import state_of
from thenga.domains.opportunity.tables import Amendment, Deadline, TenderOpportunity
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Event
from thenga.kernel.values.money import Money

_LABEL = 160
_MOST_CHANGES = 50
_WEIGHT = {"critical": 0, "material": 1, "minor": 2}

Reason = Literal["closing_time", "cancelled", "withdrawn", "unsuccessful", "superseded"]


def label_of(tender: TenderOpportunity) -> str:
    """The title as events carry it."""
    return tender.title[:_LABEL]


def tell(work: Work, event: Event, *, shared: bool) -> None:
    """Publish an event of a row below a notice: to everybody where that row is shared."""
    work.publish(event, to_everybody=shared)


async def tell_published(work: Work, tender: TenderOpportunity, *, backfilled: bool) -> None:
    facts = await _current(work, tender)
    event = TenderOpportunityPublished(**facts, backfilled=backfilled)
    tell(work, event, shared=tender.shared)


async def tell_opened(work: Work, tender: TenderOpportunity) -> None:
    facts = await _current(work, tender)
    tell(work, TenderOpportunityOpened(**facts), shared=tender.shared)


async def tell_amended(
    work: Work, tender: TenderOpportunity, amendment: Amendment, *, before: Any, reopened: bool
) -> None:
    """`before` is the closing that held until now."""
    ranked = sorted(amendment.changes, key=lambda one: _WEIGHT[one["level"]])
    changes = [
        AmendedPath(path=one["path"], kind=one["kind"], level=one["level"])
        for one in ranked[:_MOST_CHANGES]
    ]
    event = TenderOpportunityAmended(
        **await _current(work, tender),
        amendment_number=amendment.number,
        material=amendment.material,
        level=amendment.level,  # type: ignore[arg-type]  # the column holds no other
        short_notice=amendment.short_notice,
        origin=amendment.origin,  # type: ignore[arg-type]  # the column holds no other
        changes=changes,
        previous_closing_at=before,
        reopened=reopened,
    )
    tell(work, event, shared=tender.shared)


def tell_closed(work: Work, tender: TenderOpportunity, reason: Reason) -> None:
    event = TenderOpportunityClosed(
        **_facts(tender), reason=reason, superseded_by=tender.superseded_by
    )
    tell(work, event, shared=tender.shared)


def tell_awarded(work: Work, tender: TenderOpportunity) -> None:
    awards = [
        ToldAward(award_id=one["awardId"], date=one.get("date"), value=_money(one.get("value")))
        for one in tender.awards
        if one.get("status") == "active"
    ]
    event = TenderOpportunityAwarded(**_facts(tender), awards=awards)
    tell(work, event, shared=tender.shared)


def _facts(tender: TenderOpportunity) -> dict[str, Any]:
    return {
        "organization_id": None if tender.shared else tender.organization_id,
        "tender_opportunity_id": tender.id,
        "ocid": tender.ocid,
        "visibility": "shared" if tender.shared else "private",
        "status": str(tender.status),
        "label": label_of(tender),
        "tender_number": tender.tender_number,
        "buyer_name": tender.buyer_name,
        "closing_at": tender.closing_at,
        "time_zone": tender.time_zone,
    }


async def _current(read: Reader, tender: TenderOpportunity) -> dict[str, Any]:
    kept = Deadline.organization_id == tender.organization_id
    statement = select(Deadline).where(Deadline.tender_opportunity_id == tender.id, kept)
    deadlines = [
        ToldDeadline(
            deadline_id=one.id,
            kind=one.kind,  # type: ignore[arg-type]  # the column holds no other
            due_at=one.due_at,
            time_zone=one.time_zone,
            state=state_of(one, read.now),
        )
        for one in await read.all(statement.order_by(Deadline.due_at, Deadline.id))
    ]
    return _facts(tender) | {
        "provinces": tender.provinces,
        "requirement_set_version": tender.requirement_set_version,
        "deadlines": deadlines,
    }


def _money(stored: dict[str, str] | None) -> Money | None:
    return None if stored is None else Money.of(stored["amount"], stored["currency"])
