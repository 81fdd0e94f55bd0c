"""Reading awards, and finding the one that a contract is opened from."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, select

from thenga.domains.contract.tables import Award, AwardKind, AwardStatus
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, extensions

RETRY_SECONDS = 2
_BY: dict[str, ColumnElement[Any]] = {
    "awardedOn": Award.awarded_on,
    "createdAt": Award.created_at,
}


class AwardUnknown(Problem):
    """There is no award with this event ID. Use an `eventId` from `GET /contracts/awards`.

    If the award was recorded a moment ago, try again after `retryAfterSeconds`. For a contract won
    outside the platform, record an outcome in Bid first.
    """

    code, status, title = "contract-award-unknown", 422, "This award was not found"
    members = extensions(retryAfterSeconds=(int, "Seconds to wait before trying again."))


@dataclass(frozen=True, slots=True)
class AwardFilters:
    """What the list may be narrowed to."""

    status: AwardStatus | None = None
    kind: AwardKind | None = None
    event_id: UUID | None = None


async def list_awards(read: Reader, paged: Paged, filters: AwardFilters) -> Slice[Award]:
    """Awards of the organization."""
    statement = where_given(
        select(Award),
        (Award.status, filters.status),
        (Award.kind, filters.kind),
        (Award.event_id, filters.event_id),
    )
    return await read.page(statement, paged, by=_BY[paged.sort])


async def lock_award(work: Work, event_id: UUID) -> Award:
    """The award of an event, locked after the organization's first one.

    Whoever opens a contract locks the first award, so that two requests cannot both take the last
    place of the plan. Unknown, forged and foreign events look alike (CON-2).
    """
    known = await work.find(Award, event_id=event_id)
    if known is None:
        raise AwardUnknown(retryAfterSeconds=RETRY_SECONDS)
    first = (await work.all(select(Award).order_by(Award.id), limit=1))[0]
    await work.lock(Award, first.id, beside=True)
    return await work.lock(Award, known.id, beside=True)
