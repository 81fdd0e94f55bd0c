"""What Organization does when others tell something."""

from datetime import date
from uuid import UUID

from thenga.domains.compliance import public as compliance
from thenga.domains.identity import public as identity
from thenga.domains.learning import public as learning
from thenga.domains.organization.services import (
    evidence,
    facts,
    offers,
    organizations,
    people,
    records,
)
from thenga.domains.organization.tables import EvidenceState, MemberStatus
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("organization", is_sandbox=organizations.is_sandbox)


@reactions.on_type(identity.MembershipChanged.type)
async def know_who_works_here(work: Work, envelope: Envelope) -> None:
    """Who belongs here is known by reference; whoever leaves signs no more (ORG-31).

    The first owner whom Identity names confirms the ownership (ORG-2).
    """
    event = identity.MembershipChanged.model_validate(envelope.data)
    ref = await facts.follow_membership(
        work,
        membership_id=event.membership_id,
        user_id=event.user_id,
        status=event.status,
        owner="owner" in event.role_codes,
        sequence=envelope.sequence or 0,
    )
    await people.refresh_user(work, ref)


@reactions.on_type("identity.InvitationSent.v1")
async def know_invited(work: Work, envelope: Envelope) -> None:
    """Somebody who is invited can be described before they accept (ORG-31)."""
    await facts.follow_invitation(
        work, invitation_id=_id(envelope, "invitationId"), status=MemberStatus.INVITED
    )


@reactions.on_type("identity.InvitationAccepted.v1")
async def know_accepted(work: Work, envelope: Envelope) -> None:
    """Whoever accepted is a member, with what was said of the invited (ORG-31)."""
    await people.accept_user(
        work,
        invitation_id=_id(envelope, "invitationId"),
        membership_id=_id(envelope, "membershipId"),
        user_id=_id(envelope, "userId"),
    )


@reactions.on_type("identity.InvitationEnded.v1")
async def know_uninvited(work: Work, envelope: Envelope) -> None:
    """An invitation that was declined, revoked or ran out leads to nobody."""
    ref = await facts.follow_invitation(
        work, invitation_id=_id(envelope, "invitationId"), status=MemberStatus.LEFT
    )
    await people.refresh_user(work, ref)


@reactions.on(compliance.DocumentUploaded)
async def know_document(work: Work, event: compliance.DocumentUploaded) -> None:
    """A document that is there can be evidence (ORG-21)."""
    touched = await evidence.record_evidence(
        work,
        domain="compliance",
        kind="document",
        evidence_id=event.document_id,
        version=event.document_version,
        state=EvidenceState.LIVE,
        verified=False,
        valid_until=event.valid_until,
    )
    await _judge_again(work, touched)


@reactions.on(compliance.DocumentExpired)
async def drop_expired_document(work: Work, event: compliance.DocumentExpired) -> None:
    """What rests on an expired document is not proven any more (ORG-21)."""
    touched = await evidence.expire_evidence(
        work, event.document_id, version=event.document_version
    )
    await _judge_again(work, touched)


@reactions.on(compliance.EvidenceLinked)
async def know_evidence(work: Work, event: compliance.EvidenceLinked) -> None:
    """Evidence that is told of is live; nobody has looked at it yet (ORG-21)."""
    await _know(work, event, verified=False)


@reactions.on(compliance.EvidenceVerified)
async def trust_evidence(work: Work, event: compliance.EvidenceVerified) -> None:
    """Verified evidence proves a past project by itself (ORG-23)."""
    await _know(work, event, verified=True)


@reactions.on(compliance.VerificationFailed)
async def drop_failed_evidence(work: Work, event: compliance.VerificationFailed) -> None:
    """Evidence that was found wrong proves nothing (ORG-21)."""
    touched = await evidence.record_evidence(
        work,
        domain="compliance",
        kind="evidence",
        evidence_id=event.evidence_id,
        version=event.proof_version,
        state=EvidenceState.STALE,
        verified=False,
        valid_until=None,
    )
    await _judge_again(work, touched)


@reactions.on(learning.CertificateIssued)
async def know_certificate(work: Work, event: learning.CertificateIssued) -> None:
    """A certificate that was shared with the company can be evidence (ORG-21)."""
    if event.organization_id is not None:
        await _know_certificate(work, event.certificate_id, EvidenceState.LIVE, event.valid_until)


@reactions.on(learning.CertificateRevoked)
async def drop_revoked_certificate(work: Work, event: learning.CertificateRevoked) -> None:
    """A certificate that was revoked proves nothing (ORG-21)."""
    if event.organization_id is not None:
        await _know_certificate(work, event.certificate_id, EvidenceState.STALE, None)


@reactions.on(compliance.ReadinessChanged)
async def look_at_health_again(work: Work, event: compliance.ReadinessChanged) -> None:
    """Readiness is a part of health (ORG-27)."""
    await records.mark_health_due(work)


async def _know(
    work: Work,
    event: compliance.EvidenceLinked | compliance.EvidenceVerified,
    *,
    verified: bool,
) -> None:
    touched = await evidence.record_evidence(
        work,
        domain="compliance",
        kind="evidence",
        evidence_id=event.evidence_id,
        version=event.proof_version,
        state=EvidenceState.LIVE,
        verified=verified,
        valid_until=event.valid_until,
        proof_id=event.proof.id,
    )
    await _judge_again(work, touched)


async def _know_certificate(
    work: Work, certificate_id: UUID, state: EvidenceState, valid_until: date | None
) -> None:
    touched = await evidence.record_evidence(
        work,
        domain="learning",
        kind="certificate",
        evidence_id=certificate_id,
        version=1,
        state=state,
        verified=state is EvidenceState.LIVE,
        valid_until=valid_until,
    )
    await _judge_again(work, touched)


async def _judge_again(work: Work, evidence_ids: list[UUID]) -> None:
    await offers.recheck_capabilities(work, evidence_ids)
    await offers.recheck_past_projects(work, evidence_ids)


def _id(envelope: Envelope, name: str) -> UUID:
    return UUID(envelope.data[name])
