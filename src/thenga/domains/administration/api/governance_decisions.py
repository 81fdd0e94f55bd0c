"""Governance decisions: how the platform is run, and why."""

from datetime import date
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.administration.permissions import Permission
from thenga.domains.administration.schemas.reasons import Reason
from thenga.domains.administration.schemas.references import ReferenceBody, ReferenceView, stored
from thenga.domains.administration.services import reviews
from thenga.domains.administration.services.reviews import AlreadySuperseded
from thenga.domains.administration.tables import (
    DecisionCategory,
    DecisionStatus,
    GovernanceDecision,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, lines, text

router = make_router("Administration / Governance decision")

DecisionId = Annotated[UUID, Path(alias="decisionId", description="ID of the decision.")]
Long = Annotated[str, lines(1, 20_000)]


class RecordDecision(Body):
    """A decision to record. It cannot be changed afterwards; a correction supersedes it."""

    title: Annotated[str, text(1, 200), Field(description="Title.")]
    category: Annotated[DecisionCategory, Field(description="What it is about.")]
    context: Annotated[Long, Field(description="Why a decision was needed.")]
    decision: Annotated[Long, Field(description="What was decided.")]
    consequences: Annotated[Long, Field(description="Consequences of the decision.")]
    alternatives: Annotated[
        Long | None, Field(description="Alternatives that were considered.")
    ] = None
    decided_on: Annotated[Day, Field(description="Day of the decision, not in the future.")]
    decided_by: Annotated[
        list[UUID], Field(min_length=1, max_length=10, description="People who decided.")
    ]
    relates_to: Annotated[
        list[ReferenceBody], Field(max_length=20, description="Affected resources.")
    ] = []
    supersedes: Annotated[
        UUID | None, Field(description="Earlier decision that this one replaces.")
    ] = None
    reason: Reason


class DecisionView(Stored):
    """A governance decision."""

    number: Annotated[str, Field(description="Number, such as `GD-2026-0007`, without gaps.")]
    title: Annotated[str, Field(description="Title.")]
    category: Annotated[DecisionCategory, Field(description="What it is about.")]
    context: Annotated[str, Field(description="Why a decision was needed.")]
    decision: Annotated[str, Field(description="What was decided.")]
    consequences: Annotated[str, Field(description="Consequences of the decision.")]
    alternatives: Annotated[str | None, Field(description="Alternatives that were considered.")]
    decided_on: Annotated[date, Field(description="Day of the decision.")]
    decided_by: Annotated[list[UUID], Field(description="People who decided.")]
    relates_to: Annotated[list[ReferenceView], Field(description="Affected resources.")]
    supersedes: Annotated[UUID | None, Field(description="Earlier decision that it replaces.")]
    superseded_by: Annotated[UUID | None, Field(description="Later decision that replaces it.")]
    status: Annotated[DecisionStatus, Field(description="Status.")]
    content_hash: Annotated[
        str, Field(description="SHA-256 of the recorded fields in canonical JSON (RFC 8785).")
    ]
    integrity: Annotated[
        Literal["ok", "broken"],
        Field(description="Whether the hash still matches, computed at each read."),
    ]
    created_by: Annotated[UUID, Field(description="Person who recorded it.")]

    @classmethod
    def of(cls, decision: GovernanceDecision) -> "DecisionView":
        fits = reviews.content_hash(decision) == decision.content_hash
        return cls.shown(
            decision.__dict__
            | {
                "relates_to": [ReferenceView.model_validate(one) for one in decision.relates_to],
                "integrity": "ok" if fits else "broken",
            }
        )


@router.post(
    "/administration/governance-decisions",
    status_code=201,
    responses=problems(AlreadySuperseded, RuleViolated),
)
async def record_governance_decision(
    body: RecordDecision, work: Annotated[Work, writes(Permission.GOVERNANCE_DECISION_RECORD)]
) -> DecisionView:
    """Record a decision. It gets the next number of the year and never changes."""
    fields = body.model_dump(exclude={"reason", "relates_to"})
    fields["relates_to"] = stored(body.relates_to)
    return DecisionView.of(await reviews.record_decision(work, fields=fields, reason=body.reason))


@router.get("/administration/governance-decisions")
async def list_governance_decisions(
    read: Annotated[Reader, reads(Permission.GOVERNANCE_DECISION_READ)],
    page: Annotated[Paged, paged("createdAt", "number", default="-createdAt")],
    category: Annotated[DecisionCategory | None, Query(description="Filter by category.")] = None,
    status: Annotated[DecisionStatus | None, Query(description="Filter by status.")] = None,
    decided_from: Annotated[
        Day | None, Query(alias="decidedFrom", description="Decided on this day or later.")
    ] = None,
    decided_to: Annotated[
        Day | None, Query(alias="decidedTo", description="Decided on this day or earlier.")
    ] = None,
    q: Annotated[
        str | None, text(2, 100), Query(description="Filter by part of the title.")
    ] = None,
) -> PageOf[DecisionView]:
    """List the governance decisions of the platform."""
    found = await reviews.list_decisions(
        read,
        page,
        category=category,
        status=status,
        decided_from=decided_from,
        decided_to=decided_to,
        q=q,
    )
    return PageOf[DecisionView].of(found, DecisionView.of)


@router.get("/administration/governance-decisions/{decisionId}")
async def get_governance_decision(
    decision_id: DecisionId, read: Annotated[Reader, reads(Permission.GOVERNANCE_DECISION_READ)]
) -> DecisionView:
    """Get a governance decision."""
    return DecisionView.of(await read.get(GovernanceDecision, decision_id))
