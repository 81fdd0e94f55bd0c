"""Awards are stored by the reaction to Bid's events and by nothing else (CON-1)."""

import hashlib
from typing import Any
from uuid import UUID

import rfc8785
from sqlalchemy import select

from thenga.domains.bid import public as bid
from thenga.domains.contract import public
from thenga.domains.contract.lifecycles import AwardLifecycle
from thenga.domains.contract.tables import Award, AwardKind, AwardStatus, Workspace
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.values.money import Money

# The event types that a contract can begin with; there is no third door.
CREATION_SOURCES = {
    bid.BidAwarded.type: AwardKind.AWARD,
    bid.ContractCreationRecorded.type: AwardKind.CONTRACT_CREATION,
}


async def record_award(work: Work, envelope: Envelope) -> Award:
    """Store an award; a later one of the same outcome names the one that it revises (CON-2)."""
    event = envelope.event()
    if not isinstance(event, bid.BidAwarded | bid.ContractCreationRecorded):
        raise LookupError(f"{envelope.type} begins no contract")
    earlier = await awards_of_outcome(work, event.outcome_id)
    value = event.awarded_value
    award = await work.add(
        Award(
            organization_id=work.organization_id,
            event_id=envelope.id,
            event_type=envelope.type,
            kind=CREATION_SOURCES[envelope.type],
            source_domain=event.domain(),
            outcome_id=event.outcome_id,
            revision_of=earlier[-1].id if earlier else None,
            bid_workspace_id=event.workspace_id,
            tender_opportunity_id=event.tender_opportunity_id,
            label=event.label,
            buyer_name=event.buyer_name,
            award_reference=event.award_reference,
            awarded_on=event.awarded_on,
            awarded_value_minor=None if value is None else value.minor,
            currency=None if value is None else value.currency,
            bidders=[one.model_dump(mode="json") for one in event.bidders],
            document_refs=[one.model_dump(mode="json") for one in event.document_refs],
            correlation_id=envelope.correlationid or str(envelope.id),
            payload_hash=hash_of(envelope.data),
        )
    )
    publish_recorded(work, award)
    return award


async def withdraw_awards(work: Work, outcome_id: UUID, *, reason: str | None) -> list[Award]:
    """Bid set an award aside: none of its revisions can open a contract any more (CON-4)."""
    withdrawn = []
    for found in await awards_of_outcome(work, outcome_id):
        award = await work.hold(found)
        if AwardLifecycle.withdraw(award, at=work.now):
            award.status_reason = reason
            award.status_changed_at, award.status_changed_by = work.now, None
            await work.save(award)
        withdrawn.append(award)
    return withdrawn


async def mark_opened(work: Work, award: Award, workspace: Workspace) -> None:
    """The award belongs to a contract from now on."""
    AwardLifecycle.open_(award, at=work.now)
    award.workspace_id = workspace.id
    award.status_changed_at, award.status_changed_by = work.now, work.actor.id
    await work.save(award)


async def awards_of_outcome(read: Reader, outcome_id: UUID) -> list[Award]:
    """The award of an outcome and its revisions, the newest last."""
    statement = select(Award).where(Award.outcome_id == outcome_id).order_by(Award.id)
    return await read.all(statement, limit=200)


def publish_recorded(work: Work, award: Award) -> None:
    work.publish(
        public.AwardRecorded(
            organization_id=award.organization_id,
            award_id=award.id,
            workspace_id=award.workspace_id,
            event_id=award.event_id,
            kind=award.kind.value,
            outcome_id=award.outcome_id,
            revision_of=award.revision_of,
            awarded_value=awarded_value(award),
        )
    )


def awarded_value(award: Award) -> Money | None:
    """What the buyer awarded, where the letter says it."""
    if award.awarded_value_minor is None or award.currency is None:
        return None
    return Money(award.awarded_value_minor, award.currency)


def is_withdrawn(award: Award) -> bool:
    return award.status is AwardStatus.WITHDRAWN


def hash_of(content: dict[str, Any]) -> str:
    """SHA-256 of the canonical JSON (RFC 8785)."""
    return hashlib.sha256(rfc8785.dumps(content)).hexdigest()
