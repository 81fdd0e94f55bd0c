"""Token text (IDN-1): prefix, 43 base62 digits of chance, 6 of checksum.

The checksum lets a mistyped or invented token be refused without the database, and lets secret
scanners know ours from random text. It proves nothing: the SHA-256 looked up does.
"""

import hashlib
import secrets
import zlib
from enum import StrEnum

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET_BYTES = 32
_SECRET_DIGITS = 43
_CHECK_DIGITS = 6


class Prefix(StrEnum):
    """What a token is for, readable in its text."""

    ACCESS = "tha"
    REFRESH = "thr"
    KEY_LIVE = "thk_live"
    KEY_TEST = "thk_test"
    LINK = "thl"
    DEVICE = "thd"
    FLOW = "thf"
    TICKET = "tht"


_PREFIXES = {str(prefix): prefix for prefix in Prefix}


def mint(prefix: Prefix) -> str:
    """A new token; show it once, keep only its digest."""
    return text_of(prefix, secrets.token_bytes(_SECRET_BYTES))


def text_of(prefix: Prefix, secret: bytes) -> str:
    if len(secret) != _SECRET_BYTES:
        raise ValueError("a token carries 32 bytes")
    head = f"{prefix}_{_base62(int.from_bytes(secret, 'big'), _SECRET_DIGITS)}"
    return head + _checksum(head)


def parse(text: str) -> Prefix | None:
    """The prefix of a well-formed token, else None; says nothing about whether it is valid."""
    name, _, body = text.rpartition("_")
    prefix = _PREFIXES.get(name)
    if prefix is None or len(body) != _SECRET_DIGITS + _CHECK_DIGITS:
        return None
    if not (body.isascii() and body.isalnum()):
        return None
    head, check = text[:-_CHECK_DIGITS], text[-_CHECK_DIGITS:]
    return prefix if _checksum(head) == check else None


def digest(text: str) -> bytes:
    """What is stored and looked up: SHA-256 of the whole text."""
    return hashlib.sha256(text.encode()).digest()


def _checksum(head: str) -> str:
    return _base62(zlib.crc32(head.encode("ascii")), _CHECK_DIGITS)


def _base62(number: int, width: int) -> str:
    digits = []
    for _ in range(width):
        number, rest = divmod(number, 62)
        digits.append(_DIGITS[rest])
    return "".join(reversed(digits))
