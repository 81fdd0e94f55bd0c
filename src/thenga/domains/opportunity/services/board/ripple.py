"""What an amendment or the end of a tender does to the board of one company (OPP-42, OPP-45)."""

from uuid import UUID

from sqlalchemy import select

from thenga.domains.opportunity.services import qualification
from thenga.domains.opportunity.services.board import deadlines
from thenga.domains.opportunity.services.board.saved import ENDED, KEPT_AFTER_END
from thenga.domains.opportunity.services.matching import TAKES_BIDS
from thenga.domains.opportunity.tables import (
    Amendment,
    Match,
    SavedOpportunity,
    TenderOpportunity,
)
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub

spread_to_boards = job_stub(
    "opportunity.spread_to_boards",
    form=Form.QUEUED,
    key="{tender_opportunity_id}:{occasion}",
    as_system=True,
)

_ENDINGS = ("cancelled", "withdrawn", "unsuccessful", "superseded")


async def mark_amended(work: Work, tender_id: UUID, number: int) -> str | None:
    """A saved tender asks for attention, and its deadlines are told anew; which row it is."""
    row = await _saved(work, tender_id)
    if row is None:
        return None
    tender = await work.get(TenderOpportunity, tender_id)
    if all(one.get("amendmentNumber") != number for one in row.attention):
        mark = {"code": "amended", "amendmentNumber": number, "since": _now(work)}
        row.attention = [*row.attention, mark]
    if tender.status in TAKES_BIDS:
        row.ended_at = None
        row.attention = [one for one in row.attention if one["code"] != ENDED]
    await deadlines.plan(work, row, tender)
    await work.save(row)
    return f"savedOpportunity/{row.id}"


async def ripple_effects(
    work: Work, tender: TenderOpportunity, amendment: Amendment
) -> list[tuple[str, str]]:
    """What a material amendment touches in this organization: each effect and its row (OPP-45)."""
    reasons = [f"amendment_{amendment.number}"]
    made = {
        "match_stale": await _stale_match(work, tender),
        "qualification_stale": await qualification.mark_stale(work, tender.id, reasons),
        "recommendation_proposed": await qualification.recompute_stored(
            work, tender.id, reopen=True
        ),
        "attention_set": await mark_amended(work, tender.id, amendment.number),
    }
    return [(effect, row) for effect, row in made.items() if row is not None]


async def _stale_match(work: Work, tender: TenderOpportunity) -> str | None:
    """A match is stale by its inputs; nothing is written (OPP-33)."""
    match = await work.find(Match, tender_opportunity_id=tender.id)
    return None if match is None else f"match/{match.id}"


async def mark_ended(work: Work, tender_id: UUID) -> None:
    """A tender that was cancelled or withdrawn leaves the board after 7 days, unless a bid was
    submitted."""
    row = await _saved(work, tender_id)
    if row is None or row.ended_at is not None:
        return
    tender = await work.get(TenderOpportunity, tender_id)
    row.attention = [
        *row.attention,
        {"code": ENDED, "amendmentNumber": None, "since": _now(work)},
    ]
    if row.stage in deadlines.TOLD_IN:
        row.ended_at = work.now + KEPT_AFTER_END
    await deadlines.plan(work, row, tender)
    await work.save(row)


async def update_board(work: Work, tender_id: UUID, occasion: str) -> None:
    """A saved tender has ended, or its dates have moved: what is told next follows."""
    if occasion in _ENDINGS:
        await mark_ended(work, tender_id)
        return
    row = await _saved(work, tender_id)
    if row is not None:
        await deadlines.plan(work, row, await work.get(TenderOpportunity, tender_id))
        await work.save(row)


async def companies_that_saved(work: Work, tender_id: UUID) -> list[UUID]:
    """For the system login: whose boards the tender is on."""
    statement = select(SavedOpportunity.organization_id).where(
        SavedOpportunity.tender_opportunity_id == tender_id
    )
    return await work.values(statement, limit=100_000)


async def _saved(work: Work, tender_id: UUID) -> SavedOpportunity | None:
    if await work.find(SavedOpportunity, tender_opportunity_id=tender_id) is None:
        return None
    return await work.lock_by(SavedOpportunity, beside=True, tender_opportunity_id=tender_id)


def _now(work: Work) -> str:
    return work.now.isoformat().replace("+00:00", "Z")
