"""Compliance risks."""

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.compliance.api.organizations import ActingOrganization, check_acting
from thenga.domains.compliance.lifecycles import RiskLifecycle
from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.services import documents, risks
from thenga.domains.compliance.services.risks import (
    Level,
    RiskFilters,
    RiskMove,
    plain_title,
    score_of,
)
from thenga.domains.compliance.tables import Risk, RiskStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import InvalidTransition, RuleViolated, SamePerson
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, lines, text, whole

router = make_router("Compliance / Risks")

RiskId = Annotated[UUID, Path(alias="riskId", description="ID of the risk.")]
Grade = Annotated[int, whole(1, 5)]
Treatment = Literal["mitigate", "accept", "avoid", "transfer"]


class RiskActionBody(Body):
    """One action against a risk."""

    text: Annotated[str, text(1, 500), Field(description="Action to take.")]
    owner_user_id: Annotated[UUID | None, Field(description="Person responsible for it.")] = None
    due_on: Annotated[Day | None, Field(description="Due day of the action.")] = None
    done_on: Annotated[Day | None, Field(description="Day on which it was done.")] = None


class MoveRisk(Body):
    """A move to another status."""

    verb: Annotated[
        Literal["mitigate", "accept", "materialise", "close"],
        Field(description="Move to make. `accept` needs the permission to accept risks."),
    ]
    reason: Annotated[
        Annotated[str, lines(1, 1000)] | None,
        Field(description="Reason. Required to accept, materialise or close."),
    ] = None
    until: Annotated[
        Day | None, Field(description="Last day of an acceptance, at most 180 days ahead.")
    ] = None


class ChangeRisk(Body):
    """Fields to update, and at most one move."""

    title: Annotated[str, text(1, 160), Field(description="Title of the risk.")] = "unchanged"
    category: Annotated[str, text(1, 60), Field(description="Category of your choice.")] = "other"
    likelihood: Annotated[Grade, Field(description="1 (rare) to 5 (almost certain).")] = 1
    impact: Annotated[Grade, Field(description="1 (slight) to 5 (severe).")] = 1
    treatment: Annotated[Treatment | None, Field(description="Treatment of the risk.")] = None
    actions: Annotated[
        list[RiskActionBody],
        Field(max_length=20, description="Actions against the risk. Replaces all earlier ones."),
    ] = []
    residual_likelihood: Annotated[
        Grade | None, Field(description="Likelihood once the actions are done.")
    ] = None
    residual_impact: Annotated[
        Grade | None, Field(description="Impact once the actions are done.")
    ] = None
    owner_user_id: Annotated[UUID | None, Field(description="Person responsible for the risk.")] = (
        None
    )
    move: Annotated[MoveRisk | None, Field(description="Move to make with the change.")] = None


class RiskActionView(View):
    """One action against a risk."""

    text: Annotated[str, Field(description="Action to take.")]
    owner_user_id: Annotated[UUID | None, Field(description="Person responsible for it.")]
    due_on: Annotated[date | None, Field(description="Due day of the action.")]
    done_on: Annotated[date | None, Field(description="Day on which it was done.")]


class ComplianceRiskView(Stored):
    """A risk raised by a rule or by an accepted suggestion."""

    organization_id: UUID
    rule_code: Annotated[str, Field(description="Rule that raised it.")]
    raised_by: Annotated[
        Literal["rule", "person", "suggestion"], Field(description="Who raised it.")
    ]
    title: Annotated[str, Field(description="Title of the risk.")]
    category: Annotated[str, Field(description="Category.")]
    likelihood: Annotated[int, Field(description="1 (rare) to 5 (almost certain).")]
    impact: Annotated[int, Field(description="1 (slight) to 5 (severe).")]
    score: Annotated[int, Field(description="Likelihood times impact, 1 to 25.")]
    level: Annotated[Level, Field(description="Level derived from the score.")]
    treatment: Annotated[Treatment | None, Field(description="Treatment of the risk.")]
    actions: Annotated[list[RiskActionView], Field(description="Actions against the risk.")]
    residual_likelihood: Annotated[
        int | None, Field(description="Likelihood once the actions are done.")
    ]
    residual_impact: Annotated[int | None, Field(description="Impact once the actions are done.")]
    residual_score: Annotated[
        int | None, Field(description="Residual likelihood times residual impact.")
    ]
    owner_user_id: Annotated[UUID | None, Field(description="Person responsible for the risk.")]
    requirement_id: Annotated[UUID | None, Field(description="Related requirement.")]
    document_id: Annotated[UUID | None, Field(description="Related document.")]
    tender_opportunity_id: Annotated[UUID | None, Field(description="Related tender.")]
    status: RiskStatus
    status_reason: Annotated[str | None, Field(description="Reason for the last move.")]
    accepted_until: Annotated[
        date | None, Field(description="Last day of the acceptance. The risk reopens after it.")
    ]
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, risk: Risk, now: datetime, hidden: frozenset[UUID]) -> "ComplianceRiskView":
        """Of a document that the caller may not read, the risk says neither ID nor type."""
        residual = None
        if risk.residual_likelihood is not None and risk.residual_impact is not None:
            residual = score_of(risk.residual_likelihood, risk.residual_impact)
        more: dict[str, Any] = {
            "residual_score": residual,
            "status_reason": risk.status_text or risk.status_code,
            "allowed_moves": RiskLifecycle.allowed(risk, now),
        }
        if risk.document_id in hidden:
            more |= {"document_id": None, "title": plain_title(risk.rule_code) or risk.category}
        return cls.model_validate(risk.__dict__ | more)


@router.get("/compliance/risks")
async def list_compliance_risks(
    organization_id: ActingOrganization,
    read: Annotated[Reader, reads(Permission.RISK_READ)],
    page: Annotated[Paged, paged("score", "createdAt", default="-score")],
    status: Annotated[RiskStatus | None, Query(description="Filter by status.")] = None,
    level: Annotated[Level | None, Query(description="Filter by level.")] = None,
    category: Annotated[
        Annotated[str, text(1, 60)] | None, Query(description="Filter by category.")
    ] = None,
    owner_user_id: Annotated[
        UUID | None, Query(alias="ownerUserId", description="Filter by owner.")
    ] = None,
    tender_opportunity_id: Annotated[
        UUID | None, Query(alias="tenderOpportunityId", description="Filter by tender.")
    ] = None,
) -> PageOf[ComplianceRiskView]:
    """List risks, highest score first. Rules raise and close them as readiness changes.

    A risk about a document that you may not read is listed without naming the document.
    """
    check_acting(read, organization_id)
    filters = RiskFilters(status, level, category, owner_user_id, tender_opportunity_id)
    found = await risks.list_risks(read, page, filters)
    hidden = await risks.hidden_documents(read, found.items)
    return PageOf[ComplianceRiskView].of(
        found, lambda one: ComplianceRiskView.of(one, read.now, hidden)
    )


@router.patch(
    "/compliance/risks/{riskId}",
    responses=problems(SamePerson, InvalidTransition, RuleViolated),
)
async def change_compliance_risk(
    risk_id: RiskId,
    body: ChangeRisk,
    work: Annotated[Work, writes(Permission.RISK_UPDATE, if_match=True)],
) -> ComplianceRiskView:
    """Update a risk and make at most one move.

    Accepting a risk needs a reason and a last day; it reopens after that day. Someone other than
    the owner must accept a high or critical risk.
    """
    fields: dict[str, Any] = body.changes()
    asked = fields.pop("move", None)
    if "actions" in fields:
        fields["actions"] = [one.model_dump(mode="json") for one in body.actions]
    move = None
    if asked is not None:
        if asked.verb == "accept":
            await documents.demand(work, Permission.RISK_ACCEPT)
        move = RiskMove(asked.verb, asked.reason, asked.until)
    hidden = await risks.hidden_documents(work, [await work.get(Risk, risk_id)])
    risk = await risks.change_risk(work, risk_id, fields=fields, move=move)
    return ComplianceRiskView.of(risk, work.now, hidden)
