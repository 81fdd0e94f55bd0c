"""Numbers that are printed on documents, in the form in which the offices write them.

Pure checks of values; whether a number belongs to the company is Organization's question.
"""

import re
from datetime import date

from thenga.kernel.errors import RuleViolated

VAT_PATTERN = "^(?:ZA ?)?4[0-9]{9}$"
REGISTRATION_PATTERN = "^K?(?:19|20)[0-9]{2}/?[0-9]{6}/?[0-9]{2}$"
_REGISTRATION = re.compile(r"(K?)(\d{4})/?(\d{6})/?(\d{2})")


def vat_number(given: str) -> str:
    """Ten digits that begin with 4; the country in front is left out."""
    return given.removeprefix("ZA").strip()


def registration_number(given: str, today: date) -> str:
    """As CIPC writes it: year, number and kind of company, with strokes between them."""
    found = _REGISTRATION.fullmatch(given)
    if found is None or int(found[2]) > today.year:
        raise RuleViolated(
            "Enter the registration number as CIPC writes it, for example 2019/123456/07. Its year "
            "cannot be in the future.",
            rule="registration-year",
        )
    prefix, year, number, kind = found.groups()
    return f"{prefix}{year}/{number}/{kind}"
