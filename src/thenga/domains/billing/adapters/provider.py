"""What every payment provider can be asked, and how it is known that a call is really its own."""

import calendar
import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Protocol

from thenga.domains.billing.values.provider import (
    ChargeOrder,
    ProviderAnswer,
    ProviderReport,
    RefundOrder,
)
from thenga.kernel.errors import Problem
from thenga.kernel.http.json_guard import read_json
from thenga.kernel.outbound import Reply

_DIGITS = re.compile("-?[0-9]{1,15}")
TOLERANCE_SECONDS = 300  # where the scheme signs a time


@dataclass(frozen=True, slots=True)
class Verified:
    """A call that is the provider's own; its key is the same however often it is sent."""

    event_key: str
    event_type: str
    secret_used: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Refused:
    """A call that is not, and why; told to nobody but our own operators."""

    cause: str


class Odd(Exception):
    """A signed call that cannot be read as what it says it is; it is quarantined (SEC-68)."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it came in: raw bytes, every header, the address that was called."""

    raw: bytes
    headers: Sequence[tuple[str, str]]
    url: str
    now: datetime

    def header(self, name: str) -> str | None:
        """The one header of a name; none where it is missing, there twice, or not plain text."""
        found = [value for key, value in self.headers if key.lower() == name]
        return found[0] if len(found) == 1 and found[0].isascii() else None


class PaymentProvider(Protocol):
    """One provider. `start`, `charge`, `refund`, `fetch` and `fetch_refund` talk to it and may be
    silent; `verify` and `reports` only read what it sent. `reports` gives none for a kind of
    event that does not concern us, and raises `Odd` for one that does and cannot be read.

    `repeats` says whether a charge may be sent again under the same reference. `confirm` asks the
    provider whether a call is its own; `sender` is named where it must be looked at.
    """

    name: str
    repeats: bool

    async def start(self, order: ChargeOrder) -> ProviderAnswer: ...

    async def charge(self, order: ChargeOrder) -> ProviderAnswer: ...

    async def refund(self, order: RefundOrder) -> ProviderAnswer: ...

    async def fetch(self, order: ChargeOrder) -> ProviderAnswer: ...

    async def fetch_refund(self, order: RefundOrder) -> ProviderAnswer: ...

    def verify(self, call: Call, secrets: Sequence[str]) -> Verified | Refused: ...

    def reports(self, content: bytes) -> list[ProviderReport]: ...

    async def confirm(self, content: bytes, *, sender: str | None) -> bool: ...


def which_secret(secrets: Sequence[str], expected: Mapping[str, bytes], given: bytes) -> str | None:
    """Which of the two secrets made a signature; all are tried, in constant time (BIL-35)."""
    used = None
    for name, secret in zip(("current", "former"), secrets, strict=False):
        if hmac.compare_digest(expected[secret], given):
            used = used or name
    return used


def read_object(raw: bytes) -> dict[str, Any] | None:
    """The JSON object of verified bytes; none where they hold something else."""
    try:
        found = read_json(raw)
    except Problem:
        return None
    return found if isinstance(found, dict) else None


def part(found: dict[str, Any], *path: str) -> dict[str, Any]:
    """An object inside an object, empty where it is not there."""
    inner: Any = found
    for name in path:
        inner = inner.get(name) if isinstance(inner, dict) else None
    return inner if isinstance(inner, dict) else {}


def listed(reply: Reply) -> list[dict[str, Any]] | None:
    """What a provider lists under `data`; None where it did not say."""
    found = reply.json.get("data")
    if reply.status != 200 or not isinstance(found, list):
        return None
    return [one for one in found if isinstance(one, dict)]


def readable(made: ProviderReport | None, kind: str) -> list[ProviderReport]:
    """The statement of an event that concerns us; without one the event is odd (SEC-68)."""
    if made is None:
        raise Odd(f"{kind[:60]} cannot be read")
    return [made]


def digest_key(raw: bytes) -> str:
    """The key of an event that has no number of its own: it is the same one if its bytes are."""
    return hashlib.sha256(raw).hexdigest()


def text(found: Mapping[str, Any], name: str) -> str | None:
    """A text or number as text; none where it is neither, or holds what cannot be stored."""
    value = found.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    shown = str(value)
    return None if "\0" in shown else shown[:200] or None


def whole(found: dict[str, Any], name: str) -> int | None:
    """A whole number of minor units that can be stored, also one written as text; none where it is
    something else."""
    value = found.get(name)
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return int(value)
    good = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**15
    return value if good else None


def instant(found: dict[str, Any], name: str) -> datetime | None:
    """An instant in ISO 8601 with its zone; none where it is something else."""
    try:
        at = datetime.fromisoformat(str(found.get(name)))
    except ValueError:
        return None
    return at if at.tzinfo is not None and 2000 <= at.year < 2200 else None


def last_day(card: dict[str, Any]) -> date | None:
    """The last day of the month in which a card runs out; none where it does not say."""
    year, month = whole(card, "exp_year"), whole(card, "exp_month")
    if year is None or month is None or not (2000 <= year < 2200 and 1 <= month <= 12):
        return None
    return date(year, month, calendar.monthrange(year, month)[1])
