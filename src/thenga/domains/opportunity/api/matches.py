"""Matches: how well tenders fit the company, and what stands in the way."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.opportunity.api.tender_fields import TenderOpportunityId
from thenga.domains.opportunity.permissions import Permission
from thenga.domains.opportunity.public.judgement import Band
from thenga.domains.opportunity.services import matching, tenants
from thenga.domains.opportunity.services.figures import hundredths, tenths
from thenga.domains.opportunity.services.matching import MatchFilters, Standing
from thenga.domains.opportunity.tables import MatchRun, MatchRunStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.http.bodies import Body, PageOf, Progress, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.values.fields import Instant
from thenga.kernel.values.fields import matching as code_of

router = make_router("Opportunity / Matches")

GateCode = Literal[
    "closed",
    "cidb_grade",
    "compulsory_briefing",
    "compliance_blocker",
    "excluded_keyword",
    "notice_period",
    "value_band",
    "buyer_type",
    "method",
    "briefing_wish",
]


class RequestMatches(Body):
    """Organizations to match the tender with."""

    scope: Annotated[
        Literal["own", "all"],
        Field(description="`own` matches your organization at once. `all` is for staff."),
    ] = "own"


class FactorView(View):
    """One part of the score."""

    key: Annotated[str, Field(description="Name of the factor.")]
    weight: Annotated[int, Field(description="Weight in percent.")]
    value: Annotated[
        Decimal | None, Field(description="Value from 0 to 100. Null if it is not known.")
    ]
    why: Annotated[str, Field(description="Explanation in words.")]
    refs: Annotated[list[str], Field(description="Records that the value is based on.")]


class GateView(View):
    """A condition checked besides the score."""

    code: Annotated[GateCode, Field(description="Code of the gate.")]
    kind: Annotated[
        Literal["hard", "preference"],
        Field(description="A failed `hard` gate makes the company ineligible."),
    ]
    result: Annotated[
        Literal["pass", "fail", "unknown"], Field(description="Result for your organization.")
    ]
    basis: Annotated[str, Field(description="Basis of the result.")]
    why: Annotated[str, Field(description="Explanation in words.")]


class MatchInputsView(View):
    """Versions that the match was computed from."""

    opportunity_version: Annotated[int, Field(description="Version of the tender.")]
    match_revision: Annotated[
        int, Field(description="Revision of the tender data used for matching.")
    ]
    profile_revision: Annotated[int, Field(description="Revision of your match profile.")]


class MatchView(View):
    """How well a tender fits your organization."""

    id: Annotated[UUID | None, Field(description="ID of the match. Null if it is not stored.")]
    organization_id: Annotated[UUID, Field(description="Organization that was matched.")]
    tender_opportunity_id: Annotated[UUID, Field(description="Tender that was matched.")]
    title: Annotated[str, Field(description="Title of the tender.")]
    closing_at: Annotated[datetime | None, Field(description="Closing time of the tender.")]
    stored: Annotated[
        bool, Field(description="Whether it is stored. Low scores are computed on request.")
    ]
    score: Annotated[Decimal | None, Field(description="Score from 0 to 100.")]
    band: Annotated[Band, Field(description="Band of the score.")]
    coverage: Annotated[
        Decimal, Field(description="Share of the weight that is known, from 0 to 1.")
    ]
    eligible: Annotated[bool, Field(description="False if a hard gate fails.")]
    factors: Annotated[list[FactorView], Field(description="Parts of the score.")]
    gates: Annotated[list[GateView], Field(description="Conditions checked besides the score.")]
    weights_version: Annotated[int, Field(description="Version of the weights.")]
    inputs: Annotated[MatchInputsView, Field(description="Versions it was computed from.")]
    computed_at: Annotated[datetime, Field(description="When it was computed.")]
    stale: Annotated[bool, Field(description="Whether its inputs have changed since.")]
    stale_reasons: Annotated[list[str], Field(description="Which inputs have changed.")]
    alerted_at: Annotated[
        datetime | None, Field(description="When the organization was last alerted.")
    ]

    @classmethod
    def of(cls, standing: Standing) -> "MatchView":
        match, tender = standing.match, standing.tender
        return cls(
            id=match.id if standing.stored else None,
            organization_id=match.organization_id,
            tender_opportunity_id=tender.id,
            title=tender.title,
            closing_at=tender.closing_at,
            stored=standing.stored,
            score=tenths(match.score_tenths),
            band=match.band,  # type: ignore[arg-type]  # one of its values
            coverage=hundredths(match.coverage_hundredths),
            eligible=match.eligible,
            factors=[_factor(one) for one in match.factors],
            gates=[GateView.model_validate(one) for one in match.gates],
            weights_version=match.weights_version,
            inputs=MatchInputsView(
                opportunity_version=match.opportunity_version,
                match_revision=match.match_revision,
                profile_revision=match.profile_revision,
            ),
            computed_at=match.computed_at,
            stale=bool(standing.stale_reasons),
            stale_reasons=standing.stale_reasons,
            alerted_at=match.alerted_at,
        )


class MatchRunView(View):
    """A run of matching."""

    id: Annotated[UUID, Field(description="ID of the run.")]
    scope: Annotated[Literal["own", "all"], Field(description="Scope of the run.")]
    status: Annotated[MatchRunStatus, Field(description="Status of the run.")]
    progress: Annotated[Progress, Field(description="Groups of companies that are done.")]
    counts: Annotated[dict[str, int], Field(description="Companies scored and alerted.")]
    finished_at: Annotated[datetime | None, Field(description="When it ended.")]

    @classmethod
    def of(cls, run: MatchRun) -> "MatchRunView":
        return cls(
            id=run.id,
            scope=run.scope,  # type: ignore[arg-type]  # one of its values
            status=run.status,
            progress=Progress(done=run.done, total=run.total or None, note=None),
            counts=run.counts,
            finished_at=run.finished_at,
        )


class MatchResultView(View):
    """The match of your organization, and the last requested run."""

    tender_opportunity_id: Annotated[UUID, Field(description="Tender that was matched.")]
    match: Annotated[
        MatchView | None, Field(description="Your match. Null if staff matched it for everyone.")
    ]
    run: Annotated[MatchRunView | None, Field(description="Last run that you requested.")]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/opportunities/{self.tender_opportunity_id}/matches"


@router.post("/opportunities/{tenderOpportunityId}/matches", status_code=202)
async def request_matches(
    tender_opportunity_id: TenderOpportunityId,
    body: RequestMatches,
    work: Annotated[Work, writes(Permission.MATCH_REQUEST)],
) -> MatchResultView:
    """Match a tender. Your own organization is matched at once, so its run has already succeeded.

    Staff can match a shared tender with every organization; poll the address in `Location`.
    """
    await tenants.act_for_platform(work)
    if body.scope == "all":
        run = await matching.request_all(work, tender_opportunity_id)
        return _result(tender_opportunity_id, None, run)
    standing, run = await matching.request_own(work, tender_opportunity_id)
    return _result(tender_opportunity_id, standing, run)


@router.get("/opportunities/{tenderOpportunityId}/matches")
async def get_matches(
    tender_opportunity_id: TenderOpportunityId,
    read: Annotated[Reader, reads(Permission.MATCH_READ)],
) -> MatchResultView:
    """Explain how a tender fits your organization. If no match is stored, it is computed now."""
    await tenants.act_for_platform(read)
    standing = await matching.get_match(read, tender_opportunity_id)
    run = await matching.newest_run(read, tender_opportunity_id)
    return _result(tender_opportunity_id, standing, run)


@router.get("/organizations/{organizationId}/opportunity-matches")
async def list_matches(
    read: Annotated[Reader, reads(Permission.MATCH_READ)],
    page: Annotated[Paged, paged("score", "closingAt", "computedAt", default="-score")],
    min_score: Annotated[
        int | None, Query(alias="minScore", ge=0, le=100, description="Minimum score.")
    ] = None,
    band: Annotated[Band | None, Query(description="Filter by band.")] = None,
    eligible: Annotated[bool | None, Query(description="Filter by eligibility.")] = None,
    stale: Annotated[bool | None, Query(description="Filter by staleness.")] = None,
    blocked_by: Annotated[
        GateCode | None, Query(alias="blockedBy", description="Filter by failed gate.")
    ] = None,
    saved: Annotated[
        bool | None, Query(description="Filter by whether it is on your board.")
    ] = None,
    closing_from: Annotated[
        Instant | None, Query(alias="closingFrom", description="Closing at or after this time.")
    ] = None,
    closing_to: Annotated[
        Instant | None, Query(alias="closingTo", description="Closing at or before this time.")
    ] = None,
    province: Annotated[
        str | None, code_of("^[A-Z]{2,3}$", 3), Query(description="Filter by province.")
    ] = None,
) -> PageOf[MatchView]:
    """List stored matches. Use `blockedBy` to find the tenders that fail one gate."""
    filters = MatchFilters(
        min_score=min_score,
        band=band,
        eligible=eligible,
        stale=stale,
        blocked_by=blocked_by,
        saved=saved,
        closing_from=closing_from,
        closing_to=closing_to,
        province=province,
    )
    found, standing = await matching.list_matches(read, page, filters)
    return PageOf[MatchView].of(found, lambda one: MatchView.of(standing[one.id]))


def _factor(row: dict[str, Any]) -> FactorView:
    return FactorView.model_validate(row | {"value": tenths(row["tenths"])})


def _result(tender_id: UUID, standing: Standing | None, run: MatchRun | None) -> MatchResultView:
    return MatchResultView(
        tender_opportunity_id=tender_id,
        match=None if standing is None else MatchView.of(standing),
        run=None if run is None else MatchRunView.of(run),
    )
