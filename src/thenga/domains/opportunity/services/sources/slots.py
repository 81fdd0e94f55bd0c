"""The right to ask a host: one request at a time over all processes, a second apart (OPP-1)."""

import random
from datetime import datetime, timedelta
from uuid import UUID

from thenga.domains.opportunity.tables import FetchSlot
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.values.ids import new_id

LEASE = timedelta(seconds=60)
_FIRST_WAIT = timedelta(minutes=1)
_MOST_DOUBLINGS = 6  # 64 minutes
_SPREAD = 0.2
_ADD = (
    "INSERT INTO opportunity.fetch_slot (id, created_at, updated_at, version, host) "
    "VALUES ($1, $2, $2, 1, $3) ON CONFLICT (host) DO NOTHING"
)

release_slot = job_stub("opportunity.release_slot", form=Form.QUEUED, as_system=True)


async def take_slot(work: Work, host: str, *, holder: UUID) -> datetime | None:
    """Lease the host to a run; if it is not free, the moment from which to ask again.

    The same for all organizations, so it follows the base clock, whatever a sandbox's says.
    """
    now = work.now_in(timedelta(0))
    await work.run(_ADD, new_id(), now, host)
    slot = await work.lock_by(FetchSlot, beside=True, host=host)
    is_mine = slot.lease in (None, holder)
    if not is_mine and slot.leased_until is not None and slot.leased_until > now:
        return slot.leased_until
    if slot.free_at is not None and slot.free_at > now:
        return slot.free_at
    slot.lease, slot.leased_until = holder, now + LEASE
    await work.save(slot)
    return None


async def give_slot_back(work: Work, host: str, *, holder: UUID, free_at: datetime) -> None:
    """End a lease; the host is not asked again before that moment."""
    slot = await work.lock_by(FetchSlot, beside=True, host=host)
    if slot.lease == holder:
        slot.lease, slot.leased_until = None, None
    if slot.free_at is None or slot.free_at < free_at:
        slot.free_at = free_at
    await work.save(slot)


def backoff(failures: int, *, seed: str) -> timedelta:
    """1, 2, 4 up to 64 minutes after so many failures in a row, spread by a fifth."""
    dice = random.Random(f"{seed}:{failures}")  # noqa: S311  # spreads load, keeps no secret
    spread = 1 + dice.uniform(-_SPREAD, _SPREAD)
    doublings: int = min(max(failures - 1, 0), _MOST_DOUBLINGS)
    return _FIRST_WAIT * float(2**doublings) * spread
