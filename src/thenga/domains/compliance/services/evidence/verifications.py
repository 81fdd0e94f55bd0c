"""Verifications: somebody who did not bring a proof is asked to look at it (CMP-17)."""

from dataclasses import dataclass
from datetime import datetime, time
from uuid import UUID

from sqlalchemy import select

from thenga.domains.compliance import public
from thenga.domains.compliance.services import documents
from thenga.domains.compliance.services.evidence import proofs, tickets
from thenga.domains.compliance.tables import Document, Evidence, Verification, VerificationStatus
from thenga.kernel.db import configuration
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.law import EXTRA_HOLIDAYS
from thenga.kernel.errors import Duplicate, RuleViolated
from thenga.kernel.values.calendar import add_working_days, local_day, local_instant

OPEN = (VerificationStatus.PENDING, VerificationStatus.IN_PROGRESS)
PLATFORM = "platform"
_PLATFORM_DAYS = 2
_END_OF_DAY = time(17)
_SORTS = {"createdAt": None, "dueAt": Verification.due_at}


@dataclass(frozen=True, slots=True)
class VerificationFilters:
    """What a list of verifications is narrowed to."""

    status: VerificationStatus | None = None
    assignee_user_id: UUID | None = None
    evidence_id: UUID | None = None
    due_before: datetime | None = None


async def readable_verification(read: Reader, verification_id: UUID) -> Verification:
    """A verification for a caller who may read the document that it is about (CMP-48)."""
    verification = await read.get(Verification, verification_id)
    await proofs.readable_evidence(read, verification.evidence_id)
    return verification


async def request(
    work: Work, evidence: Evidence, *, method: str, requested_from: str
) -> Verification:
    """Ask another member, or the platform; one open request for each evidence and method."""
    if requested_from == PLATFORM:
        await _refuse_personal(work, evidence)
    await _refuse_second(work, evidence, method)
    verification = Verification(
        organization_id=evidence.organization_id,
        evidence_id=evidence.id,
        method=method,
        requested_from=requested_from,
        requested_by=work.actor.person_id,
        evidence_sha256=evidence.sha256,
        evidence_version=evidence.document_version,
        due_at=await _due_at(work) if requested_from == PLATFORM else None,
    )
    await work.add(verification)
    if requested_from == PLATFORM:
        work.enqueue(tickets.open_ticket, verification_id=verification.id)
    work.publish(
        public.VerificationRequested(
            organization_id=verification.organization_id,
            verification_id=verification.id,
            evidence_id=evidence.id,
            method=method,
            requested_from=requested_from,
            due_at=verification.due_at,
        )
    )
    return verification


async def list_verifications(
    read: Reader, paged: Paged, filters: VerificationFilters
) -> Slice[Verification]:
    """The verifications of the organization, without those of proofs that the caller may not
    read."""
    sight = await documents.sight_of(read)
    shown = select(Evidence.id).where(
        Evidence.organization_id == read.organization_id,
        sight.names_no_hidden(read.organization_id, Evidence.document_id),
    )
    statement = where_given(
        select(Verification).where(Verification.evidence_id.in_(shown)),
        (Verification.status, filters.status),
        (Verification.assignee_user_id, filters.assignee_user_id),
        (Verification.evidence_id, filters.evidence_id),
    )
    if filters.due_before is not None:
        statement = statement.where(Verification.due_at < filters.due_before)
    return await read.page(statement, paged, _SORTS[paged.sort])


async def _refuse_personal(read: Reader, evidence: Evidence) -> None:
    """Staff of the platform never read personal documents, so they cannot verify one."""
    if evidence.document_id is None:
        return
    document = await read.get(Document, evidence.document_id)
    if document.document_class == documents.PERSONAL:
        raise RuleViolated(
            "The platform does not read personal documents. Ask a member to verify it.",
            rule="CMP-48",
        )


async def _refuse_second(read: Reader, evidence: Evidence, method: str) -> None:
    statement = select(Verification).where(
        Verification.evidence_id == evidence.id,
        Verification.method == method,
        among(Verification.status, OPEN),
    )
    for one in await read.all(statement, limit=1):
        raise Duplicate(
            "This evidence is already waiting for verification.", existing={"id": str(one.id)}
        )


async def _due_at(work: Work) -> datetime:
    """Two business days, until the end of the second."""
    extra = await configuration.value(work, EXTRA_HOLIDAYS)
    return local_instant(add_working_days(local_day(work.now), _PLATFORM_DAYS, extra), _END_OF_DAY)
