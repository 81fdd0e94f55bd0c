"""Suggestions that a newer value overtakes, and how their end is told (ORG-5)."""

from uuid import UUID

from sqlalchemy import select

from thenga.domains.organization import public
from thenga.domains.organization.lifecycles import SuggestionLifecycle
from thenga.domains.organization.tables import FactSuggestion, SuggestionStatus
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move

PPM = 1_000_000


async def overtake(work: Work, key: str, *, but: UUID | None = None) -> None:
    """End what waits for a person about a fact whose value is another one now."""
    waiting = select(FactSuggestion.id).where(
        FactSuggestion.organization_id == work.organization_id,
        FactSuggestion.fact_key == key,
        FactSuggestion.status == SuggestionStatus.PENDING,
    )
    for suggestion_id in await work.values(waiting):
        if suggestion_id != but:
            suggestion = await work.lock(FactSuggestion, suggestion_id)
            await end(work, suggestion, SuggestionLifecycle.supersede)


async def end(work: Work, suggestion: FactSuggestion, move: Move) -> None:
    """Make one of the closing moves and tell it."""
    if move(suggestion, at=work.now):
        suggestion.next_check_at = None
        suggestion.decided_at = work.now
        await work.save(suggestion)
        work.publish(decided(suggestion))


def decided(suggestion: FactSuggestion) -> public.SuggestionDecided:
    return public.SuggestionDecided(
        organization_id=suggestion.organization_id,
        suggestion_id=suggestion.id,
        target=target_of(suggestion),
        decision=suggestion.status,
        edited=suggestion.status is SuggestionStatus.EDITED_AND_ACCEPTED,
        confidence=suggestion.confidence_ppm / PPM,
        produced_by=public.Producer.model_validate(suggestion.produced_by),
    )


def target_of(suggestion: FactSuggestion) -> public.SuggestionTarget:
    return public.SuggestionTarget(
        fact_key=suggestion.fact_key,
        record_type=suggestion.record_type,
        record_id=suggestion.record_id,
        field=suggestion.field,
    )
