"""Alerts: a company is told of a tender for all its reasons in one event (OPP-35)."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select

from thenga.domains.opportunity.public import Because, OpportunityMatched
from thenga.domains.opportunity.services import matching
from thenga.domains.opportunity.services.figures import hundredths, tenths
from thenga.domains.opportunity.tables import (
    Match,
    MatchAlert,
    TenderOpportunity,
    Watchlist,
    WatchlistHit,
    WatchlistStatus,
)
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work

_LABEL = 160


async def alert_company(work: Work, tender_id: UUID, material_revision: int) -> None:
    """Tell this organization once for each reason; nothing of a tender that takes no bids."""
    tender = await work.get(TenderOpportunity, tender_id)
    if not _takes_bids(work, tender) or tender.material_revision != material_revision:
        return
    watchlists = await _hit(work, tender)
    # A stale match is never alerted: it is computed again first (OPP-33).
    match = await matching.store_own(work, tender, anyway=bool(watchlists))
    if not match.version:
        return
    new = await _new_reasons(work, tender, match, watchlists)
    if not new:
        return
    for reason in new:
        await work.add(
            MatchAlert(
                organization_id=work.organization_id,
                tender_opportunity_id=tender.id,
                reason=reason,
                material_revision=material_revision,
            )
        )
    match = await work.hold(match)
    match.alerted_at = work.now
    await work.save(match)
    work.publish(_event(tender, match, list(new.values())))


def _takes_bids(work: Work, tender: TenderOpportunity) -> bool:
    closing = tender.closing_at or tender.closes_at
    is_over = closing is not None and closing <= work.now
    return tender.status in matching.TAKES_BIDS and not is_over


async def _hit(work: Work, tender: TenderOpportunity) -> list[Watchlist]:
    hits = select(WatchlistHit).where(
        WatchlistHit.tender_opportunity_id == tender.id,
        WatchlistHit.material_revision == tender.material_revision,
    )
    ids = [hit.watchlist_id for hit in await work.all(hits)]
    if not ids:
        return []
    statement = select(Watchlist).where(
        among(Watchlist.id, ids), Watchlist.status == WatchlistStatus.ACTIVE
    )
    return await work.all(statement.order_by(Watchlist.id))


async def _new_reasons(
    work: Work, tender: TenderOpportunity, match: Match, watchlists: Sequence[Watchlist]
) -> dict[str, Because]:
    """The reasons that the organization was not told of yet."""
    reasons: dict[str, Because] = {}
    if await _is_matched(work, match):
        reasons["match"] = Because(kind="match")
    for watchlist in watchlists:
        least = watchlist.min_score_tenths
        if least is None or (match.score_tenths or 0) >= least:
            owner = None if watchlist.is_shared else watchlist.owner_user_id
            reasons[f"watchlist:{watchlist.id}"] = Because(
                kind="watchlist", watchlist_id=watchlist.id, owner_user_id=owner
            )
    told = select(MatchAlert.reason).where(
        MatchAlert.organization_id == work.organization_id,
        MatchAlert.tender_opportunity_id == tender.id,
        MatchAlert.material_revision == tender.material_revision,
    )
    known = set(await work.values(told))
    return {reason: one for reason, one in reasons.items() if reason not in known}


async def _is_matched(work: Work, match: Match) -> bool:
    """Whether score and gates are worth an alert, again only after it had been below."""
    profile = matching.profile_features(await matching.profile_of(work))
    if (match.score_tenths or 0) < profile.min_score * 10 or match.failed_gates:
        return False
    return match.alerted_at is None or (
        match.below_since is not None and match.below_since > match.alerted_at
    )


def _event(tender: TenderOpportunity, match: Match, because: list[Because]) -> OpportunityMatched:
    return OpportunityMatched(
        organization_id=match.organization_id,
        match_id=match.id,
        tender_opportunity_id=tender.id,
        score=tenths(match.score_tenths),
        band=match.band,  # type: ignore[arg-type]  # one of its values
        coverage=hundredths(match.coverage_hundredths),
        because=because,
        label=tender.title[:_LABEL],
        closing_at=tender.closing_at,
    )
