"""What is shown of a secret: enough to recognise it, too little to use it (ORG-14).

Every place that shows one (lists, versions, exports, the graph) takes its mask from here.
"""


def id_number(number: str) -> str:
    return _last(number, 4)


def passport(number: str) -> str:
    return _last(number, 3)


def tax_number(number: str) -> str:
    return _last(number, 4)


def account_number(number: str) -> str:
    return _last(number, 4)


def phone(number: str) -> str:
    return _last(number, 4)


def email(address: str) -> str:
    """The first letter and the domain; the stars are always five, so the length is not told."""
    name, _, domain = address.rpartition("@")
    return f"{name[:1]}*****@{domain}"


def name(full: str) -> str:
    """The first letter; the stars are always five, so the length is not told."""
    return f"{full[:1]}*****"


def _last(text: str, shown: int) -> str:
    hidden = max(len(text) - shown, 0)
    # What is hardly longer than what may be shown is not shown at all.
    return "*" * len(text) if hidden < shown // 2 else "*" * hidden + text[hidden:]
