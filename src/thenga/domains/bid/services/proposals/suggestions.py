"""Texts that machines propose for a section; only a person takes one over (BID-14)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import asyncpg
from sqlalchemy import select

from thenga.domains.bid import public
from thenga.domains.bid.lifecycles import SuggestionLifecycle
from thenga.domains.bid.services import workspaces
from thenga.domains.bid.services.proposals.sections import open_section, write
from thenga.domains.bid.services.workspaces import Need
from thenga.domains.bid.settings import SUGGESTION_DAYS
from thenga.domains.bid.tables import (
    Draft,
    Section,
    SectionSuggestion,
    SuggestionStatus,
    Workspace,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, Problem, RuleViolated

MOST_CHARACTERS = 100_000
_RULE = "BID-14"


class SectionSuggestionStale(Problem):
    """The section was edited after this suggestion was made. Ask for a new suggestion."""

    code, status, title = "bid-suggestion-stale", 409, "The section has changed"


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a machine brings."""

    key: str
    section_id: UUID
    base_version: int
    text: str
    sources: Sequence[public.SectionSource]
    confidence: float
    execution_id: UUID | None
    explanation_id: UUID | None
    produced_by: public.SectionProducer
    guardrail_outcome: str


async def propose(work: Work, proposal: Proposal) -> SectionSuggestion:
    """Keep a text as a suggestion; the same key is the same suggestion, and nothing changes."""
    known = await work.find(SectionSuggestion, key=proposal.key)
    if known is not None:
        return known
    _check(proposal)
    section = await work.get(Section, proposal.section_id)
    draft = await work.get(Draft, section.draft_id)
    if draft.envelope == "financial":
        raise RuleViolated("The financial envelope does not accept suggestions.", rule=_RULE)
    workspace = await work.get(Workspace, section.workspace_id)
    days = await configuration.value(work, SUGGESTION_DAYS)
    lasts = timedelta(days=days)
    await _supersede(work, proposal)
    suggestion = SectionSuggestion(
        organization_id=work.organization_id,
        workspace_id=workspace.id,
        section_id=section.id,
        key=proposal.key,
        base_version=proposal.base_version,
        text=proposal.text,
        sources=[one.model_dump(mode="json") for one in proposal.sources],
        confidence=Decimal(str(proposal.confidence)),
        execution_id=proposal.execution_id,
        explanation_id=proposal.explanation_id,
        produced_by=proposal.produced_by.model_dump(mode="json"),
        guardrail_outcome=proposal.guardrail_outcome,
        expires_at=work.now + lasts,
        next_check_at=work.now + lasts,
    )
    try:
        await work.add(suggestion)
    except asyncpg.UniqueViolationError:
        raise RuleViolated(
            "A suggestion with this key is being saved. Try again.", rule=_RULE
        ) from None
    work.publish(_ready(workspace, suggestion, proposal))
    return suggestion


def _check(proposal: Proposal) -> None:
    if not proposal.sources:
        raise RuleViolated("Name at least one source.", rule=_RULE, field="sources")
    if not 0 <= proposal.confidence <= 1:
        raise RuleViolated("Send a confidence from 0 to 1.", rule=_RULE, field="confidence")
    if not 1 <= len(proposal.text) <= MOST_CHARACTERS:
        raise RuleViolated("The text must have 1 to 100 000 characters.", rule=_RULE, field="text")


async def _supersede(work: Work, proposal: Proposal) -> None:
    """A newer text of the same machine replaces its older ones that nobody has decided."""
    statement = select(SectionSuggestion).where(
        SectionSuggestion.section_id == proposal.section_id,
        SectionSuggestion.status == SuggestionStatus.PENDING,
        SectionSuggestion.base_version < proposal.base_version,
    )
    for found in await work.all(statement):
        if found.produced_by.get("agent_id") == proposal.produced_by.agent_id:
            held = await work.hold(found)
            SuggestionLifecycle.supersede(held, at=work.now)
            held.next_check_at = None
            await work.save(held)


def _ready(
    workspace: Workspace, suggestion: SectionSuggestion, proposal: Proposal
) -> public.SuggestionReady:
    return public.SuggestionReady(
        **workspaces.told_of(workspace),
        suggestion_id=suggestion.id,
        section_id=suggestion.section_id,
        execution_id=suggestion.execution_id,
        confidence=proposal.confidence,
        produced_by=proposal.produced_by,
    )


async def decide_suggestion(
    work: Work,
    section_id: UUID,
    suggestion_id: UUID,
    *,
    decision: str,
    text: str | None,
    reason: str | None,
) -> Section:
    """Accept, edit or reject a suggestion; accepting writes a version by the person who does."""
    section, workspace = await open_section(work, section_id, Need.EDIT)
    seen = await work.get(SectionSuggestion, suggestion_id)
    if seen.section_id != section.id:
        raise NotFound()
    suggestion = await work.lock(SectionSuggestion, suggestion_id, beside=True)
    if decision != "reject" and suggestion.status is SuggestionStatus.PENDING:
        _check_acceptable(section, suggestion, decision, text)
    if not SuggestionLifecycle.moves[decision](suggestion, at=work.now):
        return section
    suggestion.decided_by, suggestion.decided_at = workspaces.person_of(work), work.now
    suggestion.decision_reason, suggestion.next_check_at = reason, None
    await work.save(suggestion)
    if decision != "reject":
        taken = suggestion.text if text is None else text
        await write(work, workspace, section, taken, suggestion_id=suggestion.id)
    return section


def _check_acceptable(
    section: Section, suggestion: SectionSuggestion, decision: str, text: str | None
) -> None:
    if suggestion.base_version != section.version_number:
        raise SectionSuggestionStale()
    if suggestion.guardrail_outcome == "blocked":
        raise RuleViolated("A guardrail blocked this text. You can only reject it.", rule=_RULE)
    if (decision == "edit") != (text is not None):
        raise RuleViolated(
            "Send `text` with `edit`, and only with `edit`.", rule=_RULE, field="text"
        )


async def suggestions_of(read: Reader, section_id: UUID) -> list[SectionSuggestion]:
    """The suggestions to a section, the newest first."""
    statement = select(SectionSuggestion).where(SectionSuggestion.section_id == section_id)
    return await read.all(statement.order_by(SectionSuggestion.id.desc()), limit=100)


async def expire_suggestion(work: Work, suggestion_id: UUID) -> None:
    """A suggestion that nobody decided in its time is over; a job of time."""
    suggestion = await work.lock(SectionSuggestion, suggestion_id)
    suggestion.next_check_at = None
    if suggestion.status is SuggestionStatus.PENDING:
        SuggestionLifecycle.expire(suggestion, at=work.now)
    await work.save(suggestion)
