"""A person decides a suggestion: taken, edited, rejected or sent back (CMP-36)."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from thenga.domains.compliance import public
from thenga.domains.compliance.lifecycles import SuggestionLifecycle
from thenga.domains.compliance.services import (
    documents,
    evidence,
    recomputing,
    requirements,
    risks,
)
from thenga.domains.compliance.services.suggestions import proposing
from thenga.domains.compliance.tables import AiSuggestion, SuggestionStatus
from thenga.domains.compliance.values.suggested import read_value
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, RuleViolated

_TAKEN = ("accept", "edit_and_accept")
_OVERTAKEN = (SuggestionStatus.SUPERSEDED, SuggestionStatus.EXPIRED)


class AiSuggestionStale(Problem):
    """The document has a newer version, or the suggestion has expired. Check the document and
    state the fact yourself."""

    code, status, title = "compliance-suggestion-stale", 409, "This suggestion is out of date"


@dataclass(frozen=True, slots=True)
class Review:
    """What a person decides."""

    decision: str
    value: dict[str, Any] | None = None
    reason_code: str | None = None


async def review(work: Work, suggestion_id: UUID, decided: Review) -> AiSuggestion:
    """Decide a suggestion. What is taken becomes an ordinary fact of the person who takes it."""
    async with work.separate_reader() as read:
        seen = await proposing.readable_suggestion(read, suggestion_id)
    move = SuggestionLifecycle.moves[decided.decision]
    if seen.status is move.to:
        return seen
    value = _value(seen, decided)
    if decided.decision in _TAKEN and seen.status in move.sources:
        if seen.expires_at <= work.now:
            raise AiSuggestionStale()
        await _apply(work, seen, value)
    suggestion = await work.lock(AiSuggestion, suggestion_id)
    if suggestion.status in _OVERTAKEN and decided.decision in _TAKEN:
        raise AiSuggestionStale()
    if not move(suggestion, at=work.now):
        return suggestion
    suggestion.status_code, suggestion.status_text = decided.decision, decided.reason_code
    suggestion.status_changed_at, suggestion.status_changed_by = work.now, work.actor.id
    if decided.decision != "request_changes":
        suggestion.decided_by, suggestion.decided_at = work.actor.id, work.now
        suggestion.next_check_at = None
    suggestion.reason_code = decided.reason_code
    suggestion.decided_value = decided.value if decided.decision == "edit_and_accept" else None
    await work.save(suggestion)
    work.publish(_event(suggestion, decided))
    if decided.decision in _TAKEN:
        await recomputing.mark_due(work)
    return suggestion


def _value(seen: AiSuggestion, decided: Review) -> dict[str, Any]:
    is_edit = decided.decision == "edit_and_accept"
    if is_edit and decided.value is None:
        raise _wrong("Send the value to use instead.")
    if not is_edit and decided.value is not None:
        raise _wrong("Send a value only with `edit_and_accept`.")
    if decided.decision == "reject" and decided.reason_code is None:
        raise _wrong("Send the reason for rejecting it in `reasonCode`.")
    try:
        return read_value(seen.kind, decided.value if decided.value is not None else seen.proposed)
    except ValidationError:
        raise _wrong("Send a value in the same format as the proposed one.") from None


def _wrong(detail: str) -> RuleViolated:
    return RuleViolated(detail, rule="CMP-36")


async def _apply(work: Work, seen: AiSuggestion, value: dict[str, Any]) -> None:
    """Write the fact as its own operation would."""
    if seen.kind == "document_facts":
        await _state_facts(work, seen, value)
    elif seen.kind == "document_type":
        await _sort(work, seen, value)
    elif seen.kind == "evidence_link":
        cited = await evidence.cite_document(work, seen.target_id, seen.base_version)
        await evidence.add_evidence(
            work, cited, requirement_ids=value["requirement_ids"], period="", note=None
        )
    elif seen.kind == "requirement_mapping":
        await requirements.change_requirement(work, seen.target_id, fields=value)
    else:
        await risks.add_suggested(work, suggestion_id=seen.id, fields=value)


async def _state_facts(work: Work, seen: AiSuggestion, value: dict[str, Any]) -> None:
    changed = await documents.change_document(work, seen.target_id, fields=value)
    if changed.version.number != seen.base_version:
        raise AiSuggestionStale()
    if changed.facts:
        version = await work.hold(changed.version)
        version.facts_source = {"suggestionId": str(seen.id)}
        await work.save(version)
        await evidence.reopen_for_facts(work, changed.document, version)


async def _sort(work: Work, seen: AiSuggestion, value: dict[str, Any]) -> None:
    changed = await documents.change_type(work, seen.target_id, code=value["document_type_code"])
    if changed.version.number != seen.base_version:
        raise AiSuggestionStale()
    if changed.facts:
        await evidence.reopen_for_facts(work, changed.document, changed.version)


def _event(suggestion: AiSuggestion, decided: Review) -> public.SuggestionReviewed:
    return public.SuggestionReviewed(
        organization_id=suggestion.organization_id,
        suggestion_id=suggestion.id,
        kind=suggestion.kind,
        decision=decided.decision,
        edited=decided.decision == "edit_and_accept",
        confidence=float(suggestion.confidence),
        produced_by=public.SuggestionProducer.model_validate(suggestion.produced_by),
        field=suggestion.target_field,
    )
