"""Networks: the field type of one, how an address is cut so that it tells a place only, what a
limit by address counts, and which addresses are public."""

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

# What is no host of the public internet (IANA's registries of special-purpose addresses), though
# `ipaddress` calls some of it global. Of IPv6 only 2000::/3 is given out at all; what lies outside
# (loopback, mapped IPv4, NAT64, ULA, link-local, multicast) needs no line.
_PUBLIC_V6 = ip_network("2000::/3")
_NOT_PUBLIC = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",  # carriers' NAT; a cloud's metadata too (100.100.100.200)
            "127.0.0.0/8",
            "168.63.129.16/32",  # Azure's metadata stands at a public address
            "169.254.0.0/16",  # link-local, with the metadata of most clouds
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.31.196.0/24",
            "192.52.193.0/24",
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",
            "192.175.48.0/24",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/3",  # multicast, reserved, broadcast
            "2001::/23",  # Teredo, benchmarking, ORCHID and others
            "2001:db8::/32",
            "2002::/16",  # 6to4: an IPv4 address of anybody's choice
            "2620:4f:8000::/48",
            "3fff::/20",
        ),
    )
)


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


def is_public(address: str) -> bool:
    """Whether an address is a host of the public internet, as written; other forms are not."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address) and (found.scope_id or found not in _PUBLIC_V6):
        return False
    return not any(found in network for network in _NOT_PUBLIC)


def _without_mapping(found: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """An IPv4 address that is written as IPv6 is an IPv4 address."""
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        return found.ipv4_mapped
    return found
