"""Risks of contracts."""

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.contract.api.amounts import PositiveMoney
from thenga.domains.contract.api.workspace_ids import WorkspaceId
from thenga.domains.contract.lifecycles import RiskLifecycle
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import risks
from thenga.domains.contract.services.risks import ContractRiskMove
from thenga.domains.contract.services.workspaces import ContractOver
from thenga.domains.contract.tables import Risk, RiskBand, RiskResponse, RiskStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, lines, text, whole
from thenga.kernel.values.money import Money

router = make_router("Contract / Risks")

ContractRiskId = Annotated[UUID, Path(alias="riskId", description="ID of the risk.")]
Grade = Annotated[int, whole(1, 5)]
Likelihood = Annotated[Grade, Field(description="1 (rare) to 5 (almost certain).")]
Impact = Annotated[Grade, Field(description="1 (slight) to 5 (severe).")]
Category = Annotated[
    str,
    text(1, 60),
    Field(description="Schedule, cost, quality, supplier, payment, legal, safety, or your own."),
]
TargetLikelihood = Annotated[Grade | None, Field(description="Target likelihood.")]
TargetImpact = Annotated[Grade | None, Field(description="Target impact.")]
ImpactAmount = Annotated[PositiveMoney | None, Field(description="Cost if it happens.")]
Owner = Annotated[UUID | None, Field(description="Person responsible.")]
Actions = Annotated[
    Annotated[str, lines(1, 4000)] | None, Field(description="Actions to treat it.")
]
DueOn = Annotated[Day | None, Field(description="Due date.")]
MilestoneIds = Annotated[list[UUID], Field(max_length=50, description="Threatened milestones.")]


class AddContractRisk(Body):
    """A risk of a contract."""

    title: Annotated[str, text(1, 200), Field(description="Title.")]
    category: Category = "schedule"
    likelihood: Likelihood
    impact: Impact
    target_likelihood: TargetLikelihood = None
    target_impact: TargetImpact = None
    impact_amount: ImpactAmount = None
    owner_user_id: Owner = None
    response: Annotated[RiskResponse, Field(description="Treatment.")] = RiskResponse.REDUCE
    actions: Actions = None
    due_on: DueOn = None
    milestone_ids: MilestoneIds = []


class MoveContractRisk(Body):
    """A move of a risk."""

    verb: Annotated[
        Literal["mitigate", "reopen", "accept", "materialise", "close"],
        Field(description="Move to make. `accept` needs an owner and a reason."),
    ]
    reason: Annotated[Annotated[str, text(1, 500)] | None, Field(description="Reason.")] = None


class ChangeContractRisk(Body):
    """Fields to update, and at most one move."""

    title: Annotated[str, text(1, 200), Field(description="Title.")] = "unchanged"
    category: Category = "schedule"
    likelihood: Likelihood = 1
    impact: Impact = 1
    target_likelihood: TargetLikelihood = None
    target_impact: TargetImpact = None
    impact_amount: ImpactAmount = None
    owner_user_id: Owner = None
    response: Annotated[RiskResponse, Field(description="Treatment.")] = RiskResponse.REDUCE
    actions: Actions = None
    due_on: DueOn = None
    milestone_ids: MilestoneIds = []
    move: Annotated[MoveContractRisk | None, Field(description="Move to make.")] = None


class ContractRiskView(Stored):
    """A risk of a contract."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Contract of the risk.")]
    title: Annotated[str, Field(description="Title.")]
    category: Annotated[str, Field(description="Category.")]
    likelihood: Annotated[int, Field(description="1 (rare) to 5 (almost certain).")]
    impact: Annotated[int, Field(description="1 (slight) to 5 (severe).")]
    score: Annotated[int, Field(description="Likelihood times impact, 1 to 25.")]
    band: Annotated[RiskBand, Field(description="Risk band.")]
    target_likelihood: Annotated[int | None, Field(description="Target likelihood.")]
    target_impact: Annotated[int | None, Field(description="Target impact.")]
    residual_score: Annotated[int | None, Field(description="Target score.")]
    impact_amount: Annotated[Money | None, Field(description="Cost if it happens.")]
    expected_loss: Annotated[Money | None, Field(description="Cost weighted by likelihood.")]
    owner_user_id: Annotated[UUID | None, Field(description="Person responsible.")]
    response: Annotated[RiskResponse, Field(description="Treatment.")]
    actions: Annotated[str | None, Field(description="Actions to treat it.")]
    due_on: Annotated[date | None, Field(description="Due date.")]
    milestone_ids: Annotated[list[UUID], Field(description="Threatened milestones.")]
    raised_by_rule: Annotated[str | None, Field(description="Rule that raised it, if any.")]
    status: RiskStatus
    status_reason: Annotated[str | None, Field(description="Reason for the last move.")]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/contracts/risks/{self.id}"

    @classmethod
    def of(cls, risk: Risk, now: datetime) -> "ContractRiskView":
        amount, residual = None, None
        if risk.impact_amount_minor is not None:
            amount = Money(risk.impact_amount_minor, risk.currency)
        if risk.target_likelihood is not None and risk.target_impact is not None:
            residual = risks.score_of(risk.target_likelihood, risk.target_impact)
        more = {
            "residual_score": residual,
            "impact_amount": amount,
            "expected_loss": risks.expected_loss(amount, risk.likelihood),
            "allowed_moves": RiskLifecycle.allowed(risk, now),
        }
        return cls.model_validate(risk.__dict__ | more)


@router.post(
    "/contracts/workspaces/{workspaceId}/risks",
    status_code=201,
    responses=problems(ContractOver, RuleViolated),
)
async def add_contract_risk(
    workspace_id: WorkspaceId,
    body: AddContractRisk,
    work: Annotated[Work, writes(Permission.RISK_CREATE)],
) -> ContractRiskView:
    """Add a risk. High and critical risks trigger a notification.

    A score of 15 or more puts the milestones of the risk at risk.
    """
    fields = {name: getattr(body, name) for name in AddContractRisk.model_fields}
    return ContractRiskView.of(await risks.add_risk(work, workspace_id, fields), work.now)


@router.get("/contracts/risks")
async def list_contract_risks(
    read: Annotated[Reader, reads(Permission.RISK_READ)],
    page: Annotated[Paged, paged("score", "createdAt", default="-score")],
    workspace_id: Annotated[
        UUID | None, Query(alias="workspaceId", description="Filter by contract.")
    ] = None,
    status: Annotated[RiskStatus | None, Query(description="Filter by status.")] = None,
    band: Annotated[RiskBand | None, Query(description="Filter by risk band.")] = None,
) -> PageOf[ContractRiskView]:
    """List risks of contracts, highest score first."""
    found = await risks.list_risks(read, page, workspace_id=workspace_id, status=status, band=band)
    return PageOf[ContractRiskView].of(found, lambda one: ContractRiskView.of(one, read.now))


@router.get("/contracts/risks/{riskId}")
async def get_contract_risk(
    risk_id: ContractRiskId, read: Annotated[Reader, reads(Permission.RISK_READ)]
) -> ContractRiskView:
    """Get a risk of a contract."""
    return ContractRiskView.of(await read.get(Risk, risk_id), read.now)


@router.patch(
    "/contracts/risks/{riskId}",
    responses=problems(ContractOver, InvalidTransition, RuleViolated),
)
async def change_contract_risk(
    risk_id: ContractRiskId,
    body: ChangeContractRisk,
    work: Annotated[Work, writes(Permission.RISK_UPDATE)],
) -> ContractRiskView:
    """Update a risk and make at most one move."""
    fields: dict[str, Any] = body.changes()
    asked = fields.pop("move", None)
    move = None if asked is None else ContractRiskMove(asked.verb, asked.reason)
    risk = await risks.change_risk(work, risk_id, fields=fields, move=move)
    return ContractRiskView.of(risk, work.now)
