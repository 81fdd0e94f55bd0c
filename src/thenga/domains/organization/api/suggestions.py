"""Suggestions of machines about facts; a person decides."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import facts
from thenga.domains.organization.services.facts import (
    FactValueInvalid,
    PersonRequired,
    Proposal,
    SuggestedName,
    SuggestionStale,
)
from thenga.domains.organization.services.reference_data import (
    IdentifierInconsistent,
    IdentifierInvalid,
)
from thenga.domains.organization.tables import (
    CustomerStatement,
    FactSuggestion,
    SuggestionStatus,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import lines, matching, text, whole

router = make_router("Organization / Suggestions")

OrganizationId = Annotated[UUID, Path(alias="organizationId")]
SuggestionId = Annotated[UUID, Path(alias="suggestionId")]
Name = Annotated[str, text(1, 120)]
Confidence = Annotated[float, Field(ge=0, le=1, description="How sure, from 0 to 1.")]


class Target(Body):
    fact_key: SuggestedName


class Source(Body):
    reference: Annotated[str, text(1, 300), Field(description="What was read: a document's id.")]
    page: Annotated[int, whole(1, 100_000)] | None = None
    excerpt: (
        Annotated[
            str, lines(1, 300), Field(description="The words it rests on. Data, never a link.")
        ]
        | None
    ) = None


class ProducedBy(Body):
    name: Name
    version: Annotated[str, text(1, 40)]
    execution_id: UUID | None = None


class ProposeFact(Body):
    target: Target
    proposed_value: Annotated[Any, Field(description="By the type in the fact catalogue.")]
    confidence: Confidence
    sources: Annotated[list[Source], Field(min_length=1, max_length=10)]
    produced_by: ProducedBy
    base_version: Annotated[
        Annotated[int, whole(0, 2**31 - 1)] | None,
        Field(description="The fact's version that was read; a newer one refuses this."),
    ] = None
    guardrail_outcome: Name | None = None


class AcceptSuggestion(Body):
    value: Annotated[Any, Field(description="Only where it should be another value.")] = None


class RejectSuggestion(Body):
    reason_code: Literal["wrong", "outdated", "not_ours", "unclear_source", "other"]
    text: Annotated[str, lines(1, 500)] | None = None


class TargetView(View):
    fact_key: str | None
    record_type: str | None
    record_id: UUID | None
    field: str | None


class SuggestionView(Stored):
    """What a machine thinks. It is no fact until a person accepts it."""

    organization_id: UUID
    target: TargetView
    proposed_value: Any
    base_version: int
    confidence: float
    sources: list[dict[str, Any]]
    produced_by: dict[str, Any]
    guardrail_outcome: str | None
    status: SuggestionStatus
    expires_at: datetime
    decided_by: UUID | None
    decided_at: datetime | None
    decided_value: Any
    decision_reason: dict[str, Any] | None

    @classmethod
    def of(
        cls, row: FactSuggestion, now: datetime, stated: CustomerStatement | None = None
    ) -> "SuggestionView":
        over = row.status is SuggestionStatus.PENDING and row.expires_at <= now
        key = row.fact_key or ""
        return cls.model_validate(
            row.__dict__
            | {
                "target": TargetView.model_validate(row),
                "proposed_value": facts.shown_value(key, row.proposed_value),
                "confidence": row.confidence_ppm / facts.PPM,
                "status": SuggestionStatus.EXPIRED if over else row.status,
                "decided_value": stated and facts.shown_value(key, stated.value),
            }
        )


_THE_SAME: dict[str, Any] = {
    "description": "The same waits already; its sources were joined.",
    "model": SuggestionView,
}


@router.post(
    "/organizations/{organizationId}/fact-suggestions",
    status_code=201,
    responses=problems(
        SuggestionStale,
        RuleViolated,
        FactValueInvalid,
        IdentifierInvalid,
        IdentifierInconsistent,
    )
    | {200: _THE_SAME},
)
async def propose_fact(
    organization_id: OrganizationId,
    body: ProposeFact,
    work: Annotated[Work, writes(Permission.SUGGESTION_PROPOSE)],
) -> SuggestionView:
    """Suggest a value for a fact. Nothing changes until a person of the company accepts it."""
    proposal = Proposal(
        fact_key=body.target.fact_key,
        value=body.proposed_value,
        confidence=body.confidence,
        sources=[one.model_dump(mode="json", by_alias=True) for one in body.sources],
        produced_by=body.produced_by.model_dump(mode="json", by_alias=True),
        base_version=body.base_version,
        guardrail_outcome=body.guardrail_outcome,
    )
    made, created = await facts.propose_suggestions(work, proposal)
    view = SuggestionView.of(made, work.now)
    if created:
        return view
    return Response(  # type: ignore[return-value]  # the same shape with another status
        view.model_dump_json(by_alias=True), 200, media_type="application/json"
    )


@router.get("/organizations/{organizationId}/fact-suggestions")
async def list_suggestions(
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.SUGGESTION_READ)],
    page: Annotated[Paged, paged("createdAt", "confidence", default="-confidence")],
    status: Annotated[SuggestionStatus | None, Query()] = None,
    fact_key: Annotated[SuggestedName | None, Query(alias="factKey")] = None,
    record_type: Annotated[
        str | None, matching("^[a-z_]{1,40}$", 40), Query(alias="recordType")
    ] = None,
    min_confidence: Annotated[
        Annotated[float, Field(ge=0, le=1)] | None, Query(alias="minConfidence")
    ] = None,
) -> PageOf[SuggestionView]:
    """What machines suggest about this company, the surest first."""
    found = await facts.list_suggestions(
        read,
        page,
        status=status,
        fact_key=fact_key,
        record_type=record_type,
        min_confidence=min_confidence,
    )
    now = read.now
    return PageOf[SuggestionView].of(found, lambda row: SuggestionView.of(row, now))


@router.get("/organizations/{organizationId}/fact-suggestions/{suggestionId}")
async def get_suggestion(
    organization_id: OrganizationId,
    suggestion_id: SuggestionId,
    read: Annotated[Reader, reads(Permission.SUGGESTION_READ)],
) -> SuggestionView:
    """One suggestion, and the value that a person decided on, if one did."""
    row = await read.get(FactSuggestion, suggestion_id)
    return SuggestionView.of(row, read.now, await facts.decided_statement(read, row))


@router.post(
    "/organizations/{organizationId}/fact-suggestions/{suggestionId}/accept",
    responses=problems(
        PersonRequired,
        SuggestionStale,
        InvalidTransition,
        RuleViolated,
        FactValueInvalid,
        IdentifierInvalid,
        IdentifierInconsistent,
    ),
)
async def accept_suggestion(
    organization_id: OrganizationId,
    suggestion_id: SuggestionId,
    body: AcceptSuggestion,
    work: Annotated[Work, writes(Permission.SUGGESTION_DECIDE)],
) -> SuggestionView:
    """Make the suggested value, or your correction of it, the company's own statement."""
    row = await facts.accept_suggestion(work, suggestion_id, value=body.value)
    return SuggestionView.of(row, work.now, await facts.decided_statement(work, row))


@router.post(
    "/organizations/{organizationId}/fact-suggestions/{suggestionId}/reject",
    responses=problems(PersonRequired, InvalidTransition),
)
async def reject_suggestion(
    organization_id: OrganizationId,
    suggestion_id: SuggestionId,
    body: RejectSuggestion,
    work: Annotated[Work, writes(Permission.SUGGESTION_DECIDE)],
) -> SuggestionView:
    """Say no to a suggestion; the fact stays as it is."""
    row = await facts.reject_suggestion(
        work, suggestion_id, reason_code=body.reason_code, text=body.text
    )
    return SuggestionView.of(row, work.now)
