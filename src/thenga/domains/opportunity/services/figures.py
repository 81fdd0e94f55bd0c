"""Scores and shares as decimals: they are stored as whole tenths and hundredths."""

from decimal import Decimal


def tenths(value: int | None) -> Decimal | None:
    """778 is 77.8."""
    return None if value is None else Decimal(value).scaleb(-1)


def hundredths(value: int) -> Decimal:
    """90 is 0.90."""
    return Decimal(value).scaleb(-2)
