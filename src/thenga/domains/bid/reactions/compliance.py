"""What Compliance tells of evidence: rows of the matrix are computed again (BID-16)."""

from uuid import UUID

from thenga.domains.bid.reactions.declared import reactions
from thenga.domains.bid.services import proposals
from thenga.domains.compliance import public as compliance
from thenga.kernel.db.work import Work


@reactions.on(compliance.EvidenceVerified)
async def recompute_verified(work: Work, event: compliance.EvidenceVerified) -> None:
    """An evidence was found right."""
    await _recompute(work, event.evidence_id)


@reactions.on(compliance.EvidenceChanged)
async def recompute_changed(work: Work, event: compliance.EvidenceChanged) -> None:
    """An evidence has another status or end."""
    await _recompute(work, event.evidence_id)


@reactions.on(compliance.VerificationFailed)
async def recompute_failed(work: Work, event: compliance.VerificationFailed) -> None:
    """An evidence was found wrong."""
    await _recompute(work, event.evidence_id)


async def _recompute(work: Work, evidence_id: UUID) -> None:
    for workspace_id in sorted(await proposals.citing(work, [evidence_id])):
        work.enqueue(proposals.refresh_matrix, workspace_id=workspace_id)
