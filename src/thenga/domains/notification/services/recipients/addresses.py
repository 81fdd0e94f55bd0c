"""Addresses are read when a message is sent; kept are only a mask and a fingerprint (NOT-5)."""

import hashlib
import hmac
from collections.abc import Iterable

from sqlalchemy import or_, select

from thenga.domains.notification.services.templates import ChannelKind
from thenga.domains.notification.tables import Suppression
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.process.host import Host


def fingerprint(pepper: bytes, channel: ChannelKind, address: str) -> str:
    """The same for the same address and channel, and worthless without the pepper."""
    return hmac.new(pepper, f"{channel}:{address}".encode(), hashlib.sha256).hexdigest()


def mask(channel: ChannelKind, address: str) -> str:
    """An address as history shows it: `th***@example.co.za`, `+27***4567`."""
    if channel == "email":
        local, _, host = address.rpartition("@")
        return f"{local[:2]}***@{host}"
    return f"{address[:3]}***{address[-4:]}"


def address_fingerprint(host: Host, channel: ChannelKind, address: str) -> str:
    """The fingerprint under which this deployment stores and suppresses an address (NOT-5)."""
    return fingerprint(host.key("notification-address"), channel, address)


async def suppressed_among(read: Reader, fingerprints: Iterable[str]) -> set[str]:
    """Which of these addresses are suppressed now."""
    asked = list(fingerprints)
    if not asked:
        return set()
    found = await read.values(
        select(Suppression.address_fingerprint)
        .where(among(Suppression.address_fingerprint, asked))
        .where(or_(Suppression.until.is_(None), Suppression.until > read.now))
    )
    return set(found)
