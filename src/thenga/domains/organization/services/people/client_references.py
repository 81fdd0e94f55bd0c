"""Client references: clients who can confirm a past project.

What is said of a person is sealed under a key of its own; versions hold nothing of it (ORG-16).
Sending the client's link and taking the answer come later.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import ColumnElement, func, select

from thenga.domains.identity import public as identity
from thenga.domains.organization import public
from thenga.domains.organization.lifecycles import ClientReferenceLifecycle
from thenga.domains.organization.services import records
from thenga.domains.organization.services.records import Place, Subject
from thenga.domains.organization.tables import (
    ClientReference,
    ClientReferenceStatus,
    Contact,
    Director,
    MemberRef,
    MemberStatus,
    PastProject,
)
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import ERRORS, Conflict, Problem, RuleViolated, extensions
from thenga.kernel.values.ids import new_id

SORTS: dict[str, ColumnElement[Any] | None] = {"createdAt": None}
PERSONAL = ("contact_name", "contact_email", "contact_phone", "contact_position")
# Asked rounds in all, and of one address (ORG-24).
PER_DAY = 20
ROUNDS_PER_ADDRESS, ROUND_DAYS = 3, timedelta(days=30)
_DAY = timedelta(days=1)


class SelfReference(Problem):
    """A reference must come from the client.

    This address belongs to a member, director or contact of your own organization. Name someone who
    works for the client.
    """

    code, status, title = (
        "organization-self-reference",
        422,
        "This address belongs to your organization",
    )
    members = extensions(errors=ERRORS)


class ReferenceLimit(Problem):
    """Clients can receive at most 20 requests a day, and one address three in 30 days.

    Try again after the number of seconds in `Retry-After`.
    """

    code, status, title = "organization-reference-limit", 429, "Too many reference requests"


async def add_client_reference(work: Work, *, fields: dict[str, Any]) -> ClientReference:
    """Prepare a reference; nothing is sent yet."""
    contact, rest = _apart(fields)
    emails = await _own_addresses(work)
    await work.get(PastProject, rest["past_project_id"])
    _refuse_own(contact["contact_email"], emails)
    index = _index(work, contact["contact_email"])
    await _within_limits(work, index)
    made = new_id()
    row = ClientReference(
        id=made,
        organization_id=work.organization_id,
        contact=await _sealed(work, made, contact, 1),
        contact_index=index,
        **rest,
    )
    given = await records.add(work, row)
    work.publish(public.ClientReferenceChanged(**_told(row, "added", given)))
    return row


async def list_client_references(
    read: Reader,
    paged: Paged,
    *,
    status: ClientReferenceStatus | None,
    past_project_id: UUID | None,
    archived: bool,
) -> Slice[ClientReference]:
    """The client references of the organization."""
    statement = records.kept(ClientReference, archived=archived)
    statement = where_given(
        statement,
        (ClientReference.status, status),
        (ClientReference.past_project_id, past_project_id),
    )
    return await read.page(statement, paged, SORTS[paged.sort])


async def change_client_reference(
    work: Work, client_reference_id: UUID, *, fields: dict[str, Any]
) -> ClientReference:
    """Change what was not sent yet."""
    emails = await _own_addresses(work) if "contact_email" in fields else frozenset()
    row = await work.lock(ClientReference, client_reference_id)
    records.not_archived(row)
    if row.status is not ClientReferenceStatus.DRAFT:
        raise Conflict("This reference has been sent and can no longer be changed.")
    contact, rest = _apart(fields)
    if contact:
        await _replace_contact(work, row, contact, emails)
    merge_patch(row, rest)
    changed = await records.save(work, row)
    if changed:
        work.publish(public.ClientReferenceChanged(**_told(row, "updated", changed)))
    return row


async def withdraw_client_reference(work: Work, client_reference_id: UUID) -> ClientReference:
    """Take a request back; its links lead nowhere any more."""
    row = await work.lock(ClientReference, client_reference_id)
    if ClientReferenceLifecycle.withdraw(row, at=work.now):
        row.next_check_at = None
        changed = await records.save(work, row)
        work.publish(public.ClientReferenceChanged(**_told(row, "withdraw", changed)))
    return row


async def archive_client_reference(work: Work, client_reference_id: UUID) -> None:
    """Take it out of the lists; the record stays readable."""
    row = await work.lock(ClientReference, client_reference_id)
    row.next_check_at = None
    changed = await records.archive(work, row)
    if changed:
        work.publish(public.ClientReferenceChanged(**_told(row, "archived", changed)))


async def erase_client_reference(work: Work, client_reference_id: UUID) -> ClientReference:
    """Destroy what is known of the client's person; that there was a reference stays (ORG-16)."""
    row = await work.lock(ClientReference, client_reference_id)
    if row.erased_at is None:
        row.contact, row.contact_index, row.next_check_at = b"", None, None
        row.erased_at = work.now
        changed = await records.erase(work, row)
        work.publish(public.ClientReferenceChanged(**_told(row, "erased", changed)))
    return row


async def contacts_of(
    read: Reader, rows: Iterable[ClientReference]
) -> dict[UUID, dict[str, str | None]]:
    """Whom the references name, masked; erased ones are empty (ORG-14)."""
    found = list(rows)
    keys = await records.keys_of(read, [_subject(row.id) for row in found])
    return {row.id: _masked(row, keys.get(_subject(row.id))) for row in found}


def _masked(row: ClientReference, key: bytes | None) -> dict[str, str | None]:
    if key is None or not row.contact:
        return dict.fromkeys(PERSONAL)
    held = _opened(row, key)
    email, phone = held["contact_email"], held.get("contact_phone")
    return {
        "contact_name": records.name(held["contact_name"]),
        "contact_email": None if email is None else records.email(email),
        "contact_phone": None if phone is None else records.phone(phone),
        "contact_position": held.get("contact_position"),
    }


async def _replace_contact(
    work: Work, row: ClientReference, contact: dict[str, Any], own: frozenset[str]
) -> None:
    key = await records.key_for(work, _subject(row.id))
    before = _opened(row, key)
    merged = before | contact
    if merged == before:
        return
    email = merged["contact_email"]
    if email is None:
        raise RuleViolated("A reference needs the client's email address.", rule="ORG-24")
    _refuse_own(email, own)
    row.contact_version += 1
    row.contact = await _sealed(work, row.id, merged, row.contact_version)
    row.contact_index = _index(work, email)


async def _own_addresses(read: Reader) -> frozenset[str]:
    """Addresses of members, by one question to Identity, of contacts and directors (ORG-25)."""
    here = select(MemberRef).where(MemberRef.status != MemberStatus.LEFT)
    members = [one.user_id for one in await read.all(here) if one.user_id is not None]
    cards = []
    if members:
        cards = await read.port(identity.People).describe(user_ids=members[:200])
    contacts = await read.all(select(Contact).where(Contact.email.is_not(None)))
    directors = await read.all(select(Director).where(Director.email.is_not(None)))
    addresses = [card.email for card in cards] + [one.email for one in contacts]
    addresses += [one.email for one in directors]
    return frozenset(address.casefold() for address in addresses if address)


def _refuse_own(email: str, own: frozenset[str]) -> None:
    if email.casefold() in own:
        detail = "Name somebody who works for the client."
        error = {"pointer": "/contactEmail", "code": "self_reference", "detail": detail}
        raise SelfReference(errors=[error])


async def _within_limits(read: Reader, index: bytes) -> None:
    """Clients are not asked more often than is decent (ORG-24)."""
    of_day = await _rounds(read, ClientReference.requested_at > read.now - _DAY)
    of_address = await _rounds(
        read,
        ClientReference.contact_index == index,
        ClientReference.requested_at > read.now - ROUND_DAYS,
    )
    if of_day >= PER_DAY or of_address >= ROUNDS_PER_ADDRESS:
        raise ReferenceLimit(headers={"Retry-After": str(int(_DAY.total_seconds()))})


async def _rounds(read: Reader, *conditions: ColumnElement[bool]) -> int:
    """How many rounds were asked, among references of this organization."""
    statement = select(func.coalesce(func.sum(ClientReference.rounds), 0)).where(
        ClientReference.organization_id == read.organization_id, *conditions
    )
    return int(await read.value(statement) or 0)


def _apart(fields: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is said of a person, and the rest."""
    contact = {name: value for name, value in fields.items() if name in PERSONAL}
    return contact, {name: value for name, value in fields.items() if name not in PERSONAL}


async def _sealed(work: Work, record_id: UUID, contact: dict[str, Any], version: int) -> bytes:
    key = await records.key_for(work, _subject(record_id))
    place = Place(work.organization_id, record_id, "contact", version)
    return records.seal(key, orjson.dumps(contact).decode(), place)


def _opened(row: ClientReference, key: bytes) -> dict[str, Any]:
    place = Place(row.organization_id, row.id, "contact", row.contact_version)
    found: dict[str, Any] = orjson.loads(records.unseal(key, row.contact, place))
    return found


def _index(read: Reader, email: str) -> bytes:
    return records.blind_index(read.host, read.organization_id, f"client_email:{email.casefold()}")


def _subject(record_id: UUID) -> Subject:
    return Subject(records.type_of(ClientReference), record_id)


def _told(row: ClientReference, change: str, fields: list[str]) -> dict[str, Any]:
    return {
        "organization_id": row.organization_id,
        "client_reference_id": row.id,
        "past_project_id": row.past_project_id,
        "change": change,
        "changed_fields": fields,
        "status": row.status,
        "strength": row.strength,
    }
