"""VAT and registration numbers in their official format.

These functions check the format only. Organization verifies that a number belongs to the company.
"""

import re
from datetime import date

from thenga.kernel.errors import RuleViolated

VAT_PATTERN = "^(?:ZA ?)?4[0-9]{9}$"
REGISTRATION_PATTERN = "^K?(?:19|20)[0-9]{2}/?[0-9]{6}/?[0-9]{2}$"
_REGISTRATION = re.compile(r"(K?)(\d{4})/?(\d{6})/?(\d{2})")


def vat_number(given: str) -> str:
    """Ten digits that start with 4, without the country code."""
    return given.removeprefix("ZA").strip()


def registration_number(given: str, today: date) -> str:
    """The CIPC format: year, number and company type, separated by slashes."""
    found = _REGISTRATION.fullmatch(given)
    if found is None or int(found[2]) > today.year:
        raise RuleViolated(
            "Enter the registration number as CIPC writes it, for example 2019/123456/07. Its year "
            "cannot be in the future.",
            rule="registration-year",
        )
    prefix, year, number, kind = found.groups()
    return f"{prefix}{year}/{number}/{kind}"
