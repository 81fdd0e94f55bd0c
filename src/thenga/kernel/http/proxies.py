"""Which address a request came from, where proxies stand in front."""

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

from starlette.types import Scope

_NO_ADDRESS = "0.0.0.0"  # a caller on a local socket; nobody's allowed network contains it


class Proxies:
    """Whose word on the caller's address is taken; anybody can write X-Forwarded-For."""

    def __init__(self, trusted: str) -> None:
        parts = [part.strip() for part in trusted.split(",")]
        self._networks = tuple(ip_network(part, strict=False) for part in parts if part)

    def client(self, scope: Scope) -> str:
        """The rightmost address that is not one of our proxies."""
        peer = scope.get("client")
        address = (_address(peer[0]) if peer else None) or _NO_ADDRESS
        if not self._networks or not self.trusts(address):
            return address
        lines = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        hops = b",".join(lines).decode("latin-1").split(",") if lines else []
        for hop in reversed(hops):
            said = _address(hop.strip())
            if said is None:
                break
            address = said
            if not self.trusts(address):
                break
        return address

    def trusts(self, address: str) -> bool:
        """Whether this is the address of one of our proxies."""
        known = _address(address)
        return known is not None and any(ip_address(known) in network for network in self._networks)


@lru_cache(maxsize=4096)
def _address(text: str) -> str | None:
    """One spelling for one address, without port, zone or the dress of IPv6 on IPv4."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        parsed = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    return str(parsed)
