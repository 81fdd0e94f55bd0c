"""Documents: the record of a paper, its facts and its renewal (CMP-7, CMP-44)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic.alias_generators import to_camel

from thenga.domains.compliance import public
from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.services.documents import classes, facts, rights, types, uploads
from thenga.domains.compliance.services.documents.classes import PERSONAL
from thenga.domains.compliance.tables import Document, DocumentStatus, DocumentVersion
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Erased, Problem, RuleViolated
from thenga.kernel.files import contents
from thenga.kernel.files.contents import ContentStatus
from thenga.kernel.values.ids import new_id

_OF_THE_DOCUMENT = (
    *("title", "subject_kind", "subject_ref"),
    *("renewal_expected_on", "renewal_reference", "renewal_note"),
)
_PENDING = (ContentStatus.AWAITING_CONTENT, ContentStatus.QUARANTINED)


class PurposeRequired(Problem):
    """A personal document needs a purpose and a legal basis, and every download needs a purpose.
    Send them with the request."""

    code, status, title = "compliance-purpose-required", 422, "A purpose is required"


@dataclass(frozen=True, slots=True)
class Changed:
    """A document after a change, and which facts of which version are new."""

    document: Document
    version: DocumentVersion
    facts: list[str]


async def add_document(
    work: Work, *, type_code: str, file_name: str | None, fields: Mapping[str, Any]
) -> Document:
    """Make the record of a paper; its bytes follow within 24 hours."""
    kind = await types.type_in_force(work, type_code)
    if kind.document_class == PERSONAL:
        if not fields.get("purpose") or not fields.get("basis"):
            raise PurposeRequired()
        await rights.demand(work, Permission.PERSONAL_DOCUMENT_UPLOAD)
    document = Document(
        id=new_id(),
        organization_id=work.organization_id,
        document_type_code=kind.code,
        document_class=kind.document_class,
        title=fields.get("title"),
        subject_kind=fields.get("subject_kind") or "organization",
        subject_ref=fields.get("subject_ref"),
        brought_by=work.actor.id,
        purpose=fields.get("purpose"),
        basis=fields.get("basis"),
        renewal_expected_on=fields.get("renewal_expected_on"),
        renewal_reference=fields.get("renewal_reference"),
        renewal_note=fields.get("renewal_note"),
    )
    version = DocumentVersion(
        id=new_id(),
        organization_id=work.organization_id,
        document_id=document.id,
        number=1,
        file_name=file_name,
        attributes={},
    )
    facts.apply(work, version, kind, fields)
    await facts.set_last_day(work, document, version)
    contents.await_content(version, now=work.now)
    await work.add(document)
    await work.add(version)
    return document


async def get_document(read: Reader, document_id: UUID) -> Document:
    """One document that the caller may read; an erased one is gone."""
    document = await read.get(Document, document_id)
    await classes.check_readable(read, document)
    if document.status is DocumentStatus.ERASED:
        raise Erased()
    return document


async def change_document(work: Work, document_id: UUID, *, fields: Mapping[str, Any]) -> Changed:
    """Change title, subject, renewal and facts. Facts are those of the newest version that can
    still count: one that waits for its bytes or its scan, else the current one."""
    async with work.separate_reader() as read:
        seen = await get_document(read, document_id)
        version_id = (await version_of_facts(read, seen)).id
        kind = await types.type_in_force(read, seen.document_type_code)
    version = await work.lock(DocumentVersion, version_id, beside=True)
    document = await work.lock(Document, document_id)
    changed = merge_patch(document, {n: fields[n] for n in _OF_THE_DOCUMENT if n in fields})
    stated = facts.apply(work, version, kind, fields)
    if not changed and not stated:
        return Changed(document, version, [])
    if stated:
        await facts.set_last_day(work, document, version)
        await work.save(version)
    if stated or "renewal_expected_on" in changed:
        document.next_check_at = work.now  # windows are told by the new days
    await work.touch(document)
    _publish(work, document, version, changed=[*changed, *stated])
    return Changed(document, version, stated)


async def change_type(work: Work, document_id: UUID, *, code: str) -> Changed:
    """Sort a document under another type of the same class; its last day follows the new rule."""
    async with work.separate_reader() as read:
        seen = await get_document(read, document_id)
        version_id = (await version_of_facts(read, seen)).id
        kind = await types.type_in_force(read, code)
    if kind.document_class != seen.document_class:
        raise RuleViolated(
            "This type has another class. Upload the file again as a new document of this type.",
            rule="CMP-44",
        )
    version = await work.lock(DocumentVersion, version_id, beside=True)
    document = await work.lock(Document, document_id)
    if document.document_type_code == code:
        return Changed(document, version, [])
    document.document_type_code = code
    await facts.set_last_day(work, document, version)
    await work.save(version)
    document.next_check_at = work.now
    await work.touch(document)
    _publish(work, document, version, changed=["document_type_code"])
    return Changed(document, version, ["document_type_code"])


async def version_of_facts(read: Reader, document: Document) -> DocumentVersion:
    """The version whose facts are stated now."""
    newest = await uploads.newest_version(read, document.id)
    if newest.content_status in _PENDING or document.current_version in (0, newest.number):
        return newest
    current = await read.find(
        DocumentVersion, document_id=document.id, number=document.current_version
    )
    return current or newest


def _publish(
    work: Work, document: Document, version: DocumentVersion, *, changed: list[str]
) -> None:
    told: dict[str, Any] = {
        "organization_id": document.organization_id,
        "document_id": document.id,
        "document_version": version.number,
        "document_type_code": document.document_type_code,
    }
    work.publish(
        public.DocumentChanged(
            valid_until=version.valid_until,
            changed_fields=[to_camel(name) for name in changed],
            **told,
        )
    )
    expected_on = document.renewal_expected_on
    if "renewal_expected_on" in changed and expected_on is not None:
        work.publish(public.RenewalStarted(expected_on=expected_on, **told))
