"""Values that stand sealed in the database: identity numbers, bank accounts, persons (ORG-16).

One data key a person or company; it is sealed itself under a key of the deployment. What is sealed
is bound to its place, so that a value copied to another row, field or version does not open.
Equality inside an organization is asked by a keyed hash; no such hash is the same in two of them.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.organization.tables.secrets import DataKey
from thenga.kernel.crypto import sealing
from thenga.kernel.db import sealed
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.process import secret_settings
from thenga.kernel.process.host import Host


@dataclass(frozen=True)
class Subject:
    """Whose values a key seals: `director` and the like, or `organization` itself."""

    type: str
    id: UUID


@dataclass(frozen=True)
class Place:
    """Where a sealed value stands."""

    organization_id: UUID
    record_id: UUID
    field: str
    version: int = 1

    @property
    def aad(self) -> bytes:
        return f"{self.organization_id}/{self.record_id}/{self.field}/{self.version}".encode()


class KeyDestroyed(LookupError):
    """A value was to be sealed for somebody whose key was destroyed: a defect of the caller."""


async def key_for(work: Work, subject: Subject) -> bytes:
    """The key of a subject, made with its first value; hold a lock on the subject's own row."""
    known = await work.find(DataKey, subject_type=subject.type, subject_id=subject.id)
    if known is not None:
        return _opened(work, known)
    key = secrets.token_bytes(sealing.KEY_BYTES)
    owner: dict[str, Any] = {
        "organization_id": work.organization_id,
        "subject_type": subject.type,
        "subject_id": subject.id,
    }
    sealed_key = sealed.seal(work.host, DataKey, "sealed_key", key, **owner)
    await work.add(DataKey(**owner, sealed_key=sealed_key))
    return key


async def keys_of(read: Reader, subjects: Iterable[Subject]) -> dict[Subject, bytes]:
    """The keys of several subjects in one statement; a destroyed one is not among them."""
    wanted = {subject.id: subject for subject in subjects}
    if not wanted:
        return {}
    statement = select(DataKey).where(among(DataKey.subject_id, wanted))
    rows = await read.all(statement.where(DataKey.destroyed_at.is_(None)))
    found = {Subject(row.subject_type, row.subject_id): row for row in rows}
    return {s: _opened(read, found[s]) for s in wanted.values() if s in found}


def seal(key: bytes, text: str, place: Place) -> bytes:
    return sealing.seal(key, text.encode(), aad=place.aad)


def unseal(key: bytes, content: bytes, place: Place) -> str:
    return sealing.unseal(key, content, aad=place.aad).decode()


async def destroy(work: Work, subject: Subject) -> bool:
    """Make every value of a subject unreadable for good; False where there was no key."""
    known = await work.find(DataKey, subject_type=subject.type, subject_id=subject.id)
    if known is None or known.destroyed_at is not None:
        return False
    held = await work.lock(DataKey, known.id)
    held.sealed_key, held.destroyed_at, held.destroy_on = None, work.now, None
    await work.save(held)
    return True


def blind_index(host: Host, organization_id: UUID, text: str) -> bytes:
    """A keyed hash by which equal values are found inside one organization."""
    return index_of(secret_settings.lookup_key(host.settings), organization_id, text)


def index_of(master: bytes, organization_id: UUID, text: str) -> bytes:
    key = sealing.derive(master, f"organization/id-index/v1/{organization_id}".encode())
    return sealing.mac(key, text.encode())


def _opened(read: Reader, row: DataKey) -> bytes:
    if row.sealed_key is None:
        raise KeyDestroyed(f"the key of {row.subject_type} {row.subject_id} was destroyed")
    return sealed.unseal(read.host, row, "sealed_key")
