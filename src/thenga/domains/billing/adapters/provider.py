"""The interface of payment providers, and how their calls are verified."""

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
from thenga.kernel.outside.outbound import Reply

_DIGITS = re.compile("-?[0-9]{1,15}")
TOLERANCE_SECONDS = 300  # if the scheme signs a time


@dataclass(frozen=True, slots=True)
class Verified:
    """A verified call. Its key is the same for every delivery."""

    event_key: str
    event_type: str
    secret_used: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Refused:
    """A rejected call and the cause, which only operators see."""

    cause: str


class Unreadable(Exception):
    """A signed call with unreadable contents. It is quarantined (SEC-68)."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call as received: raw bytes, all headers, the called address."""

    raw: bytes
    headers: Sequence[tuple[str, str]]
    url: str
    now: datetime

    def header(self, name: str) -> str | None:
        """A header by name. None if it is missing, repeated or not plain text."""
        found = [value for key, value in self.headers if key.lower() == name]
        return found[0] if len(found) == 1 and found[0].isascii() else None


class PaymentProvider(Protocol):
    """One provider. `start`, `charge`, `refund`, `fetch` and `fetch_refund` call it and may get no
    answer; `verify` and `reports` only parse what it sent. `reports` returns none for an event that
    does not concern us, and raises `Unreadable` for one that does and cannot be parsed.

    `repeats` says whether a charge can be sent again under the same reference. `confirm` asks the
    provider whether a call is authentic, and checks `sender` if it is given.
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
    """Which of the two secrets made a signature. All are compared in constant time (BIL-35)."""
    used = None
    for name, secret in zip(("current", "former"), secrets, strict=False):
        if hmac.compare_digest(expected[secret], given):
            used = used or name
    return used


def read_object(raw: bytes) -> dict[str, Any] | None:
    """The JSON object of verified bytes. None if they are something else."""
    try:
        found = read_json(raw)
    except Problem:
        return None
    return found if isinstance(found, dict) else None


def part(found: dict[str, Any], *path: str) -> dict[str, Any]:
    """A nested object. Empty if it is missing."""
    inner: Any = found
    for name in path:
        inner = inner.get(name) if isinstance(inner, dict) else None
    return inner if isinstance(inner, dict) else {}


def listed(reply: Reply) -> list[dict[str, Any]] | None:
    """The list under `data`. None if the response has none."""
    found = reply.json.get("data")
    if reply.status != 200 or not isinstance(found, list):
        return None
    return [item for item in found if isinstance(item, dict)]


def readable(made: ProviderReport | None, kind: str) -> list[ProviderReport]:
    """The report of a relevant event. Without one the event is unreadable (SEC-68)."""
    if made is None:
        raise Unreadable(f"{kind[:60]} cannot be read")
    return [made]


def digest_key(raw: bytes) -> str:
    """The key of an event without an id: a hash of its bytes."""
    return hashlib.sha256(raw).hexdigest()


def text(found: Mapping[str, Any], name: str) -> str | None:
    """A text or number as text. None if it is neither, or cannot be stored."""
    value = found.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    shown = str(value)
    return None if "\0" in shown else shown[:200] or None


def whole(found: dict[str, Any], name: str) -> int | None:
    """An amount in minor units, also from text. None if it is not one or cannot be stored."""
    value = found.get(name)
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return int(value)
    good = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**15
    return value if good else None


def instant(found: dict[str, Any], name: str) -> datetime | None:
    """An ISO 8601 instant with a zone. None if it is not one."""
    try:
        at = datetime.fromisoformat(str(found.get(name)))
    except ValueError:
        return None
    return at if at.tzinfo is not None and 2000 <= at.year < 2200 else None


def last_day(card: dict[str, Any]) -> date | None:
    """The last day of a card's expiry month. None if it is not stated."""
    year, month = whole(card, "exp_year"), whole(card, "exp_month")
    if year is None or month is None or not (2000 <= year < 2200 and 1 <= month <= 12):
        return None
    return date(year, month, calendar.monthrange(year, month)[1])
