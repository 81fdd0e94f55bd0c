"""How each requirement of a company stands on a day, by the function that computes readiness."""

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from thenga.domains.compliance.services.documents import SIGHT_OF_ALL, Sight
from thenga.domains.compliance.services.readiness import (
    Assessed,
    Assurance,
    Company,
    LinkedProof,
    State,
    assess,
    hidden_evidence,
    needs_on,
    read_company,
    shown,
)
from thenga.domains.compliance.services.tenders import TenderFacts
from thenga.domains.compliance.tables import Origin, ReadinessState
from thenga.kernel.db.reader import Reader


@dataclass(frozen=True, slots=True)
class Assessments:
    """A company on a day: each requirement by its ID, and the proofs behind it."""

    company: Company
    on: date
    by_requirement: dict[UUID, Assessed]

    def state_of(self, requirement_id: UUID) -> State:
        """The assessment of one requirement; what the catalogue does not know is unknown."""
        found = self.by_requirement.get(requirement_id)
        return State.UNKNOWN if found is None else found.state

    def proof_of(self, requirement_id: UUID) -> LinkedProof | None:
        """The proof that counts for a requirement."""
        found = self.by_requirement.get(requirement_id)
        if found is None:
            return None
        proofs = self.company.proofs.get(requirement_id, ())
        return next((one for one in proofs if one.evidence_id in found.evidence_ids), None)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a profile shows of readiness."""

    counts: dict[str, int]
    verdict: str | None
    score: Decimal | None
    as_of: datetime | None


async def assess_all(read: Reader, sight: Sight, on: date | None = None) -> Assessments:
    """Every requirement of the acting company; one of a tender stands over the catalogue's.

    Of a document that the caller may not read, only how the requirement stands is shown (CMP-48).
    """
    company = await read_company(read)
    hidden = hidden_evidence(company, sight)
    day = company.today if on is None else on
    needs = needs_on(company, day)
    tenders = {row.tender_opportunity_id for row in company.requirements}
    for tender_id in tenders - {None}:
        of_tender = {
            row.id
            for row in company.requirements
            if row.origin is Origin.TENDER and row.tender_opportunity_id == tender_id
        }
        named = TenderFacts(tender_opportunity_id=tender_id)
        needs += [one for one in needs_on(company, day, named) if one.requirement_id in of_tender]
    found = {
        need.requirement_id: shown(assess(need, on=day, today=company.today), hidden)
        for need in needs
        if need.requirement_id is not None
    }
    return Assessments(company, day, found)


async def summary_of(read: Reader) -> Summary:
    """How many requirements stand how today, and readiness as it was last computed."""
    assessments = await assess_all(read, SIGHT_OF_ALL)
    counted = Counter(one.state.value for one in assessments.by_requirement.values())
    state = await read.find(
        ReadinessState, organization_id=read.organization_id, id=read.organization_id
    )
    return Summary(
        counts={one.value: counted.get(one.value, 0) for one in State},
        verdict=None if state is None else state.verdict,
        score=None if state is None else state.score,
        as_of=None if state is None else state.computed_at,
    )


def assurance_name(found: Assessed | None) -> str | None:
    """The kind of verification behind an assessment, or None without a proof."""
    if found is None or found.assurance is Assurance.NONE:
        return None
    return found.assurance.name.lower()
