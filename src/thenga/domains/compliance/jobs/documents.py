"""Jobs that scan files and destroy them in the end."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.compliance.jobs.declared import jobs
from thenga.domains.compliance.services import documents, evidence, recomputing
from thenga.domains.compliance.tables import DocumentVersion
from thenga.kernel.db.work import Work
from thenga.kernel.files import contents
from thenga.kernel.files.contents import ContentStatus
from thenga.kernel.jobs.due import due
from thenga.kernel.jobs.run import Run

_BATCH = 500


@jobs.implements(documents.inspect_version)
async def inspect_version(run: Run, *, version_id: UUID) -> None:
    """Scan a file, look into it, and say what became of it; destroy what is to go.

    The scanner must have passed its probe within the hour, else the file waits (CMP-10).
    """
    async with run.reading() as read:
        version = await read.get(DocumentVersion, version_id)
        is_over = documents.is_due_for_destruction(version, read.now)
    if is_over:
        await _destroy(run, version_id)
        return
    structure = documents.Structure(run.host.files)

    async def record(work: Work, row: DocumentVersion) -> None:
        document = await documents.record_outcome(work, row, pages=structure.pages)
        if row.content_status is ContentStatus.CLEAN:
            await evidence.add_successors(work, document, row)
        await recomputing.mark_due(work)

    await contents.inspect(run, DocumentVersion, version_id, examine=structure.examine, then=record)


jobs.moved[DocumentVersion] = (inspect_version, "version_id")


@jobs.every(timedelta(seconds=10))
async def find_to_inspect_version(work: Work) -> None:
    """Find files that wait for their scan, their bytes or their end."""
    for organization_id, version_id in await due(work, DocumentVersion, limit=_BATCH):
        work.enqueue(inspect_version, organization_id=organization_id, version_id=version_id)


async def _destroy(run: Run, version_id: UUID) -> None:
    """The object goes before the row says so: a crash between them repeats it."""
    async with run.reading() as read:
        key = (await read.get(DocumentVersion, version_id)).object_key
    if key is not None:
        await run.host.files.delete(key)
    async with run.working() as work:
        await documents.destroy(work, version_id)
        await recomputing.mark_due(work)
