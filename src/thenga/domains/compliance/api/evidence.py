"""Evidence: proofs and the requirements they serve."""

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.compliance.api.document_views import OrganizationField
from thenga.domains.compliance.api.organizations import check_acting
from thenga.domains.compliance.lifecycles import EvidenceLifecycle
from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.services import evidence, recomputing
from thenga.domains.compliance.services.evidence import Cited, EvidenceDetail, Fit, Unlinkable
from thenga.domains.compliance.tables import Assurance, EvidenceStatus, VerificationStatus
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Duplicate, Erased, FileNotClean, RuleViolated
from thenga.kernel.http.bodies import Body, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import lines, matching, text, whole

router = make_router("Compliance / Evidence")

EvidenceId = Annotated[UUID, Path(alias="evidenceId", description="ID of the evidence.")]
RequirementIds = Annotated[
    list[UUID], Field(max_length=50, description="Requirements to link or unlink.")
]
EvidenceNote = Annotated[str | None, lines(1, 500), Field(description="Note for reviewers.")]


class EvidenceReference(Body):
    """A proof from another domain, such as a learning certificate."""

    domain: Annotated[
        str, matching("^[a-z]{1,40}$", 40), Field(description="Domain that keeps it.")
    ]
    type: Annotated[
        str, matching("^[a-z][A-Za-z]{0,59}$", 60), Field(description="Type of the resource.")
    ]
    id: Annotated[UUID, Field(description="ID of the resource.")]


class Declaration(Body):
    """A statement with its answers: `bidder_disclosure` (SBD 4), `municipal_bidder_disclosure`
    (MBD 4, 8 and 9) or one that your own requirement accepts."""

    statement_code: Annotated[
        str, matching("^[a-z][a-z0-9_]{1,59}$", 60), Field(description="Code of the statement.")
    ]
    answers: Annotated[
        dict[
            Annotated[str, matching("^[A-Za-z0-9._]{1,40}$", 40)],
            Annotated[str, lines(1, 2000)] | bool,
        ],
        Field(
            max_length=40,
            description="Answer to each question, by its code. If one is missing, the problem "
            "lists them in `questions`.",
        ),
    ]


class LinkEvidence(Body):
    """Exactly one document, reference or declaration, and the requirements it supports."""

    organization_id: OrganizationField
    document_id: Annotated[UUID | None, Field(description="Document that is the proof.")] = None
    document_version: Annotated[
        int | None, whole(1, 10_000), Field(description="Version. Defaults to the current one.")
    ] = None
    reference: Annotated[
        EvidenceReference | None, Field(description="Proof from another domain.")
    ] = None
    declaration: Annotated[Declaration | None, Field(description="Statement to declare.")] = None
    requirement_ids: Annotated[
        list[UUID],
        Field(min_length=1, max_length=50, description="Requirements that the proof supports."),
    ]
    period: Annotated[str | None, text(1, 20), Field(description="Period it covers.")] = None
    note: EvidenceNote = None


class ChangeEvidence(Body):
    """Requirements to link and unlink, and the note."""

    add_requirement_ids: RequirementIds = []
    remove_requirement_ids: RequirementIds = []
    note: EvidenceNote = None


class EvidenceLinkView(View):
    """A linked requirement, and whether the proof fits it today."""

    requirement_id: Annotated[UUID, Field(description="ID of the requirement.")]
    requirement_code: Annotated[str | None, Field(description="Catalogue code, if any.")]
    fit: Annotated[Fit, Field(description="Whether the proof fits. Free text needs review.")]
    reasons: Annotated[list[str], Field(description="Why it does not fit or needs review.")]
    valid_until: Annotated[
        date | None, Field(description="Last day on which the proof supports this requirement.")
    ]


class EvidenceVerificationView(View):
    """Summary of a verification of the evidence."""

    verification_id: Annotated[UUID, Field(description="ID of the verification.")]
    status: Annotated[VerificationStatus, Field(description="Status.")]
    reason_code: Annotated[str | None, Field(description="Reason for the outcome.")]
    checked_at: Annotated[datetime | None, Field(description="When it was decided.")]


class ProofReferenceView(View):
    """A proof from another domain."""

    domain: Annotated[str, Field(description="Domain that keeps it.")]
    type: Annotated[str, Field(description="Type of the resource.")]
    id: Annotated[UUID, Field(description="ID of the resource.")]


class EvidenceView(Stored):
    """A proof, the requirements it is linked to, and its verifications."""

    organization_id: Annotated[UUID, Field(description="Organization that owns it.")]
    proof_kind: Annotated[
        Literal["document", "reference", "declaration"], Field(description="Kind of proof.")
    ]
    document_id: Annotated[UUID | None, Field(description="Document that is the proof.")]
    document_version: Annotated[int | None, Field(description="Version of the document.")]
    reference: Annotated[ProofReferenceView | None, Field(description="Proof from another domain.")]
    statement_code: Annotated[str | None, Field(description="Declared statement.")]
    answers: Annotated[
        dict[str, str | bool] | None, Field(description="Answers of the declaration.")
    ]
    period: Annotated[str | None, Field(description="Period it covers.")]
    note: Annotated[str | None, Field(description="Note for reviewers.")]
    status: Annotated[EvidenceStatus, Field(description="Status.")]
    status_reason: Annotated[str | None, Field(description="Why it has this status.")]
    stale_reason: Annotated[str | None, Field(description="Why it no longer counts.")]
    assurance: Annotated[Assurance, Field(description="How strongly the proof was verified.")]
    sha256: Annotated[str | None, Field(description="SHA-256 of the proof, in hexadecimal.")]
    valid_until: Annotated[date | None, Field(description="Last valid day of the proof.")]
    verified_until: Annotated[date | None, Field(description="Last valid day of its verification.")]
    latest_verification_id: Annotated[
        UUID | None, Field(description="Latest decided verification.")
    ]
    successor_of: Annotated[UUID | None, Field(description="Evidence that this one replaces.")]
    linked_by: Annotated[UUID | None, Field(description="Who linked the proof.")]
    links: Annotated[list[EvidenceLinkView], Field(description="Linked requirements.")]
    verifications: Annotated[
        list[EvidenceVerificationView], Field(description="Verifications, newest first.")
    ]
    chain: Annotated[list[UUID], Field(description="Earlier evidence in the chain, latest first.")]
    allowed_moves: Annotated[list[AllowedMove], Field(description="Possible moves.")]

    @classmethod
    def of(cls, detail: EvidenceDetail, read: Reader) -> "EvidenceView":
        row = detail.evidence
        return cls.model_validate(
            {
                **row.__dict__,
                "document_version": row.document_version or None,
                "period": row.period or None,
                "status_reason": row.status_code,
                "links": [
                    {
                        "requirement_id": one.requirement_id,
                        "requirement_code": one.code,
                        "fit": one.fit.fit,
                        "reasons": list(one.fit.reasons),
                        "valid_until": one.fit.valid_until,
                    }
                    for one in detail.links
                ],
                "verifications": [
                    {**one.__dict__, "verification_id": one.id} for one in detail.verifications
                ],
                "chain": detail.chain,
                "allowed_moves": EvidenceLifecycle.allowed(row, read.now),
            }
        )


@router.post(
    "/compliance/evidence",
    status_code=201,
    responses=problems(Duplicate, FileNotClean, Unlinkable, Erased, RuleViolated),
)
async def create_evidence(
    body: LinkEvidence, work: Annotated[Work, writes(Permission.EVIDENCE_LINK)]
) -> EvidenceView:
    """Link a proof to requirements. If the proof is already linked, the refusal names its evidence;
    add requirements to it with PATCH."""
    check_acting(work, body.organization_id)
    made = await evidence.add_evidence(
        work,
        await _cite(work, body),
        requirement_ids=body.requirement_ids,
        period=body.period or "",
        note=body.note,
    )
    view = EvidenceView.of(await evidence.detail_of(work, made), work)
    await recomputing.mark_due(work)
    return view


@router.get("/compliance/evidence/{evidenceId}")
async def get_evidence(
    evidence_id: EvidenceId, read: Annotated[Reader, reads(Permission.EVIDENCE_READ)]
) -> EvidenceView:
    """Get evidence with its links, its verifications and the evidence it replaced."""
    return EvidenceView.of(await evidence.get_detail(read, evidence_id), read)


@router.patch("/compliance/evidence/{evidenceId}", responses=problems(Unlinkable))
async def change_evidence(
    evidence_id: EvidenceId,
    body: ChangeEvidence,
    work: Annotated[Work, writes(Permission.EVIDENCE_UPDATE)],
) -> EvidenceView:
    """Link more requirements, unlink others, or change the note."""
    fields: dict[str, Any] = {n: v for n, v in body.changes().items() if n == "note"}
    changed = await evidence.change_evidence(
        work,
        evidence_id,
        added=body.add_requirement_ids,
        removed=body.remove_requirement_ids,
        fields=fields,
    )
    view = EvidenceView.of(await evidence.detail_of(work, changed), work)
    await recomputing.mark_due(work)
    return view


async def _cite(work: Work, body: LinkEvidence) -> Cited:
    given = (body.document_id, body.reference, body.declaration)
    if sum(one is not None for one in given) != 1:
        raise RuleViolated(
            "Send exactly one of `documentId`, `reference` and `declaration`.", rule="CMP-15"
        )
    if body.document_id is not None:
        async with work.separate_reader() as read:  # Identity may be asked
            return await evidence.cite_document(read, body.document_id, body.document_version)
    if body.reference is not None:
        return await evidence.cite_reference(
            work,
            domain=body.reference.domain,
            type=body.reference.type,
            reference_id=body.reference.id,
        )
    assert body.declaration is not None  # noqa: S101  # one of the three is given
    return evidence.cite_declaration(
        work, body.declaration.statement_code, body.declaration.answers
    )
