"""Who may read a document: every operation that reaches one asks here, by its class (CMP-48).

An ordinary document has no further permission. A personal one is read with the permission to read
personal documents alone; a confidential one also by the person or key that brought its newest file,
until someone else brings another. For everyone else the document does not exist.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ColumnElement, select
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.compliance import public
from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.services.documents import rights
from thenga.domains.compliance.tables import Document
from thenga.domains.identity import public as identity
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.errors import NotFound

PERSONAL, CONFIDENTIAL = "personal", "confidential"
_READING = {
    PERSONAL: Permission.PERSONAL_DOCUMENT_READ,
    CONFIDENTIAL: Permission.CONFIDENTIAL_DOCUMENT_READ,
}


def needed_to_read(document: Document, actor_id: UUID | None) -> list[Permission]:
    """The permissions beside the one of the operation that this person or key must hold."""
    if document.document_class == CONFIDENTIAL and is_own(document, actor_id):
        return []
    permission = _READING.get(document.document_class)
    return [] if permission is None else [permission]


def public_class(document: Document) -> public.DocumentClass:
    """The class of a document as other domains know it."""
    known: dict[str, public.DocumentClass] = {PERSONAL: "personal", CONFIDENTIAL: "confidential"}
    return known.get(document.document_class, "ordinary")


def is_own(document: Document, actor_id: UUID | None) -> bool:
    """Whether this person or key brought the newest file of a document."""
    return actor_id is not None and document.brought_by == actor_id


async def check_readable(read: Reader, document: Document) -> None:
    """Refuse a document that the caller may not read, as if it did not exist."""
    needed = needed_to_read(document, read.actor.id)
    if needed and not await rights.holds_all(read, needed):
        raise NotFound()


async def person_may_read(read: Reader, document: Document, user_id: UUID | None) -> bool:
    """Whether a document may be shown to the person for whom another domain asks."""
    needed = needed_to_read(document, user_id)
    if not needed or user_id is None:
        return not needed
    return await rights.person_holds_all(
        read,
        needed,
        person=identity.ActorRef(type="user", id=user_id),
        organization_id=document.organization_id,
        document_id=document.id,
        channel="job",
    )


@dataclass(frozen=True, slots=True)
class Sight:
    """Which documents of an organization a caller may read, as conditions for lists."""

    hidden_classes: frozenset[str]
    actor_id: UUID | None

    @property
    def hides_personal(self) -> bool:
        return PERSONAL in self.hidden_classes

    def hides(self, document_class: str | None, brought_by: UUID | None) -> bool:
        """Whether the caller may not read a document of this class; no document hides nothing."""
        if document_class not in self.hidden_classes:
            return False
        is_own = self.actor_id is not None and brought_by == self.actor_id
        return not (document_class == CONFIDENTIAL and is_own)

    def shown(self) -> ColumnElement[bool]:
        """True of the documents that the caller may read."""
        return ~self._hidden()

    def names_no_hidden(
        self, organization_id: UUID, column: ColumnElement[Any]
    ) -> ColumnElement[bool]:
        """True where a column of another table names no document that is hidden."""
        return column.is_(None) | column.not_in(self._hidden_ids(organization_id))

    def cites_no_hidden(
        self, organization_id: UUID, sources: ColumnElement[Any]
    ) -> ColumnElement[bool]:
        """True where no entry of a JSON list of sources names a document that is hidden."""
        hidden = self._hidden_ids(organization_id).subquery("hidden")
        entry = sa.func.jsonb_build_object("document_id", sa.cast(hidden.c.id, sa.Text))
        cited = sa.type_coerce(sources, pg.JSONB).contains(sa.func.jsonb_build_array(entry))
        return ~select(hidden.c.id).where(cited).exists()

    def _hidden(self) -> ColumnElement[bool]:
        if not self.hidden_classes:
            return sa.false()
        is_hidden = among(Document.document_class, sorted(self.hidden_classes))
        if CONFIDENTIAL not in self.hidden_classes or self.actor_id is None:
            return is_hidden
        is_anothers = Document.brought_by.is_distinct_from(self.actor_id)
        return is_hidden & ((Document.document_class != CONFIDENTIAL) | is_anothers)

    def _hidden_ids(self, organization_id: UUID) -> sa.Select[*tuple[UUID]]:
        return select(Document.id).where(
            Document.organization_id == organization_id, self._hidden()
        )


SIGHT_OF_ALL = Sight(frozenset(_READING), None)
"""What is shown where nobody is known who may read more."""


async def sight_of(read: Reader) -> Sight:
    """What the caller may read of each class."""
    permitted = await rights.permitted(read, list(_READING.values()))
    hidden = (name for name, permission in _READING.items() if permission not in permitted)
    return Sight(frozenset(hidden), read.actor.id)
