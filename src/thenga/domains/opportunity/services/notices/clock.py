"""What time makes of a tender: planned, open or closed, by the clock of whoever looks (OPP-12)."""

from datetime import datetime, timedelta

from thenga.domains.opportunity.services.releases import closes_at
from thenga.domains.opportunity.settings import CLOSING_UNKNOWN_DAYS
from thenga.domains.opportunity.tables import TenderOpportunity, TenderStatus
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader

T = TenderStatus


def status_at(tender: TenderOpportunity, now: datetime) -> TenderStatus:
    """The status at a moment, also before a job has written it down."""
    status = tender.status
    opens = tender.opens_at
    if status is T.PLANNED and opens is not None and opens <= now:
        status = T.OPEN
    if status is T.OPEN and tender.closes_at is not None and tender.closes_at <= now:
        return T.CLOSED
    return status


def is_live(tender: TenderOpportunity, now: datetime) -> bool:
    """Whether bids are or will be taken."""
    return status_at(tender, now) in (T.PLANNED, T.OPEN)


async def set_times(read: Reader, tender: TenderOpportunity) -> None:
    """Work out when the tender closes and when it is looked at next.

    A tender without a closing date closes some days after it was published.
    """
    if tender.closing_at is not None:
        tender.closes_at = closes_at(tender.closing_at, tender.closing_precision)
    elif tender.status is T.DRAFT:
        tender.closes_at = None
    else:
        days = await configuration.value(read, CLOSING_UNKNOWN_DAYS)
        tender.closes_at = (tender.published_at or read.now) + timedelta(days=days)
    tender.next_check_at = next_check(tender)


def next_check(tender: TenderOpportunity) -> datetime | None:
    """When time moves the tender next."""
    if tender.status is T.PLANNED:
        return tender.opens_at or tender.closes_at
    return tender.closes_at if tender.status is T.OPEN else None
