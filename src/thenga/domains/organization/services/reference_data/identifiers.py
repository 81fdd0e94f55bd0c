"""Numbers that South African authorities give: read, brought to one form, checked (ORG-9 to 12).

Pure functions: text in, `Checked` out, or a Problem that says what is wrong with the number. The
check digits are python-stdnum's. What the authorities do not publish warns instead of refusing.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import NoReturn

from stdnum import lei as stdnum_lei
from stdnum import luhn
from stdnum.exceptions import InvalidChecksum, InvalidComponent, InvalidLength, ValidationError
from stdnum.util import clean
from stdnum.za import idnr, tin

from thenga.kernel.errors import ERRORS, Problem, extensions

_FIRST_COMPANY_YEAR = 1800
_ADULT, _OLDEST = 18, 110
# The two suffixes that the register documents; the rest are known from practice.
_SURE = {"07": "private_company", "23": "close_corporation"}
_USUAL = {
    "06": "public_company",
    "08": "non_profit_company",
    "10": "external_company",
    "21": "personal_liability_company",
    "24": "co_operative",
    "25": "co_operative",
    "26": "co_operative",
    "30": "state_owned_company",
}
_REASONS = {
    "placeholder": "This looks like a placeholder: all digits are the same.",
    "format": "This number does not have the right format.",
    "length": "This number does not have the right number of digits.",
    "prefix": "This number does not start with the right digits.",
    "check_digit": "The check digit does not match. Check for a typing error.",
    "year_in_future": "The year of registration is in the future.",
    "year": "The year of registration is before 1800.",
    "date": "The date of birth in this number does not exist.",
    "citizenship": "The eleventh digit must be 0, 1 or 2.",
    "implausible_age": "The person would be under 18 or over 110.",
    "country": "Name the country that issued the passport.",
    "csd_registration_in_progress": (
        "This is the number of an incomplete registration. A supplier number starts with MAAA."
    ),
    "looks_like_vat": "This looks like a VAT number. A tax reference starts with 0, 1, 2, 3 or 9.",
}


class IdentifierInvalid(Problem):
    """A registration or tax number fails its check. `reason` says which check.

    Compare it with the certificate or letter and send it exactly as printed there.
    """

    code, status, title = "organization-identifier-invalid", 422, "This number is not valid"
    members = extensions(
        errors=ERRORS,
        reason=(str, "Check that the number fails."),
    )


class IdentifierInconsistent(Problem):
    """Two facts contradict each other.

    Compare the registration number with the legal form, or the numbers of the employer. Correct
    the wrong one, or both in one request.
    """

    code, status, title = (
        "organization-identifier-inconsistent",
        422,
        "These facts contradict each other",
    )
    members = extensions(errors=ERRORS)


@dataclass(frozen=True)
class Checked:
    """A number in the one form in which it is stored, as it was given, and what is odd about it."""

    value: str
    raw: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Identity:
    """A South African identity number and what it tells."""

    value: str
    born: date
    gender: str
    warnings: tuple[str, ...] = ()


def cipc(
    text: str, *, legal_form: str | None, today: date, field: str = "registrationNumber"
) -> Checked:
    """A registration number of the Companies Commission (ORG-9)."""
    bare = clean(text, " ").upper().removeprefix("K")
    _no_placeholder(bare, field)
    warnings: list[str] = []
    short = re.fullmatch(r"(\d{2})/(\d{1,6})/(\d{2})", bare)
    whole = re.fullmatch(r"(\d{4})/?(\d{6})/?(\d{2})", bare)
    if short is not None:
        year, number, suffix = 1900 + int(short[1]), short[2].zfill(6), short[3]
        warnings.append("two_digit_year")
    elif whole is not None:
        year, number, suffix = int(whole[1]), whole[2], whole[3]
    else:
        _refuse("format", field)
    if year > today.year:
        _refuse("year_in_future", field)
    if year < _FIRST_COMPANY_YEAR:
        _refuse("year", field)
    warnings += _suffix_warnings(suffix, legal_form, field)
    return Checked(f"{year:04}/{number}/{suffix}", text, tuple(warnings))


def _suffix_warnings(suffix: str, legal_form: str | None, field: str) -> list[str]:
    if legal_form is None:
        return []
    expected = _SURE.get(suffix)
    if (expected is not None or legal_form in _SURE.values()) and expected != legal_form:
        raise IdentifierInconsistent(
            f"A registration number that ends in {suffix} does not belong to a "
            f"{legal_form.replace('_', ' ')}.",
            errors=[_error(field, "suffix_contradicts_form"), _error("legalForm", "see_number")],
        )
    if suffix not in _SURE and suffix not in _USUAL:
        return ["unknown_suffix"]
    return ["suffix_mismatch"] if _USUAL.get(suffix, legal_form) != legal_form else []


def csd(text: str, *, field: str = "csdNumber") -> Checked:
    """A supplier number of the Central Supplier Database; it proves no vetting (ORG-10)."""
    bare = clean(text, " ").upper()
    if re.match(r"R(AAA|0)", bare):
        _refuse("csd_registration_in_progress", field)
    found = re.fullmatch(r"MAAA([0-9]{6,8})", bare)
    if found is None:
        _refuse("format", field)
    _no_placeholder(found[1], field)
    return Checked(bare, text, () if len(found[1]) == 7 else ("unusual_length",))


def vat(text: str, *, luhn_warns: bool = True, field: str = "vatNumber") -> Checked:
    """A VAT number; no check digit is published, so a wrong one only warns (ORG-11)."""
    bare = clean(text, " -/").upper().removeprefix("ZA")
    _digits(bare, 10, field)
    if bare[0] != "4":
        _refuse("prefix", field)
    odd = luhn_warns and not luhn.is_valid(bare)
    return Checked(bare, text, ("check_digit",) if odd else ())


def income_tax(text: str, *, field: str = "incomeTaxNumber") -> Checked:
    """An income tax reference number (ORG-11)."""
    bare = tin.compact(text)
    _no_placeholder(bare, field)
    try:
        return Checked(tin.validate(bare), text)
    except InvalidComponent:
        _refuse("looks_like_vat" if bare[0] == "4" else "prefix", field)
    except ValidationError as error:
        _refuse(_reason_of(error), field)


def paye(text: str, *, field: str = "payeNumber") -> Checked:
    """A PAYE number: 7 and nine digits, or the tax reference itself (ORG-11)."""
    bare = tin.compact(text)
    _digits(bare, 10, field)
    if bare[0] != "7" and not tin.is_valid(bare):
        _refuse("prefix", field)
    return Checked(bare, text)


def uif(text: str, *, field: str = "uifNumber") -> Checked:
    """A UIF reference of the revenue service: U and nine digits (ORG-11)."""
    return _lettered(text, "U", field)


def sdl(text: str, *, field: str = "sdlNumber") -> Checked:
    """A skills levy number: L and nine digits (ORG-11)."""
    return _lettered(text, "L", field)


def employer_numbers_agree(numbers: dict[str, str]) -> None:
    """UIF, SDL and a PAYE number of its own end in the same nine digits (ORG-11)."""
    known = {
        field: number[-9:]
        for field, number in numbers.items()
        if field in ("uifNumber", "sdlNumber") or (field == "payeNumber" and number[0] == "7")
    }
    if len(set(known.values())) > 1:
        raise IdentifierInconsistent(
            "The last nine digits of the PAYE, UIF and SDL numbers of one employer must "
            "be the same.",
            errors=[_error(field, "nine_digits_differ") for field in sorted(known)],
        )


def sa_id(text: str, *, on: date, field: str = "idNumber") -> Identity:
    """An identity number; the century is the latest that makes an adult of the person (ORG-12)."""
    bare = idnr.compact(text)
    _digits(bare, 13, field)
    births = _births(bare, on)
    if not births:
        _refuse("date", field)
    if bare[10] not in "012":
        _refuse("citizenship", field)
    if not luhn.is_valid(bare):
        _refuse("check_digit", field)
    adults = [born for born in births if _age(born, on) >= _ADULT]
    if not adults or _age(adults[0], on) > _OLDEST:
        _refuse("implausible_age", field)
    # The library knows citizens and residents only; refugees are told by a single source.
    warnings = ("refugee",) if bare[10] == "2" else ()
    return Identity(bare, adults[0], idnr.get_gender(bare), warnings)


def passport(text: str, *, country: str | None, field: str = "idNumber") -> Checked:
    """A passport number, which means something only with its country (ORG-12)."""
    bare = clean(text, " ").upper()
    if re.fullmatch(r"[A-Z0-9]{5,20}", bare) is None:
        _refuse("format", field)
    _no_placeholder(bare, field)
    if country is None:
        _refuse("country", field)
    return Checked(bare, text)


def lei(text: str, *, field: str = "lei") -> Checked:
    """A legal entity identifier of ISO 17442."""
    bare = stdnum_lei.compact(text)
    try:
        return Checked(stdnum_lei.validate(bare), text)
    except ValidationError as error:
        _refuse(_reason_of(error), field)


def _births(number: str, on: date) -> list[date]:
    """The days of birth that six digits can mean, the latest first; few exist in one century."""
    found = []
    for century in (on.year // 100, on.year // 100 - 1, on.year // 100 - 2):
        try:
            year = century * 100 + int(number[:2])
            found.append(date(year, int(number[2:4]), int(number[4:6])))
        except ValueError:
            continue
    return found


def _age(born: date, on: date) -> int:
    return on.year - born.year - ((on.month, on.day) < (born.month, born.day))


def _lettered(text: str, letter: str, field: str) -> Checked:
    bare = clean(text, " -/").upper()
    if not bare.startswith(letter):
        _refuse("prefix", field)
    _digits(bare[1:], 9, field)
    return Checked(bare, text)


def _digits(bare: str, length: int, field: str) -> None:
    _no_placeholder(bare, field)
    if re.fullmatch("[0-9]*", bare) is None:
        _refuse("format", field)
    if len(bare) != length:
        _refuse("length", field)


def _no_placeholder(bare: str, field: str) -> None:
    # First of all: 0000000000 and 9999999999 pass the library's own check.
    digits = re.sub("[^0-9]", "", bare)
    if len(digits) > 1 and len(set(digits)) == 1:
        _refuse("placeholder", field)


def _reason_of(error: ValidationError) -> str:
    if isinstance(error, InvalidChecksum):
        return "check_digit"
    return "length" if isinstance(error, InvalidLength) else "format"


def _refuse(reason: str, field: str) -> NoReturn:
    raise IdentifierInvalid(_REASONS[reason], reason=reason, errors=[_error(field, reason)])


def _error(field: str, reason: str) -> dict[str, str]:
    detail = _REASONS.get(reason, "Check both values.")
    return {"pointer": f"/{field}", "code": reason, "detail": detail}
