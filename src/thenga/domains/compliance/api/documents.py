"""Documents and their files."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query, Response

from thenga.domains.compliance.api.document_views import (
    AddDocument,
    ChangeDocument,
    DocumentClass,
    DocumentLink,
    DocumentPage,
    DocumentView,
    SubjectKind,
    TypeCode,
    UploadTarget,
)
from thenga.domains.compliance.api.organizations import ActingOrganization, check_acting
from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.services import documents, evidence, recomputing
from thenga.domains.compliance.services.documents import (
    ContentMismatch,
    DigestMismatch,
    DocumentFilters,
    PurposeRequired,
    TypeRefused,
)
from thenga.domains.compliance.tables import Document
from thenga.domains.compliance.values.windows import Validity
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import (
    Conflict,
    Erased,
    PreconditionRequired,
    RuleViolated,
    StaleVersion,
    TooLarge,
    UploadTimeout,
)
from thenga.kernel.files.contents import ContentStatus
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, uploads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day
from thenga.kernel.values.json_writer import to_json

router = make_router("Compliance / Documents")

DocumentId = Annotated[UUID, Path(alias="documentId", description="ID of the document.")]


@router.post(
    "/compliance/documents",
    status_code=201,
    responses=problems(PurposeRequired, RuleViolated),
)
async def add_document(
    body: AddDocument, work: Annotated[Work, writes(Permission.DOCUMENT_UPLOAD)]
) -> DocumentView:
    """Add a document. Upload its file to `upload.path` within 24 hours.

    A personal document needs a purpose and a legal basis, and the permission to upload personal
    documents. You can read a confidential document that you add until someone else uploads a new
    version of it.
    """
    check_acting(work, body.organization_id)
    fields = body.model_dump(exclude={"organization_id", "document_type_code", "file_name"})
    document = await documents.add_document(
        work,
        type_code=body.document_type_code,
        file_name=body.file_name,
        fields=_flat(fields),
    )
    return await _shown(work, document)


@router.put(
    "/compliance/documents/{documentId}/content",
    status_code=202,
    responses=problems(
        *(TooLarge, TypeRefused, ContentMismatch, DigestMismatch, Conflict),
        *(PreconditionRequired, StaleVersion, Erased, UploadTimeout),
    )
    | {200: {"model": DocumentView, "description": "This file was already uploaded."}},
)
async def replace_document_content(
    document_id: DocumentId,
    work: Annotated[Work, uploads(Permission.DOCUMENT_UPLOAD)],
) -> DocumentView:
    """Upload the file of a document. It is scanned before anyone can read it.

    A personal document needs the permission to upload personal documents.
    For a new version, send the document's version in `If-Match`. Uploading the same file again
    changes nothing and returns 200.
    """
    received = await documents.receive(work, document_id)
    view = await _shown(work, received.document)
    if received.is_new:
        return view
    return Response(to_json(view), 200, media_type="application/json")  # type: ignore[return-value]  # the door sends it as it is


ExpiresBefore = Annotated[
    Day | None,
    Query(alias="expiresBefore", description="Filter by a last valid day before this day."),
]


@router.get("/compliance/documents")
async def list_documents(
    organization_id: ActingOrganization,
    read: Annotated[Reader, reads(Permission.DOCUMENT_READ)],
    page: Annotated[Paged, paged("createdAt", "expiresOn", "title", default="-createdAt")],
    type_code: Annotated[
        TypeCode | None, Query(alias="type", description="Filter by document type.")
    ] = None,
    document_class: Annotated[
        DocumentClass | None, Query(alias="class", description="Filter by class.")
    ] = None,
    validity: Annotated[Validity | None, Query(description="Filter by validity today.")] = None,
    content_status: Annotated[
        ContentStatus | None,
        Query(alias="contentStatus", description="Filter by content status of the newest version."),
    ] = None,
    subject: Annotated[SubjectKind | None, Query(description="Filter by kind of subject.")] = None,
    requirement_id: Annotated[
        UUID | None, Query(alias="requirementId", description="Filter by a linked requirement.")
    ] = None,
    expires_before: ExpiresBefore = None,
) -> DocumentPage:
    """List the documents that you may read. Personal ones that you may not read are counted."""
    check_acting(read, organization_id)
    filters = DocumentFilters(
        type_code=type_code,
        document_class=document_class,
        validity=validity,
        content_status=content_status,
        subject_kind=subject,
        requirement_id=requirement_id,
        expires_before=expires_before,
    )
    found = await documents.list_documents(read, page, filters)
    return DocumentPage.model_construct(
        items=[DocumentView.of(one, found.versions[one.id], read) for one in found.page.items],
        next_cursor=found.page.next_cursor,
        personal_hidden=found.personal_hidden,
    )


@router.get("/compliance/documents/{documentId}", responses=problems(Erased))
async def get_document(
    document_id: DocumentId, read: Annotated[Reader, reads(Permission.DOCUMENT_READ)]
) -> DocumentView:
    """Get a document with its versions and the evidence that uses it."""
    return await _shown(read, await documents.get_document(read, document_id))


@router.patch("/compliance/documents/{documentId}", responses=problems(Erased, RuleViolated))
async def change_document(
    document_id: DocumentId,
    body: ChangeDocument,
    work: Annotated[Work, writes(Permission.DOCUMENT_UPDATE)],
) -> DocumentView:
    """Update title, subject, facts and renewal. If a fact changes, verified evidence must be
    verified again."""
    changed = await documents.change_document(work, document_id, fields=_flat(body.changes()))
    if changed.facts:
        await evidence.reopen_for_facts(work, changed.document, changed.version)
    view = await _shown(work, changed.document)
    if changed.facts:
        await recomputing.mark_due(work)
    return view


async def _shown(read: Reader, document: Document) -> DocumentView:
    versions = (await documents.versions_of(read, [document.id]))[document.id]
    links = await documents.links_of(read, document.id)
    more: dict[str, Any] = {
        "links": [DocumentLink(evidence_id=one, requirement_id=other) for one, other in links]
    }
    if versions[0].content_status is ContentStatus.AWAITING_CONTENT:
        kind = await documents.type_in_force(read, document.document_type_code)
        more["upload"] = UploadTarget(
            method="PUT",
            path=f"{PREFIX}/compliance/documents/{document.id}/content",
            max_bytes=kind.max_bytes,
            media_types=kind.media_types,
            until=versions[0].next_check_at,
        )
    return DocumentView.of(document, versions, read, **more)


def _flat(fields: dict[str, Any]) -> dict[str, Any]:
    """Subject and renewal as the columns that keep them."""
    flat = {n: v for n, v in fields.items() if n not in ("subject", "renewal")}
    for name, parts in (("subject", ("kind", "ref")), ("renewal", _OF_RENEWAL)):
        if name in fields:
            given = fields[name]
            values = given if isinstance(given, dict) else given.model_dump() if given else {}
            flat |= {f"{name}_{part}": values.get(part) for part in parts}
    if flat.get("subject_kind", "") is None:
        flat["subject_kind"] = "organization"
    return flat


_OF_RENEWAL = ("expected_on", "reference", "note")
