"""Reviews: audit reviews, findings and governance decisions."""

from thenga.domains.administration.public.reviews import Severity
from thenga.domains.administration.services.reviews.decisions import (
    AlreadySuperseded,
    content_hash,
    list_decisions,
    record_decision,
)
from thenga.domains.administration.services.reviews.due_dates import due_on
from thenga.domains.administration.services.reviews.findings import (
    findings_of,
    record_finding,
    verify_finding,
)
from thenga.domains.administration.services.reviews.reviews import (
    FindingsOpen,
    close_review,
    is_overdue,
    list_reviews,
    open_review,
    submit_review,
)

__all__ = [
    "AlreadySuperseded",
    "FindingsOpen",
    "Severity",
    "close_review",
    "content_hash",
    "due_on",
    "findings_of",
    "is_overdue",
    "list_decisions",
    "list_reviews",
    "open_review",
    "record_decision",
    "record_finding",
    "submit_review",
    "verify_finding",
]
