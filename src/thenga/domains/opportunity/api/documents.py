"""Documents of tenders and their pages."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.opportunity.api.tender_fields import TenderOpportunityId
from thenga.domains.opportunity.permissions import Permission
from thenga.domains.opportunity.public.requirements import ScanState
from thenga.domains.opportunity.services import documents, tenants
from thenga.domains.opportunity.services.documents import (
    DocumentAddressRefused,
    DocumentUnavailable,
)
from thenga.domains.opportunity.services.notices import OpportunityNotKeeper
from thenga.domains.opportunity.tables import Document, FetchState, IndexState, TextState
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Conflict, RuleViolated, TooLarge, UnsupportedMediaType
from thenga.kernel.files.answers import AS_ATTACHMENT, attachment
from thenga.kernel.http.bodies import Body, Known, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, uploads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import matching, text
from thenga.kernel.values.json_writer import to_json

router = make_router("Opportunity / Documents")

DocumentId = Annotated[UUID, Path(alias="documentId")]
DocumentType = Literal[
    "tenderNotice",
    "biddingDocuments",
    "technicalSpecifications",
    "evaluationCriteria",
    "billOfQuantity",
    "clarifications",
    "addendum",
    "other",
]


class AddTenderDocument(Body):
    """A document to fetch from `url`, or to upload if there is none."""

    title: Annotated[str, text(1, 300), Field(description="Title of the document.")]
    url: Annotated[
        Annotated[str, matching(r"^https?://[!-~]{3,1990}$", 2000)] | None,
        Field(description="Address to fetch it from. Omit it to upload the file instead."),
    ] = None
    document_type: Annotated[DocumentType, Field(description="Kind of document.")] = "other"
    replaces_document_id: Annotated[
        UUID | None, Field(description="Document that this one replaces.")
    ] = None
    language: Annotated[
        Annotated[str, matching("^[a-z]{2}$", 2)] | None, Field(description="Language, ISO 639-1.")
    ] = None
    fetch: Annotated[bool, Field(description="Fetch it now, or again if that failed.")] = True


class TenderDocumentView(Stored):
    """A document of a tender, with four states that are independent of each other."""

    organization_id: Annotated[UUID, Field(description="Organization that manages the document.")]
    tender_opportunity_id: UUID
    title: str
    url: Annotated[str | None, Field(description="Address at the publisher, as text.")]
    document_type: str
    language: str | None
    replaces_document_id: UUID | None
    superseded_by: Annotated[UUID | None, Field(description="Document that replaced this one.")]
    own: Annotated[bool, Field(description="Whether only your organization sees it.")]
    fetch_state: FetchState
    scan_state: ScanState
    text_state: TextState
    index_state: IndexState
    sha256: str | None
    bytes: Annotated[int | None, Field(description="Size of the file.")]
    media_type: str | None
    pages: Annotated[int | None, Field(description="Number of pages.")]
    ocr_pages: Annotated[int | None, Field(description="Number of scanned pages.")]
    mean_confidence: Decimal | None
    reason_code: Annotated[str | None, Field(description="Reason it was not fetched or read.")]
    next_check_at: Annotated[datetime | None, Field(description="When the next step is due.")]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/opportunities/{self.tender_opportunity_id}/documents/{self.id}"

    @classmethod
    def of(cls, document: Document) -> "TenderDocumentView":
        values: dict[str, Any] = document.__dict__ | {
            "own": not document.shared,
            "scan_state": documents.scan_state(document),
            "bytes": document.size,
        }
        return cls.model_validate({name: values[name] for name in cls.model_fields})


class PageTextView(View):
    """The text of a page."""

    page: Annotated[int, Field(description="Number of the page.")]
    text: Annotated[str, Field(description="Text of the page.")]
    quality: Annotated[str, Field(description="`native` text of the file.")]
    confidence: Annotated[Decimal | None, Field(description="0 to 1, for recognised text.")]


@router.post(
    "/opportunities/{tenderOpportunityId}/documents",
    status_code=201,
    responses=problems(DocumentAddressRefused, RuleViolated),
)
async def add_tender_document(
    tender_id: TenderOpportunityId,
    body: AddTenderDocument,
    work: Annotated[Work, writes(Permission.DOCUMENT_CREATE)],
) -> TenderDocumentView | Known[TenderDocumentView]:
    """Add a document to a tender. If you do not manage the tender, only your organization sees it.

    If you already added this address, the response is 200 with that document.
    """
    await tenants.act_for_platform(work)
    fields = {
        name: getattr(body, name) for name in AddTenderDocument.model_fields if name != "fetch"
    }
    document, is_new = await documents.add(work, tender_id, fields, fetch=body.fetch)
    view = TenderDocumentView.of(document)
    return view if is_new else Known(view)


@router.get("/opportunities/{tenderOpportunityId}/documents/{documentId}")
async def get_tender_document(
    tender_id: TenderOpportunityId,
    document_id: DocumentId,
    read: Annotated[Reader, reads(Permission.DOCUMENT_READ)],
) -> TenderDocumentView:
    """Retrieve a document with its states."""
    await tenants.act_for_platform(read)
    return TenderDocumentView.of(await documents.get(read, tender_id, document_id))


@router.put(
    "/opportunities/{tenderOpportunityId}/documents/{documentId}/content",
    responses=problems(
        TooLarge, UnsupportedMediaType, Conflict, DocumentUnavailable, OpportunityNotKeeper
    ),
)
async def replace_tender_document_content(
    tender_id: TenderOpportunityId,
    document_id: DocumentId,
    work: Annotated[Work, uploads(Permission.DOCUMENT_CREATE)],
) -> TenderDocumentView:
    """Upload the file of a document. It can be read once it has passed the scan."""
    await tenants.act_for_platform(work)
    return TenderDocumentView.of(await documents.receive(work, tender_id, document_id))


@router.get(
    "/opportunities/{tenderOpportunityId}/documents/{documentId}/content",
    response_model=PageTextView,
    responses=AS_ATTACHMENT | problems(DocumentUnavailable),
)
async def get_tender_document_content(
    tender_id: TenderOpportunityId,
    document_id: DocumentId,
    read: Annotated[Reader, reads(Permission.DOCUMENT_READ)],
    page: Annotated[
        int | None, Query(ge=1, le=10_000, description="Page to return as JSON text.")
    ] = None,
) -> Response:
    """Download a document, or read the text of one `page` as JSON."""
    await tenants.act_for_platform(read)
    document = await documents.get(read, tender_id, document_id)
    if page is None:
        return attachment(read.host.files, documents.readable(document), document.title)
    found = await documents.page_text(read, document, page)
    view = PageTextView(
        page=found.number, text=found.text, quality=found.quality, confidence=found.confidence
    )
    return Response(to_json(view), media_type="application/json")
