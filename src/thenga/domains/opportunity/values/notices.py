"""A tender notice as it was read from a source, with a report of every repair (OPP-7)."""

from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """What became of a field: repaired, missing, doubtful, or a reason to reject the record."""

    REPAIRED = "repaired"
    MISSING = "missing"
    DOUBTFUL = "doubtful"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a record's report; `field` is a JSON pointer into the record as it was sent."""

    field: str
    code: str
    severity: Severity
    before: str | None = None
    after: str | None = None

    def to_row(self) -> dict[str, Any]:
        """The line as it is stored and shown."""
        return {
            "field": self.field,
            "code": self.code,
            "severity": self.severity.value,
            "from": self.before,
            "to": self.after,
        }


@dataclass(frozen=True, slots=True)
class NoticeBriefing:
    """A briefing session that the notice announces."""

    starts_at: datetime
    compulsory: bool
    venue: str | None = None


@dataclass(frozen=True, slots=True)
class NoticeDocument:
    """A document that the notice links to."""

    source_id: str
    title: str
    url: str
    document_type: str
    published_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class NoticeAward:
    """An award as the source states it; what it leaves out is unknown, not absent."""

    award_id: str
    status: str
    awarded_on: date | None = None
    supplier_name: str | None = None
    amount_minor: int | None = None
    currency: str | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """Everything that one record of a source says of a tender, with its faults repaired."""

    source_key: str
    tender_number: str
    title: str
    buyer_name: str
    source_status: str
    ocid: str | None = None
    description: str | None = None
    buyer_sphere: str = "other"
    buyer_regime: str = "other"
    source_buyer_id: str | None = None
    published_on: date | None = None
    opens_at: datetime | None = None
    closing_at: datetime | None = None
    closing_precision: str = "minute"
    closing_raw: str | None = None
    closing_confidence: str = "unknown"
    time_zone: str = "Africa/Johannesburg"
    method: str | None = None
    method_details: str | None = None
    main_category: str | None = None
    category_text: str | None = None
    classifications: tuple[tuple[str, str], ...] = ()
    amount_minor: int | None = None
    currency: str | None = None
    provinces: tuple[str, ...] = ()
    delivery_text: str | None = None
    special_conditions: str | None = None
    contact_name: str | None = None
    contact_email: str | None = None
    contact_phone: str | None = None
    language: str | None = None
    briefing: NoticeBriefing | None = None
    documents: tuple[NoticeDocument, ...] = ()
    awards: tuple[NoticeAward, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of one record: a notice, or the reason why there is none."""

    source_key: str | None
    content_hash: str | None
    notice: Notice | None
    report: tuple[Finding, ...] = field(default_factory=tuple)

    @property
    def is_rejected(self) -> bool:
        return self.notice is None

    @property
    def is_repaired(self) -> bool:
        return any(line.severity is Severity.REPAIRED for line in self.report)
