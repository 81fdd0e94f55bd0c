"""What Compliance tells of documents, and how others describe and open them."""

from abc import abstractmethod
from datetime import date, datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.port import Port, idempotent

_VALUE = ConfigDict(frozen=True)
_IN_EVENT = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

DocumentClass = Literal["ordinary", "confidential", "personal"]
CitedState = Literal["live", "stale", "moved", "erased", "forbidden", "unknown"]


class DocumentUploaded(Event, type="compliance.DocumentUploaded.v1", subject="document_id"):
    """A version of a document is there and clean."""

    organization_id: UUID
    document_id: UUID
    document_version: int
    document_type_code: str
    valid_until: date | None = None
    document_class: str = "ordinary"
    sha256: str | None = None
    issued_on: date | None = None
    replaces: int | None = None


class DocumentChanged(Event, type="compliance.DocumentChanged.v1", subject="document_id"):
    """Facts of a document were changed; the names of the fields, never their values."""

    organization_id: UUID
    document_id: UUID
    document_version: int
    document_type_code: str
    valid_until: date | None
    changed_fields: list[str]


class DocumentRefused(Event, type="compliance.DocumentRefused.v1", subject="document_id"):
    """The bytes of a version are infected, cannot be checked or never came."""

    organization_id: UUID
    document_id: UUID
    document_version: int
    document_type_code: str
    content_status: str
    refusal_reason: str | None


class RenewalStarted(Event, type="compliance.RenewalStarted.v1", subject="document_id"):
    """Somebody applied for a renewal. It does not make the document valid for longer."""

    organization_id: UUID
    document_id: UUID
    document_version: int
    document_type_code: str
    expected_on: date


class RenewalInProgress(BaseModel):
    """When the renewed document is expected."""

    model_config = _IN_EVENT

    expected_on: date


class DocumentExpiring(Event, type="compliance.DocumentExpiring.v1", subject="document_id"):
    """A document has come within a window before its last valid day; told once for each window."""

    organization_id: UUID
    document_id: UUID
    document_version: int
    document_type_code: str
    valid_until: date
    window: int
    days_left: int
    requirement_codes: list[str]
    renewal: RenewalInProgress | None = None
    late: bool = False


class DocumentExpired(Event, type="compliance.DocumentExpired.v1", subject="document_id"):
    """The last valid day of a document has passed."""

    organization_id: UUID
    document_id: UUID
    document_version: int
    document_type_code: str
    valid_until: date
    requirement_codes: list[str] = []
    renewal: RenewalInProgress | None = None
    late: bool = False


class DocumentRef(BaseModel):
    """A citation of a document, or of one version of it."""

    model_config = _VALUE

    document_id: UUID
    version: int | None = None


class DocumentCard(BaseModel):
    """A document as another domain sees it. `stale` means expired, or replaced by a version."""

    model_config = _VALUE

    ref: DocumentRef
    type: str | None = None
    state: CitedState
    content_status: str | None = None
    version: int | None = None
    valid_until: date | None = None
    media_type: str | None = None
    bytes: int | None = None
    sha256: str | None = None


class OpenedDocument(BaseModel):
    """A clean file: what it is, and a sealed ticket that only our own processes can open.

    What is made of it keeps its class, and the default is the strictest (CMP-48). It goes with the
    file, which a personal document loses at `destroy_at`.
    """

    model_config = _VALUE

    document_class: DocumentClass = "personal"
    sha256: str
    bytes: int
    media_type: str
    ticket: str
    expires_at: datetime
    destroy_at: datetime | None = None


class Documents(Port, name="compliance.documents", timeout=1.0):
    """The papers of a company. Silence means unknown.

    `open` asks Identity whether the person on whose behalf it is opened may download it, and
    writes down who opened what for which purpose. The same key gives the same file again.
    `classes` says for whom each document is, in the order asked; an unknown one is personal.
    """

    @abstractmethod
    @idempotent
    async def describe(
        self, *, organization_id: UUID, refs: list[DocumentRef]
    ) -> list[DocumentCard]: ...

    @abstractmethod
    @idempotent
    async def classes(
        self, *, organization_id: UUID, document_ids: list[UUID]
    ) -> list[DocumentClass]: ...

    @abstractmethod
    @idempotent
    async def open(
        self,
        *,
        organization_id: UUID,
        document_id: UUID,
        version: int | None,
        purpose: str,
        on_behalf_of: UUID,
        key: str,
    ) -> OpenedDocument: ...


EVENTS = (
    DocumentUploaded,
    DocumentChanged,
    DocumentRefused,
    RenewalStarted,
    DocumentExpiring,
    DocumentExpired,
)
