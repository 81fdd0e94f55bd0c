"""Jobs that tell what expires."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.compliance.jobs.declared import jobs
from thenga.domains.compliance.services import expiry, recomputing
from thenga.domains.compliance.tables import Document
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due


@when_due(jobs, Document, every=timedelta(minutes=10))
async def tell_expiries(work: Work, *, document_id: UUID) -> None:
    """Tell the windows of a document that have opened, each once (CMP-25)."""
    if await expiry.tell_due(work, document_id):
        await recomputing.mark_due(work)
