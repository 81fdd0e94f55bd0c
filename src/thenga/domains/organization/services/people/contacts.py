"""Contacts: whom to reach at the company, and for what."""

from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement

from thenga.domains.organization import public
from thenga.domains.organization.services import facts, records
from thenga.domains.organization.services.people import primaries
from thenga.domains.organization.tables import Contact
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Erased, RuleViolated

SORTS: dict[str, ColumnElement[Any] | None] = {"createdAt": None, "name": Contact.name}
_ONCE = "There is already a contact of this kind with this email address."


async def add_contact(work: Work, *, fields: dict[str, Any]) -> Contact:
    """Record whom to reach."""
    contact = Contact(organization_id=work.organization_id, **fields)
    await facts.require(work, contact.user_id)
    _check(contact)
    if contact.primary:
        await primaries.in_turn(work, Contact)
        await _take_mark(work, contact)
    with records.once(_ONCE, field="email"):
        given = await records.add(work, contact)
    work.publish(_changed(contact, "added", given))
    return contact


async def get_contact(read: Reader, contact_id: UUID) -> Contact:
    """One contact, archived ones too; an erased one is gone for good."""
    contact = await read.get(Contact, contact_id)
    if contact.erased_at is not None:
        raise Erased()
    return contact


async def list_contacts(
    read: Reader, paged: Paged, *, kind: str | None, primary: bool | None, archived: bool
) -> Slice[Contact]:
    """The contacts of the organization; erased ones are in no list."""
    statement = records.kept(Contact, archived=archived).where(Contact.erased_at.is_(None))
    statement = where_given(statement, (Contact.kind, kind), (Contact.primary, primary))
    return await read.page(statement, paged, SORTS[paged.sort])


async def change_contact(work: Work, contact_id: UUID, *, fields: dict[str, Any]) -> Contact:
    """Change the fields named; the rest stays."""
    if fields.get("primary") or "kind" in fields:
        await primaries.in_turn(work, Contact)
    contact = await _held(work, contact_id)
    records.not_archived(contact)
    merge_patch(contact, fields)
    await facts.require(work, fields.get("user_id"))
    _check(contact)
    if contact.primary:
        await _take_mark(work, contact)
    with records.once(_ONCE, field="email"):
        changed = await records.save(work, contact)
    if changed:
        work.publish(_changed(contact, "updated", changed))
    return contact


async def archive_contact(work: Work, contact_id: UUID) -> None:
    """Take it out of the lists, and the mark from it; the record stays readable."""
    contact = await _held(work, contact_id)
    contact.primary = False
    changed = await records.archive(work, contact)
    if changed:
        work.publish(_changed(contact, "archived", changed))


async def erase_contact(work: Work, contact_id: UUID) -> Contact:
    """Destroy what is known of the person, in every version; that there was one stays (ORG-16)."""
    contact = await work.lock(Contact, contact_id)
    if contact.erased_at is None:
        contact.primary, contact.user_id = False, None
        contact.erased_at = work.now
        changed = await records.erase(work, contact)
        work.publish(_changed(contact, "erased", changed))
    return contact


def status_of(contact: Contact) -> str:
    return "active" if contact.archived_at is None else "archived"


async def _held(work: Work, contact_id: UUID) -> Contact:
    contact = await work.lock(Contact, contact_id)
    if contact.erased_at is not None:
        raise Erased()
    return contact


def _check(contact: Contact) -> None:
    records.in_order(contact.valid_from, contact.valid_to)
    if contact.email is None and contact.phone is None:
        raise RuleViolated(
            "A contact needs an email address, a phone number or both.",
            rule="contact-reachable",
        )


async def _take_mark(work: Work, contact: Contact) -> None:
    taken = await primaries.take_from(work, contact, Contact)
    if taken is not None:
        work.publish(_changed(taken[0], "updated", taken[1]))


def _changed(contact: Contact, change: str, fields: list[str]) -> public.ContactChanged:
    return public.ContactChanged(
        organization_id=contact.organization_id,
        record_id=contact.id,
        record_version=contact.version,
        change=change,
        changed_fields=fields,
        status=status_of(contact),
    )
