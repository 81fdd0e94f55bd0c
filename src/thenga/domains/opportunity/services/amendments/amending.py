"""One set of changes of a published tender: one version, one number, one event (OPP-44, OPP-45)."""

from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from thenga.domains.opportunity.services import notices
from thenga.domains.opportunity.services.amendments.comparing import (
    MINOR,
    Change,
    compare,
    level_of,
    moves_match,
)
from thenga.domains.opportunity.settings import MATERIALITY, SHORT_NOTICE_DAYS
from thenga.domains.opportunity.tables import (
    Amendment,
    TenderOpportunity,
    TenderStatus,
    TenderVersion,
)
from thenga.kernel.db import configuration
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
    known = await notices.version_of(work, tender)
    if tender.status is TenderStatus.DRAFT or known is None:
        await notices.set_times(work, tender)
        await _save_unamended(work, tender)
        return None
    after = await notices.document_of(work, tender)
    changes = compare(known.document, after, await configuration.value(work, MATERIALITY))
    if not changes:
        await _save_unamended(work, tender)
        return None
    reopened = await _raise_numbers(work, tender, changes, origin)
    await notices.add_version(
        work,
        tender,
        after,
        source_record_id=source_record_id,
        normaliser_version=normaliser_version,
    )
    amendment = await _amendment_of(work, tender, known, changes, origin)
    amendment.buyer_reference, amendment.note = buyer_reference, note
    await work.add(amendment)
    await notices.index(work, tender)
    before = _instant(known.document.get("closingAt"))
    await notices.tell_amended(work, tender, amendment, before=before, reopened=reopened)
    return amendment


async def _save_unamended(work: Work, tender: TenderOpportunity) -> None:
    await work.save(tender)
    await notices.index(work, tender)


async def _raise_numbers(
    work: Work, tender: TenderOpportunity, changes: list[Change], origin: Origin
) -> bool:
    """Raise the numbers of a tender and set its times; whether it is open again."""
    tender.amendment_number += 1
    tender.version_number += 1
    tender.material_revision += level_of(changes) != MINOR
    tender.match_revision += moves_match(changes)
    await notices.set_times(work, tender)
    reopened = _reopen(tender, work.now)
    await work.save(tender)
    basis = "source" if origin == "source_diff" else "captured"
    await notices.refresh_deadlines(work, tender, basis=basis)
    return reopened


async def _amendment_of(
    work: Work,
    tender: TenderOpportunity,
    known: TenderVersion,
    changes: list[Change],
    origin: Origin,
) -> Amendment:
    level = level_of(changes)
    return Amendment(
        organization_id=tender.organization_id,
        shared=tender.shared,
        tender_opportunity_id=tender.id,
        number=tender.amendment_number,
        from_version=known.number,
        to_version=tender.version_number,
        origin=origin,
        changes=[one.to_row() for one in changes],
        level=level,
        material=level != MINOR,
        short_notice=level != MINOR and await _is_short(work, tender),
        detected_at=work.now,
    )


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
