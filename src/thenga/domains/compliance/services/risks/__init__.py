"""Risks: raised and closed by rules, treated and accepted by people (CMP-33 to CMP-35)."""

from thenga.domains.compliance.services.risks.refreshing import add_suggested, refresh
from thenga.domains.compliance.services.risks.risks import (
    RiskFilters,
    RiskMove,
    change_risk,
    clear_owner,
    hidden_documents,
    lapse,
    list_risks,
)
from thenga.domains.compliance.services.risks.rules import Level, plain_title, score_of

__all__ = [
    "Level",
    "RiskFilters",
    "RiskMove",
    "add_suggested",
    "change_risk",
    "clear_owner",
    "hidden_documents",
    "lapse",
    "list_risks",
    "plain_title",
    "refresh",
    "score_of",
]
