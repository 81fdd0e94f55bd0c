"""What Opportunity tells of a tender's requirements and documents."""

from typing import Literal
from uuid import UUID

from thenga.kernel.declare.event import Event

FetchState = Literal["none", "queued", "fetching", "stored", "failed", "refused", "gone"]
ScanState = Literal["none", "pending", "clean", "infected"]
TextState = Literal[
    "none",
    "queued",
    "extracting",
    "extracted",
    "partial",
    "needs_ocr",
    "failed",
    "unsupported",
]
IndexState = Literal["none", "indexed", "dropped"]


class TenderRequirementsChanged(
    Event,
    type="opportunity.TenderRequirementsChanged.v1",
    subject="requirement_set_id",
):
    """The set of requirements of a tender changed.

    The shared set has the identifier of the tender. `shared` is false for the set that a company
    keeps for itself: it has an identifier and a version of its own, and only that company is told.
    """

    organization_id: UUID | None = None
    requirement_set_id: UUID
    tender_opportunity_id: UUID
    requirement_set_version: int
    shared: bool
    added: list[UUID]
    changed: list[UUID]
    removed: list[UUID]


class TenderDocumentChanged(
    Event, type="opportunity.TenderDocumentChanged.v1", subject="document_id"
):
    """A document of a tender was added, fetched, read or replaced."""

    organization_id: UUID | None = None
    document_id: UUID
    tender_opportunity_id: UUID
    document_type: str
    fetch_state: FetchState
    scan_state: ScanState
    text_state: TextState
    index_state: IndexState
    sha256: str | None
    superseded_by: UUID | None = None


EVENTS = (TenderRequirementsChanged, TenderDocumentChanged)
