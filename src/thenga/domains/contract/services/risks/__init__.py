"""Risks of a contract (CON-38)."""

from thenga.domains.contract.services.risks.risks import (
    ContractRiskMove,
    add_risk,
    change_risk,
    list_risks,
    raise_by_rule,
)
from thenga.domains.contract.services.risks.rules import (
    band_of,
    expected_loss,
    score_of,
)

__all__ = [
    "ContractRiskMove",
    "add_risk",
    "band_of",
    "change_risk",
    "expected_loss",
    "list_risks",
    "raise_by_rule",
    "score_of",
]
