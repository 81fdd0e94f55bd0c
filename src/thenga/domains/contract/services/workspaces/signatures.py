"""Signatures of both sides over one hash, of a contract or of a variation."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select

from thenga.domains.contract.tables import Confirmation, Party, Signature
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day


async def live_signatures(read: Reader, subject_id: UUID) -> list[Signature]:
    """Signatures that count, in the order of signing."""
    return (await live_signatures_of(read, [subject_id]))[subject_id]


async def live_signatures_of(
    read: Reader, subject_ids: Sequence[UUID]
) -> dict[UUID, list[Signature]]:
    """Signatures that count of several subjects, each in the order of signing."""
    found: dict[UUID, list[Signature]] = {one: [] for one in subject_ids}
    if found:
        statement = (
            select(Signature)
            .where(among(Signature.subject_id, found))
            .where(Signature.voided_at.is_(None))
            .order_by(Signature.id)
        )
        for signature in await read.all(statement):
            found[signature.subject_id].append(signature)
    return found


async def sign(
    work: Work,
    workspace_id: UUID,
    *,
    subject: tuple[str, UUID],
    party: Party,
    content_hash: str,
    confirmation: Confirmation | None = None,
) -> list[Signature]:
    """Add one side's signature; the live signatures afterwards. Signing again changes nothing.

    The buyer's side rests on a confirmation, ours on whoever acts.
    """
    subject_type, subject_id = subject
    live = await live_signatures(work, subject_id)
    if any(one.party is party and one.content_hash == content_hash for one in live):
        return live
    made = await work.add(
        Signature(
            organization_id=work.organization_id,
            workspace_id=workspace_id,
            subject_type=subject_type,
            subject_id=subject_id,
            party=party,
            content_hash=content_hash,
            signed_on=confirmation.confirmed_on if confirmation else local_day(work.now),
            signed_by=None if confirmation else work.actor.id,
            confirmation_id=confirmation.id if confirmation else None,
            strength=confirmation.strength if confirmation else None,
        )
    )
    return [*live, made]


async def void_signatures(work: Work, subject_id: UUID) -> bool:
    """The content changed, so what was signed does not count any more."""
    live = await live_signatures(work, subject_id)
    for found in live:
        signature = await work.hold(found)
        signature.voided_at = work.now
        await work.save(signature)
    return bool(live)


def missing_parties(live: list[Signature], content_hash: str) -> list[str]:
    """The sides that have not signed this content."""
    signed = {one.party for one in live if one.content_hash == content_hash}
    return [party.value for party in Party if party not in signed]
