"""Sections of proposals: their texts, reviews and suggestions."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.bid.api.drafts import (
    BidSectionRow,
    Instructions,
    RequirementIds,
    SectionLimit,
    SectionOwner,
    SectionTitle,
    limit_of,
    section_columns,
)
from thenga.domains.bid.api.parameters import SectionId
from thenga.domains.bid.api.references import BidReferenceView
from thenga.domains.bid.lifecycles import SectionLifecycle
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.services import proposals, workspaces
from thenga.domains.bid.services.proposals import (
    BidCommentsOpen,
    BidLimitExceeded,
    SectionStale,
    SectionSuggestionStale,
)
from thenga.domains.bid.services.workspaces import (
    BidAlreadySubmitted,
    BidPersonNotInTeam,
    BidPersonUnknown,
    BidSealed,
)
from thenga.domains.bid.tables import Section, SectionSuggestion, SectionVersion, SuggestionStatus
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Conflict, InvalidTransition, RuleViolated, SamePerson
from thenga.kernel.http.bodies import Body, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import lines, matching, whole

router = make_router("Bid / Proposals")


class DecideSectionSuggestion(Body):
    """Decision on a suggestion."""

    id: Annotated[UUID, Field(description="ID of the suggestion.")]
    decision: Annotated[
        Literal["accept", "edit", "reject"],
        Field(description="Decision. `edit` needs your own `text`."),
    ]
    text: Annotated[
        Annotated[str, lines(1, 100_000)] | None,
        Field(description="Your text. Required with `edit`."),
    ] = None
    reason: Annotated[
        Annotated[str, lines(1, 1000)] | None,
        Field(description="Reason for the decision."),
    ] = None


class ChangeBidSection(Body):
    """Only one of `content`, `move`, `suggestion` or other fields."""

    content: Annotated[
        str, lines(0, 100_000), Field(description="Markdown. HTML is printed as plain text.")
    ] = ""
    title: SectionTitle = "unchanged"
    instructions: Instructions = None
    owner_user_id: SectionOwner = None
    position: Annotated[int, whole(1, 60), Field(description="Position in the draft.")] = 1
    limit: Annotated[SectionLimit | None, Field(description="Maximum length.")] = None
    requirement_ids: RequirementIds = []
    move: Annotated[
        Literal["request_review", "request_changes", "approve", "lock", "reopen"] | None,
        Field(description="Move to make."),
    ] = None
    reason: Annotated[
        Annotated[str, lines(1, 1000)] | None,
        Field(description="Reason. Required to request changes."),
    ] = None
    suggestion: Annotated[
        DecideSectionSuggestion | None, Field(description="Decision on a suggestion.")
    ] = None


class SectionVersionView(View):
    """A version of the text of a section."""

    number: Annotated[int, Field(description="Version number.")]
    sha256: Annotated[str, Field(description="SHA-256 of the text.")]
    words: Annotated[int, Field(description="Number of words.")]
    author_user_id: Annotated[UUID | None, Field(description="Author.")]
    suggestion_id: Annotated[UUID | None, Field(description="Accepted suggestion.")]
    created_at: Annotated[datetime, Field(description="Time of creation.")]


class SectionSourceView(View):
    """Source of a suggestion."""

    reference: Annotated[BidReferenceView, Field(description="Resource that was read.")]
    version: Annotated[int | None, Field(description="Version that was read.")]
    excerpt: Annotated[str | None, Field(description="Quote from the source.")]


class SectionProducerView(View):
    """AI agent that made the suggestion."""

    agent_id: Annotated[str, Field(description="Name of the agent.")]
    version: Annotated[str, Field(description="Version of the agent.")]


class SectionSuggestionView(View):
    """Text suggested by an AI agent."""

    id: Annotated[UUID, Field(description="ID of the suggestion.")]
    status: SuggestionStatus
    base_version: Annotated[int, Field(description="Version of the section it was made for.")]
    text: Annotated[str, Field(description="Proposed text.")]
    sources: Annotated[list[SectionSourceView], Field(description="Sources of the suggestion.")]
    confidence: Annotated[Decimal, Field(description="Confidence, 0 to 1.")]
    produced_by: Annotated[SectionProducerView, Field(description="AI agent that made it.")]
    guardrail_outcome: Annotated[
        str, Field(description="Result of the guardrails. `blocked` text cannot be accepted.")
    ]
    decided_by: Annotated[UUID | None, Field(description="Person who decided.")]
    decision_reason: Annotated[str | None, Field(description="Reason.")]
    expires_at: datetime


class BidSectionView(BidSectionRow):
    """A section with one version of its text."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Workspace of the bid.")]
    instructions: Annotated[str | None, Field(description="Instructions for the author.")]
    content: Annotated[str | None, Field(description="Text of the version shown, in Markdown.")]
    shown_version: Annotated[int, Field(description="Number of the version shown.")]
    authors: Annotated[
        list[UUID],
        Field(description="People who wrote since the last approval. They cannot approve."),
    ]
    approved_version: Annotated[int | None, Field(description="Approved version.")]
    status_reason: Annotated[str | None, Field(description="Why the status changed.")]
    versions: Annotated[
        list[SectionVersionView] | None, Field(description="Versions, if included.")
    ]
    suggestions: Annotated[
        list[SectionSuggestionView] | None, Field(description="Suggestions, if included.")
    ]
    allowed_moves: list[AllowedMove]

    @classmethod
    def shown_as(
        cls,
        section: Section,
        version: SectionVersion | None,
        now: datetime,
        *,
        versions: Sequence[SectionVersion] | None = None,
        suggestions: Sequence[SectionSuggestion] | None = None,
    ) -> "BidSectionView":
        more: dict[str, Any] = {
            "limit": limit_of(section),
            "content": None if version is None else version.content,
            "shown_version": 0 if version is None else version.number,
            "status_reason": section.status_text or section.status_code,
            "versions": None if versions is None else [one.__dict__ for one in versions],
            "suggestions": None if suggestions is None else [one.__dict__ for one in suggestions],
            "allowed_moves": SectionLifecycle.allowed(section, now),
        }
        return cls.model_validate(section.__dict__ | more)


@router.get("/bids/sections/{sectionId}", responses=problems(RuleViolated))
async def get_bid_section(
    section_id: SectionId,
    read: Annotated[Reader, reads(Permission.SECTION_READ)],
    version_number: Annotated[
        int | None,
        Query(
            alias="versionNumber",
            ge=1,
            le=1_000_000,
            description="Version to show. Defaults to the current one.",
        ),
    ] = None,
    include: Annotated[
        Annotated[str, matching("^(versions|suggestions)(,(versions|suggestions))?$", 30)] | None,
        Query(description="`versions`, `suggestions` or both, separated by a comma."),
    ] = None,
) -> BidSectionView:
    """Retrieve a section with its current text or an earlier version."""
    section, version = await proposals.get_section(read, section_id, version_number)
    wanted = set() if include is None else set(include.split(","))
    return BidSectionView.shown_as(
        section,
        version,
        read.now,
        versions=await proposals.versions_of(read, section_id) if "versions" in wanted else None,
        suggestions=(
            await proposals.suggestions_of(read, section_id) if "suggestions" in wanted else None
        ),
    )


@router.patch(
    "/bids/sections/{sectionId}",
    responses=problems(
        SectionStale,
        SectionSuggestionStale,
        BidCommentsOpen,
        BidLimitExceeded,
        BidPersonUnknown,
        BidPersonNotInTeam,
        BidSealed,
        BidAlreadySubmitted,
        SamePerson,
        InvalidTransition,
        Conflict,
        RuleViolated,
    ),
)
async def change_bid_section(
    section_id: SectionId,
    body: ChangeBidSection,
    work: Annotated[Work, writes(Permission.SECTION_UPDATE, if_match=True)],
) -> BidSectionView:
    """Write a new version, make a move, decide a suggestion or change other fields.

    Text that someone else wrote in the meantime is not overwritten: the answer is 412 and names the
    author. You cannot approve text that you wrote.
    """
    section = await _changed(work, section_id, body)
    version = await proposals.current_text(work, section)
    return BidSectionView.shown_as(section, version, work.now)


async def _changed(work: Work, section_id: UUID, body: ChangeBidSection) -> Section:
    fields = body.changes()
    move, suggestion = fields.pop("move", None), fields.pop("suggestion", None)
    reason = fields.pop("reason", None)
    writes_text = "content" in fields
    if (move is not None) + (suggestion is not None) + bool(fields) > 1 or (
        writes_text and len(fields) > 1
    ):
        raise RuleViolated(
            "Send only one of `content`, `move`, `suggestion` or other fields.", rule="BID-11"
        )
    if suggestion is not None:
        await workspaces.demand(work, Permission.SUGGESTION_DECIDE)
        return await proposals.decide_suggestion(
            work,
            section_id,
            suggestion.id,
            decision=suggestion.decision,
            text=suggestion.text,
            reason=suggestion.reason,
        )
    if move is not None:
        if move in proposals.REVIEWS:
            await workspaces.demand(work, Permission.SECTION_REVIEW)
        return await proposals.move_section(work, section_id, move, reason)
    if writes_text:
        return await proposals.write_section(work, section_id, fields["content"])
    return await proposals.change_section(work, section_id, section_columns(fields))
