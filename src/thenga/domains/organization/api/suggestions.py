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

SuggestionId = Annotated[UUID, Path(alias="suggestionId")]
Name = Annotated[str, text(1, 120)]
Confidence = Annotated[float, Field(ge=0, le=1, description="Confidence from 0 to 1.")]


class Target(Body):
    """Target of an assignment or suggestion."""

    fact_key: SuggestedName


class Source(Body):
    """Source of a suggestion."""

    reference: Annotated[str, text(1, 300), Field(description="ID of the document that was read.")]
    page: Annotated[int, whole(1, 100_000)] | None = None
    excerpt: (
        Annotated[
            str, lines(1, 300), Field(description="The words it rests on. Data, never a link.")
        ]
        | None
    ) = None


class ProducedBy(Body):
    """Program that made a suggestion."""

    name: Name
    version: Annotated[str, text(1, 40)]
    execution_id: UUID | None = None


class ProposeFact(Body):
    """Suggestion of a value for a fact."""

    target: Target
    proposed_value: Annotated[
        Any, Field(description="Suggested value, in the type of the fact catalogue.")
    ]
    confidence: Confidence
    sources: Annotated[list[Source], Field(min_length=1, max_length=10)]
    produced_by: ProducedBy
    base_version: Annotated[
        Annotated[int, whole(0, 2**31 - 1)] | None,
        Field(
            description=(
                "Version of the fact that was read. The suggestion is refused if there is a "
                "newer one."
            )
        ),
    ] = None
    guardrail_outcome: Name | None = None


class AcceptSuggestion(Body):
    """Decision to accept a suggestion."""

    value: Annotated[
        Any, Field(description="Corrected value, if the suggestion is not accepted as it is.")
    ] = None


class RejectSuggestion(Body):
    """Decision to reject a suggestion."""

    reason_code: Literal["wrong", "outdated", "not_ours", "unclear_source", "other"]
    text: Annotated[str, lines(1, 500)] | None = None


class TargetView(View):
    """Target of an assignment or suggestion."""

    fact_key: str | None
    record_type: str | None
    record_id: UUID | None
    field: str | None


class SuggestionView(Stored):
    """A suggestion by a machine. It becomes a fact only if a person accepts it."""

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
    "description": "The same suggestion is already waiting; its sources were merged.",
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
    """List suggestions by machines about this company, the most certain first."""
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
    suggestion_id: SuggestionId,
    read: Annotated[Reader, reads(Permission.SUGGESTION_READ)],
) -> SuggestionView:
    """Retrieve a suggestion and, if a person decided on it, the accepted value."""
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
    suggestion_id: SuggestionId,
    body: AcceptSuggestion,
    work: Annotated[Work, writes(Permission.SUGGESTION_DECIDE)],
) -> SuggestionView:
    """Accept a suggestion, with or without a correction, as the company's own statement."""
    row = await facts.accept_suggestion(work, suggestion_id, value=body.value)
    return SuggestionView.of(row, work.now, await facts.decided_statement(work, row))


@router.post(
    "/organizations/{organizationId}/fact-suggestions/{suggestionId}/reject",
    responses=problems(PersonRequired, InvalidTransition),
)
async def reject_suggestion(
    suggestion_id: SuggestionId,
    body: RejectSuggestion,
    work: Annotated[Work, writes(Permission.SUGGESTION_DECIDE)],
) -> SuggestionView:
    """Reject a suggestion. The fact stays unchanged."""
    row = await facts.reject_suggestion(
        work, suggestion_id, reason_code=body.reason_code, text=body.text
    )
    return SuggestionView.of(row, work.now)
