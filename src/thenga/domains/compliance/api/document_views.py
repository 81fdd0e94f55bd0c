"""Documents as clients send and see them."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.compliance.services.documents import UNDATED
from thenga.domains.compliance.tables import Document, DocumentStatus, DocumentVersion
from thenga.domains.compliance.values import windows
from thenga.domains.compliance.values.windows import Validity
from thenga.kernel.db.reader import Reader
from thenga.kernel.files.contents import ContentStatus
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import BigInt, Day, lines, matching, text

SubjectKind = Literal["organization", "director", "person", "partner"]
DocumentClass = Literal["ordinary", "confidential", "personal"]
OrganizationField = Annotated[UUID, Field(description="Organization. It must be your own.")]
TypeCode = Annotated[
    str, matching("^[a-z][a-z0-9_]{1,59}$", 60), Field(description="Code of the document type.")
]
Title = Annotated[
    str | None, text(1, 160), Field(description="Title. Null shows the document type.")
]
Stated = (
    bool
    | BigInt
    | Annotated[float, Field(ge=-1e15, le=1e15)]
    | Annotated[str, text(1, 500)]
    | Annotated[list[Annotated[str, text(1, 60)]], Field(max_length=20)]
)
FieldName = Annotated[str, matching("^[A-Za-z][A-Za-z0-9]{0,39}$", 40)]
Attributes = Annotated[
    dict[FieldName, Stated] | None,
    Field(
        max_length=30,
        description="What the document says, by the fields of its type. Sealed fields are stored "
        "encrypted and never shown.",
    ),
]
IssuedOn = Annotated[Day | None, Field(description="Day of issue or certification.")]
ExpiresOn = Annotated[Day | None, Field(description="Last valid day printed on the document.")]
Number = Annotated[str | None, text(1, 60), Field(description="Number of the document.")]
Issuer = Annotated[str | None, text(1, 160), Field(description="Issuer of the document.")]
HolderName = Annotated[str | None, text(1, 160), Field(description="Holder named in the document.")]
Period = Annotated[str | None, text(1, 20), Field(description="Period it covers, such as 2026.")]


class DocumentSubject(Body):
    """Subject of a document."""

    kind: Annotated[SubjectKind, Field(description="Kind of subject.")] = "organization"
    ref: Annotated[UUID | None, Field(description="ID of the director, person or partner.")] = None


class DocumentRenewal(Body):
    """A renewal that was applied for. It does not extend the document's validity."""

    expected_on: Annotated[Day, Field(description="Expected day of the renewed document.")]
    reference: Annotated[str | None, text(1, 80), Field(description="Reference of the issuer.")] = (
        None
    )
    note: Annotated[str | None, lines(1, 500), Field(description="Note about the renewal.")] = None


class AddDocument(Body):
    """A new document. Upload its file with PUT."""

    organization_id: OrganizationField
    document_type_code: TypeCode
    title: Title = None
    file_name: Annotated[
        str | None, text(1, 120), Field(description="File name with its extension.")
    ] = None
    subject: Annotated[
        DocumentSubject | None,
        Field(description="Subject of the document. Defaults to the company."),
    ] = None
    purpose: Annotated[
        str | None,
        text(3, 200),
        Field(description="Purpose of keeping a personal document. Required for personal types."),
    ] = None
    basis: Annotated[
        str | None,
        text(3, 200),
        Field(description="Legal basis for keeping it. Required for personal types."),
    ] = None
    issued_on: IssuedOn = None
    expires_on: ExpiresOn = None
    number: Number = None
    issuer: Issuer = None
    holder_name: HolderName = None
    period: Period = None
    attributes: Attributes = None
    renewal: Annotated[DocumentRenewal | None, Field(description="A renewal in progress.")] = None


class ChangeDocument(Body):
    """Fields to update. Facts apply to the newest version that was not refused."""

    title: Title = None
    subject: Annotated[
        DocumentSubject | None,
        Field(description="Subject of the document. Defaults to the company."),
    ] = None
    issued_on: IssuedOn = None
    expires_on: ExpiresOn = None
    number: Number = None
    issuer: Issuer = None
    holder_name: HolderName = None
    period: Period = None
    attributes: Attributes = None
    renewal: Annotated[
        DocumentRenewal | None, Field(description="A renewal in progress. Null removes it.")
    ] = None


class SubjectView(View):
    """Subject of a document."""

    kind: Annotated[SubjectKind, Field(description="Kind of subject.")]
    ref: Annotated[UUID | None, Field(description="ID of the director, person or partner.")]


class RenewalView(View):
    """A renewal in progress."""

    expected_on: Annotated[date, Field(description="Expected day of the renewed document.")]
    reference: Annotated[str | None, Field(description="Reference of the issuer.")]
    note: Annotated[str | None, Field(description="Note about the renewal.")]


class LastDay(View):
    """The last valid day of a document."""

    on: Annotated[date, Field(description="Last valid day, inclusive.")]
    basis: Annotated[
        Literal["printed", "rule", "cycle"],
        Field(description="Whether it is printed, or set by a rule or a yearly cycle."),
    ]


class UploadTarget(View):
    """Where to upload the file."""

    method: Annotated[Literal["PUT"], Field(description="Method of the upload.")]
    path: Annotated[str, Field(description="Path of the upload.")]
    max_bytes: Annotated[int, Field(description="Maximum size in bytes.")]
    media_types: Annotated[list[str], Field(description="Accepted media types.")]
    until: Annotated[
        datetime | None, Field(description="When the document lapses if no file is uploaded.")
    ]


class DocumentVersionView(View):
    """One version of a document: its file and its facts."""

    number: Annotated[int, Field(description="Version number.")]
    content_status: Annotated[ContentStatus, Field(description="Upload and scan status.")]
    refusal_reason: Annotated[str | None, Field(description="Reason the file was refused.")]
    file_name: Annotated[str | None, Field(description="File name.")]
    sha256: Annotated[str | None, Field(description="SHA-256 of the file, in hexadecimal.")]
    bytes: Annotated[int | None, Field(description="Size in bytes.")]
    media_type: Annotated[str | None, Field(description="Media type detected from the content.")]
    pages: Annotated[int | None, Field(description="Number of pages of a PDF.")]
    uploaded_by: Annotated[UUID | None, Field(description="Who uploaded the file.")]
    scanned_at: Annotated[datetime | None, Field(description="When the content was scanned.")]
    issued_on: IssuedOn
    expires_on: ExpiresOn
    document_number: Annotated[str | None, Field(description="Number of the document.")]
    issuer: Annotated[str | None, Field(description="Issuer of the document.")]
    holder_name: Annotated[str | None, Field(description="Holder named in the document.")]
    period: Annotated[str | None, Field(description="Period it covers.")]
    attributes: Annotated[
        dict[str, Any], Field(description="Facts stated in the document, without sealed fields.")
    ]
    facts_by: Annotated[UUID | None, Field(description="Who stated the facts.")]

    @classmethod
    def of(cls, version: DocumentVersion) -> "DocumentVersionView":
        return cls.shown(version.__dict__ | {"bytes": version.size})


class DocumentLink(View):
    """Evidence that uses a document, and a requirement it supports."""

    evidence_id: Annotated[UUID, Field(description="ID of the evidence.")]
    requirement_id: Annotated[UUID, Field(description="ID of the requirement.")]


class DocumentView(Stored):
    """A document with its versions, newest first."""

    organization_id: Annotated[UUID, Field(description="Organization that owns it.")]
    document_type_code: Annotated[str, Field(description="Code of the document type.")]
    document_class: Annotated[
        DocumentClass,
        Field(
            description="Who may read it. `ordinary`: everyone with the permission to read "
            "documents. `confidential`: those with "
            "`compliance:confidential_document:read` (owner, administrator, compliance officer, "
            "bid manager, finance manager, approver) and the person or key that uploaded its "
            "newest file. `personal`: those with `compliance:personal_document:read` (owner, "
            "administrator, compliance officer). For everyone else it does not exist."
        ),
    ]
    title: Annotated[str | None, Field(description="Title.")]
    subject: Annotated[SubjectView, Field(description="Subject of the document.")]
    purpose: Annotated[str | None, Field(description="Purpose of keeping a personal document.")]
    basis: Annotated[str | None, Field(description="Legal basis for keeping it.")]
    status: Annotated[DocumentStatus, Field(description="Status.")]
    content_status: Annotated[
        ContentStatus, Field(description="Upload and scan status of the newest version.")
    ]
    current_version: Annotated[
        int | None, Field(description="Newest version that passed the scan. Null until then.")
    ]
    validity: Annotated[
        Validity | None, Field(description="Validity of the current version today.")
    ]
    valid_until: Annotated[
        LastDay | None, Field(description="Last valid day. Null if there is none.")
    ]
    days_left: Annotated[
        int | None, Field(description="Days until the last valid day. Negative after it.")
    ]
    window: Annotated[
        int | None,
        Field(description="Narrowest open window in days. 0 if expired, null if none is open."),
    ]
    renewal: Annotated[RenewalView | None, Field(description="A renewal in progress.")]
    destroy_on: Annotated[
        date | None, Field(description="Last day before a personal document is destroyed.")
    ]
    versions: Annotated[list[DocumentVersionView], Field(description="Versions, newest first.")]
    upload: Annotated[
        UploadTarget | None,
        Field(description="Where to upload the file. Null once it was received."),
    ] = None
    links: Annotated[
        list[DocumentLink] | None, Field(description="Evidence that uses it. Null in lists.")
    ] = None

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/compliance/documents/{self.id}"

    @classmethod
    def of(
        cls, document: Document, versions: Sequence[DocumentVersion], read: Reader, **more: Any
    ) -> "DocumentView":
        current = next((v for v in versions if v.number == document.current_version), None)
        return cls.model_validate(
            {
                **document.__dict__,
                "subject": {"kind": document.subject_kind, "ref": document.subject_ref},
                "content_status": versions[0].content_status,
                "current_version": document.current_version or None,
                "renewal": _renewal(document),
                "versions": [DocumentVersionView.of(one) for one in versions],
                **_days(document, current, local_day(read.now)),
                **more,
            }
        )


class DocumentPage(PageOf[DocumentView]):
    """One page of documents."""

    personal_hidden: Annotated[
        int,
        Field(description="Number of all personal documents you may not read, without filters."),
    ]


def _renewal(document: Document) -> dict[str, Any] | None:
    if document.renewal_expected_on is None:
        return None
    return {
        "expected_on": document.renewal_expected_on,
        "reference": document.renewal_reference,
        "note": document.renewal_note,
    }


def _days(document: Document, current: DocumentVersion | None, today: date) -> dict[str, Any]:
    """Validity, last day, days left and window, derived for today (CMP-24, CMP-25)."""
    last = document.valid_until
    if current is None:
        return {"validity": None, "valid_until": None, "days_left": None, "window": None}
    validity = windows.validity_on(
        today,
        last_day=last,
        is_undated=document.valid_basis == UNDATED,
        issued_on=current.issued_on,
        windows=windows.DEFAULT_WINDOWS,
    )
    if last is None:
        return {"validity": validity, "valid_until": None, "days_left": None, "window": None}
    return {
        "validity": validity,
        "valid_until": {"on": last, "basis": document.valid_basis},
        "days_left": windows.days_left(last, today),
        "window": windows.window_of(last, today, windows.DEFAULT_WINDOWS),
    }
