"""Networks: the field type of one, and how an address is cut so that it tells a place only."""

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Annotated

from thenga.kernel.fields import matching

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_V4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}/(?:3[0-2]|[12]?[0-9])"
_H = "[0-9a-fA-F]{1,4}"
_V6_FORMS = (
    f"(?:{_H}:){{7}}{_H}",
    f"(?:{_H}:){{1,7}}:",
    *(f"(?:{_H}:){{1,{7 - n}}}(?::{_H}){{1,{n}}}" for n in range(1, 7)),
    f":(?::{_H}){{1,7}}",
    "::",
)
_V6 = f"(?:{'|'.join(_V6_FORMS)})/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9])"

# As `196.25.1.0/24` or `2001:db8::/48`; bits behind the mask are let go when it is kept.
Network = Annotated[str, matching(f"^(?:{_V4}|{_V6})$", 49)]

_BITS = {4: 24, 6: 48}


@lru_cache(maxsize=4096)
def cut(address: str | None) -> str | None:
    """The /24 or /48 that an address is in; None where it is no address (IDN-42)."""
    try:
        found = ip_address(address or "")
    except ValueError:
        return None
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return str(ip_network(f"{found}/{_BITS[found.version]}", strict=False))
