"""Phone numbers in the one form that the whole world dials."""

import phonenumbers

from thenga.kernel.errors import Problem


class PhoneUnknown(Problem):
    """This number does not exist. Write it with the country code, for example +27821234567."""

    code, status, title = "identity-phone-unknown", 422, "This is not a valid phone number"


def settled(phone: str) -> str:
    """The number as E.164 writes it, if it can be a number at all."""
    try:
        read = phonenumbers.parse(phone)
    except phonenumbers.NumberParseException:
        raise PhoneUnknown() from None
    if not phonenumbers.is_possible_number(read):
        raise PhoneUnknown()
    return phonenumbers.format_number(read, phonenumbers.PhoneNumberFormat.E164)
