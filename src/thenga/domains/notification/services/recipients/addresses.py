"""Addresses are read when a message is sent; kept are only a mask and a fingerprint (NOT-5)."""

import hashlib
import hmac

from thenga.domains.notification.services.templates import ChannelKind


def fingerprint(pepper: bytes, channel: ChannelKind, address: str) -> str:
    """The same for the same address and channel, and worthless without the pepper."""
    return hmac.new(pepper, f"{channel}:{address}".encode(), hashlib.sha256).hexdigest()


def mask(channel: ChannelKind, address: str) -> str:
    """An address as history shows it: `th***@example.co.za`, `+27***4567`."""
    if channel == "email":
        local, _, host = address.rpartition("@")
        return f"{local[:2]}***@{host}"
    return f"{address[:3]}***{address[-4:]}"
