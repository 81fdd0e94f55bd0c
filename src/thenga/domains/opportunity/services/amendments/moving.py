"""Moves of a tender: by time, by its keeper or as its source tells it."""

from typing import Any
from uuid import UUID

from thenga.domains.opportunity.lifecycles import TenderOpportunityLifecycle
from thenga.domains.opportunity.services import notices
from thenga.domains.opportunity.tables import TenderOpportunity, TenderStatus
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move
from thenga.kernel.errors import RuleViolated

L = TenderOpportunityLifecycle

_ENDING: dict[str, tuple[Move, Any]] = {
    "cancel": (L.cancel, "cancelled"),
    "withdraw": (L.withdraw, "withdrawn"),
    "fail": (L.fail, "unsuccessful"),
    "supersede": (L.supersede, "superseded"),
}

_BY_SOURCE: dict[TenderStatus, tuple[tuple[Move, ...], Any]] = {
    TenderStatus.CANCELLED: ((L.cancel,), "cancelled"),
    TenderStatus.WITHDRAWN: ((L.withdraw,), "withdrawn"),
    TenderStatus.UNSUCCESSFUL: ((L.fail, L.fail_early), "unsuccessful"),
    TenderStatus.AWARDED: ((L.award, L.award_early), "awarded"),
}


async def move_by_time(work: Work, tender_id: UUID) -> None:
    """Open or close a tender whose time has come, and tell it once (OPP-12)."""
    tender = await work.lock(TenderOpportunity, tender_id)
    if (
        tender.status is TenderStatus.PLANNED
        and notices.status_at(tender, work.now) is not tender.status
    ):
        L.open_(tender, at=work.now)
        tender.next_check_at = notices.next_check(tender)
        await work.save(tender)
        await notices.index(work, tender)
        await notices.tell_opened(work, tender)
        return  # if it is over already, the next sweep closes it
    if (
        tender.status is TenderStatus.OPEN
        and notices.status_at(tender, work.now) is TenderStatus.CLOSED
    ):
        L.close(tender, at=work.now)
        tender.status_reason = "closing_time"
        tender.next_check_at = None
        await work.save(tender)
        await notices.index(work, tender)
        notices.tell_closed(work, tender, "closing_time")
        return
    tender.next_check_at = notices.next_check(tender)
    await work.save(tender)


async def end(
    work: Work,
    tender: TenderOpportunity,
    move: str,
    *,
    reason: str | None = None,
    awards: list[dict[str, Any]] | None = None,
    superseded_by: UUID | None = None,
) -> bool:
    """Make one move of a tender that this work holds; False if it is there already."""
    if tender.status is not TenderStatus.DRAFT:
        tender.status = notices.status_at(tender, work.now)
    if move == "award":
        return await _award(work, tender, awards)
    if move == "set_aside":
        if not L.set_aside(tender, at=work.now):
            return False
        tender.awards = [one | {"status": "cancelled"} for one in tender.awards]
        return await _ended(work, tender, reason or "award_set_aside")
    verb, told = _ENDING[move]
    if move == "supersede":
        if superseded_by is None:
            raise RuleViolated(
                "Name the tender that replaces this one in `supersededBy`.",
                rule="OPP-10",
                missing=["supersededBy"],
            )
        await work.get(TenderOpportunity, superseded_by)
    if not verb(tender, at=work.now):
        return False
    tender.superseded_by = superseded_by if move == "supersede" else tender.superseded_by
    await _ended(work, tender, reason or told)
    notices.tell_closed(work, tender, told)
    return True


async def end_by_source(work: Work, tender: TenderOpportunity, stated: TenderStatus) -> None:
    """Follow the end that a source states, wherever the tender stands (OPP-13).

    A source owes us no order. What contradicts an end that was reached otherwise is a doubt.
    """
    if stated not in _BY_SOURCE or tender.status is TenderStatus.DRAFT:
        return
    tender.status = notices.status_at(tender, work.now)
    if tender.status is stated:
        return
    moves, reason = _BY_SOURCE[stated]
    move = next((each for each in moves if tender.status in each.sources), None)
    if move is None:
        tender.doubts = [*tender.doubts, "status_contradicted"]
        await work.save(tender)
    elif stated is TenderStatus.AWARDED:
        await _award(work, tender, None, move)
    else:
        move(tender, at=work.now)
        await _ended(work, tender, reason)
        notices.tell_closed(work, tender, reason)


async def _award(
    work: Work,
    tender: TenderOpportunity,
    awards: list[dict[str, Any]] | None,
    move: Move = L.award,
) -> bool:
    given = tender.awards if awards is None else awards
    if not any(one.get("status") == "active" for one in given):
        raise RuleViolated(
            "Send at least one award with status `active`.", rule="OPP-17", missing=["awards"]
        )
    was_open = tender.status in (TenderStatus.PLANNED, TenderStatus.OPEN)
    if not move(tender, at=work.now):
        return False
    tender.awards = given
    if was_open and "award_before_closing" not in tender.doubts:
        tender.doubts = [*tender.doubts, "award_before_closing"]
    await _ended(work, tender, "awarded")
    notices.tell_awarded(work, tender)
    return True


async def _ended(work: Work, tender: TenderOpportunity, reason: str) -> bool:
    tender.status_reason = reason
    tender.next_check_at = notices.next_check(tender)
    await work.save(tender)
    await notices.index(work, tender)
    return True
