"""Identifiers: UUIDv7, so that rows made later sort later and indexes grow at one end."""

from uuid import UUID

import uuid_utils.compat


def new_id() -> UUID:
    """A fresh identifier; within a process each is greater than the one before."""
    return uuid_utils.compat.uuid7()
