"""Download links."""

from datetime import datetime
from typing import Annotated, ClassVar

from fastapi import Path, Response
from pydantic import Field

from thenga.domains.compliance.api.documents import DocumentId
from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.services import documents
from thenga.domains.compliance.services.documents import PurposeRequired
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Erased, FileNotClean, NotFound, RangeNotSatisfiable, StepUpRequired
from thenga.kernel.files.answers import AS_ATTACHMENT, attachment
from thenga.kernel.http.bodies import SHOWN_ONCE, Body, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import anyone_reads, writes
from thenga.kernel.http.limits import Rule
from thenga.kernel.http.reference import problems
from thenga.kernel.http.shared import Shared
from thenga.kernel.values.fields import text, whole

router = make_router("Compliance / Downloads")

Ticket = Annotated[
    str,
    Path(min_length=1, max_length=100, pattern="^[A-Za-z0-9_-]+$"),
    Field(description="Ticket in the download link."),
]


class CreateDownloadLink(Body):
    """Version to download and, for a personal document, the purpose."""

    version: Annotated[
        int | None, whole(1, 10_000), Field(description="Version. Defaults to the current one.")
    ] = None
    purpose: Annotated[
        str | None,
        text(3, 200),
        Field(description="Purpose of the download. Required for personal documents."),
    ] = None


class DownloadLinkView(View):
    """A link that downloads one version a few times within five minutes."""

    url: Annotated[str | None, SHOWN_ONCE, Field(description="Download URL. Shown only once.")]
    expires_at: Annotated[datetime, Field(description="When the link expires.")]
    sha256: Annotated[str, Field(description="SHA-256 of the file, in hexadecimal.")]
    own_path: ClassVar[None] = None  # its address is a secret that is shown once


def of_downloads(shared: Shared) -> Rule:
    """Links are unguessable; the limit only stops floods."""
    return shared.rules.address


@router.post(
    "/compliance/documents/{documentId}/download-links",
    status_code=201,
    responses=problems(FileNotClean, PurposeRequired, StepUpRequired, Erased),
)
async def create_download_link(
    document_id: DocumentId,
    body: CreateDownloadLink,
    work: Annotated[Work, writes(Permission.DOCUMENT_DOWNLOAD)],
) -> DownloadLinkView:
    """Create a link to a clean version. It expires after five minutes or five uses, and with your
    session. A personal document needs a purpose and recent identity verification."""
    link = await documents.make_link(work, document_id, version=body.version, purpose=body.purpose)
    path = f"{PREFIX}/compliance/downloads/{link.ticket}"
    base = work.host.settings.base_url.rstrip("/")
    return DownloadLinkView(url=f"{base}{path}", expires_at=link.expires_at, sha256=link.sha256)


@router.get(
    "/compliance/downloads/{ticket}",
    response_class=Response,
    responses=AS_ATTACHMENT | problems(NotFound, RangeNotSatisfiable),
)
async def get_download(
    ticket: Ticket, read: Annotated[Reader, anyone_reads(of_downloads)]
) -> Response:
    """Download a file with its link, always as an attachment."""
    download = await documents.open_ticket(read, ticket)
    return attachment(read.host.files, download.file, download.name)
