"""What Compliance tells of the documents that contracts refer to (CON-46)."""

from thenga.domains.compliance import public as compliance
from thenga.domains.contract.reactions.declared import reactions
from thenga.domains.contract.services import workspaces
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope

_LIVE = ("verified", "submitted", "in_review")


@reactions.on_type(compliance.EvidenceVerified.type)
async def follow_verification(work: Work, envelope: Envelope) -> None:
    """A proof is verified."""
    event = compliance.EvidenceVerified.model_validate(envelope.data)
    await workspaces.record_reference_state(
        work, ("evidence", event.evidence_id), is_live=True, sequence=envelope.sequence or 0
    )


@reactions.on_type(compliance.EvidenceChanged.type)
async def follow_evidence(work: Work, envelope: Envelope) -> None:
    """A proof counts or does not count any more."""
    event = compliance.EvidenceChanged.model_validate(envelope.data)
    await workspaces.record_reference_state(
        work,
        ("evidence", event.evidence_id),
        is_live=event.status in _LIVE,
        sequence=envelope.sequence or 0,
    )


@reactions.on_type(compliance.DocumentExpired.type)
async def follow_expiry(work: Work, envelope: Envelope) -> None:
    """A document has expired."""
    event = compliance.DocumentExpired.model_validate(envelope.data)
    await workspaces.record_reference_state(
        work, ("document", event.document_id), is_live=False, sequence=envelope.sequence or 0
    )
