"""Page cursors: sealed, and bound to one list of one caller.

A cursor holds the sort values of the last row shown. It gives no rights: whoever brings it is
authorized again, and row security applies as ever.
"""

import base64
import binascii
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import TypeAlias
from uuid import UUID

import orjson

from thenga.kernel.crypto import sealing
from thenga.kernel.errors import InvalidCursor

Position: TypeAlias = UUID | datetime | date | Decimal | int | str | None

_LONGEST = 4096  # characters; more is refused before any work is done


def seal_cursor(ring: sealing.Ring, position: Sequence[Position], *, bound_to: str) -> str:
    """`bound_to` names route, tenant, actor and filters; opening needs the same text."""
    plain = orjson.dumps([_told(value) for value in position])
    sealed = ring.seal(plain, aad=bound_to.encode())
    return base64.urlsafe_b64encode(sealed).rstrip(b"=").decode("ascii")


def open_cursor(ring: sealing.Ring, text: str, *, bound_to: str) -> list[Position]:
    """The values with the types they had when they were sealed."""
    if len(text) > _LONGEST:
        raise InvalidCursor
    try:
        sealed = _bytes_of(text)
        plain = ring.unseal(sealed, aad=bound_to.encode())
        return [_heard(value) for value in orjson.loads(plain)]
    except (sealing.BrokenSeal, ValueError, TypeError, KeyError, InvalidOperation):
        raise InvalidCursor from None


def _bytes_of(text: str) -> bytes:
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise InvalidCursor from None


def _told(value: Position) -> int | str | list[str] | None:
    match value:
        case None | int() | str():
            return value
        case UUID():
            return ["u", value.hex]
        case datetime():
            return ["i", value.isoformat()]
        case date():
            return ["d", value.isoformat()]
        case Decimal():
            return ["n", str(value)]
    raise TypeError(f"a cursor cannot hold {type(value).__name__}")


def _heard(value: int | str | list[str] | None) -> Position:
    if not isinstance(value, list):
        return value
    kind, text = value
    match kind:
        case "u":
            return UUID(hex=text)
        case "i":
            return datetime.fromisoformat(text)
        case "d":
            return date.fromisoformat(text)
        case "n":
            return Decimal(text)
    raise ValueError("an unknown kind of value")
