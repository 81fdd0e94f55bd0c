"""Tells that a document expires: one event for each window, and one when it is over (CMP-25)."""

from collections.abc import Sequence
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.compliance import public
from thenga.domains.compliance.settings import EXPIRY_WINDOWS
from thenga.domains.compliance.tables import (
    Document,
    DocumentStatus,
    DocumentVersion,
    Evidence,
    EvidenceLink,
    ExpiryTold,
    Requirement,
)
from thenga.domains.compliance.values import windows
from thenga.domains.compliance.values.windows import EXPIRED, Opened
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import HOME_ZONE, local_day, local_midnight


async def tell_due(work: Work, document_id: UUID) -> list[Opened]:
    """Tell the windows of a document that have opened, and find the day of the next.

    What was told is kept for each version and window, so a repeated run tells nothing again. After
    a jump of the clock each missed window is told in order.
    """
    document = await work.lock(Document, document_id)
    last_day, version = document.valid_until, await _current_version(work, document)
    if version is None or last_day is None or document.status is not DocumentStatus.ACTIVE:
        document.next_check_at = None
        await work.save(document)
        return []
    spans = await configuration.value(work, EXPIRY_WINDOWS)
    today = local_day(work.now, HOME_ZONE)
    opened = windows.newly_opened(
        last_day,
        today,
        known_since=local_day(version.updated_at, HOME_ZONE),
        told=await _told(work, document),
        windows=spans,
    )
    following = windows.next_opening(last_day, today, spans)
    document.next_check_at = None if following is None else local_midnight(following, HOME_ZONE)
    await (work.touch(document) if opened else work.save(document))
    codes = await requirement_codes(work, document.id) if opened else []
    for one in opened:
        await _tell(work, document, one, last_day, codes)
    return opened


async def requirement_codes(read: Reader, document_id: UUID) -> list[str]:
    """Codes of the catalogue that a document serves, over all its versions."""
    statement = (
        select(Requirement.definition_code)
        .join(
            EvidenceLink,
            (EvidenceLink.organization_id == Requirement.organization_id)
            & (EvidenceLink.requirement_id == Requirement.id),
        )
        .join(
            Evidence,
            (Evidence.organization_id == EvidenceLink.organization_id)
            & (Evidence.id == EvidenceLink.evidence_id),
        )
        .where(
            Evidence.organization_id == read.organization_id,
            Evidence.document_id == document_id,
            EvidenceLink.removed_at.is_(None),
        )
        .distinct()
    )
    return sorted(code for code in await read.values(statement) if code is not None)


async def _current_version(work: Work, document: Document) -> DocumentVersion | None:
    return await work.find(
        DocumentVersion, document_id=document.id, number=document.current_version
    )


async def _told(work: Work, document: Document) -> Sequence[int]:
    return await work.values(
        select(ExpiryTold.window).where(
            ExpiryTold.organization_id == document.organization_id,
            ExpiryTold.document_id == document.id,
            ExpiryTold.document_version == document.current_version,
        )
    )


async def _tell(
    work: Work, document: Document, opened: Opened, last_day: date, codes: list[str]
) -> None:
    await work.add(
        ExpiryTold(
            organization_id=document.organization_id,
            document_id=document.id,
            document_version=document.current_version,
            window=opened.window,
            told_at=work.now,
        )
    )
    renewal = None
    if document.renewal_expected_on is not None:
        renewal = public.RenewalInProgress(expected_on=document.renewal_expected_on)
    told: dict[str, Any] = {
        "organization_id": document.organization_id,
        "document_id": document.id,
        "document_version": document.current_version,
        "document_type_code": document.document_type_code,
        "valid_until": last_day,
        "requirement_codes": codes,
        "renewal": renewal,
        "late": opened.is_late,
    }
    if opened.window == EXPIRED:
        work.publish(public.DocumentExpired(**told))
        return
    left = windows.days_left(last_day, local_day(work.now, HOME_ZONE))
    work.publish(public.DocumentExpiring(window=opened.window, days_left=left, **told))
