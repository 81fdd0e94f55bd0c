"""Jobs about evidence and verifications."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.compliance.jobs.declared import jobs
from thenga.domains.compliance.services import evidence, recomputing
from thenga.domains.compliance.tables import Evidence
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due


@when_due(jobs, Evidence, every=timedelta(minutes=10))
async def end_evidence(work: Work, *, evidence_id: UUID) -> None:
    """The last day of a proof or of its verification has passed (CMP-21)."""
    await evidence.run_due_check(work, evidence_id)
    await recomputing.mark_due(work)


@jobs.implements(evidence.open_ticket)
async def open_ticket(work: Work, *, verification_id: UUID) -> None:
    """Put a verification into the queue of platform verifiers."""
    await evidence.write_ticket(work, verification_id)


@jobs.implements(evidence.close_ticket)
async def close_ticket(work: Work, *, verification_id: UUID) -> None:
    """Take a verification out of the queue of platform verifiers."""
    await evidence.end_ticket(work, verification_id)
