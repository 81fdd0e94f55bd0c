"""Values of facts: brought to one form, compared, hashed, sealed and shown.

`normal` checks what depends on other facts; `canonical` says when two values are the same (ORG-4).
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import rfc8785

from thenga.domains.organization.services import records, reference_data
from thenga.domains.organization.services.reference_data import FACTS, Checked
from thenga.kernel.errors import RuleViolated
from thenga.kernel.process.host import Host

_NAMES = ("legalName", "tradingName")
TAX_NUMBERS = ("incomeTaxNumber", "payeNumber", "uifNumber", "sdlNumber")
_EMPLOYER = ("payeNumber", "uifNumber", "sdlNumber")
# (Pty) Ltd, Pty Ltd, Pty. Limited and Proprietary Limited are one and the same ending.
_PRIVATE = re.compile(r"\(?\b(?:pty|proprietary)\b\)?\.?\s*\(?\b(?:ltd|limited)\b\)?\.?")


@dataclass(frozen=True)
class Normal:
    """A value that may be stored, and what is odd about it."""

    value: Any
    warnings: tuple[str, ...] = ()
    basis: str | None = None


def normal(
    given: Mapping[str, Any], *, known: Mapping[str, Any], today: date, vat_luhn: bool
) -> dict[str, Normal]:
    """The values given in the form that is stored; `known` are the other facts that count."""
    both = {**known, **given}
    made = {
        key: _one(key, value, legal_form=both.get("legalForm"), today=today, vat_luhn=vat_luhn)
        for key, value in given.items()
    }
    if "legalForm" in given and "registrationNumber" not in given and both.get(_NUMBER) is not None:
        # A new form must fit the number that stands.
        reference_data.cipc(both[_NUMBER], legal_form=given["legalForm"], today=today)
    if any(key in given for key in _EMPLOYER):
        now = {key: both[key] for key in _EMPLOYER if both.get(key) is not None}
        now |= {key: made[key].value for key in _EMPLOYER if key in made}
        reference_data.employer_numbers_agree(now)
    return made


_NUMBER = "registrationNumber"


def _one(key: str, value: Any, *, legal_form: str | None, today: date, vat_luhn: bool) -> Normal:
    if key == "registrationDate" and date.fromisoformat(value) > today:
        raise RuleViolated("The registration date is in the future.", rule="ORG-9")
    checked = _checked(key, value, legal_form, today, vat_luhn)
    made = Normal(value) if checked is None else Normal(checked.value, checked.warnings)
    if legal_form is not None and legal_form not in FACTS[key].legal_forms:
        made = replace(made, warnings=(*made.warnings, "not_usual_for_legal_form"))
    return made


def _checked(
    key: str, value: Any, legal_form: str | None, today: date, vat_luhn: bool
) -> Checked | None:
    match key:
        case "registrationNumber":
            return reference_data.cipc(value, legal_form=legal_form, today=today)
        case "vatNumber":
            return reference_data.vat(value, luhn_warns=vat_luhn)
        case "csdNumber":
            return reference_data.csd(value)
        case "incomeTaxNumber":
            return reference_data.income_tax(value)
        case "payeNumber":
            return reference_data.paye(value)
        case "uifNumber":
            return reference_data.uif(value)
        case "sdlNumber":
            return reference_data.sdl(value)
        case "lei":
            return reference_data.lei(value)
    return None


def canonical(key: str, value: Any) -> Any:
    """What is compared: two values of equal canonical form are one and the same (ORG-4)."""
    if isinstance(value, str) and FACTS[key].value_type == "percent":
        return str(Decimal(value).quantize(Decimal("0.01")))
    if isinstance(value, str):
        return _folded(key, value)
    if isinstance(value, list):
        return sorted(_folded(key, one) for one in value)
    if key == "annualTurnover":
        minor = int(Decimal(value["amount"]) * 100)
        return {**value, "amount": minor}
    if isinstance(value, dict):
        return {name: _folded(key, one) for name, one in value.items()}
    return value


def _folded(key: str, text: str) -> str:
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return _PRIVATE.sub("pty ltd", folded) if key in _NAMES else folded


def digest(host: Host, organization_id: UUID, key: str, value: Any) -> bytes:
    """The hash of the canonical form; keyed by the organization where the value is not open."""
    form = rfc8785.dumps(canonical(key, value))
    if FACTS[key].sensitivity in ("public", "internal"):
        return hashlib.sha256(f"{key}:".encode() + form).digest()
    # A plain hash of so short a number could be turned back by trying them all.
    return records.blind_index(host, organization_id, f"fact:{key}:{form.decode()}")


def is_sealed(key: str) -> bool:
    return FACTS[key].sensitivity == "secret"


def shown_value(key: str, value: Any) -> Any:
    """The value as every view shows it (ORG-14)."""
    if value is None:
        return None
    if key in TAX_NUMBERS:
        return records.tax_number(value)
    if key == "bankAccount":
        return {**value, "accountNumber": records.account_number(value["accountNumber"])}
    return value


def as_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def from_text(text: str) -> Any:
    return json.loads(text)
