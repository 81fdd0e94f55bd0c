"""Suggestions of machines, for people to decide."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.compliance.api.organizations import ActingOrganization, check_acting
from thenga.domains.compliance.lifecycles import SuggestionLifecycle
from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.public import SuggestionKind
from thenga.domains.compliance.services import evidence, suggestions
from thenga.domains.compliance.services.suggestions import (
    AiSuggestionStale,
    Review,
    SuggestionFilters,
)
from thenga.domains.compliance.tables import AiSuggestion, SuggestionStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Duplicate, Erased, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import decimal, matching

router = make_router("Compliance / AI suggestions")

SuggestionId = Annotated[UUID, Path(alias="suggestionId", description="ID of the suggestion.")]


class ReviewComplianceSuggestion(Body):
    """Your decision."""

    decision: Annotated[
        Literal["accept", "edit_and_accept", "reject", "request_changes"],
        Field(description="Decision about the suggestion."),
    ]
    value: Annotated[
        dict[Annotated[str, matching("^[A-Za-z][A-Za-z0-9]{0,39}$", 40)], Any] | None,
        Field(description="Value to use instead. Only with `edit_and_accept`."),
    ] = None
    reason_code: Annotated[
        Annotated[str, matching("^[a-z][a-z_]{0,59}$", 60)] | None,
        Field(description="Reason for rejecting it, such as `wrong_date`."),
    ] = None


class SuggestionTargetView(View):
    """Target of a suggestion."""

    type: Annotated[
        Literal["document", "requirement", "organization"], Field(description="Kind of target.")
    ]
    id: Annotated[UUID, Field(description="ID of the target.")]
    field: Annotated[str | None, Field(description="Field, if the suggestion is about one.")]


class SuggestionSourceView(View):
    """Source of a suggestion."""

    document_id: Annotated[UUID, Field(description="Document that was read.")]
    version: Annotated[int, Field(description="Version of the document.")]
    page: Annotated[int | None, Field(description="Page, counted from 1.")]
    excerpt: Annotated[str | None, Field(description="Plain text that was read.")]


class SuggestionProducerView(View):
    """Name and version of a machine that makes suggestions."""

    name: Annotated[str, Field(description="Name of the producer.")]
    version: Annotated[str, Field(description="Version of the producer.")]
    execution_id: Annotated[UUID | None, Field(description="Run that produced it.")]


class SuggestionDecisionView(View):
    """Decision of a person."""

    decided_by: Annotated[UUID, Field(description="Person who decided.")]
    decided_at: Annotated[datetime, Field(description="When it was decided.")]
    value: Annotated[dict[str, Any] | None, Field(description="Accepted value, if it was edited.")]
    reason_code: Annotated[str | None, Field(description="Why it was rejected.")]


class ComplianceSuggestionView(Stored):
    """A suggestion. Nothing counts until a person accepts it."""

    organization_id: UUID
    kind: Annotated[SuggestionKind, Field(description="Kind of suggestion.")]
    target: Annotated[SuggestionTargetView, Field(description="Target of the suggestion.")]
    base_version: Annotated[int | None, Field(description="Version of the target that was read.")]
    proposed: Annotated[dict[str, Any], Field(description="Suggested value.")]
    confidence: Annotated[Decimal, Field(ge=0, le=1, description="Confidence, 0 to 1.")]
    sources: Annotated[list[SuggestionSourceView], Field(description="Sources of the suggestion.")]
    produced_by: Annotated[
        SuggestionProducerView, Field(description="Machine that made the suggestion.")
    ]
    guardrail_outcome: Annotated[
        str | None, Field(description="Outcome of the producer's guardrails.")
    ]
    status: SuggestionStatus
    expires_at: Annotated[datetime, Field(description="When it expires if it is not decided.")]
    decision: Annotated[
        SuggestionDecisionView | None, Field(description="Decision. Null until it is decided.")
    ]
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, row: AiSuggestion, now: datetime) -> "ComplianceSuggestionView":
        decision: dict[str, Any] | None = None
        if row.decided_by is not None:
            decision = {
                "decided_by": row.decided_by,
                "decided_at": row.decided_at,
                "value": row.decided_value,
                "reason_code": row.reason_code,
            }
        more = {
            "target": {
                "type": row.target_type,
                "id": row.target_id,
                "field": row.target_field,
            },
            "decision": decision,
            "allowed_moves": SuggestionLifecycle.allowed(row, now),
        }
        return cls.model_validate(row.__dict__ | more)


@router.get("/compliance/ai-suggestions", responses=problems(RuleViolated))
async def list_ai_suggestions(
    organization_id: ActingOrganization,
    read: Annotated[Reader, reads(Permission.SUGGESTION_READ)],
    page: Annotated[Paged, paged("confidence", "createdAt", default="-confidence")],
    status: Annotated[SuggestionStatus | None, Query(description="Filter by status.")] = None,
    kind: Annotated[SuggestionKind | None, Query(description="Filter by kind.")] = None,
    document_id: Annotated[
        UUID | None, Query(alias="documentId", description="Filter by document.")
    ] = None,
    min_confidence: Annotated[
        Annotated[Decimal, decimal(2, 4)] | None,
        Query(alias="minConfidence", description="Minimum confidence, 0 to 1."),
    ] = None,
) -> PageOf[ComplianceSuggestionView]:
    """List suggestions by machines about documents and requirements. Those about documents that
    you may not read, or with such a source, are left out."""
    check_acting(read, organization_id)
    if min_confidence is not None and min_confidence > 1:
        raise RuleViolated("Confidence is a number from 0 to 1.", rule="CMP-36")
    filters = SuggestionFilters(status, kind, document_id, min_confidence)
    found = await suggestions.list_suggestions(read, page, filters)
    return PageOf[ComplianceSuggestionView].of(
        found, lambda one: ComplianceSuggestionView.of(one, read.now)
    )


@router.post(
    "/compliance/ai-suggestions/{suggestionId}/review",
    responses=problems(
        AiSuggestionStale, InvalidTransition, RuleViolated, Erased, Duplicate, evidence.Unlinkable
    ),
)
async def review_ai_suggestion(
    suggestion_id: SuggestionId,
    body: ReviewComplianceSuggestion,
    work: Annotated[Work, writes(Permission.SUGGESTION_REVIEW)],
) -> ComplianceSuggestionView:
    """Decide a suggestion. Only a person can do this.

    An accepted value is recorded as your own statement, with the suggestion as its source.
    """
    decided = Review(body.decision, body.value, body.reason_code)
    row = await suggestions.review(work, suggestion_id, decided)
    return ComplianceSuggestionView.of(row, work.now)
