"""Decisions: by a person who did not bring the proof, about exactly these bytes (CMP-16..18)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Literal
from uuid import UUID

from thenga.domains.compliance import public
from thenga.domains.compliance.lifecycles import EvidenceLifecycle, VerificationLifecycle
from thenga.domains.compliance.services import documents
from thenga.domains.compliance.services.evidence import (
    links,
    proofs,
    staleness,
    tickets,
    verifications,
)
from thenga.domains.compliance.services.evidence.verifications import PLATFORM
from thenga.domains.compliance.tables import (
    Assurance,
    Document,
    DocumentVersion,
    Evidence,
    EvidenceStatus,
    Verification,
)
from thenga.kernel.db.acting import same_person
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import explain
from thenga.kernel.errors import Forbidden, Problem, RuleViolated, SamePerson, extensions
from thenga.kernel.values.calendar import local_day, local_midnight

Outcome = Literal["verified", "failed", "inconclusive", "needs_revision"]
FAILED_REASONS = (
    *("forged", "not_issued", "status_negative", "expired"),
    *("mismatch", "wrong_document", "illegible"),
)
DOUBTS = ("source_down", "no_record_yet", "partial_match", "ambiguous")
_REASONS: Mapping[str, tuple[str, ...]] = {"failed": FAILED_REASONS, "inconclusive": DOUBTS}
_DAYS = {Assurance.INTERNAL: 180, Assurance.INDEPENDENT: 365}
_REVIEWABLE = (EvidenceStatus.SUBMITTED, EvidenceStatus.IN_REVIEW)


class EvidenceMoved(Problem):
    """The proof changed after you reviewed it. Read the evidence again, review the new version
    and send its `sha256` as `evidenceSha256`."""

    code, status, title = "compliance-evidence-moved", 409, "The evidence has changed"
    members = extensions(currentSha256=(str | None, "SHA-256 of the current proof."))


@dataclass(frozen=True, slots=True)
class Decided:
    """Result of a verification."""

    outcome: Outcome
    evidence_sha256: str
    reason_code: str | None = None
    found: dict[str, Any] | None = None
    source: dict[str, Any] | None = None
    note: str | None = None
    valid_until: date | None = None


async def decide(work: Work, verification_id: UUID, decided: Decided) -> Verification:
    """Record what a person found; the evidence follows, except where nothing could be said."""
    _check_reason(decided)
    await verifications.readable_verification(work, verification_id)
    verification = await work.lock(Verification, verification_id)
    evidence = await work.lock(Evidence, verification.evidence_id, beside=True)
    return await _record(work, verification, evidence, decided)


async def decide_at_once(
    work: Work, verification: Verification, evidence: Evidence, decided: Decided
) -> Verification:
    """Decide a verification in the request that asks for it."""
    _check_reason(decided)
    held = await work.hold(verification)
    return await _record(work, held, await work.hold(evidence), decided)


async def claim(work: Work, verification_id: UUID) -> Verification:
    """Take a verification from the queue; nobody else needs to look at it meanwhile."""
    await verifications.readable_verification(work, verification_id)
    verification = await work.lock(Verification, verification_id)
    evidence = await work.lock(Evidence, verification.evidence_id, beside=True)
    await _check_person(work, evidence, verification)
    if VerificationLifecycle.claim(verification, at=work.now):
        verification.assignee_user_id = work.actor.id
        await work.save(verification)
        if evidence.status is EvidenceStatus.SUBMITTED:
            EvidenceLifecycle.review(evidence, at=work.now)
            await work.save(evidence)
            await links.publish_change(work, evidence)
    elif verification.assignee_user_id != work.actor.id:
        raise Forbidden("Someone else is working on this verification. Choose another one.")
    return verification


async def cancel(work: Work, verification_id: UUID) -> Verification:
    """Take a request back; only the person who made it can."""
    await verifications.readable_verification(work, verification_id)
    verification = await work.lock(Verification, verification_id)
    if not same_person(work, verification.requested_by):
        raise Forbidden("Only the person who requested this verification can cancel it.")
    if VerificationLifecycle.cancel(verification, at=work.now):
        await work.save(verification)
        await staleness.release_evidence(work, verification)
        _close_ticket(work, verification)
    return verification


async def _record(
    work: Work, verification: Verification, evidence: Evidence, decided: Decided
) -> Verification:
    await _check_person(work, evidence, verification)
    await _check_unmoved(work, evidence, decided)
    moves = {
        "verified": VerificationLifecycle.verify,
        "failed": VerificationLifecycle.fail,
        "inconclusive": VerificationLifecycle.doubt,
        "needs_revision": VerificationLifecycle.return_,
    }
    if verification.checked_at is not None:
        moves[decided.outcome](verification, at=work.now)  # refused, unless it is there already
        return verification
    moves[decided.outcome](verification, at=work.now)
    by_platform = verification.requested_from == PLATFORM
    assurance = Assurance.INDEPENDENT if by_platform else Assurance.INTERNAL
    verification.reason_code, verification.note = decided.reason_code, decided.note
    verification.found, verification.source = decided.found, decided.source
    verification.checked_by, verification.checked_at = work.actor.id, work.now
    verification.evidence_sha256 = decided.evidence_sha256
    if decided.outcome == "verified":
        verification.assurance = assurance
        verification.valid_until = _last_day(work, evidence, assurance, decided.valid_until)
    await work.save(verification)
    await _follow(work, verification, evidence, decided)
    if by_platform:
        _close_ticket(work, verification)
    return verification


async def _follow(
    work: Work, verification: Verification, evidence: Evidence, decided: Decided
) -> None:
    """What a decision means for the evidence; `inconclusive` changes no status (CMP-18)."""
    evidence.latest_verification_id = verification.id
    told: dict[str, Any] = {"verification_id": verification.id, "method": verification.method}
    explain(
        evidence,
        at=work.now,
        by=work.actor.id,
        code=decided.reason_code or decided.outcome,
        text=decided.note,
    )
    if decided.outcome == "inconclusive":
        if evidence.status is EvidenceStatus.IN_REVIEW:
            EvidenceLifecycle.release(evidence, at=work.now)
        await work.touch(evidence)
        facts = await links.facts(work, evidence)
        work.publish(public.VerificationInconclusive(**_short(facts, decided), **told))
        return
    if decided.outcome == "verified":
        _verify(work, evidence, verification)
        await work.touch(evidence)
        facts = await links.facts(work, evidence)
        work.publish(public.EvidenceVerified(assurance=evidence.assurance, **facts, **told))
        await staleness.replace_predecessor(work, evidence)
        return
    move = EvidenceLifecycle.reject if decided.outcome == "failed" else EvidenceLifecycle.return_
    move(evidence, at=work.now)
    evidence.assurance = Assurance.DECLARED
    await work.touch(evidence)
    if decided.outcome == "failed":
        facts = await links.facts(work, evidence)
        work.publish(public.VerificationFailed(**_short(facts, decided), **told))
    await links.publish_change(work, evidence)


def _verify(work: Work, evidence: Evidence, verification: Verification) -> None:
    EvidenceLifecycle.verify(evidence, at=work.now)
    evidence.assurance = Assurance(str(verification.assurance))
    evidence.verified_until = verification.valid_until
    evidence.stale_reason = None
    if verification.valid_until is not None:
        evidence.next_check_at = local_midnight(verification.valid_until + timedelta(days=1))


def _short(facts: Mapping[str, Any], decided: Decided) -> dict[str, Any]:
    names = ("organization_id", "evidence_id", "proof_version", "requirement_codes")
    return {name: facts[name] for name in names} | {"reason_code": decided.reason_code or ""}


def _check_reason(decided: Decided) -> None:
    allowed = _REASONS.get(decided.outcome)
    if allowed is not None and decided.reason_code not in allowed:
        raise RuleViolated(
            f"Give a `reasonCode` for {decided.outcome}: {', '.join(allowed)}.", rule="CMP-18"
        )


async def _check_person(work: Work, evidence: Evidence, verification: Verification) -> None:
    """The decider did not upload the version, link the evidence or state its facts (CMP-17)."""
    is_staff = documents.is_staff(work)
    if is_staff != (verification.requested_from == PLATFORM):
        raise Forbidden(
            "This verification was requested from the platform. A platform verifier must decide it."
            if not is_staff
            else "This verification was requested from the company. A member must decide it."
        )
    brought_by = {evidence.linked_by}
    if evidence.document_id is not None:
        version = await proofs.version_of(work, evidence)
        brought_by |= {version.uploaded_by, version.facts_by}
    if same_person(work, *brought_by):
        raise SamePerson(
            "You uploaded, linked or described this proof. Someone else must verify it."
        )


async def _check_unmoved(work: Work, evidence: Evidence, decided: Decided) -> None:
    """The decision is about the bytes that count now, not about replaced ones (CMP-16)."""
    current = evidence.sha256
    if evidence.document_id is not None:
        document = await work.get(Document, evidence.document_id)
        if document.current_version > evidence.document_version:
            newest = await work.find(
                DocumentVersion, document_id=document.id, number=document.current_version
            )
            current = newest.sha256 if newest is not None else None
    if current != decided.evidence_sha256:
        raise EvidenceMoved(currentSha256=current)


def _last_day(
    work: Work, evidence: Evidence, assurance: Assurance, wished: date | None
) -> date | None:
    """By default 365 or 180 days, never past the last day of the proof (CMP-18)."""
    today = local_day(work.now)
    if wished is not None and wished < today:
        raise RuleViolated(
            "A verification cannot end before today. Send today or a later day.",
            rule="CMP-18",
            field="validUntil",
        )
    usual = today + timedelta(days=_DAYS[assurance])
    days = [day for day in (wished or usual, evidence.valid_until) if day is not None]
    return min(days)


def _close_ticket(work: Work, verification: Verification) -> None:
    if verification.requested_from == PLATFORM:
        work.enqueue(tickets.close_ticket, verification_id=verification.id)
