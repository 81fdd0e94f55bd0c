"""Checks of records: made by others, bound to a version, over after a while (ORG-6)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.organization import settings
from thenga.domains.organization.services import facts, records
from thenga.domains.organization.services.facts import SelfVerification
from thenga.domains.organization.tables import Outcome, Record, RecordVersion, Verification
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db import configuration
from thenga.kernel.db.acting import same_person
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import ValidationFailed

_LONGEST = timedelta(days=400)
_USUAL = timedelta(days=365)
_OF_METHOD = {"registry": timedelta(days=180)}
_AUTHORS_OF = 3  # versions back in which whoever wrote the record may not check it


@dataclass(frozen=True)
class Check:
    """What a checker reports."""

    outcome: Outcome
    method: str
    source: dict[str, Any]
    valid_until: datetime | None = None
    note: str | None = None


async def only_others(work: Work, row: Record) -> None:
    """Never a member of the company, never the author of one of the last three versions (ORG-6)."""
    members_may = await configuration.value(work, settings.VERIFY_MEMBERS)
    # Staff who belong to the company act by their platform role, so the members are asked too.
    inside = work.held_as == HeldAs.TENANT or await facts.belongs(work, work.actor.id)
    if not members_may and inside:
        raise SelfVerification("You belong to this company, so someone else must verify it.")
    statement = (
        select(RecordVersion.actor_id)
        .where(
            RecordVersion.organization_id == row.organization_id,
            RecordVersion.record_id == row.id,
        )
        .order_by(RecordVersion.record_version.desc())
    )
    if same_person(work, *await work.values(statement, limit=_AUTHORS_OF)):
        raise SelfVerification(
            "You wrote one of its latest versions, so someone else must verify it."
        )


async def write_check(work: Work, row: Record, check: Check) -> Verification:
    """Write down a check of the record as it stands; an earlier one of it is over."""
    ends = _ends(check, work.now)
    await end_check(work, row)
    return await work.add(
        Verification(
            organization_id=row.organization_id,
            record_type=records.type_of(row),
            record_id=row.id,
            subject_version=row.version,
            outcome=check.outcome,
            method=check.method,
            source=check.source,
            note=check.note,
            checked_by=work.actor.id,
            valid_until=ends,
        )
    )


async def end_check(work: Work, row: Record) -> None:
    """What was checked is not what stands any more; the check stays readable."""
    live = select(Verification).where(
        Verification.record_id == row.id, Verification.ended_at.is_(None)
    )
    for one in await work.all(live):
        held = await work.lock(Verification, one.id)
        held.ended_at = work.now
        await work.save(held)


async def save_check(work: Work, row: Record, *proven: str) -> list[str]:
    """As `records.save`; the wire names include what is proven, which is no part of the record."""
    moved = [name for name in proven if name in work.changes(row)]
    return [*await records.save(work, row), *map(records.wire_name, moved)]


async def of_records(read: Reader, rows: Iterable[Record]) -> dict[UUID, list[Verification]]:
    """The checks of several records, the oldest first."""
    found: dict[UUID, list[Verification]] = {row.id: [] for row in rows}
    statement = select(Verification).where(among(Verification.record_id, list(found)))
    for one in sorted(await read.all(statement), key=lambda one: one.id):
        assert one.record_id is not None  # noqa: S101  # it was asked for by it
        found[one.record_id].append(one)
    return found


def _ends(check: Check, now: datetime) -> datetime | None:
    """How long a check holds: a register 180 days, a document to its own end, else a year."""
    if check.outcome is not Outcome.VERIFIED:
        return None
    ends = check.valid_until or now + _OF_METHOD.get(check.method, _USUAL)
    if not now < ends <= now + _LONGEST:
        detail = "A verification can be valid for at most 400 days from now."
        raise ValidationFailed(
            errors=[{"pointer": "/validUntil", "code": "out_of_range", "detail": detail}]
        )
    return ends
