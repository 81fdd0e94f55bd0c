"""The links of an audit chain (IDN-50): each hash covers the row and the hash before it."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeAlias
from uuid import UUID

import rfc8785

Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None


def genesis(chain: UUID) -> bytes:
    """What stands before the first row, so that rows cannot move to another chain."""
    return hashlib.sha256(f"thenga-audit-v1:{chain}".encode("ascii")).digest()


def link(previous: bytes, row: Mapping[str, Json]) -> bytes:
    """The hash of a row; RFC 8785 gives every reader the same bytes for the same row."""
    return hashlib.sha256(previous + rfc8785.dumps(row)).digest()
