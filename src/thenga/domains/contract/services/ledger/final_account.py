"""The final account: what was agreed against what was claimed; a difference is named (CON-42)."""

from collections.abc import Sequence
from dataclasses import dataclass

from thenga.kernel.values.money import Money


@dataclass(frozen=True, slots=True)
class FinalAccount:
    """Both sides of the final account. Closing needs `unclaimed` to be 0."""

    original_value: Money
    variations: Money
    adjustments: Money
    claimed: Money

    @property
    def agreed(self) -> Money:
        return self.original_value + self.variations + self.adjustments

    @property
    def unclaimed(self) -> Money:
        return self.agreed - self.claimed


def balance_account(
    *, original_value: Money, current_value: Money, claimed: Money, adjustments: Sequence[Money]
) -> FinalAccount:
    """The account of a contract whose executed variations led to its current value."""
    nothing = Money(0, original_value.currency)
    return FinalAccount(
        original_value, current_value - original_value, sum(adjustments, nothing), claimed
    )
