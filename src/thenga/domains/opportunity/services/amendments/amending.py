"""One set of changes of a published tender: one version, one number, one event (OPP-44, OPP-45)."""

from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from thenga.domains.opportunity.services.amendments.comparing import (
    MINOR,
    compare,
    level_of,
    moves_match,
)
from thenga.domains.opportunity.services.notices import deadlines, documenting, indexing, telling
from thenga.domains.opportunity.services.notices.clock import set_times
from thenga.domains.opportunity.settings import MATERIALITY, SHORT_NOTICE_DAYS
from thenga.domains.opportunity.tables import Amendment, TenderOpportunity, TenderStatus
from thenga.kernel import configuration
from thenga.kernel.db.work import Work

Origin = Literal["source_diff", "buyer", "correction"]


async def amend(
    work: Work,
    tender: TenderOpportunity,
    *,
    origin: Origin,
    buyer_reference: str | None = None,
    note: str | None = None,
    source_record_id: UUID | None = None,
    normaliser_version: int | None = None,
) -> Amendment | None:
    """Record what changed in a tender that this work holds, with all that its keeper changed below.

    Set the fields of the tender and save what lies below it first. Without a difference nothing
    is recorded; the tender is saved in any case, and found by search as it stands.
    """
    known = await documenting.version_of(work, tender)
    if tender.status is TenderStatus.DRAFT or known is None:
        await set_times(work, tender)
        await work.save(tender)
        await indexing.index(work, tender)
        return None
    after = await documenting.document_of(work, tender)
    changes = compare(known.document, after, await configuration.value(work, MATERIALITY))
    if not changes:
        await work.save(tender)
        await indexing.index(work, tender)
        return None
    before = _instant(known.document.get("closingAt"))
    level = level_of(changes)
    tender.amendment_number += 1
    tender.version_number += 1
    tender.material_revision += level != MINOR
    tender.match_revision += moves_match(changes)
    await set_times(work, tender)
    reopened = _reopen(tender, work.now)
    await work.save(tender)
    await deadlines.follow(work, tender, basis="source" if origin == "source_diff" else "captured")
    await documenting.add_version(
        work,
        tender,
        after,
        source_record_id=source_record_id,
        normaliser_version=normaliser_version,
    )
    amendment = await work.add(
        Amendment(
            organization_id=tender.organization_id,
            shared=tender.shared,
            tender_opportunity_id=tender.id,
            number=tender.amendment_number,
            from_version=known.number,
            to_version=tender.version_number,
            origin=origin,
            buyer_reference=buyer_reference,
            note=note,
            changes=[one.to_row() for one in changes],
            level=level,
            material=level != MINOR,
            short_notice=level != MINOR and await _is_short(work, tender),
            detected_at=work.now,
        )
    )
    await indexing.index(work, tender)
    await telling.tell_amended(work, tender, amendment, before=before, reopened=reopened)
    return amendment


def _reopen(tender: TenderOpportunity, now: datetime) -> bool:
    """Open a closed tender again whose closing was moved ahead."""
    closes = tender.closes_at
    if tender.status is not TenderStatus.CLOSED or tender.closing_at is None:
        return False
    if closes is None or closes <= now:
        return False
    tender.status = TenderStatus.OPEN
    tender.next_check_at = closes
    return True


async def _is_short(work: Work, tender: TenderOpportunity) -> bool:
    days = await configuration.value(work, SHORT_NOTICE_DAYS)
    closing = tender.closing_at
    return closing is not None and closing - work.now < timedelta(days=days)


def _instant(text: Any) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
