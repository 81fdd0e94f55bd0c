"""Money in records: two columns, `x_minor` and `x_currency`, that callers know as one field `x`."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from pydantic.alias_generators import to_camel

from thenga.domains.organization.tables import Record
from thenga.kernel.errors import RuleViolated
from thenga.kernel.values.money import Money

_MINOR, _CURRENCY = "_minor", "_currency"

camel = lru_cache(maxsize=4096)(to_camel)  # columns have few names, and each write names them all


def split_amount(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Fields of a body as columns; an amount below zero is refused."""
    if name not in fields:
        return dict(fields)
    money = fields[name]
    if money is not None and money.minor < 0:
        raise RuleViolated("The amount cannot be negative.", rule="amount", field=camel(name))
    rest = {other: value for other, value in fields.items() if other != name}
    return rest | {
        name + _MINOR: None if money is None else money.minor,
        name + _CURRENCY: None if money is None else money.currency,
    }


def amount_of(row: Record, name: str) -> Money | None:
    """The amount of a row."""
    minor, currency = getattr(row, name + _MINOR), getattr(row, name + _CURRENCY)
    return None if minor is None else Money(minor, currency)


def joined(values: Mapping[str, Any]) -> dict[str, Any]:
    """Columns as fields: the two of an amount become one."""
    found = dict(values)
    for name in [n.removesuffix(_MINOR) for n in values if _is_amount(n, values)]:
        minor, currency = found.pop(name + _MINOR), found.pop(name + _CURRENCY)
        found[name] = None if minor is None else Money(minor, currency)
    return found


def wire_names(columns: Iterable[str]) -> list[str]:
    """The names by which callers know these columns, each once."""
    bare = (name.removesuffix(_MINOR).removesuffix(_CURRENCY) for name in columns)
    return list(dict.fromkeys(map(camel, bare)))


def _is_amount(name: str, values: Mapping[str, Any]) -> bool:
    return name.endswith(_MINOR) and name.removesuffix(_MINOR) + _CURRENCY in values
