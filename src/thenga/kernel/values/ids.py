"""Identifiers: UUIDv7, so that rows made later sort later and indexes grow at one end."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import uuid_utils.compat

_EPOCH = datetime.fromtimestamp(0, UTC)


def new_id() -> UUID:
    """A fresh identifier; within a process each is greater than the one before."""
    return uuid_utils.compat.uuid7()


def made_at(id: UUID) -> datetime:  # noqa: A002
    """When an identifier was made, to the millisecond, by the clock of its process."""
    return _EPOCH + timedelta(milliseconds=id.int >> 80)
