"""How each requirement stands on a day, and the South African summary."""

from thenga.domains.compliance.services.summaries.assessments import (
    Assessments,
    Summary,
    assess_all,
    assurance_name,
    summary_of,
)
from thenga.domains.compliance.services.summaries.za_context import (
    ITEMS,
    ZaContext,
    ZaItem,
    describe,
)

__all__ = [
    "ITEMS",
    "Assessments",
    "Summary",
    "ZaContext",
    "ZaItem",
    "assess_all",
    "assurance_name",
    "describe",
    "summary_of",
]
