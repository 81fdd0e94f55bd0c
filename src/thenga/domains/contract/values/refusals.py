"""Refusals: a field that breaks a rule, by its JSON pointer, and amounts as problems say them."""

from thenga.kernel.errors import RuleViolated
from thenga.kernel.values.money import Money


def invalid(pointer: str, detail: str, rule: str = "invalid") -> RuleViolated:
    return RuleViolated(detail, rule=rule, field=pointer)


def missing(pointer: str, detail: str) -> RuleViolated:
    return invalid(pointer, detail, "missing")


def told(money: Money) -> dict[str, str]:
    """An amount as a member of a problem."""
    return {"amount": money.amount, "currency": money.currency}
