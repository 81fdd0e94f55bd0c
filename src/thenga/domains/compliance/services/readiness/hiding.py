"""What readiness shows of documents that the caller may not read: how each requirement stands, and
neither the evidence nor its days (CMP-48)."""

from dataclasses import replace
from uuid import UUID

from thenga.domains.compliance.services.documents import Sight
from thenga.domains.compliance.services.readiness.reading import Company
from thenga.domains.compliance.services.readiness.tender_dates import LapsedNeed
from thenga.domains.compliance.services.readiness.values import Assessed, Outcome


def hidden_evidence(company: Company, sight: Sight) -> frozenset[UUID]:
    """The evidence of documents that the caller may not read."""
    return frozenset(
        proof.evidence_id
        for linked in company.proofs.values()
        for proof in linked
        if sight.hides(proof.document_class, proof.brought_by)
    )


def shown(item: Assessed, hidden: frozenset[UUID]) -> Assessed:
    """A requirement without what only the readers of its document may know."""
    if hidden.isdisjoint(item.evidence_ids):
        return item
    visible = tuple(one for one in item.evidence_ids if one not in hidden)
    return replace(
        item, valid_until=None, checked_on=None, evidence_ids=visible, proof_version=None
    )


def shown_outcome(outcome: Outcome, hidden: frozenset[UUID]) -> Outcome:
    """The answer for a day, with each requirement as far as it may be shown."""
    return replace(outcome, items=tuple(shown(item, hidden) for item in outcome.items))


def shown_lapse(lapse: LapsedNeed, hidden: frozenset[UUID]) -> LapsedNeed:
    """That a requirement lapses before a date of the tender; for others on that date."""
    if hidden.isdisjoint(lapse.evidence_ids):
        return lapse
    return replace(lapse, ends_on=lapse.missed.on)
