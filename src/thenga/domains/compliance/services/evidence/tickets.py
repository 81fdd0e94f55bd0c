"""The queue of platform verifiers: what companies have asked the platform to verify."""

from uuid import UUID

from sqlalchemy import select

from thenga.domains.compliance.services import documents
from thenga.domains.compliance.tables import (
    Document,
    Evidence,
    Verification,
    VerificationTicket,
)
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.sandbox import clock_offset
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.errors import NotFound

# The ticket is the platform's own row, which a company cannot write.
open_ticket = job_stub(
    "compliance.open_ticket", form=Form.QUEUED, key="{verification_id}", as_system=True
)
close_ticket = job_stub(
    "compliance.close_ticket", form=Form.QUEUED, key="{verification_id}", as_system=True
)


async def write_ticket(work: Work, verification_id: UUID) -> None:
    """Put a request into the queue: identifiers and a due time, no content."""
    verification = await work.get(Verification, verification_id)
    known = await work.find(VerificationTicket, verification_id=verification_id)
    if known is not None or verification.due_at is None:
        return
    evidence = await work.get(Evidence, verification.evidence_id)
    type_code = None
    if evidence.document_id is not None:
        type_code = (await work.get(Document, evidence.document_id)).document_type_code
    await work.add(
        VerificationTicket(
            verification_id=verification.id,
            tenant_id=verification.organization_id,
            evidence_id=evidence.id,
            document_type_code=type_code or evidence.statement_code,
            due_at=verification.due_at,
        )
    )


async def end_ticket(work: Work, verification_id: UUID) -> None:
    """Take a decided or cancelled request out of the queue."""
    known = await work.find(VerificationTicket, verification_id=verification_id)
    if known is not None and known.closed_at is None:
        ticket = await work.hold(known)
        ticket.closed_at = work.now
        await work.save(ticket)


async def list_tickets(read: Reader, paged: Paged) -> Slice[VerificationTicket]:
    """Open requests of all companies; for staff only."""
    if not documents.is_staff(read):
        raise NotFound()
    statement = select(VerificationTicket).where(VerificationTicket.closed_at.is_(None))
    by = VerificationTicket.due_at if paged.sort == "dueAt" else None
    return await read.page(statement, paged, by)


async def enter_tenant(read: Reader, verification_id: UUID) -> None:
    """Staff go on for the company that asked for this verification, by its clock."""
    if not documents.is_staff(read):
        return
    async with read.separate_reader() as other:
        ticket = await other.find(VerificationTicket, verification_id=verification_id)
    if ticket is None:
        raise NotFound()
    ahead = await clock_offset(read.host, read.domain, ticket.tenant_id)
    await read.switch_scope(organization_id=ticket.tenant_id)
    await read.enter_organization(ticket.tenant_id, ahead=ahead)
