"""The status of a tender by what its source says and by the time (OPP-12, OPP-13)."""

from datetime import datetime, timedelta

from thenga.domains.opportunity.values.notices import Notice

STATUSES = frozenset(
    {"planning", "planned", "active", "cancelled", "unsuccessful", "complete", "withdrawn"}
)
_DAY = timedelta(days=1)


def closes_at(closing_at: datetime, precision: str) -> datetime:
    """The moment from which a tender is closed: a day without a time ends at its midnight."""
    return closing_at + _DAY if precision == "day" else closing_at


def status_of(notice: Notice, now: datetime) -> str:
    """The status that a source's word means at this moment."""
    match notice.source_status:
        case "planning" | "planned":
            return "planned"
        case "cancelled" | "withdrawn" | "unsuccessful":
            return notice.source_status
        case "complete":
            return "awarded" if has_award(notice) else "closed"
    return "closed" if is_over(notice, now) else "open"


def is_over(notice: Notice, now: datetime) -> bool:
    """Whether the closing of a notice has passed."""
    if notice.closing_at is None:
        return False
    return now >= closes_at(notice.closing_at, notice.closing_precision)


def has_award(notice: Notice) -> bool:
    """Whether a source names an award in force."""
    return any(award.status == "active" for award in notice.awards)
