"""Variations: two signatures over one hash, within the limit of the law, before the end."""

from thenga.domains.contract.services.variations.execution import (
    ContractEnded,
    ValueBelowBilled,
    VariationLimitPassed,
    limit_of,
)
from thenga.domains.contract.services.variations.variations import (
    VariationMove,
    VariationUnbalanced,
    change_variation,
    changes_of,
    create_variation,
    list_variations,
    open_variations,
)

__all__ = [
    "ContractEnded",
    "ValueBelowBilled",
    "VariationLimitPassed",
    "VariationMove",
    "VariationUnbalanced",
    "change_variation",
    "changes_of",
    "create_variation",
    "limit_of",
    "list_variations",
    "open_variations",
]
