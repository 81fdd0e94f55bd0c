"""Recommendation: whether to bid, by rules; a person decides."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.opportunity.api.tender_fields import TenderOpportunityId
from thenga.domains.opportunity.permissions import Permission
from thenga.domains.opportunity.public.judgement import RecommendationVerdict
from thenga.domains.opportunity.services import qualification
from thenga.domains.opportunity.services.qualification import (
    DISCLAIMER,
    Decision,
    RecommendationExpired,
)
from thenga.domains.opportunity.tables import Recommendation, TenderOpportunity
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import lines

router = make_router("Opportunity / Recommendation")


class ChangeRecommendation(Body):
    """A decision, or a request to recompute the verdict."""

    choice: Annotated[
        Literal["accept", "override"] | None,
        Field(description="Your decision. `override` needs `verdict` and `reason`."),
    ] = None
    verdict: Annotated[
        RecommendationVerdict | None, Field(description="Verdict to set instead.")
    ] = None
    reason: Annotated[
        Annotated[str, lines(1, 1000)] | None, Field(description="Reason for the decision.")
    ] = None
    refresh: Annotated[bool, Field(description="True to recompute the verdict.")] = False


class ReasonView(View):
    """Reason for the verdict."""

    code: Annotated[str, Field(description="Code of the reason.")]
    weight: Annotated[
        Literal["blocking", "high", "medium", "low"], Field(description="Weight of the reason.")
    ]
    refs: Annotated[list[str], Field(description="Related requirements or gates.")]


class RecommendationInputsView(View):
    """Revisions that the verdict is based on."""

    match_revision: Annotated[int, Field(description="Revision of the tender.")]
    material_revision: Annotated[int, Field(description="Material revision of the tender.")]
    profile_revision: Annotated[int, Field(description="Revision of your profile.")]
    qualification_revision: Annotated[
        int | None, Field(description="Revision of your qualification. Null without one.")
    ]


class DecisionView(View):
    """Decision of a person."""

    choice: Annotated[
        Literal["accept", "override"], Field(description="Whether it was accepted or overridden.")
    ]
    verdict: Annotated[RecommendationVerdict, Field(description="Verdict that applies.")]
    reason: Annotated[str | None, Field(description="Reason for the decision.")]


class AnalysisView(View):
    """An explanation by Intelligence. It never changes the verdict."""

    explanation_id: Annotated[UUID, Field(description="ID of the explanation.")]
    execution_id: Annotated[UUID, Field(description="Execution that produced it.")]
    confidence: Annotated[str | None, Field(description="Confidence from 0 to 1.")]
    guardrail_outcome: Annotated[str | None, Field(description="Outcome of the guardrails.")]
    as_of: Annotated[datetime, Field(description="When it was made.")]


class RecommendationView(View):
    """Recommendation whether to bid. `version` is 0 if it is not stored."""

    id: Annotated[UUID | None, Field(description="ID. Null while it is not stored.")]
    organization_id: Annotated[UUID, Field(description="Your organization.")]
    tender_opportunity_id: Annotated[UUID, Field(description="ID of the tender.")]
    version: Annotated[int, Field(ge=0, description="Version. Send it in `If-Match`.")]
    revision: Annotated[int, Field(description="Number of times it was proposed.")]
    status: Annotated[
        Literal["proposed", "accepted", "overridden", "expired"],
        Field(description="`expired` once the tender no longer accepts bids."),
    ]
    verdict: Annotated[RecommendationVerdict, Field(description="Verdict of the rules.")]
    preliminary: Annotated[bool, Field(description="True until a qualification is completed.")]
    reasons: Annotated[list[ReasonView], Field(description="Reasons for the verdict.")]
    rules_version: Annotated[int, Field(description="Version of the rules.")]
    inputs: Annotated[RecommendationInputsView, Field(description="Revisions that it is based on.")]
    analysis: Annotated[
        AnalysisView | None,
        Field(description="Explanation by Intelligence. Null if there is none."),
    ]
    decision: Annotated[
        DecisionView | None, Field(description="Decision. Null until someone decides.")
    ]
    decided_by: Annotated[UUID | None, Field(description="Person who decided.")]
    decided_at: Annotated[datetime | None, Field(description="When it was decided.")]
    computed_at: Annotated[datetime, Field(description="When the verdict was computed.")]
    disclaimer: Annotated[str, Field(description="Disclaimer to show with the recommendation.")]

    @classmethod
    async def of(cls, row: Recommendation, read: Reader) -> "RecommendationView":
        tender = await read.get(TenderOpportunity, row.tender_opportunity_id)
        expired = qualification.is_expired(row, tender, read)
        stored = bool(row.version)
        values: dict[str, Any] = row.__dict__ | {
            "id": row.id if stored else None,
            "version": row.version or 0,
            "status": "expired" if expired else row.status.value,
            "disclaimer": DISCLAIMER,
        }
        return cls.model_validate({name: values[name] for name in cls.model_fields})


@router.get("/opportunities/{tenderOpportunityId}/recommendation")
async def get_recommendation(
    tender_opportunity_id: TenderOpportunityId,
    read: Annotated[Reader, reads(Permission.RECOMMENDATION_READ)],
) -> RecommendationView:
    """Recommend whether to bid. Without a qualification it uses only match and gates."""
    row = await qualification.get_recommendation(read, tender_opportunity_id)
    return await RecommendationView.of(row, read)


@router.patch(
    "/opportunities/{tenderOpportunityId}/recommendation",
    responses=problems(RecommendationExpired, InvalidTransition, RuleViolated),
)
async def change_recommendation(
    tender_opportunity_id: TenderOpportunityId,
    body: ChangeRecommendation,
    work: Annotated[Work, writes(Permission.RECOMMENDATION_DECIDE, if_match=True)],
) -> RecommendationView:
    """Accept or override the version of a recommendation that you saw, or recompute it.

    Only a person can decide. After a material amendment it must be decided again.
    """
    if (body.choice is None) != body.refresh:
        raise RuleViolated("Send either `choice` or `refresh`.", rule="OPP-38")
    if body.choice is None:
        row = await qualification.refresh(work, tender_opportunity_id)
    else:
        decision = Decision(choice=body.choice, verdict=body.verdict, reason=body.reason)
        row = await qualification.decide(work, tender_opportunity_id, decision)
    return await RecommendationView.of(row, work)
