"""Networks: the field type of one, how an address is cut so that it tells a place only, and what
a limit by address counts."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Annotated

from thenga.kernel.values.fields import matching

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
    found = _without_mapping(found)
    return str(ip_network(f"{found}/{_BITS[found.version]}", strict=False))


@lru_cache(maxsize=4096)
def counted(address: str) -> tuple[str, ...]:
    """What a limit by address counts: an IPv4 address; of IPv6 the /64, then the /48 (SEC-65).

    One IPv6 customer has at least a /64, so single addresses of it cost nothing to change.
    """
    try:
        found = _without_mapping(ip_address(address))
    except ValueError:
        return (address,)
    if isinstance(found, IPv4Address):
        return (str(found),)
    return tuple(str(ip_network(f"{found}/{bits}", strict=False)) for bits in (64, 48))


def _without_mapping(found: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """An IPv4 address that is written as IPv6 is an IPv4 address."""
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        return found.ipv4_mapped
    return found
