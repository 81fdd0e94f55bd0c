"""What a match is computed from, and what matches are listed by."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from thenga.domains.marketplace.tables.matches import Match
from thenga.domains.marketplace.values.matching import Need, TenderGap
from thenga.kernel.http.bodies import Body
from thenga.kernel.http.filters import Filters


class CreateMatch(Body):
    """Exactly one of a need and a tender's gap."""

    need: Annotated[Need | None, Field(description="What you need.")] = None
    from_tender: Annotated[
        TenderGap | None, Field(description="Requirements of a tender that a partner can cure.")
    ] = None


class MatchFilters(Filters[Match]):
    """What matches are listed by."""

    tender_opportunity_id: Annotated[UUID | None, Field(description="Filter by tender.")] = None
