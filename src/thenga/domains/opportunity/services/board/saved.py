"""Saved tenders: the board of a company, led by Bid once there is a workspace (OPP-42)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, func, literal, literal_column, select

from thenga.domains.opportunity import public
from thenga.domains.opportunity.lifecycles import SavedOpportunityLifecycle
from thenga.domains.opportunity.services.board import deadlines
from thenga.domains.opportunity.services.matching import TAKES_BIDS
from thenga.domains.opportunity.tables import LedBy, SavedOpportunity, Stage, TenderOpportunity
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Instant
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Conflict, Duplicate, NotFound, Problem, RuleViolated
from thenga.kernel.values.money import Money

MOST_SAVED = 5000
LED_BY_BID = ("submit", "win", "lose", "appeal", "pursue")
KEPT_AFTER_END = timedelta(days=7)
ENDED = "tender_ended"

_STEP = 1024  # between two neighbours of the board
_NEVER: ColumnElement[datetime] = literal_column("timestamptz '9999-12-31 00:00Z'", Instant)
_BY: dict[str, ColumnElement[Any]] = {
    "rank": SavedOpportunity.rank,
    "nextDeadline": func.coalesce(SavedOpportunity.next_deadline_at, _NEVER),
    "updatedAt": SavedOpportunity.updated_at,
}


class StageLedByBid(Problem):
    """A bid workspace exists for this tender, so the bid moves it on the board.

    Change the bid instead: submit it, withdraw it or record its result there.
    """

    code, status, title = "opportunity-stage-led-by-bid", 409, "The bid controls this stage"


@dataclass(frozen=True, slots=True)
class SavedFilters:
    """How the board is narrowed."""

    stage: Stage | None = None
    owner_user_id: UUID | None = None
    tag: str | None = None
    attention: bool | None = None
    closing_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class StageTotal:
    """How many tenders a stage has, and what they are worth together."""

    stage: Stage
    count: int
    estimated_minor: int


async def save(
    work: Work, tender_id: UUID, fields: dict[str, Any], *, stage: Stage = Stage.SAVED
) -> SavedOpportunity:
    """Put a tender on the board; it can be declined at once, with a reason."""
    tender = await work.get(TenderOpportunity, tender_id)
    known = await work.find(SavedOpportunity, tender_opportunity_id=tender_id)
    if known is not None:
        raise Duplicate("This tender is already on your board.", existing={"id": str(known.id)})
    if await _count(work) >= MOST_SAVED:
        raise RuleViolated(
            f"A board can hold at most {MOST_SAVED} tenders.", rule="OPP-42", limit=MOST_SAVED
        )
    if (stage is Stage.DECLINED) != (fields.get("decline_reason") is not None):
        raise _reason_needed()
    rank = fields.pop("rank", None)
    saved = SavedOpportunity(
        organization_id=work.organization_id,
        tender_opportunity_id=tender_id,
        stage=stage,
        stage_changed_at=work.now,
        attention=[],
        rank=await _last_rank(work) + _STEP if rank is None else rank,
        **{"tags": []} | fields,
    )
    await deadlines.plan(work, saved, tender)
    await work.add(saved)
    work.publish(moved(saved, None))
    return saved


async def get_saved(read: Reader, saved_id: UUID) -> SavedOpportunity:
    return await read.get(SavedOpportunity, saved_id)


async def change_saved(
    work: Work,
    saved_id: UUID,
    fields: dict[str, Any],
    *,
    move: str | None,
    acknowledge: int | None,
) -> SavedOpportunity:
    """Change fields, make one move, and take note of an amendment."""
    after = fields.pop("after", None)
    saved = await work.lock(SavedOpportunity, saved_id)
    tender = await work.get(TenderOpportunity, saved.tender_opportunity_id)
    for name, value in fields.items():
        setattr(saved, name, value)
    if after is not None:
        saved.rank = await _rank_after(work, after, saved)
    if acknowledge is not None:
        saved.attention = [
            one for one in saved.attention if one.get("amendmentNumber") != acknowledge
        ]
    previous = saved.stage
    if move is not None:
        _move_by_hand(work, saved, tender, move)
    elif "decline_reason" in fields and saved.stage is not Stage.DECLINED:
        raise _reason_needed()
    await deadlines.plan(work, saved, tender)
    await work.save(saved)
    if saved.stage is not previous:
        work.publish(moved(saved, previous))
    return saved


def _move_by_hand(
    work: Work, saved: SavedOpportunity, tender: TenderOpportunity, move: str
) -> None:
    if saved.led_by == LedBy.BID and move in LED_BY_BID:
        raise StageLedByBid()
    if move == "decline" and saved.decline_reason is None:
        raise _reason_needed()
    if move == "reopen" and tender.status not in TAKES_BIDS:
        raise Conflict("The tender no longer accepts bids, so it cannot be reopened.")
    if SavedOpportunityLifecycle.moves[move](saved, at=work.now):
        saved.stage_changed_at = work.now
        if saved.stage is not Stage.DECLINED:
            saved.decline_reason = None


async def list_saved(read: Reader, paged: Paged, filters: SavedFilters) -> Slice[SavedOpportunity]:
    """A page of the board."""
    statement = select(SavedOpportunity)
    if filters.stage is not None:
        statement = statement.where(SavedOpportunity.stage == filters.stage.value)
    if filters.owner_user_id is not None:
        statement = statement.where(SavedOpportunity.owner_user_id == filters.owner_user_id)
    if filters.tag is not None:
        statement = statement.where(literal(filters.tag) == func.any(SavedOpportunity.tags))
    if filters.attention is not None:
        marks = func.jsonb_array_length(SavedOpportunity.attention)
        statement = statement.where(marks > 0 if filters.attention else marks == 0)
    if filters.closing_to is not None:
        statement = statement.where(SavedOpportunity.closing_at <= filters.closing_to)
    return await read.page(statement, paged, _BY[paged.sort])


async def board_of(read: Reader) -> list[StageTotal]:
    """How many tenders stand in each stage."""
    statement = (
        select(
            SavedOpportunity.stage,
            func.count().label("count"),
            func.coalesce(func.sum(SavedOpportunity.estimated_minor), 0).label("minor"),
        )
        .where(SavedOpportunity.organization_id == read.organization_id)
        .group_by(SavedOpportunity.stage)
    )
    records = await read.records(statement)
    return [StageTotal(Stage(one["stage"]), one["count"], int(one["minor"])) for one in records]


async def tenders_of(read: Reader, rows: list[SavedOpportunity]) -> dict[UUID, TenderOpportunity]:
    """The tenders of some saved ones."""
    ids = [row.tender_opportunity_id for row in rows]
    found = await read.all(select(TenderOpportunity).where(among(TenderOpportunity.id, ids)))
    return {one.id: one for one in found}


async def run_due_step(work: Work, saved_id: UUID) -> None:
    """Tell of deadlines that come near, and take a dead tender off the board after 7 days."""
    saved = await work.lock(SavedOpportunity, saved_id)
    if saved.next_check_at is None or saved.next_check_at > work.now:
        return
    tender = await work.get(TenderOpportunity, saved.tender_opportunity_id)
    previous = saved.stage
    is_over = saved.ended_at is not None and saved.ended_at <= work.now
    if is_over and saved.stage in deadlines.TOLD_IN:
        SavedOpportunityLifecycle.drop(saved, at=work.now)
        saved.stage_changed_at = work.now
    await work.touch(saved)
    if saved.stage is not previous:
        work.publish(moved(saved, previous))
    await deadlines.tell(work, saved, tender)
    await deadlines.plan(work, saved, tender)
    await work.save(saved)


def moved(saved: SavedOpportunity, previous: Stage | None) -> public.SavedOpportunityMoved:
    """The event of a move."""
    return public.SavedOpportunityMoved(
        organization_id=saved.organization_id,
        saved_opportunity_id=saved.id,
        tender_opportunity_id=saved.tender_opportunity_id,
        stage=saved.stage.value,
        previous_stage=previous.value if previous else None,
        decline_reason=saved.decline_reason,  # type: ignore[arg-type]  # one of its values
        led_by=saved.led_by,  # type: ignore[arg-type]  # one of its values
    )


def estimated(fields: dict[str, Any]) -> dict[str, Any]:
    """The money of a body as columns."""
    if "estimated_value" not in fields:
        return fields
    money: Money | None = fields.pop("estimated_value")
    if money is not None and money.minor < 0:
        raise RuleViolated("The value cannot be negative.", rule="amount", field="estimatedValue")
    return fields | {
        "estimated_minor": None if money is None else money.minor,
        "estimated_currency": None if money is None else money.currency,
    }


def _reason_needed() -> RuleViolated:
    return RuleViolated(
        "Send `declineReason` when you decline a tender, and only then.",
        rule="OPP-42",
        field="declineReason",
    )


async def _count(work: Work) -> int:
    counted = (
        select(func.count())
        .select_from(SavedOpportunity.__table__)
        .where(SavedOpportunity.organization_id == work.organization_id)
    )
    return await work.value(counted) or 0


async def _last_rank(work: Work) -> int:
    last = select(func.max(SavedOpportunity.rank)).where(
        SavedOpportunity.organization_id == work.organization_id
    )
    return await work.value(last) or 0


async def _rank_after(work: Work, after: UUID, saved: SavedOpportunity) -> int:
    """Halfway between the one named and the next; ties keep the order of their ids."""
    before = await work.find(SavedOpportunity, id=after)
    if before is None:
        raise NotFound()
    following = (
        select(SavedOpportunity)
        .where(SavedOpportunity.rank > before.rank, SavedOpportunity.id != saved.id)
        .order_by(SavedOpportunity.rank)
    )
    next_one = next(iter(await work.all(following, limit=1)), None)
    return before.rank + _STEP if next_one is None else (before.rank + next_one.rank) // 2
