"""Compliance's ports, answered in this process."""

from datetime import date
from typing import Literal
from uuid import UUID

from pydantic import JsonValue

from thenga.domains.compliance import public
from thenga.domains.compliance.public.suggestions import SuggestionKind
from thenga.domains.compliance.services import documents, evidence, readiness, suggestions
from thenga.domains.compliance.services.readiness import (
    Assessed,
    ReadinessAnswer,
    ReadinessQuestion,
)
from thenga.domains.compliance.services.suggestions import Proposal
from thenga.domains.compliance.services.tenders import TenderFacts, TermFacts
from thenga.kernel.ports.local import Answering
from thenga.kernel.process.host import Host


class LocalReadiness(public.Readiness):
    """Readiness of a company, computed when it is asked for."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Readiness)

    async def on_date(
        self,
        *,
        organization_id: UUID,
        on: date | None = None,
        tender_opportunity_id: UUID | None = None,
        requirements: list[public.Term] = [],  # noqa: B006  # never changed
    ) -> public.ReadinessView:
        question = ReadinessQuestion(
            on=on,
            tender_opportunity_id=tender_opportunity_id,
            terms=_terms(requirements),
        )
        async with self._answering.reading(organization_id) as read:
            return _view(await readiness.answer(read, question, documents.SIGHT_OF_ALL))

    async def for_tenders(
        self, *, organization_id: UUID, tenders: list[public.TenderTerms]
    ) -> list[public.ReadinessView]:
        asked = [
            TenderFacts(
                tender_opportunity_id=one.tender_opportunity_id,
                closing_at=one.closing_at,
                validity_ends_on=one.validity_ends_on,
                expected_award_on=one.expected_award_on,
                sphere=one.sphere,
                category=one.category,
                terms=_terms(one.terms),
            )
            for one in tenders
        ]
        async with self._answering.reading(organization_id) as read:
            found = await readiness.answer_tenders(read, asked, documents.SIGHT_OF_ALL)
            return [_view(one) for one in found]


def _terms(asked: list[public.Term]) -> tuple[TermFacts, ...]:
    return tuple(TermFacts(one.ref, one.code, one.gate, one.params) for one in asked)


def _item(found: Assessed) -> public.ReadinessItem:
    cited = None
    if found.evidence_ids:
        cited = public.EvidenceRef(
            evidence_id=found.evidence_ids[0], proof_version=found.proof_version
        )
    return public.ReadinessItem(
        ref=found.need.ref,
        code=found.need.code,
        gate=found.need.gate.value,
        state=found.state.value,
        evidence_ref=cited,
        valid_until=found.valid_until,
    )


def _view(found: ReadinessAnswer) -> public.ReadinessView:
    outcome = found.outcome
    span = None
    if outcome.low is not None and outcome.high is not None:
        span = public.ScoreRange(low=outcome.low, high=outcome.high)
    return public.ReadinessView(
        verdict=outcome.verdict.value,
        score=outcome.score,
        raw_score=outcome.raw_score,
        range=span,
        tender_opportunity_id=found.tender_opportunity_id,
        on=found.on,
        items=[_item(one) for one in outcome.items],
        blockers=list(outcome.blockers),
        warnings=[public.Warned(code=one.code, reason=one.reason) for one in outcome.warnings],
        unknowns=[public.Warned(code=one.code, reason=one.reason) for one in outcome.unknowns],
        lapses=[
            public.Lapse(
                code=one.need.code,
                ends_on=one.ends_on,
                misses="award" if one.missed.point.value == "award" else "validity_end",
                misses_on=one.missed.on,
            )
            for one in found.lapses
        ],
        as_of=found.as_of,
        catalogue_version=found.catalogue_version,
        stale=found.is_stale,
    )


class LocalSuggestions(public.Suggestions):
    """Suggestions of machines, kept for a person to decide."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Suggestions)

    async def propose(
        self,
        *,
        organization_id: UUID,
        key: str,
        kind: SuggestionKind,
        target: public.SuggestionTarget,
        proposed: dict[str, JsonValue],
        confidence: float,
        sources: list[public.SuggestionSource],
        produced_by: public.SuggestionProducer,
        base_version: int | None = None,
        guardrail_outcome: str | None = None,
    ) -> public.Suggested:
        proposal = Proposal(
            key=key,
            kind=kind,
            target=target,
            proposed=dict(proposed),
            confidence=confidence,
            sources=sources,
            produced_by=produced_by,
            base_version=base_version,
            guardrail_outcome=guardrail_outcome,
        )
        async with self._answering.working(organization_id) as work:
            found, created = await suggestions.propose(work, proposal)
        return public.Suggested(suggestion_id=found.id, status=found.status.value, created=created)


class LocalDocuments(public.Documents):
    """The papers of a company."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Documents)

    async def describe(
        self, *, organization_id: UUID, refs: list[public.DocumentRef]
    ) -> list[public.DocumentCard]:
        async with self._answering.reading(organization_id) as read:
            return await documents.describe(read, refs[:100])

    async def classes(
        self, *, organization_id: UUID, document_ids: list[UUID]
    ) -> list[public.DocumentClass]:
        async with self._answering.reading(organization_id) as read:
            return await documents.classes_of(read, document_ids[:100])

    async def open(
        self,
        *,
        organization_id: UUID,
        document_id: UUID,
        version: int | None,
        purpose: str,
        on_behalf_of: UUID,
        key: str,
    ) -> public.OpenedDocument:
        async with self._answering.working(organization_id) as work:
            return await documents.open_file(
                work, document_id, version=version, purpose=purpose, on_behalf_of=on_behalf_of
            )


class LocalEvidence(public.Evidence):
    """Whether what was relied on still holds."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Evidence)

    async def resolve(
        self, *, organization_id: UUID, refs: list[public.EvidenceRef]
    ) -> list[public.ResolvedEvidence]:
        async with self._answering.reading(organization_id) as read:
            return await evidence.resolve(read, refs[:200])


class LocalAttestations(public.Attestations):
    """What a form may say of the proofs of a company."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Attestations)

    async def describe(
        self,
        *,
        organization_id: UUID,
        codes: list[str],
        purpose: Literal["bid_form", "funding_application"],
        on_behalf_of: UUID | None = None,
    ) -> list[public.Attestation]:
        async with self._answering.working(organization_id) as work:
            return await evidence.describe_attestations(
                work, codes, purpose=purpose, on_behalf_of=on_behalf_of
            )
