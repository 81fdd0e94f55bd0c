"""Suggestions: what machines think; only a person makes a fact of one (ORG-5)."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, select

from thenga.domains.organization import public, settings
from thenga.domains.organization.lifecycles import SuggestionLifecycle
from thenga.domains.organization.services.facts import (
    _ledger,
    _overtaking,
    _settling,
    _stating,
    fact_types,
    fact_values,
)
from thenga.domains.organization.services.facts.fact_values import Normal
from thenga.domains.organization.tables import (
    CustomerStatement,
    FactSuggestion,
    SuggestionStatus,
)
from thenga.kernel.access.actors import ActorKind
from thenga.kernel.db import configuration
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, RuleViolated, extensions
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id

_MOST_SOURCES = 10
SORTS: dict[str, ColumnElement[Any] | None] = {
    "createdAt": None,
    "confidence": FactSuggestion.__table__.c.confidence_ppm,
}


class PersonRequired(Problem):
    """Machines can suggest values, but only a person can accept or reject them.

    Sign in to decide.
    """

    code, status, title = "organization-person-required", 403, "A person must decide this"


class SuggestionStale(Problem):
    """The fact was changed after the suggestion was made, so the suggestion has ended.

    Read the fact again and state the correct value.
    """

    code, status, title = (
        "organization-suggestion-stale",
        409,
        "The fact changed after this suggestion",
    )
    members = extensions(currentVersion=(int, "Current version of the fact."))


@dataclass(frozen=True)
class Proposal:
    """What a machine brings: a value, how sure it is, and where it read that."""

    fact_key: str
    value: Any
    confidence: float
    sources: list[dict[str, Any]]
    produced_by: dict[str, Any]
    base_version: int | None = None
    guardrail_outcome: str | None = None
    key: str | None = None  # of the command, where a port is asked


async def propose_suggestions(work: Work, proposal: Proposal) -> tuple[FactSuggestion, bool]:
    """Keep a suggestion; an equal one that waits already takes its sources (False then)."""
    if proposal.key is not None:
        known = await work.find(FactSuggestion, command_key=proposal.key)
        if known is not None:
            return known, False
    if proposal.fact_key not in fact_types.SUGGESTED:
        detail = (
            "Bank and ownership facts must be stated by a person; machines cannot suggest them."
        )
        raise RuleViolated(detail, rule="ORG-5")
    await _settling.hold(work)
    picture = await _ledger.load_one(work, proposal.fact_key)
    version = picture.fact.version if picture.fact is not None else 0
    if proposal.base_version is not None and proposal.base_version != version:
        raise SuggestionStale(currentVersion=version)
    value = (await _normal(work, proposal.fact_key, proposal.value)).value
    digest = fact_values.digest(work.host, work.organization_id, proposal.fact_key, value)
    waiting = await _waiting(work, proposal.fact_key, digest)
    if waiting is not None:
        return await _merge(work, waiting, proposal), False
    return await _add(work, proposal, value, digest, version), True


async def _normal(work: Work, key: str, value: Any, pointer: str = "/proposedValue") -> Normal:
    read = fact_types.read(key, value, pointer=pointer)
    rules = await _settling.rules_of(work)
    today = local_day(work.now)
    return fact_values.normal({key: read}, known={}, today=today, vat_luhn=rules.vat_luhn)[key]


async def _waiting(work: Work, key: str, digest: bytes) -> FactSuggestion | None:
    statement = select(FactSuggestion).where(
        FactSuggestion.fact_key == key,
        FactSuggestion.proposed_hash == digest,
        FactSuggestion.status == SuggestionStatus.PENDING,
    )
    found = await work.all(statement, limit=1)
    return found[0] if found else None


async def _merge(work: Work, waiting: FactSuggestion, proposal: Proposal) -> FactSuggestion:
    held = await work.lock(FactSuggestion, waiting.id)
    new = [source for source in proposal.sources if source not in held.sources]
    held.sources = [*held.sources, *new][:_MOST_SOURCES]
    held.confidence_ppm = max(held.confidence_ppm, round(proposal.confidence * _overtaking.PPM))
    return await work.save(held)


async def _add(
    work: Work, proposal: Proposal, value: Any, digest: bytes, version: int
) -> FactSuggestion:
    days = await configuration.value(work, settings.SUGGESTION_DAYS)
    ends = work.now + timedelta(days=days)
    made = await work.add(
        FactSuggestion(
            id=new_id(),
            organization_id=work.organization_id,
            fact_key=proposal.fact_key,
            proposed_value=value,
            proposed_hash=digest,
            base_version=version,
            confidence_ppm=round(proposal.confidence * _overtaking.PPM),
            sources=proposal.sources,
            produced_by=proposal.produced_by,
            guardrail_outcome=proposal.guardrail_outcome,
            expires_at=ends,
            next_check_at=ends,
            command_key=proposal.key,
        )
    )
    work.publish(
        public.OrganizationFactSuggested(
            organization_id=made.organization_id,
            suggestion_id=made.id,
            target=_overtaking.target_of(made),
            confidence=made.confidence_ppm / _overtaking.PPM,
            produced_by=public.Producer.model_validate(made.produced_by),
        )
    )
    return made


async def list_suggestions(
    read: Reader,
    paged: Paged,
    *,
    status: SuggestionStatus | None,
    fact_key: str | None,
    record_type: str | None,
    min_confidence: float | None,
) -> Slice[FactSuggestion]:
    """The suggestions about this company; what time has ended is not pending any more."""
    statement = select(FactSuggestion)
    if status is SuggestionStatus.PENDING:
        statement = statement.where(FactSuggestion.expires_at > read.now)
    if status is SuggestionStatus.EXPIRED:
        over = (FactSuggestion.status == SuggestionStatus.PENDING) & (
            FactSuggestion.expires_at <= read.now
        )
        statement = statement.where((FactSuggestion.status == status) | over)
    elif status is not None:
        statement = statement.where(FactSuggestion.status == status)
    statement = where_given(
        statement, (FactSuggestion.fact_key, fact_key), (FactSuggestion.record_type, record_type)
    )
    if min_confidence is not None:
        least = round(min_confidence * _overtaking.PPM)
        statement = statement.where(FactSuggestion.confidence_ppm >= least)
    return await read.page(statement, paged, SORTS[paged.sort])


async def accept_suggestion(
    work: Work, suggestion_id: UUID, *, value: Any = None
) -> FactSuggestion:
    """A person makes the value the company's own statement, as suggested or corrected."""
    _only_people(work)
    suggestion = await _hold(work, suggestion_id)
    if suggestion.status in (SuggestionStatus.ACCEPTED, SuggestionStatus.EDITED_AND_ACCEPTED):
        return suggestion
    if suggestion.status is SuggestionStatus.SUPERSEDED:
        raise SuggestionStale()
    edited = value is not None and value != suggestion.proposed_value
    move = SuggestionLifecycle.accept_edited if edited else SuggestionLifecycle.accept
    move(suggestion, at=work.now)
    key = suggestion.fact_key
    assert key is not None  # noqa: S101  # records are suggested by their own part
    given = value if edited else suggestion.proposed_value
    normal = await _normal(work, key, given, "/value")
    source = {"domain": "organization", "type": "factSuggestion", "id": str(suggestion.id)}
    suggestion.customer_statement_id = await _state(work, key, normal, source, suggestion.id)
    suggestion.decided_by, suggestion.decided_at = work.actor.id, work.now
    suggestion.next_check_at = None
    await work.save(suggestion)
    work.publish(_overtaking.decided(suggestion))
    return suggestion


async def _state(
    work: Work, key: str, normal: Normal, source: dict[str, Any], suggestion_id: UUID
) -> UUID | None:
    organization = await _settling.hold(work)
    pictures = await _ledger.load(work, {key, *_stating.VAT})
    await _stating.vat_agrees(work, {key: _stating.Given(normal.value)}, pictures)
    changes = await _stating.state(
        work,
        pictures[key],
        normal,
        await _settling.rules_of(work),
        source=source,
        accepted=suggestion_id,
    )
    await _settling.tell(work, organization, changes)
    stated = pictures[key].customer
    return None if stated is None else stated.id


async def reject_suggestion(
    work: Work, suggestion_id: UUID, *, reason_code: str, text: str | None
) -> FactSuggestion:
    """A person says no; the fact stays as it is."""
    _only_people(work)
    suggestion = await _hold(work, suggestion_id)
    if suggestion.status is not SuggestionStatus.REJECTED:
        suggestion.decided_by = work.actor.id
        suggestion.decision_reason = {"code": reason_code, "text": text}
        await _overtaking.end(work, suggestion, SuggestionLifecycle.reject)
    return suggestion


async def expire_suggestion(work: Work, suggestion_id: UUID) -> None:
    """Nobody decided in time."""
    suggestion = await work.lock(FactSuggestion, suggestion_id)
    over = suggestion.status not in SuggestionLifecycle.expire.sources
    if not over and suggestion.expires_at <= work.now:
        await _overtaking.end(work, suggestion, SuggestionLifecycle.expire)


async def decided_statement(read: Reader, suggestion: FactSuggestion) -> CustomerStatement | None:
    """The statement that an accepted suggestion became."""
    if suggestion.customer_statement_id is None:
        return None
    return await read.get(CustomerStatement, suggestion.customer_statement_id)


async def _hold(work: Work, suggestion_id: UUID) -> FactSuggestion:
    """The suggestion, after the organization: every command about facts locks in this order."""
    wanted, work.if_match = work.if_match, None
    await _settling.hold(work)
    work.if_match = wanted
    suggestion = await work.lock(FactSuggestion, suggestion_id)
    if suggestion.status is SuggestionStatus.PENDING and suggestion.expires_at <= work.now:
        await _overtaking.end(work, suggestion, SuggestionLifecycle.expire)
    return suggestion


def _only_people(work: Work) -> None:
    if work.actor.kind is not ActorKind.USER:
        raise PersonRequired()
