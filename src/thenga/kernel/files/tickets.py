"""Tickets of the file store: one file for a short time, for our own processes only.

A domain that keeps files gives a ticket to a domain that needs the bytes, instead of an address.
It is sealed under a key of the deployment and bound to what it was made for.
"""

from datetime import datetime
from uuid import UUID

import orjson

from thenga.kernel.process.host import Host

_PURPOSE = "file-ticket"


def make_ticket(host: Host, key: str, *, about: UUID, expires_at: datetime) -> str:
    """A ticket for the file with this key of the store."""
    order = {"key": key, "expiresAt": expires_at.isoformat()}
    return host.ring(_PURPOSE).seal(orjson.dumps(order), aad=about.bytes).hex()


def open_ticket(host: Host, ticket: str, *, about: UUID, now: datetime) -> str | None:
    """The key of the file in the store; nothing when the ticket is over."""
    order = orjson.loads(host.ring(_PURPOSE).unseal(bytes.fromhex(ticket), aad=about.bytes))
    return order["key"] if now < datetime.fromisoformat(order["expiresAt"]) else None
