"""Readiness: what a company can prove on a day, by one pure function (CMP-27 to CMP-32)."""

from thenga.domains.compliance.services.readiness.answers import (
    DateOutOfRange,
    ReadinessAnswer,
    ReadinessQuestion,
    answer,
    answer_tenders,
    assessed_on,
)
from thenga.domains.compliance.services.readiness.assessing import assess
from thenga.domains.compliance.services.readiness.computing import Computed, recompute
from thenga.domains.compliance.services.readiness.hiding import hidden_evidence, shown
from thenga.domains.compliance.services.readiness.needs import needs_on
from thenga.domains.compliance.services.readiness.reading import (
    Company,
    LinkedProof,
    read_company,
)
from thenga.domains.compliance.services.readiness.scoring import evaluate
from thenga.domains.compliance.services.readiness.tender_dates import (
    evaluate_tender,
    tender_dates,
    validity_end,
)
from thenga.domains.compliance.services.readiness.values import (
    Assessed,
    Assurance,
    Gate,
    Outcome,
    State,
    Verdict,
)

__all__ = [
    "Assessed",
    "Assurance",
    "Company",
    "Computed",
    "DateOutOfRange",
    "Gate",
    "LinkedProof",
    "Outcome",
    "ReadinessAnswer",
    "ReadinessQuestion",
    "State",
    "Verdict",
    "answer",
    "answer_tenders",
    "assess",
    "assessed_on",
    "evaluate",
    "evaluate_tender",
    "hidden_evidence",
    "needs_on",
    "read_company",
    "recompute",
    "shown",
    "tender_dates",
    "validity_end",
]
