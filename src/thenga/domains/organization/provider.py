"""Organization's ports, answered in this process."""

from datetime import date, datetime, timedelta
from typing import Literal
from uuid import UUID

from pydantic import JsonValue

from thenga.domains.organization import public
from thenga.domains.organization.services import facts, offers, organizations
from thenga.domains.organization.services.facts import Check, Proposal
from thenga.domains.organization.services.reference_data import FACTS
from thenga.domains.organization.tables import Outcome
from thenga.kernel.errors import NotFound, ValidationFailed
from thenga.kernel.ports.local import Answering
from thenga.kernel.process.host import Host

_MOST_REFS, _MOST_CARDS, _MOST_SUBJECTS = 200, 200, 50


class LocalProfiles(public.Profiles):
    """Facts, citations and cards."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Profiles)

    async def describe(
        self,
        *,
        organization_id: UUID,
        purpose: public.Purpose,
        fact_keys: list[str] | None = None,
        record_types: list[str] | None = None,
        on: date | None = None,
        records_after: UUID | None = None,
    ) -> public.ProfileView:
        async with self._answering.reading(organization_id) as read:
            return await organizations.describe_profiles(
                read,
                purpose=purpose,
                fact_keys=fact_keys,
                record_types=record_types or (),
                on=on,
                records_after=records_after,
            )

    async def mode(self, *, organization_id: UUID) -> Literal["live", "sandbox"]:
        async with self._answering.reading(organization_id) as read:
            return await organizations.organization_mode(read)

    async def time_zone(self, *, organization_id: UUID) -> str:
        async with self._answering.reading(organization_id) as read:
            return await organizations.organization_time_zone(read)

    async def resolve(
        self, *, refs: list[public.Ref], organization_id: UUID | None = None
    ) -> list[public.Resolved]:
        _bounded("/refs", len(refs), _MOST_REFS)
        found: dict[int, public.Resolved] = {}
        by_company: dict[UUID, list[int]] = {}
        for place, ref in enumerate(refs):
            company = organizations.company_of(ref, organization_id)
            if company is None:
                found[place] = public.Resolved(ref=ref, state="forbidden")
            else:
                by_company.setdefault(company, []).append(place)
        for company, places in by_company.items():
            async with self._answering.reading(company) as read:
                cited = [refs[place] for place in places]
                answers = await organizations.resolve_citations(read, cited)
            found |= dict(zip(places, answers, strict=True))
        return [found[place] for place in range(len(refs))]

    async def cards(self, *, organization_ids: list[UUID]) -> list[public.Card]:
        _bounded("/organization_ids", len(organization_ids), _MOST_CARDS)
        async with self._answering.reading(None) as read:
            rows = await facts.cards_of(read, organization_ids)
            return [facts.shown_card(row, read.now) for row in rows]


class LocalPreferences(public.Preferences):
    """What the company wants to bid on."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Preferences)

    async def current(self, *, organization_id: UUID) -> public.CurrentPreferences:
        async with self._answering.reading(organization_id) as read:
            held = await offers.current_preferences(read)
        document = public.PreferenceSet.model_validate(held.document)
        return public.CurrentPreferences(preferences_version=held.version, document=document)


class LocalSuggestions(public.Suggestions):
    """Suggestions of machines."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Suggestions)

    async def propose(
        self,
        *,
        organization_id: UUID,
        key: str,
        fact_key: str,
        value: JsonValue,
        confidence: float,
        sources: list[public.SuggestionSource],
        produced_by: public.Producer,
        base_version: int | None = None,
        guardrail_outcome: str | None = None,
    ) -> public.Suggested:
        _known(fact_key)
        _bounded("/sources", len(sources), 10, least=1)
        proposal = Proposal(
            fact_key=fact_key,
            value=value,
            confidence=confidence,
            sources=[one.model_dump(mode="json") for one in sources],
            produced_by=produced_by.model_dump(mode="json", by_alias=True),
            base_version=base_version,
            guardrail_outcome=guardrail_outcome,
            key=key,
        )
        async with self._answering.working(organization_id) as work:
            made, created = await facts.propose_suggestions(work, proposal)
        return public.Suggested(suggestion_id=made.id, status=made.status, created=created)


class LocalVerifications(public.Verifications):
    """Checks that other domains made."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Verifications)

    async def record(
        self,
        *,
        organization_id: UUID,
        key: str,
        fact_key: str,
        outcome: Literal["verified", "failed", "inconclusive"],
        method: Literal["registry", "document", "manual", "client_confirmation", "contract"],
        source: dict[str, JsonValue],
        value: JsonValue = None,
        valid_until: datetime | None = None,
        note: str | None = None,
    ) -> public.Recorded:
        _known(fact_key)
        check = Check(
            outcome=Outcome(outcome),
            method=method,
            source=source,
            value=value,
            valid_until=valid_until,
            note=note,
            key=key,
        )
        async with self._answering.working(organization_id) as work:
            picture, made = await facts.verify(work, fact_key, check)
            status = picture.verification(work.now)
        assert picture.fact is not None  # noqa: S101  # without a value it would be refused
        return public.Recorded(
            verification_id=None if made is None else made.id,
            outcome=outcome if made is None else made.outcome,
            fact_version=picture.fact.version,
            verification_status=status,
            held_elsewhere=made is not None and made.held_elsewhere,
        )


class LocalDisclosures(public.Disclosures):
    """Plain values for forms, invoices and applications."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Disclosures)

    async def reveal(
        self,
        *,
        organization_id: UUID,
        subjects: list[public.Ref],
        fields: list[str],
        purpose: public.DisclosurePurpose,
        reference: public.DisclosureReference,
        on_behalf_of: UUID,
        key: str,
    ) -> list[public.Disclosed]:
        _bounded("/subjects", len(subjects), _MOST_SUBJECTS, least=1)
        request = organizations.Request(
            subjects=subjects,
            fields=fields,
            purpose=purpose,
            reference=reference,
            on_behalf_of=on_behalf_of,
            key=key,
        )
        async with self._answering.working(organization_id, requested_by=on_behalf_of) as work:
            return await organizations.reveal(work, request)


def _known(fact_key: str) -> None:
    if fact_key not in FACTS:
        raise NotFound()


def _bounded(pointer: str, count: int, most: int, *, least: int = 0) -> None:
    if not least <= count <= most:
        detail = f"Send between {least} and {most} of them."
        raise ValidationFailed(errors=[{"pointer": pointer, "code": "too_many", "detail": detail}])


class LocalClocks(public.Clocks):
    """The clocks of sandboxes."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Clocks)

    async def move(self, *, organization_id: UUID, ahead_seconds: int) -> int:
        async with self._answering.working(organization_id) as work:
            moved = await organizations.move_clock_to(work, ahead=timedelta(seconds=ahead_seconds))
            return int(moved.clock_ahead.total_seconds())
