"""Evidence that no longer counts, or is to be looked at again, and why (CMP-13, 16, 21)."""

from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.compliance.lifecycles import EvidenceLifecycle, VerificationLifecycle
from thenga.domains.compliance.services.evidence import links, needs, proofs
from thenga.domains.compliance.tables import (
    Document,
    DocumentVersion,
    Evidence,
    EvidenceStatus,
    KnownReference,
    Verification,
    VerificationStatus,
)
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day

_MOST = 1000


async def make_stale(work: Work, evidence: Evidence, reason: str) -> None:
    """One evidence stops counting; one event."""
    if evidence.status is not EvidenceStatus.VERIFIED:
        return
    EvidenceLifecycle.stale(evidence, at=work.now)
    evidence.stale_reason, evidence.next_check_at = reason, None
    await work.save(evidence)
    await links.publish_change(work, evidence)


async def run_due_check(work: Work, evidence_id: UUID) -> None:
    """The last day of a proof or of its verification has passed."""
    evidence = await work.lock(Evidence, evidence_id)
    if evidence.next_check_at is None or evidence.next_check_at > work.now:
        return
    is_over = evidence.valid_until is not None and evidence.valid_until < local_day(work.now)
    if evidence.status is EvidenceStatus.VERIFIED:
        await make_stale(work, evidence, "expired" if is_over else "verification_expired")
    else:
        evidence.next_check_at = None
        await work.save(evidence)


async def replace_predecessor(work: Work, successor: Evidence) -> None:
    """The old proof steps back once its successor is verified (CMP-13)."""
    if successor.successor_of is not None:
        old = await work.lock(Evidence, successor.successor_of, beside=True)
        await make_stale(work, old, "replaced")


async def add_successors(work: Work, document: Document, version: DocumentVersion) -> None:
    """A clean new version gets an evidence for each one of the version before; the old ones keep
    counting until their last day or until the new one is verified."""
    statement = select(Evidence).where(
        Evidence.document_id == document.id, Evidence.document_version < version.number
    )
    found = await work.all(statement.order_by(Evidence.document_version.desc()), limit=_MOST)
    newest: dict[str, Evidence] = {}
    for one in found:
        newest.setdefault(one.period, one)
    cited = proofs.of_version(document, version)
    linked = await needs.links_of(work, [one.id for one in newest.values()])
    for old in newest.values():
        if linked[old.id]:
            await links.add_successor(work, old, cited, by=version.uploaded_by)


async def reopen_for_facts(work: Work, document: Document, version: DocumentVersion) -> None:
    """Changed facts of a checked proof are to be checked again (CMP-16)."""
    statement = select(Evidence).where(
        Evidence.document_id == document.id, Evidence.document_version == version.number
    )
    for found in await work.all(statement, limit=_MOST):
        evidence = await work.hold(found)
        evidence.valid_until = version.valid_until
        again = evidence.status not in (EvidenceStatus.SUBMITTED, EvidenceStatus.IN_REVIEW)
        if again:
            EvidenceLifecycle.resubmit(evidence, at=work.now)
            evidence.verified_until = evidence.next_check_at = evidence.stale_reason = None
        if work.changes(evidence):
            await work.save(evidence)
            await links.publish_change(work, evidence, reason="fact_changed" if again else None)


async def record_certificate(
    work: Work, *, certificate_id: UUID, fields: dict[str, Any], sequence: int
) -> None:
    """Learning issued or changed a certificate that evidence may name."""
    known = await work.find(
        KnownReference, domain="learning", type="certificate", reference_id=certificate_id
    )
    if known is None:
        await work.add(
            KnownReference(
                organization_id=work.organization_id,
                domain="learning",
                type="certificate",
                reference_id=certificate_id,
                sequence=sequence,
                **fields,
            )
        )
        return
    held = await work.hold(known)
    if held.sequence >= sequence:
        return
    held.sequence = sequence
    for name, value in fields.items():
        setattr(held, name, value)
    await work.save(held)


async def revoke_certificate(work: Work, certificate_id: UUID, *, sequence: int) -> None:
    """A revoked certificate proves nothing any more."""
    revoked: dict[str, Any] = {"revoked_at": work.now}
    await record_certificate(work, certificate_id=certificate_id, fields=revoked, sequence=sequence)
    statement = select(Evidence).where(
        Evidence.proof_key == f"learning/certificate/{certificate_id}"
    )
    for found in await work.all(statement, limit=_MOST):
        await make_stale(work, await work.hold(found), "certificate_revoked")


async def release_from(work: Work, user_id: UUID) -> None:
    """Somebody left: what they were verifying goes back to the queue (CMP-17)."""
    statement = select(Verification).where(
        Verification.assignee_user_id == user_id,
        Verification.status == VerificationStatus.IN_PROGRESS,
    )
    for found in await work.all(statement, limit=_MOST):
        verification = await work.hold(found)
        VerificationLifecycle.release(verification, at=work.now)
        verification.assignee_user_id = None
        await work.save(verification)
        await release_evidence(work, verification)


async def release_evidence(work: Work, verification: Verification) -> None:
    """Nobody looks at the evidence of this verification any more."""
    evidence = await work.lock(Evidence, verification.evidence_id, beside=True)
    if evidence.status is EvidenceStatus.IN_REVIEW:
        EvidenceLifecycle.release(evidence, at=work.now)
        await work.save(evidence)
        await links.publish_change(work, evidence)
