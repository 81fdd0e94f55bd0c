"""Files of bids."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Response
from pydantic import Field

from thenga.domains.bid.api.parameters import FileId, WorkspaceId
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.services import files
from thenga.domains.bid.services.files import MEDIA_TYPES, MOST_BYTES, Purpose
from thenga.domains.bid.tables import BidFile
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import (
    Conflict,
    FileNotClean,
    RangeNotSatisfiable,
    StepUpRequired,
    TooLarge,
    UnsupportedMediaType,
    UploadTimeout,
    ValidationFailed,
)
from thenga.kernel.files.answers import AS_ATTACHMENT, attachment
from thenga.kernel.files.contents import ContentStatus
from thenga.kernel.http.bodies import Body, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, uploads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import text

router = make_router("Bid / Files")


class AddBidFile(Body):
    """A file to upload."""

    name: Annotated[str, text(1, 200), Field(description="Name of the file.")]
    purpose: Annotated[Purpose, Field(description="Purpose of the file.")]
    price: Annotated[
        bool,
        Field(description="Whether it contains prices. Only people who see prices can read it."),
    ] = False


class BidFileUpload(View):
    """How to upload the content."""

    method: Annotated[str, Field(description="HTTP method of the upload.")]
    path: Annotated[str, Field(description="Path of the upload.")]
    max_bytes: Annotated[int, Field(ge=1, description="Maximum size in bytes.")]
    media_types: Annotated[list[str], Field(description="Accepted media types.")]


class BidFileView(Stored):
    """A file of a bid."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Workspace of the bid.")]
    name: Annotated[str, Field(description="Name of the file.")]
    purpose: Annotated[str, Field(description="Purpose of the file.")]
    price: Annotated[bool, Field(description="Whether it contains prices.")]
    document_class: Annotated[
        Literal["confidential", "personal"] | None,
        Field(
            description="Strictest class of the documents in an archive, or of the numbers in a "
            "printed form. Only callers who may read such documents can read it. Null if none."
        ),
    ]
    content_status: Annotated[
        ContentStatus, Field(description="Upload and scan status. Only clean files can be read.")
    ]
    sha256: Annotated[str | None, Field(description="SHA-256 of the content.")]
    size: Annotated[int | None, Field(description="Size in bytes.")]
    media_type: Annotated[str | None, Field(description="Media type, detected from the content.")]
    refusal_reason: Annotated[str | None, Field(description="Why the file was refused.")]
    scanned_at: Annotated[datetime | None, Field(description="Time of the scan.")]
    upload: Annotated[BidFileUpload | None, Field(description="Where to upload the content.")]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/bids/files/{self.id}"

    @classmethod
    def of(cls, file: BidFile) -> "BidFileView":
        upload = None
        if file.content_status is ContentStatus.AWAITING_CONTENT:
            upload = BidFileUpload(
                method="PUT",
                path=f"{PREFIX}/bids/files/{file.id}/content",
                max_bytes=MOST_BYTES,
                media_types=list(MEDIA_TYPES),
            )
        return cls.model_validate(file.__dict__ | {"upload": upload})


@router.post("/bids/workspaces/{workspaceId}/files", status_code=201)
async def add_bid_file(
    workspace_id: WorkspaceId,
    body: AddBidFile,
    work: Annotated[Work, writes(Permission.FILE_CREATE)],
) -> BidFileView:
    """Create a file. Upload its content to `upload.path` within 24 hours."""
    file = await files.add_file(
        work, workspace_id, name=body.name, purpose=body.purpose, price=body.price
    )
    return BidFileView.of(file)


@router.put(
    "/bids/files/{fileId}/content",
    responses=problems(TooLarge, UnsupportedMediaType, Conflict, UploadTimeout, ValidationFailed),
)
async def replace_bid_file_content(
    file_id: FileId, work: Annotated[Work, uploads(Permission.FILE_CREATE)]
) -> BidFileView:
    """Upload the content of a file. It is scanned before anyone can read it.

    Uploading the same content again changes nothing.
    """
    return BidFileView.of((await files.receive(work, file_id)).file)


@router.get("/bids/files/{fileId}")
async def get_bid_file(
    file_id: FileId, read: Annotated[Reader, reads(Permission.FILE_READ)]
) -> BidFileView:
    """Retrieve the details of a file."""
    return BidFileView.of(await files.get_file(read, file_id))


@router.get(
    "/bids/files/{fileId}/content",
    response_class=Response,
    responses=AS_ATTACHMENT | problems(FileNotClean, RangeNotSatisfiable, StepUpRequired),
)
async def get_bid_file_content(
    file_id: FileId, read: Annotated[Reader, reads(Permission.FILE_READ)]
) -> Response:
    """Download the content of a clean file.

    An archive that holds personal documents is for people who may read those, with recent identity
    verification; one that holds confidential documents for callers who may read those. The same
    holds for forms that print identity numbers (personal), a tax PIN or a CSD number
    (confidential). Each download of such a file is recorded in the audit trail.
    """
    download = await files.download(read, file_id)
    return attachment(read.host.files, download.file, download.name)
