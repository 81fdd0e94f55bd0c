"""The parts of a request that are sealed until it is done: secret facts and given addresses."""

import json
from collections.abc import Mapping

from thenga.domains.notification.tables import Notification, Request
from thenga.kernel.db import sealed
from thenga.kernel.db.reader import Reader
from thenga.kernel.process.host import Host


def seal_parts(
    host: Host, request: Request, *, facts: Mapping[str, str], addresses: Mapping[str, str]
) -> None:
    """Keep secret facts, and addresses by the key of their recipient, under a key of ours."""
    request.sealed_facts = _sealed(host, request, "sealed_facts", facts)
    request.sealed_addresses = _sealed(host, request, "sealed_addresses", addresses)


def _sealed(host: Host, request: Request, column: str, values: Mapping[str, str]) -> bytes | None:
    if not values:
        return None
    return sealed.seal(host, Request, column, json.dumps(dict(values)).encode(), id=request.id)


async def facts_of(read: Reader, request: Request) -> dict[str, str]:
    """All facts with the sealed ones opened. Only for sending (NOT-27)."""
    if request.sealed_facts is None:
        return dict(request.facts)
    opened: dict[str, str] = json.loads(sealed.unseal(read.host, request, "sealed_facts"))
    return request.facts | opened


async def given_address(read: Reader, request: Request, notification: Notification) -> str | None:
    """The address that the caller named for this message, if any; it is used for no other."""
    return addresses_of(read, request).get(notification.recipient_key)


def addresses_of(read: Reader, request: Request) -> dict[str, str]:
    """Given addresses by the key of their recipient."""
    if request.sealed_addresses is None:
        return {}
    found: dict[str, str] = json.loads(sealed.unseal(read.host, request, "sealed_addresses"))
    return found


def forget(request: Request) -> None:
    """Nothing of the request is left to send: its secrets go (NOT-27)."""
    request.sealed_facts = None
    request.sealed_addresses = None
