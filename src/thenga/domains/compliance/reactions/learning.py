"""What Compliance does when Learning publishes an event."""

from thenga.domains.compliance.reactions.declared import reactions
from thenga.domains.compliance.services import evidence, recomputing
from thenga.domains.learning import public as learning
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope


@reactions.on_type(learning.CertificateIssued.type)
async def record_certificate(work: Work, envelope: Envelope) -> None:
    """A certificate that is shared with a company can be a proof there."""
    event = learning.CertificateIssued.model_validate(envelope.data)
    if event.organization_id is None:
        return
    await evidence.record_certificate(
        work,
        certificate_id=event.certificate_id,
        fields={"valid_until": event.valid_until},
        sequence=envelope.sequence or 0,
    )


@reactions.on_type(learning.CertificateRevoked.type)
async def revoke_certificate(work: Work, envelope: Envelope) -> None:
    """A revoked certificate proves nothing any more (CMP-21)."""
    event = learning.CertificateRevoked.model_validate(envelope.data)
    if event.organization_id is None:
        return
    await evidence.revoke_certificate(work, event.certificate_id, sequence=envelope.sequence or 0)
    await recomputing.mark_due(work)
