"""Suggestions of machines: taken once, kept until a person decides (CMP-36)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import rfc8785
import sqlalchemy as sa
from pydantic import ValidationError
from sqlalchemy import ColumnElement, select

from thenga.domains.compliance import public
from thenga.domains.compliance.lifecycles import SuggestionLifecycle
from thenga.domains.compliance.services import documents
from thenga.domains.compliance.tables import (
    AiSuggestion,
    Document,
    DocumentVersion,
    Requirement,
    SuggestionStatus,
)
from thenga.domains.compliance.values.suggested import TARGETS, read_value
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, RuleViolated

LASTS = timedelta(days=60)
MOST_SOURCES = 10
_RULE = "CMP-36"
_WAITING = (SuggestionStatus.PENDING, SuggestionStatus.CHANGES_REQUESTED)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a machine brings."""

    key: str
    kind: str
    target: public.SuggestionTarget
    proposed: dict[str, Any]
    confidence: float
    sources: Sequence[public.SuggestionSource]
    produced_by: public.SuggestionProducer
    base_version: int | None
    guardrail_outcome: str | None


@dataclass(frozen=True, slots=True)
class SuggestionFilters:
    """What the list may be narrowed to."""

    status: SuggestionStatus | None = None
    kind: str | None = None
    document_id: UUID | None = None
    min_confidence: Decimal | None = None


async def propose(work: Work, proposal: Proposal) -> tuple[AiSuggestion, bool]:
    """Keep a suggestion, and whether it is new. The same key or the same waiting value is one."""
    _check_form(proposal)
    known = await work.find(AiSuggestion, key=proposal.key)
    digest = hashlib.sha256(rfc8785.dumps(proposal.proposed)).hexdigest()
    if known is None:
        known = await _waiting(work, proposal, digest)
    if known is not None:
        return known, False
    base_version = await _check_target(work, proposal)
    await _check_sources(work, proposal.sources)
    suggestion = await work.add(
        AiSuggestion(
            organization_id=work.organization_id,
            key=proposal.key,
            kind=proposal.kind,
            target_type=proposal.target.type,
            target_id=proposal.target.id,
            target_field=proposal.target.field,
            base_version=base_version,
            proposed=proposal.proposed,
            proposed_hash=digest,
            confidence=Decimal(str(proposal.confidence)),
            sources=[source.model_dump(mode="json") for source in proposal.sources],
            produced_by=proposal.produced_by.model_dump(mode="json"),
            guardrail_outcome=proposal.guardrail_outcome,
            expires_at=work.now + LASTS,
            next_check_at=work.now + LASTS,
        )
    )
    return suggestion, True


def _check_form(proposal: Proposal) -> None:
    if not 1 <= len(proposal.sources) <= MOST_SOURCES:
        raise RuleViolated("Name 1 to 10 sources of this suggestion.", rule=_RULE)
    if not 0 <= proposal.confidence <= 1:
        raise RuleViolated("Send a confidence from 0 to 1.", rule=_RULE)
    if proposal.target.type != TARGETS[proposal.kind]:
        raise RuleViolated(
            f"This kind of suggestion needs a target of type {TARGETS[proposal.kind]}.", rule=_RULE
        )
    try:
        read_value(proposal.kind, proposal.proposed)
    except ValidationError:
        raise RuleViolated(
            "The proposed value does not have the format of this kind.", rule=_RULE
        ) from None


async def _waiting(work: Work, proposal: Proposal, digest: str) -> AiSuggestion | None:
    statement = select(AiSuggestion).where(
        AiSuggestion.kind == proposal.kind,
        AiSuggestion.target_id == proposal.target.id,
        AiSuggestion.proposed_hash == digest,
        among(AiSuggestion.status, _WAITING),
    )
    return next(iter(await work.all(statement, limit=1)), None)


async def _check_target(work: Work, proposal: Proposal) -> int | None:
    """The target must be there; a document's suggestion is for the version that was read."""
    target = proposal.target
    if target.type == "organization":
        if target.id != work.organization_id:
            raise NotFound()
        return None
    if target.type == "requirement":
        return (await work.get(Requirement, target.id)).version
    document = await work.get(Document, target.id)
    base = proposal.base_version or document.current_version
    if base != document.current_version:
        raise RuleViolated("The document has a newer version. Read that version.", rule=_RULE)
    return base


async def _check_sources(work: Work, sources: Sequence[public.SuggestionSource]) -> None:
    for document_id, version in {(one.document_id, one.version) for one in sources}:
        found = await work.find(DocumentVersion, document_id=document_id, number=version)
        if found is None:
            raise RuleViolated("A source is not a document of this organization.", rule=_RULE)


async def list_suggestions(
    read: Reader, paged: Paged, filters: SuggestionFilters
) -> Slice[AiSuggestion]:
    """Suggestions about documents and requirements of the company, that the caller may read."""
    statement = where_given(
        select(AiSuggestion).where(_is_readable(read, await documents.sight_of(read))),
        (AiSuggestion.status, filters.status),
        (AiSuggestion.kind, filters.kind),
        (AiSuggestion.target_id, filters.document_id),
    )
    if filters.min_confidence is not None:
        statement = statement.where(AiSuggestion.confidence >= filters.min_confidence)
    columns: dict[str, ColumnElement[Any]] = {
        "confidence": AiSuggestion.confidence,
        "createdAt": AiSuggestion.created_at,
    }
    return await read.page(statement, paged, by=columns[paged.sort])


async def readable_suggestion(read: Reader, suggestion_id: UUID) -> AiSuggestion:
    """A suggestion for a caller who may read its target and all of its sources (CMP-48)."""
    statement = select(AiSuggestion).where(
        AiSuggestion.id == suggestion_id, _is_readable(read, await documents.sight_of(read))
    )
    for suggestion in await read.all(statement, limit=1):
        return suggestion
    raise NotFound()


def _is_readable(read: Reader, sight: documents.Sight) -> ColumnElement[bool]:
    organization_id = read.organization_id
    return sa.and_(
        sight.names_no_hidden(organization_id, AiSuggestion.target_id),
        sight.cites_no_hidden(organization_id, AiSuggestion.sources),
    )


async def expire(work: Work, suggestion_id: UUID) -> None:
    """A suggestion that nobody decided in 60 days has expired."""
    suggestion = await work.lock(AiSuggestion, suggestion_id)
    suggestion.next_check_at = None
    if suggestion.status in _WAITING and suggestion.expires_at <= work.now:
        SuggestionLifecycle.expire(suggestion, at=work.now)
        suggestion.status_code, suggestion.status_changed_at = "expire", work.now
    await work.save(suggestion)


async def supersede(work: Work, document_id: UUID, *, version: int) -> None:
    """What was read out of an older version of a document is no longer offered."""
    statement = select(AiSuggestion).where(
        AiSuggestion.target_id == document_id,
        AiSuggestion.target_type == "document",
        AiSuggestion.base_version < version,
        among(AiSuggestion.status, _WAITING),
    )
    for found in await work.all(statement):
        suggestion = await work.hold(found)
        if suggestion.status in _WAITING:
            SuggestionLifecycle.supersede(suggestion, at=work.now)
            suggestion.status_code, suggestion.status_changed_at = "supersede", work.now
            suggestion.next_check_at = None
            await work.save(suggestion)
