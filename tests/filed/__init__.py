"""A domain of tests whose rows have content: papers that are sent, scanned and read."""

from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from uuid import UUID

import sqlalchemy as sa
from fastapi import Path as InPath
from fastapi import Response

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Col, col
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Jobs
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.permission import Audience, Granted
from thenga.kernel.files import contents
from thenga.kernel.files.answers import AS_ATTACHMENT, attachment
from thenga.kernel.http.bodies import Body, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, uploads, writes
from thenga.kernel.jobs.due import when_due
from thenga.kernel.jobs.run import Run
from thenga.kernel.values.fields import text

MIGRATIONS = Path(__file__).parent / "migrations"
MOST_BYTES = 128 * 1024
MEDIA_TYPES = frozenset({"application/pdf", "text/plain", "application/zip"})


class Permission(StrEnum):
    READ = "filed:paper:read"
    WRITE = "filed:paper:write"


class Paper(contents.ContentRow, table="filed.paper", kind=Kind.PRIVATE):
    name: Col[str] = col(sa.Text)


class AddPaper(Body):
    name: Annotated[str, text(1, 120)]


class PaperView(Stored):
    name: str
    content_status: contents.ContentStatus
    sha256: str | None
    size: int | None
    media_type: str | None
    refusal_reason: str | None


jobs = Jobs("filed")
router = make_router("Filed / Paper")
PaperId = Annotated[UUID, InPath(alias="paperId")]


@when_due(jobs, Paper, every=timedelta(seconds=1), outside=True)
async def inspect_paper(run: Run, *, paper_id: UUID) -> None:
    await contents.inspect(run, Paper, paper_id, examine=None)


async def add_paper(body: AddPaper, work: Annotated[Work, writes(Permission.WRITE)]) -> PaperView:
    """Begin a paper."""
    paper = Paper(organization_id=work.organization_id, name=body.name)
    contents.await_content(paper, now=work.now)
    return PaperView.shown((await work.add(paper)).__dict__)


async def put_content(
    paper_id: PaperId, work: Annotated[Work, uploads(Permission.WRITE)]
) -> PaperView:
    """Bring the bytes of a paper."""
    async with work.separate_reader() as read:
        paper = await read.get(Paper, paper_id)
    if await contents.receive(work, paper, most_bytes=MOST_BYTES, media_types=MEDIA_TYPES):
        work.enqueue(inspect_paper, paper_id=paper.id)
    return PaperView.shown(paper.__dict__)


async def put_content_late(
    paper_id: PaperId, work: Annotated[Work, uploads(Permission.WRITE)]
) -> PaperView:
    """Bring the bytes of a paper while a transaction waits for them, which is a mistake."""
    paper = await work.get(Paper, paper_id)
    await contents.receive(work, paper, most_bytes=MOST_BYTES, media_types=MEDIA_TYPES)
    return PaperView.shown(paper.__dict__)


async def get_paper(
    paper_id: PaperId, read: Annotated[Reader, reads(Permission.READ)]
) -> PaperView:
    """One paper."""
    return PaperView.shown((await read.get(Paper, paper_id)).__dict__)


async def get_content(
    paper_id: PaperId, read: Annotated[Reader, reads(Permission.READ)]
) -> Response:
    """The bytes of a paper."""
    paper = await read.get(Paper, paper_id)
    return attachment(read.host.files, contents.clean(paper), paper.name)


for path, function, method, more in (
    ("/filed/papers", add_paper, "POST", {"status_code": 201}),
    ("/filed/papers/{paperId}", get_paper, "GET", {}),
    ("/filed/papers/{paperId}/content", put_content, "PUT", {}),
    ("/filed/papers/{paperId}/late-content", put_content_late, "PUT", {}),
    ("/filed/papers/{paperId}/content", get_content, "GET", {"responses": AS_ATTACHMENT}),
):
    function.__domain__ = "filed"  # type: ignore[attr-defined]  # a domain's module says it itself
    router.add_api_route(path, function, methods=[method], **more)

DOMAIN = Domain(
    name="filed",
    home=Path(__file__).parent,
    routers=(router,),
    permissions=(
        Granted(Permission.READ, "Read papers", (Audience.TENANT,), ("viewer",)),
        Granted(Permission.WRITE, "Write papers", (Audience.TENANT,)),
    ),
    lifecycles=(contents.ContentLifecycle,),
    jobs=jobs,
)
