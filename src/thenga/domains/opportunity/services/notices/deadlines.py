"""Deadlines of a tender: set by hand, or derived from the closing (OPP-28)."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import select

from thenga.domains.opportunity.public import DeadlineChanged
from thenga.domains.opportunity.tables import Briefing, BriefingStatus, Deadline, TenderOpportunity
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.law import EXTRA_HOLIDAYS
from thenga.kernel.errors import RuleViolated
from thenga.kernel.values.calendar import add_working_days, local_day, local_midnight

MOST = 50  # a tender
CLOSING, VALIDITY_END = "closing", "validity_end"
_OF_BRIEFING = {"site_visit": "site_visit"}  # otherwise `briefing`

State = Literal["upcoming", "passed", "withdrawn"]


@dataclass(frozen=True)
class WishedDeadline:
    """What a caller sets: a date, or a rule that counts back from the closing."""

    kind: str
    label: str
    due_at: datetime | None
    rule: dict[str, Any] | None
    precision: str
    time_zone: str
    withdrawn: bool


def state_of(deadline: Deadline, now: datetime) -> State:
    """Whether the date is still ahead."""
    if deadline.withdrawn:
        return "withdrawn"
    return "upcoming" if _ends(deadline) > now else "passed"


def _ends(deadline: Deadline) -> datetime:
    day = timedelta(days=1) if deadline.precision == "day" else timedelta(0)
    return deadline.due_at + day


async def deadlines_of(read: Reader, tender_id: UUID) -> list[Deadline]:
    """Those of the keeper and the caller's own, earliest first."""
    found = select(Deadline).where(Deadline.tender_opportunity_id == tender_id)
    return await read.all(found.order_by(Deadline.due_at, Deadline.id))


async def set_deadline(
    work: Work, tender: TenderOpportunity, wished: WishedDeadline
) -> tuple[Deadline, bool]:
    """The deadline of this kind and label, new or moved, and whether it is new."""
    due_at, precision = wished.due_at, wished.precision
    if wished.rule is not None:
        due_at, precision = await _counted(work, tender, wished.rule), "day"
    assert due_at is not None  # noqa: S101  # one of the two is there, seen by the caller
    known = await work.value(
        select(Deadline.id).where(
            Deadline.organization_id == work.organization_id,
            Deadline.tender_opportunity_id == tender.id,
            Deadline.kind == wished.kind,
            Deadline.label == wished.label,
        )
    )
    if known is not None:
        deadline = await work.lock(Deadline, known, beside=True)
        deadline.rule, deadline.precision = wished.rule, precision
        deadline.time_zone = wished.time_zone
        await _move(work, deadline, due_at, withdrawn=wished.withdrawn)
        return deadline, False
    await _check_room(work, tender)
    deadline = _made(
        tender,
        work.organization_id,
        kind=wished.kind,
        label=wished.label,
        due_at=due_at,
        rule=wished.rule,
        precision=precision,
        time_zone=wished.time_zone,
        withdrawn=wished.withdrawn,
        basis="captured" if wished.rule is None else "derived",
    )
    await work.add(deadline)
    tell_deadline(work, deadline, before=None)
    return deadline, True


async def _check_room(work: Work, tender: TenderOpportunity) -> None:
    count = select(Deadline.id).where(
        Deadline.tender_opportunity_id == tender.id,
        Deadline.organization_id == work.organization_id,
    )
    if len(await work.values(count)) >= MOST:
        raise RuleViolated(
            f"A tender can have at most {MOST} deadlines.", rule="OPP-28", limit=MOST
        )


async def refresh_deadlines(
    work: Work, tender: TenderOpportunity, *, basis: str = "source"
) -> list[Deadline]:
    """Write the closing, the briefings and what is derived from them as deadlines of the keeper.

    Those that moved are told and returned.
    """
    return [
        *await _follow_closing(work, tender, basis),
        *await _follow_briefings(work, tender, basis),
        *await rederive(work, tender),
    ]


async def rederive(work: Work, tender: TenderOpportunity) -> list[Deadline]:
    """Count the deadlines with a rule again, of the organization that this work is for."""
    moved = []
    for deadline in await _mine(work, tender):
        if deadline.rule is None or tender.closing_at is None:
            continue
        due_at = await _counted(work, tender, deadline.rule)
        if await _move(work, await work.hold(deadline), due_at, withdrawn=deadline.withdrawn):
            moved.append(deadline)
    return moved


async def _follow_closing(work: Work, tender: TenderOpportunity, basis: str) -> list[Deadline]:
    if tender.closing_at is None:
        return []
    wanted: list[tuple[str, str, datetime, str]] = [
        (CLOSING, "Closing", tender.closing_at, tender.closing_precision)
    ]
    days = tender.terms.get("validityDays")
    if days is not None:
        last = local_day(tender.closing_at, tender.time_zone) + timedelta(days=days)
        wanted.append(
            (VALIDITY_END, "End of validity", local_midnight(last, tender.time_zone), "day")
        )
    known = {(one.kind, one.label): one for one in await _mine(work, tender)}
    moved = []
    for kind, label, due_at, precision in wanted:
        found = known.get((kind, label))
        how = basis if kind == CLOSING else "derived"
        moved += await _follow(work, tender, found, kind, label, due_at, precision, how, None)
    return moved


async def _follow_briefings(work: Work, tender: TenderOpportunity, basis: str) -> list[Deadline]:
    kept = Briefing.organization_id == tender.organization_id
    statement = select(Briefing).where(Briefing.tender_opportunity_id == tender.id, kept)
    known = {one.briefing_id: one for one in await _mine(work, tender) if one.briefing_id}
    moved = []
    for number, briefing in enumerate(await work.all(statement.order_by(Briefing.id)), start=1):
        kind = _OF_BRIEFING.get(briefing.kind, "briefing")
        gone = briefing.status is BriefingStatus.CANCELLED
        moved += await _follow(
            *(work, tender, known.get(briefing.id), kind, f"Briefing {number}"),
            *(briefing.starts_at, "minute", basis, briefing.id),
            withdrawn=gone,
        )
    return moved


async def _follow(
    work: Work,
    tender: TenderOpportunity,
    found: Deadline | None,
    kind: str,
    label: str,
    due_at: datetime,
    precision: str,
    basis: str,
    briefing_id: UUID | None,
    *,
    withdrawn: bool = False,
) -> list[Deadline]:
    if found is not None:
        held = await work.hold(found)
        held.precision = precision
        return [held] if await _move(work, held, due_at, withdrawn=withdrawn) else []
    deadline = _made(
        tender,
        tender.organization_id,
        kind=kind,
        label=label,
        due_at=due_at,
        rule=None,
        precision=precision,
        time_zone=tender.time_zone,
        withdrawn=withdrawn,
        basis=basis,
        briefing_id=briefing_id,
    )
    await work.add(deadline)
    return [deadline]


async def _mine(work: Work, tender: TenderOpportunity) -> list[Deadline]:
    mine = Deadline.organization_id == work.organization_id
    return await work.all(select(Deadline).where(Deadline.tender_opportunity_id == tender.id, mine))


def _made(tender: TenderOpportunity, keeper: UUID, **fields: Any) -> Deadline:
    return Deadline(
        organization_id=keeper,
        shared=tender.shared and tender.organization_id == keeper,
        tender_opportunity_id=tender.id,
        moved_from=[],
        **fields,
    )


async def _move(work: Work, deadline: Deadline, due_at: datetime, *, withdrawn: bool) -> bool:
    before = deadline.due_at
    if before != due_at:
        deadline.moved_from = [*deadline.moved_from, before.isoformat()]
        deadline.due_at = due_at
    is_moved = before != due_at or deadline.withdrawn != withdrawn
    deadline.withdrawn = withdrawn
    await work.save(deadline)
    if is_moved:
        tell_deadline(work, deadline, before=before if before != due_at else None)
    return is_moved


def tell_deadline(work: Work, deadline: Deadline, *, before: datetime | None) -> None:
    work.publish(
        DeadlineChanged(
            organization_id=None if deadline.shared else deadline.organization_id,
            deadline_id=deadline.id,
            tender_opportunity_id=deadline.tender_opportunity_id,
            kind=deadline.kind,  # type: ignore[arg-type]  # the column holds no other
            label=deadline.label,
            due_at=deadline.due_at,
            time_zone=deadline.time_zone,
            state=state_of(deadline, work.now),
            previous_due_at=before,
        ),
        to_everybody=deadline.shared,
    )


async def _counted(read: Reader, tender: TenderOpportunity, rule: dict[str, Any]) -> datetime:
    """The day that lies so many days before the closing day."""
    if tender.closing_at is None:
        raise RuleViolated("This tender has no closing date to count from.", rule="OPP-28")
    last = local_day(tender.closing_at, tender.time_zone)
    if "calendarDays" in rule:
        day: date = last - timedelta(days=rule["calendarDays"])
    else:
        extra = await configuration.value(read, EXTRA_HOLIDAYS)
        day = add_working_days(last, -rule["workingDays"], frozenset(extra))
    return local_midnight(day, tender.time_zone)
