"""How sure a state is that was checked some days ago (CMP-40)."""

from decimal import ROUND_HALF_UP, Decimal

BASES = {
    "registry": Decimal("0.95"),
    "independent": Decimal("0.90"),
    "list": Decimal("0.85"),
    "internal": Decimal("0.75"),
    "declared": Decimal("0.50"),
}
_HALF = Decimal("0.5")
_PLACES = Decimal("0.01")


def confidence(kind: str | None, *, age_days: int = 0, recheck_days: int | None) -> Decimal | None:
    """The base of the source, halved for each further recheck period that has begun.

    Nothing known gives None. What is never rechecked keeps its base.
    """
    base = BASES.get(kind or "")
    if base is None:
        return None
    periods = -(-age_days // recheck_days) if recheck_days else 0
    halved = base * _HALF ** max(0, periods - 1)
    return halved.quantize(_PLACES, rounding=ROUND_HALF_UP)
