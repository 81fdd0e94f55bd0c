"""The requirement matrix of a bid."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.bid.api.parameters import WorkspaceId
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.services import proposals, workspaces
from thenga.domains.bid.services.proposals import (
    AtClosing,
    BidJustificationRequired,
    Coverage,
    MatrixState,
    RowState,
)
from thenga.domains.bid.services.workspaces import (
    BidAlreadySubmitted,
    BidPersonNotInTeam,
    BidPersonUnknown,
    BidSealed,
)
from thenga.domains.bid.tables import Workspace
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Conflict, RuleViolated, StaleVersion
from thenga.kernel.http.bodies import Body, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import lines

router = make_router("Bid / Requirement matrix")

MatrixResponse = Literal["none", "comply", "partial", "deviate", "not_applicable"]


class MatrixAnswer(Body):
    """Fields of a row to update. Omitted fields stay unchanged."""

    response: Annotated[MatrixResponse, Field(description="Answer of the bid.")] = "none"
    note: Annotated[
        Annotated[str, lines(1, 2000)] | None, Field(description="Note for the team.")
    ] = None
    justification: Annotated[
        Annotated[str, lines(1, 2000)] | None,
        Field(description="Why it does not apply, at least 20 characters."),
    ] = None
    section_ids: Annotated[
        list[UUID], Field(max_length=50, description="Sections that answer it.")
    ] = []
    form_ids: Annotated[list[UUID], Field(max_length=40, description="Forms that answer it.")] = []
    evidence_ids: Annotated[
        list[UUID],
        Field(max_length=20, description="IDs of evidence in Compliance that proves it."),
    ] = []
    owner_user_id: Annotated[UUID | None, Field(description="Person responsible.")] = None


class ChangeComplianceMatrix(Body):
    """Rows to update."""

    rows: Annotated[
        dict[UUID, MatrixAnswer],
        Field(min_length=1, max_length=500, description="Answers by requirement ID."),
    ]


class MatrixEvidenceView(View):
    """Evidence and its validity on the closing date."""

    evidence_id: Annotated[UUID, Field(description="ID of the evidence in Compliance.")]
    at_closing: Annotated[
        AtClosing, Field(description="State on the closing date. `unknown` never counts.")
    ]
    valid_until: Annotated[date | None, Field(description="Last day on which it is valid.")]


class MatrixRequirementView(View):
    """A requirement of the tender as it was last read."""

    id: Annotated[UUID, Field(description="ID of the requirement in Opportunity.")]
    version: Annotated[int, Field(description="Version that was read.")]
    requirement_class: Annotated[
        Literal["mandatory", "scored", "recommended", "informational"],
        Field(description="Class of the requirement."),
    ]
    kind: Annotated[str, Field(description="Kind of criterion.")]
    code: Annotated[str | None, Field(description="Compliance code, if any.")]
    weight: Annotated[Decimal | None, Field(description="Points, if it is scored.")]
    label: Annotated[str, Field(description="Text of the requirement.")]
    as_of: Annotated[datetime, Field(description="Time at which it was read.")]


class MatrixRowView(View):
    """Answer of the bid to one requirement."""

    requirement: Annotated[MatrixRequirementView, Field(description="Requirement of the tender.")]
    response: Annotated[MatrixResponse, Field(description="Answer of the bid.")]
    note: Annotated[str | None, Field(description="Note for the team.")]
    justification: Annotated[str | None, Field(description="Why it does not apply.")]
    section_ids: Annotated[list[UUID], Field(description="Sections that answer it.")]
    form_ids: Annotated[list[UUID], Field(description="Forms that answer it.")]
    evidence: Annotated[list[MatrixEvidenceView], Field(description="Evidence that proves it.")]
    owner_user_id: Annotated[UUID | None, Field(description="Person responsible.")]
    state: Annotated[RowState, Field(description="State of the answer.")]

    @classmethod
    def of(cls, found: MatrixState) -> "MatrixRowView":
        row = found.row
        requirement = {
            "id": row.requirement_id,
            "version": row.requirement_version,
            "requirement_class": row.requirement_class,
            "kind": row.requirement_kind,
            "code": row.requirement_code,
            "weight": row.requirement_weight,
            "label": row.requirement_label,
            "as_of": row.requirement_as_of,
        }
        evidence = [
            MatrixEvidenceView(
                evidence_id=one.evidence_id, at_closing=one.at_closing, valid_until=one.valid_until
            )
            for one in found.evidence
        ]
        more = {"requirement": requirement, "evidence": evidence, "state": found.state}
        return cls.model_validate(row.__dict__ | more)


class CoverageView(View):
    """Coverage of the requirements in per cent."""

    overall: Annotated[
        Decimal | None,
        Field(description="Weighted over all classes. Null if no requirement counts."),
    ]
    mandatory: Annotated[Decimal | None, Field(description="Coverage of mandatory requirements.")]


class ComplianceMatrixView(View):
    """Requirements of the tender and the answers of the bid."""

    workspace_id: Annotated[UUID, Field(description="Workspace of the bid.")]
    version: Annotated[int, Field(description="Version of the matrix; send it in `If-Match`.")]
    coverage: Annotated[CoverageView, Field(description="Coverage of the requirements.")]
    rows: Annotated[list[MatrixRowView], Field(description="Rows in the order of the tender.")]

    @classmethod
    def of(
        cls, workspace: Workspace, states: Sequence[MatrixState], made: Coverage
    ) -> "ComplianceMatrixView":
        return cls(
            workspace_id=workspace.id,
            version=workspace.matrix_version,
            coverage=CoverageView(overall=made.overall, mandatory=made.mandatory),
            rows=[MatrixRowView.of(one) for one in states],
        )


@router.get("/bids/workspaces/{workspaceId}/compliance-matrix")
async def get_compliance_matrix(
    workspace_id: WorkspaceId, read: Annotated[Reader, reads(Permission.WORKSPACE_READ)]
) -> ComplianceMatrixView:
    """Retrieve the matrix with the current state of its evidence in Compliance.

    If Compliance does not respond, evidence is `unknown` and never counts as covered.
    """
    workspace = await workspaces.seen_workspace(read, workspace_id)
    states, made = await proposals.live_matrix(read, workspace)
    return ComplianceMatrixView.of(workspace, states, made)


@router.patch(
    "/bids/workspaces/{workspaceId}/compliance-matrix",
    responses=problems(
        BidJustificationRequired,
        BidPersonUnknown,
        BidPersonNotInTeam,
        BidSealed,
        BidAlreadySubmitted,
        StaleVersion,
        Conflict,
        RuleViolated,
    ),
)
async def change_compliance_matrix(
    workspace_id: WorkspaceId,
    body: ChangeComplianceMatrix,
    work: Annotated[Work, writes(Permission.MATRIX_UPDATE, if_match=True)],
) -> ComplianceMatrixView:
    """Answer requirements. `If-Match` is the version of the matrix.

    A row is covered when it complies, names a section or form and its evidence is valid on the
    closing date.
    """
    changes = {key: _columns(one.changes()) for key, one in body.rows.items()}
    workspace, states = await proposals.change_matrix(work, workspace_id, changes)
    made = await proposals.coverage_of(work, states)
    return ComplianceMatrixView.of(workspace, states, made)


def _columns(fields: dict[str, Any]) -> dict[str, Any]:
    for name in ("section_ids", "form_ids", "evidence_ids"):
        if name in fields:
            fields[name] = [str(one) for one in dict.fromkeys(fields[name])]
    return fields
