"""Phone numbers in the one form in which they are stored and dialled from anywhere."""

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberFormat

from thenga.kernel.errors import RuleViolated

_HOME = "ZA"


def e164(text: str) -> str:
    """`082 123 4567` is the same as `+27821234567`: without `+` a number is South African.

    Which numbers can exist is no form that a schema could tell, so it is refused by a rule.
    """
    try:
        number = phonenumbers.parse(text, _HOME)
    except NumberParseException:
        raise _unreadable() from None
    if not phonenumbers.is_possible_number(number):
        raise _unreadable()
    return phonenumbers.format_number(number, PhoneNumberFormat.E164)


def _unreadable() -> RuleViolated:
    return RuleViolated(
        "This is not a phone number. Write it like 082 123 4567 or +27 82 123 4567.", rule="phone"
    )
