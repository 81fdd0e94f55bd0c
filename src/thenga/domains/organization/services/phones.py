"""Telephone numbers in the one form in which they are stored and dialled from anywhere."""

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberFormat

from thenga.kernel.errors import RuleViolated

_HOME = "ZA"


def e164(text: str) -> str:
    """`082 123 4567` is the same as `+27821234567`: without `+` a number is South African."""
    try:
        number = phonenumbers.parse(text, _HOME)
    except NumberParseException:
        raise _unreadable() from None
    if not phonenumbers.is_possible_number(number):
        raise _unreadable()
    return phonenumbers.format_number(number, PhoneNumberFormat.E164)


def _unreadable() -> RuleViolated:
    return RuleViolated("Write the phone number like +27 82 123 4567.", rule="phone")
