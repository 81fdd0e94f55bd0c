"""Support requests to the operator, and records of what people were shown."""

from enum import StrEnum
from uuid import UUID

from thenga.domains.marketplace.values.displays import DisplayedItem, DisplaySignal
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import BetweenRow, Col, Explained, TenantRow, col
from thenga.kernel.values.references import Reference


class SupportKind(StrEnum):
    """What a support request is about."""

    REPORT_LISTING = "report_listing"
    REPORT_PROVIDER = "report_provider"
    APPEAL_MODERATION = "appeal_moderation"
    QUOTE_PROBLEM = "quote_problem"


class SupportStatus(StrEnum):
    """Status of a support request."""

    OPEN = "open"
    RESOLVED = "resolved"
    CLOSED = "closed"


class SupportOutcome(StrEnum):
    """How a support request was resolved."""

    UPHELD = "upheld"
    REJECTED = "rejected"
    ANSWERED = "answered"


class SupportRequest(
    BetweenRow,
    Explained,
    table="marketplace.support_request",
    kind=Kind.BETWEEN,
    indexes=[("organization_id", "kind", "about_key")],
):
    """What an organization asks the operator; nobody else reads it, not even who is reported.

    `decided_by` is the moderator whose decision is appealed against.
    """

    kind: Col[SupportKind]
    about: Col[Reference]
    about_key: Col[str]
    text: Col[str]
    evidence_refs: Col[list[Reference]]
    opened_by: Col[UUID | None]
    decided_by: Col[UUID | None]
    outcome: Col[SupportOutcome | None]
    answer: Col[str | None]
    status: Col[SupportStatus] = col(default=SupportStatus.OPEN)


class DisplaySurface(StrEnum):
    """Where something was shown."""

    SEARCH = "search"
    MATCH = "match"
    BID = "bid"
    OPPORTUNITY = "opportunity"
    FUNDING = "funding"
    LEARNING = "learning"


class RecommendationDisplay(
    TenantRow, table="marketplace.recommendation_display", kind=Kind.PRIVATE, appends=True
):
    """What a person was shown, in which order and by whose recommendation; it never changes."""

    surface: Col[DisplaySurface]
    items: Col[list[DisplayedItem]]
    signals: Col[list[DisplaySignal]]
    shown_to: Col[UUID | None]
