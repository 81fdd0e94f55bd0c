"""Usage above what is included: priced once a meter and month, capped where asked (BIL-23)."""

from decimal import Decimal

from thenga.kernel.money import Money

_ONE = 100  # a unit price is in whole units of the currency, money in hundredths


def units(*, used: int, included: int | None, billed: int) -> int:
    """The units still to bill; none where everything is included."""
    return 0 if included is None else max(0, used - included - billed)


def priced(count: int, unit_price: Decimal, currency: str = "ZAR") -> Money:
    """What so many units cost, rounded once."""
    return Money(_ONE, currency).times(count * unit_price)


def waits(amount: Money, *, least: Money, renews: bool) -> bool:
    """Whether it is left for a later invoice: too little to be worth one of its own."""
    return not renews and amount < least


def is_capped(overage: Money, spend_cap: Money | None) -> bool:
    """Whether the ceiling is reached, so that soft limits are hard until the month is over."""
    return spend_cap is not None and overage >= spend_cap
