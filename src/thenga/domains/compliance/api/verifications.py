"""Verifications of evidence."""

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.compliance.api.document_views import FieldName, OrganizationField, Stated
from thenga.domains.compliance.api.organizations import check_acting
from thenga.domains.compliance.lifecycles import VerificationLifecycle
from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.services import documents, evidence, recomputing
from thenga.domains.compliance.services.evidence import (
    Decided,
    EvidenceMoved,
    Outcome,
    VerificationFilters,
)
from thenga.domains.compliance.tables import (
    Verification,
    VerificationStatus,
    VerificationTicket,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import (
    Duplicate,
    Forbidden,
    InvalidTransition,
    NotFound,
    RuleViolated,
    SamePerson,
)
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Day, Instant, lines, matching, text

router = make_router("Compliance / Verifications")

VerificationId = Annotated[
    UUID, Path(alias="verificationId", description="ID of the verification.")
]
Digest = Annotated[
    str,
    matching("^[0-9a-f]{64}$", 64),
    Field(description="SHA-256 of the proof that you looked at, in hexadecimal."),
]
ReasonCode = Annotated[
    str | None,
    matching("^[a-z_]{1,40}$", 40),
    Field(
        description="Reason. For failed: forged, not_issued, status_negative, expired, mismatch, "
        "wrong_document, illegible. For inconclusive: source_down, no_record_yet, partial_match, "
        "ambiguous."
    ),
]
Method = Annotated[Literal["manual"], Field(description="Verification method.")]
RequestedFrom = Annotated[
    Literal["internal", "platform"], Field(description="Who verifies it: a member or the platform.")
]


class VerificationSource(Body):
    """Source that was checked."""

    name: Annotated[str, text(1, 160), Field(description="Name of the register or issuer.")]
    reference: Annotated[
        str | None, text(1, 160), Field(description="Reference of the search.")
    ] = None
    document_id: Annotated[UUID | None, Field(description="Document with the printout.")] = None


class _Finding(Body):
    """Result of a verification."""

    reason_code: ReasonCode = None
    found: Annotated[
        dict[FieldName, Stated] | None,
        Field(max_length=30, description="Values found, by field."),
    ] = None
    source: Annotated[VerificationSource | None, Field(description="Source that you checked.")] = (
        None
    )
    note: Annotated[str | None, lines(1, 1000), Field(description="Note about the decision.")] = (
        None
    )
    valid_until: Annotated[
        Day | None,
        Field(description="Last valid day of the verification. Limited to that of the proof."),
    ] = None


class RequestVerification(_Finding):
    """Evidence to verify. With `outcome` it is decided at once."""

    organization_id: OrganizationField
    evidence_id: Annotated[UUID, Field(description="Evidence to verify.")]
    method: Method
    requested_from: RequestedFrom = "internal"
    outcome: Annotated[Outcome | None, Field(description="Outcome. Decides it at once.")] = None
    evidence_sha256: Annotated[
        Digest | None, Field(description="SHA-256 of the proof. Required with `outcome`.")
    ] = None


class DecideVerification(_Finding):
    """Exactly one of `outcome` and `claim`."""

    outcome: Annotated[Outcome | None, Field(description="Outcome of the verification.")] = None
    evidence_sha256: Annotated[
        Digest | None, Field(description="SHA-256 of the proof. Required with `outcome`.")
    ] = None
    claim: Annotated[Literal[True] | None, Field(description="Claim it from the queue.")] = None


class VerificationSourceView(View):
    """Source that was checked."""

    name: Annotated[str, Field(description="Name of the register or issuer.")]
    reference: Annotated[str | None, Field(description="Reference of the search.")]
    document_id: Annotated[UUID | None, Field(description="Document with the printout.")]


class VerificationView(Stored):
    """A verification of evidence."""

    organization_id: Annotated[UUID, Field(description="Organization that owns it.")]
    evidence_id: Annotated[UUID, Field(description="Evidence to verify.")]
    method: Annotated[str, Field(description="Verification method.")]
    requested_from: Annotated[str, Field(description="Who verifies it: a member or the platform.")]
    requested_by: Annotated[UUID | None, Field(description="Who requested it.")]
    status: Annotated[VerificationStatus, Field(description="Status.")]
    is_expired: Annotated[bool, Field(description="Whether its last day has passed.")]
    assurance: Annotated[str | None, Field(description="Assurance that it provides.")]
    evidence_sha256: Annotated[str | None, Field(description="SHA-256 of the proof.")]
    assignee_user_id: Annotated[UUID | None, Field(description="Assigned verifier.")]
    due_at: Annotated[datetime | None, Field(description="When the decision is due.")]
    reason_code: Annotated[str | None, Field(description="Reason for the outcome.")]
    found: Annotated[dict[str, Any] | None, Field(description="Values found, by field.")]
    source: Annotated[VerificationSourceView | None, Field(description="Source that was checked.")]
    note: Annotated[str | None, Field(description="Note about the decision.")]
    valid_until: Annotated[date | None, Field(description="Last valid day of the verification.")]
    checked_by: Annotated[UUID | None, Field(description="Who decided it.")]
    checked_at: Annotated[datetime | None, Field(description="When it was decided.")]
    allowed_moves: Annotated[list[AllowedMove], Field(description="Possible moves.")]

    @classmethod
    def of(cls, row: Verification, read: Reader) -> "VerificationView":
        ended = row.valid_until is not None and row.valid_until < local_day(read.now)
        moves = VerificationLifecycle.allowed(row, read.now)
        return cls.model_validate({**row.__dict__, "is_expired": ended, "allowed_moves": moves})

    @classmethod
    def of_ticket(cls, ticket: VerificationTicket) -> "VerificationView":
        """An entry of the platform's queue: identifiers and a due time, no content."""
        return cls.model_validate(
            {
                **ticket.__dict__,
                **dict.fromkeys(_NOT_IN_TICKETS),
                "id": ticket.verification_id,
                "organization_id": ticket.tenant_id,
                "method": "manual",
                "requested_from": "platform",
                "status": VerificationStatus.PENDING,
                "is_expired": False,
                "allowed_moves": [],
            }
        )


_NOT_IN_TICKETS = (
    *("requested_by", "assurance", "evidence_sha256", "reason_code", "found", "source"),
    *("note", "valid_until", "checked_by", "checked_at"),
)


@router.post(
    "/compliance/verifications",
    status_code=201,
    responses=problems(SamePerson, Duplicate, EvidenceMoved, RuleViolated),
)
async def request_compliance_verification(
    body: RequestVerification, work: Annotated[Work, writes(Permission.VERIFICATION_REQUEST)]
) -> VerificationView:
    """Request a verification from another member or from the platform.

    With `outcome` you decide it at once, which needs the permission to decide verifications.
    """
    check_acting(work, body.organization_id)
    decided = None if body.outcome is None else _decided(body)
    if decided is not None:
        await documents.demand(work, Permission.VERIFICATION_DECIDE)
    found = await evidence.readable_evidence(work, body.evidence_id)
    verification = await evidence.request(
        work, found, method=body.method, requested_from=body.requested_from
    )
    if decided is not None:
        verification = await evidence.decide_at_once(work, verification, found, decided)
        await recomputing.mark_due(work)
    return VerificationView.of(verification, work)


@router.get("/compliance/verifications")
async def list_verifications(
    read: Annotated[Reader, reads(Permission.VERIFICATION_READ)],
    page: Annotated[Paged, paged("createdAt", "dueAt", default="createdAt")],
    organization_id: Annotated[
        UUID | None,
        Query(
            alias="organizationId",
            description="Organization to read. It must be your own. Required without `queue`.",
        ),
    ] = None,
    queue: Annotated[
        Literal["platform"] | None,
        Query(description="Requests of all companies to the platform. Staff only."),
    ] = None,
    status: Annotated[VerificationStatus | None, Query(description="Filter by status.")] = None,
    assignee: Annotated[UUID | None, Query(description="Filter by assignee.")] = None,
    evidence_id: Annotated[
        UUID | None, Query(alias="evidenceId", description="Filter by evidence.")
    ] = None,
    due_before: Annotated[
        Instant | None, Query(alias="dueBefore", description="Due before this time.")
    ] = None,
) -> PageOf[VerificationView]:
    """List verifications. Platform verifiers list the open requests with `queue=platform`."""
    if queue is not None:
        tickets = await evidence.list_tickets(read, page)
        return PageOf[VerificationView].of(tickets, VerificationView.of_ticket)
    if organization_id is None:
        raise NotFound("Name your organization with `organizationId`.")
    check_acting(read, organization_id)
    filters = VerificationFilters(
        status=status, assignee_user_id=assignee, evidence_id=evidence_id, due_before=due_before
    )
    found = await evidence.list_verifications(read, page, filters)
    return PageOf[VerificationView].of(found, lambda row: VerificationView.of(row, read))


@router.get("/compliance/verifications/{verificationId}")
async def get_verification(
    verification_id: VerificationId,
    read: Annotated[Reader, reads(Permission.VERIFICATION_READ)],
) -> VerificationView:
    """Get a verification."""
    await evidence.enter_tenant(read, verification_id)
    return VerificationView.of(await evidence.readable_verification(read, verification_id), read)


@router.post(
    "/compliance/verifications/{verificationId}/decide",
    responses=problems(SamePerson, EvidenceMoved, InvalidTransition, RuleViolated, Forbidden),
)
async def decide_verification(
    verification_id: VerificationId,
    body: DecideVerification,
    work: Annotated[Work, writes(Permission.VERIFICATION_DECIDE)],
) -> VerificationView:
    """Decide a verification, or claim it first.

    You cannot decide on a document you uploaded, evidence you linked or facts you stated.
    """
    if (body.outcome is None) == (body.claim is None):
        raise RuleViolated("Send exactly one of `outcome` and `claim`.", rule="CMP-18")
    await evidence.enter_tenant(work, verification_id)
    if body.claim:
        row = await evidence.claim(work, verification_id)
    else:
        row = await evidence.decide(work, verification_id, _decided(body))
    view = VerificationView.of(row, work)
    await recomputing.mark_due(work)
    return view


@router.post(
    "/compliance/verifications/{verificationId}/cancel",
    responses=problems(InvalidTransition, Forbidden),
)
async def cancel_verification(
    verification_id: VerificationId,
    work: Annotated[Work, writes(Permission.VERIFICATION_REQUEST)],
) -> VerificationView:
    """Cancel a verification that you requested and that nobody has decided."""
    view = VerificationView.of(await evidence.cancel(work, verification_id), work)
    await recomputing.mark_due(work)
    return view


def _decided(body: RequestVerification | DecideVerification) -> Decided:
    assert body.outcome is not None  # noqa: S101  # seen by the caller
    if body.evidence_sha256 is None:
        raise RuleViolated("Send `evidenceSha256` with the outcome.", rule="CMP-16")
    source: dict[str, Any] | None = None
    if body.source is not None:
        source = body.source.model_dump(mode="json")
    return Decided(
        outcome=body.outcome,
        evidence_sha256=body.evidence_sha256,
        reason_code=body.reason_code,
        found=body.found,
        source=source,
        note=body.note,
        valid_until=body.valid_until,
    )
