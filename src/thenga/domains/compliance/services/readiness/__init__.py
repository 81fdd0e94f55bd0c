"""Readiness: what a company can prove on a day, by one pure function (CMP-27 to CMP-32)."""

from thenga.domains.compliance.services.readiness.assessing import assess
from thenga.domains.compliance.services.readiness.confidence import confidence
from thenga.domains.compliance.services.readiness.scoring import evaluate
from thenga.domains.compliance.services.readiness.tender_dates import (
    evaluate_tender,
    tender_dates,
    validity_end,
)

__all__ = [
    "assess",
    "confidence",
    "evaluate",
    "evaluate_tender",
    "tender_dates",
    "validity_end",
]
