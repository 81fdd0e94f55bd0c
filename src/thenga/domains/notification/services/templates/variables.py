"""Variables of a template: what a fact must look like, and how it is shown to a person."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Literal, assert_never
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from babel.dates import format_date, format_time
from babel.numbers import format_currency, format_decimal
from pydantic import BaseModel, ConfigDict

VariableType = Literal["text", "integer", "decimal", "money", "date", "instant", "url", "code"]
NAME = re.compile(r"[a-z][A-Za-z0-9]{0,39}")
MOST_FACTS = 40
MOST_BYTES = 32 * 1024
HIDDEN = "•••"

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_MONEY = re.compile(r"([A-Z]{3}) (-?\d{1,13}\.\d{2})")
_INTEGER = re.compile(r"-?\d{1,18}")


class Variable(BaseModel):
    """One declared variable. A `secret` one is only given by port and never shown in history."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    type: VariableType = "text"
    max_length: int = 200
    required: bool = True
    default: str = ""
    example: str
    secret: bool = False


@dataclass(frozen=True, slots=True)
class FactFault:
    """What is wrong with one fact: where, and in which way."""

    pointer: str
    code: Literal["missing", "unknown", "wrong_type", "too_long", "control_character", "too_many"]


@dataclass(frozen=True, slots=True)
class Locale:
    """In which language and time zone facts are shown."""

    language: str
    zone: ZoneInfo


def check_facts(
    variables: Iterable[Variable], facts: Mapping[str, str], *, hosts: frozenset[str]
) -> list[FactFault]:
    """Every fault of the facts, in the order of the variables (NOT-2)."""
    declared = {one.name: one for one in variables}
    if len(facts) > MOST_FACTS or sum(len(one.encode()) for one in facts.values()) > MOST_BYTES:
        return [FactFault("/facts", "too_many")]
    faults = [
        FactFault(f"/facts/{one.name}", "missing")
        for one in declared.values()
        if one.required and one.name not in facts
    ]
    for name, value in facts.items():
        variable = declared.get(name)
        if variable is None:
            faults.append(FactFault(f"/facts/{name}", "unknown"))
        else:
            faults += _faults(variable, value, hosts)
    return faults


def _faults(variable: Variable, value: str, hosts: frozenset[str]) -> Iterator[FactFault]:
    where = f"/facts/{variable.name}"
    if len(value) > variable.max_length:
        yield FactFault(where, "too_long")
    elif _CONTROL.search(value):
        yield FactFault(where, "control_character")
    elif not _has_type(variable.type, value, hosts):
        yield FactFault(where, "wrong_type")


def _has_type(kind: VariableType, value: str, hosts: frozenset[str]) -> bool:
    try:
        match kind:
            case "text" | "code":
                return True
            case "integer":
                return _INTEGER.fullmatch(value) is not None
            case "decimal":
                return Decimal(value).is_finite()
            case "money":
                return _MONEY.fullmatch(value) is not None
            case "date":
                return bool(date.fromisoformat(value))
            case "instant":
                return datetime.fromisoformat(value).tzinfo is not None
            case "url":
                parts = urlsplit(value)
                return parts.scheme == "https" and parts.netloc in hosts
    except (ValueError, InvalidOperation):
        return False
    assert_never(kind)


def shown(variable: Variable, value: str, locale: Locale) -> str:
    """A checked fact as a person reads it in this language and time zone (NOT-24)."""
    language = locale.language.replace("-", "_")
    match variable.type:
        case "text" | "code" | "url":
            return value
        case "integer" | "decimal":
            return str(format_decimal(Decimal(value), locale=language))
        case "money":
            currency, amount = value.split(" ")
            return str(format_currency(Decimal(amount), currency, locale=language))
        case "date":
            return _day(date.fromisoformat(value), language)
        case "instant":
            local = datetime.fromisoformat(value).astimezone(locale.zone)
            clock = format_time(local, "HH:mm", locale=language)
            return f"{_day(local.date(), language)} {clock} {local.tzname()}"
    assert_never(variable.type)


def _day(day: date, language: str) -> str:
    return str(format_date(day, "d MMMM y", locale=language))
