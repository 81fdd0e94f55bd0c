"""Matches: candidates for a need, or for the gap of a tender."""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.marketplace.permissions import Permission
from thenga.domains.marketplace.schemas.matches import CreateMatch, MatchFilters
from thenga.domains.marketplace.services import matching
from thenga.domains.marketplace.services.categories import CategoryUnknown
from thenga.domains.marketplace.services.matching import (
    MatchTenderUnknown,
    NothingMatchable,
    StaleReason,
)
from thenga.domains.marketplace.services.places import PlaceUnknown
from thenga.domains.marketplace.tables.matches import Match
from thenga.domains.marketplace.values.matching import (
    Candidate,
    Exclusion,
    MatchRequirement,
    Need,
    TenderGap,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated
from thenga.kernel.http.bodies import PageOf, Stored
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.filters import filtered
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems

router = make_router("Marketplace / Matches")

MatchId = Annotated[UUID, Path(alias="matchId", description="Match.")]


class MatchRow(Stored):
    """A match without its candidates."""

    need: Annotated[Need | None, Field(description="What was needed.")]
    from_tender: Annotated[TenderGap | None, Field(description="What of a tender was asked for.")]
    requirement_set_version: Annotated[
        int | None, Field(description="Version of the tender's requirements.")
    ]
    requirements: Annotated[list[MatchRequirement], Field(description="Requirements.")]
    excluded: Annotated[
        list[Exclusion], Field(description="Listings that are no candidates, by reason.")
    ]
    formula_version: Annotated[int, Field(description="Version of the formula.")]
    correlation_id: Annotated[
        str, Field(description="Send it on to quote requests, to follow them.")
    ]
    as_of: Annotated[datetime, Field(description="When the candidates were judged.")]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/marketplace/matches/{self.id}"


class MatchView(MatchRow):
    """A match with its candidates, as they were when it was computed."""

    candidates: Annotated[list[Candidate], Field(description="Candidates, the best first.")]
    stale: Annotated[
        bool | None,
        Field(description="Whether something moved since. Null while the tender cannot be asked."),
    ]
    stale_reasons: Annotated[
        list[StaleReason],
        Field(description="What moved. Compute a new match to judge anew."),
    ]

    @classmethod
    def judged(cls, match: Match, reasons: list[StaleReason] | None) -> Self:
        """As it is kept, and what moved since."""
        stale = None if reasons is None else bool(reasons)
        return cls.of(match, stale=stale, stale_reasons=reasons or [])


@router.post(
    "/marketplace/matches",
    status_code=201,
    responses=problems(
        CategoryUnknown, MatchTenderUnknown, NothingMatchable, PlaceUnknown, RuleViolated
    ),
)
async def create_marketplace_match(
    body: CreateMatch, work: Annotated[Work, writes(Permission.MATCH_CREATE)]
) -> MatchView:
    """Find providers for a need, or for the requirements of a tender that you do not meet.

    Only your organization knows of a match. It is decision support: nobody is invited by it.
    """
    return MatchView.judged(await matching.compute_match(work, body), [])


@router.get("/marketplace/matches")
async def list_marketplace_matches(
    read: Annotated[Reader, reads(Permission.MATCH_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    filters: Annotated[MatchFilters, filtered()],
) -> PageOf[MatchRow]:
    """List the matches of your organization."""
    return PageOf.of(await read.page(filters.select(), page), MatchRow.of)


@router.get("/marketplace/matches/{matchId}")
async def get_marketplace_match(
    match_id: MatchId, read: Annotated[Reader, reads(Permission.MATCH_READ)]
) -> MatchView:
    """Get a match with its candidates, and whether something moved since."""
    match = await read.get(Match, match_id)
    return MatchView.judged(match, await matching.stale_reasons(read, match))
