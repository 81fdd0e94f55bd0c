"""Deadlines of saved tenders, told before they pass (OPP-29)."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import select

from thenga.domains.opportunity import public, settings
from thenga.domains.opportunity.services.matching import TAKES_BIDS
from thenga.domains.opportunity.tables import (
    Deadline,
    DeadlineTold,
    SavedOpportunity,
    Stage,
    TenderOpportunity,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work

TOLD_IN = (Stage.SAVED, Stage.REVIEWING, Stage.PURSUING)
_LABEL = 160


def reached(due_at: datetime, thresholds: Iterable[timedelta], now: datetime) -> list[timedelta]:
    """The thresholds of a deadline that are reached and not over, the smallest first."""
    if due_at <= now:
        return []
    return sorted(one for one in thresholds if due_at - one <= now)


def next_telling(
    dues: Iterable[datetime], thresholds: Sequence[timedelta], now: datetime
) -> datetime | None:
    """The next instant at which a threshold of any deadline is reached."""
    ahead = [due - one for due in dues for one in thresholds if due - one > now]
    return min(ahead, default=None)


def written(span: timedelta) -> str:
    """The threshold as an ISO 8601 duration: `P3D`, `PT4H`."""
    seconds = int(span.total_seconds())
    if seconds % 86_400 == 0:
        return f"P{seconds // 86_400}D"
    return f"PT{seconds // 3600}H" if seconds % 3600 == 0 else f"PT{seconds // 60}M"


async def deadlines_of(read: Reader, tender_id: UUID) -> list[Deadline]:
    """The deadlines of a tender that this organization sees, its own among them."""
    statement = select(Deadline).where(
        Deadline.tender_opportunity_id == tender_id, Deadline.withdrawn.is_(False)
    )
    return await read.all(statement.order_by(Deadline.due_at, Deadline.id))


async def plan(work: Work, saved: SavedOpportunity, tender: TenderOpportunity) -> None:
    """Set what the board shows of the dates, and when somebody has to be told next."""
    ahead = [one for one in await deadlines_of(work, tender.id) if one.due_at > work.now]
    saved.next_deadline_at = ahead[0].due_at if ahead else None
    saved.closing_at = tender.closing_at
    saved.next_check_at = await _next_check(work, saved, tender, ahead)


async def _next_check(
    work: Work, saved: SavedOpportunity, tender: TenderOpportunity, ahead: list[Deadline]
) -> datetime | None:
    if saved.stage not in TOLD_IN:
        return None
    if saved.ended_at is not None or tender.status not in TAKES_BIDS:
        return saved.ended_at
    thresholds = await configuration.value(work, settings.TELL_BEFORE)
    told = await _told(work, tender.id)
    for deadline in ahead:
        near = reached(deadline.due_at, thresholds, work.now)
        if near and (deadline.id, deadline.due_at, written(near[0])) not in told:
            return work.now
    dues = [one.due_at for one in ahead]
    upcoming = next_telling(dues, thresholds, work.now)
    return min([one for one in (upcoming, *dues[:1]) if one is not None], default=None)


async def tell(work: Work, saved: SavedOpportunity, tender: TenderOpportunity) -> int:
    """Tell of each deadline whose threshold is reached; several thresholds are told as one.

    Every threshold that is reached is written down, so that none is told later (OPP-29).
    """
    if saved.stage not in TOLD_IN or tender.status not in TAKES_BIDS:
        return 0
    thresholds = await configuration.value(work, settings.TELL_BEFORE)
    told = await _told(work, tender.id)
    count = 0
    for deadline in await deadlines_of(work, tender.id):
        near = reached(deadline.due_at, thresholds, work.now)
        new = [one for one in near if (deadline.id, deadline.due_at, written(one)) not in told]
        for span in new:
            await work.add(
                DeadlineTold(
                    organization_id=work.organization_id,
                    tender_opportunity_id=tender.id,
                    deadline_id=deadline.id,
                    due_at=deadline.due_at,
                    threshold=written(span),
                )
            )
        if new and new[0] == near[0]:
            work.publish(_event(saved, tender, deadline, near[0]))
            count += 1
    return count


async def _told(read: Reader, tender_id: UUID) -> set[tuple[UUID, datetime, str]]:
    rows = await read.all(
        select(DeadlineTold).where(DeadlineTold.tender_opportunity_id == tender_id)
    )
    return {(row.deadline_id, row.due_at, row.threshold) for row in rows}


def _event(
    saved: SavedOpportunity, tender: TenderOpportunity, deadline: Deadline, span: timedelta
) -> public.DeadlineApproaching:
    return public.DeadlineApproaching(
        organization_id=saved.organization_id,
        saved_opportunity_id=saved.id,
        tender_opportunity_id=tender.id,
        deadline_id=deadline.id,
        kind=deadline.kind,  # type: ignore[arg-type]  # one of its values
        due_at=deadline.due_at,
        time_zone=deadline.time_zone,
        threshold=written(span),
        label=f"{deadline.label or deadline.kind}: {tender.title}"[:_LABEL],
    )
