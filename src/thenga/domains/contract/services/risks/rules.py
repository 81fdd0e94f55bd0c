"""Score, band and expected loss of a risk: pure (CON-38)."""

from decimal import Decimal

from thenga.domains.contract.tables import RiskBand
from thenga.kernel.values.money import Money

_SHARES = {1: 10, 2: 30, 3: 50, 4: 70, 5: 90}  # per cent of the impact that is expected


SERIOUS = (RiskBand.HIGH, RiskBand.CRITICAL)


def score_of(likelihood: int, impact: int) -> int:
    return likelihood * impact


def band_of(score: int) -> RiskBand:
    """1 to 4 low, 5 to 9 medium, 10 to 14 high, 15 to 25 critical."""
    if score >= 15:
        return RiskBand.CRITICAL
    if score >= 10:
        return RiskBand.HIGH
    return RiskBand.MEDIUM if score >= 5 else RiskBand.LOW


def expected_loss(impact_amount: Money | None, likelihood: int) -> Money | None:
    """The share of the impact that its likelihood means."""
    if impact_amount is None:
        return None
    return impact_amount.times(Decimal(_SHARES[likelihood]) / 100)
