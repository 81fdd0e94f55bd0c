"""Numbers of authorities: good and bad ones, each with its reason."""

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, NamedTuple

import pytest

from thenga.domains.organization.services.reference_data import identifiers as i
from thenga.kernel.errors import Problem

TODAY = date(2026, 7, 1)


class Vector(NamedTuple):
    """A number, and the form, the warnings or the reason of the refusal that it must get."""

    check: Callable[..., Any]
    text: str
    given: dict[str, Any]
    expected: str
    warnings: tuple[str, ...] = ()


def _cipc(text: str, expected: str, *warnings: str, form: str | None = "private_company") -> Vector:
    return Vector(i.cipc, text, {"legal_form": form, "today": TODAY}, expected, warnings)


def _id(text: str, expected: str, *warnings: str, on: date = TODAY) -> Vector:
    return Vector(i.sa_id, text, {"on": on}, expected, warnings)


VECTORS: tuple[Vector, ...] = (
    _cipc("2000/000001/07", "2000/000001/07"),
    _cipc("200000000107", "2000/000001/07"),
    _cipc("K2012/123456/07", "2012/123456/07"),
    _cipc("95/12345/07", "1995/012345/07", "two_digit_year"),
    _cipc("2031/000001/07", "year_in_future"),
    _cipc("1799/000001/07", "year"),
    _cipc("2010/012345/23", "organization-identifier-inconsistent"),
    _cipc("2010/012345/07", "organization-identifier-inconsistent", form="close_corporation"),
    _cipc("2010/012345/23", "2010/012345/23", form="close_corporation"),
    _cipc("2010/012345/08", "2010/012345/08", "suffix_mismatch", form="public_company"),
    _cipc("2010/012345/06", "2010/012345/06", form="public_company"),
    _cipc("2010/012345/99", "2010/012345/99", "unknown_suffix", form="public_company"),
    _cipc("2010/012345/30", "2010/012345/30", form=None),
    _cipc("0000/000000/00", "placeholder"),
    _cipc("not a number", "format"),
    Vector(i.csd, "maaa0123456", {}, "MAAA0123456"),
    Vector(i.csd, "MAAA 0123456", {}, "MAAA0123456"),
    Vector(i.csd, "MAAA012345", {}, "MAAA012345", ("unusual_length",)),
    Vector(i.csd, "MAAA01234567", {}, "MAAA01234567", ("unusual_length",)),
    Vector(i.csd, "RAAA0123456", {}, "csd_registration_in_progress"),
    Vector(i.csd, "R0123456", {}, "csd_registration_in_progress"),
    Vector(i.csd, "MAAA0000000", {}, "placeholder"),
    Vector(i.csd, "MAAA01234", {}, "format"),
    Vector(i.vat, "4220119988", {}, "4220119988"),
    Vector(i.vat, "ZA 4220119988", {}, "4220119988"),
    Vector(i.vat, "4220119987", {}, "4220119987", ("check_digit",)),
    Vector(i.vat, "4220119987", {"luhn_warns": False}, "4220119987"),
    Vector(i.vat, "5220119988", {}, "prefix"),
    Vector(i.vat, "422011998", {}, "length"),
    Vector(i.vat, "4444444444", {}, "placeholder"),
    Vector(i.income_tax, "0001339050", {}, "0001339050"),
    Vector(i.income_tax, "2449494160", {}, "check_digit"),
    Vector(i.income_tax, "2449/494/16/0", {}, "check_digit"),
    Vector(i.income_tax, "4220119988", {}, "looks_like_vat"),
    Vector(i.income_tax, "5220119988", {}, "prefix"),
    Vector(i.income_tax, "0000000000", {}, "placeholder"),
    Vector(i.income_tax, "9999999999", {}, "placeholder"),
    Vector(i.income_tax, "9125568", {}, "length"),
    Vector(i.paye, "7123456789", {}, "7123456789"),
    Vector(i.paye, "0001339050", {}, "0001339050"),
    Vector(i.paye, "8123456789", {}, "prefix"),
    Vector(i.uif, "u123456789", {}, "U123456789"),
    Vector(i.uif, "L123456789", {}, "prefix"),
    Vector(i.sdl, "L123456789", {}, "L123456789"),
    Vector(i.sdl, "L12345678", {}, "length"),
    _id("8001015009087", "8001015009087"),
    _id("800101 5009 08 7", "8001015009087"),
    _id("8001015009086", "check_digit"),
    _id("8505050000082", "8505050000082"),
    _id("8505054999081", "8505054999081"),
    _id("8505055000087", "8505055000087"),
    _id("0002295001081", "0002295001081"),
    _id("7603011234188", "7603011234188"),
    _id("9902305009084", "date"),
    _id("9202204720082", "check_digit"),
    _id("9202204720083", "9202204720083"),
    _id("9001015009087", "check_digit"),
    _id("9001015009086", "9001015009086"),
    _id("8001015009285", "8001015009285", "refugee"),
    _id("1002285001082", "implausible_age"),
    _id("1002285001082", "1002285001082", on=date(2028, 2, 28)),
    _id("1002285001082", "implausible_age", on=date(2028, 2, 27)),
    _id("0000000000000", "placeholder"),
    _id("80010150090", "length"),
    Vector(i.passport, "a1234567", {"country": "ZW"}, "A1234567"),
    Vector(i.passport, "A123", {"country": "ZW"}, "format"),
    Vector(i.passport, "A1234567", {"country": None}, "country"),
    Vector(i.lei, "213800KUD8LAJWSQ9D15", {}, "213800KUD8LAJWSQ9D15"),
    Vector(i.lei, "213800KUD8LAJWSQ9D14", {}, "check_digit"),
)


def failures(vectors: Sequence[Vector]) -> list[str]:
    """The vectors that get another answer than they must."""
    found = []
    for one in vectors:
        answer, warnings = _answer(one)
        if (answer, warnings) != (one.expected, one.warnings):
            found.append(f"{one.check.__name__}({one.text!r}): {answer} {warnings}")
    return found


def _answer(one: Vector) -> tuple[str, tuple[str, ...]]:
    try:
        checked = one.check(one.text, **one.given)
    except Problem as problem:
        return problem.facts.get("reason", problem.code), ()
    return checked.value, checked.warnings


@pytest.mark.rule("ORG-9")
@pytest.mark.rule("ORG-10")
@pytest.mark.rule("ORG-11")
@pytest.mark.rule("ORG-12")
def test_every_vector_gets_its_form_its_warning_or_its_reason():
    failed = failures(VECTORS)

    print(f"\nidentifier_vectors={len(VECTORS)} failed={len(failed)}")
    assert failed == []


def test_a_check_that_lets_a_wrong_digit_pass_would_be_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(i.luhn, "is_valid", lambda number: True)

    failed = failures(VECTORS)

    assert {text.split("'")[1] for text in failed} >= {"8001015009086", "4220119987"}


@pytest.mark.rule("ORG-11")
def test_the_numbers_of_one_employer_end_alike():
    i.employer_numbers_agree({"payeNumber": "7123456789", "uifNumber": "U123456789"})
    # A tax reference as PAYE number has digits of its own.
    i.employer_numbers_agree({"payeNumber": "0001339050", "uifNumber": "U123456789"})

    with pytest.raises(i.IdentifierInconsistent) as refused:
        i.employer_numbers_agree({"payeNumber": "7123456789", "uifNumber": "U123456780"})

    pointers = [error["pointer"] for error in refused.value.facts["errors"]]
    assert pointers == ["/payeNumber", "/uifNumber"]


@pytest.mark.rule("ORG-12")
def test_identity_number_gives_birthday_and_gender():
    found = i.sa_id("0002295001081", on=TODAY)
    woman = i.sa_id("8505054999081", on=TODAY)

    assert (found.born, found.gender) == (date(2000, 2, 29), "M")
    assert (woman.born, woman.gender) == (date(1985, 5, 5), "F")
    # The same digits, a lifetime earlier: then only the century before makes an adult.
    assert i.sa_id("2601015009080", on=date(2026, 7, 1)).born.year == 1926
