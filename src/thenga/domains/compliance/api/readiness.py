"""Readiness on a day."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.services import documents, readiness
from thenga.domains.compliance.services.readiness import (
    Assessed,
    DateOutOfRange,
    Gate,
    ReadinessAnswer,
    ReadinessQuestion,
    State,
    Verdict,
)
from thenga.domains.compliance.services.requirements import TenderUnknown
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day

router = make_router("Compliance / Readiness")

TenderPoint = Literal["closing", "validity_end", "award"]
Score = Annotated[Decimal | None, Field(ge=0, le=100, description="0 to 100, one decimal place.")]


class ReadinessRangeView(View):
    """Score if all unknown requirements are missing, and if they are all met."""

    low: Score
    high: Score


class ReadinessComponentView(View):
    """One component of the score."""

    code: Annotated[str, Field(description="Component, such as `tax`.")]
    weight: Annotated[int, Field(description="Weight among the components.")]
    score: Annotated[Decimal | None, Field(description="0 to 100. Null if nothing is known.")]
    requirement_ids: Annotated[list[UUID], Field(description="Requirements of this component.")]


class ReadinessItemView(View):
    """One requirement on the day."""

    requirement_id: Annotated[
        UUID | None,
        Field(description="ID of the requirement. Null for a tender's own requirement."),
    ]
    ref: Annotated[str | None, Field(description="Reference of the tender's own requirement.")]
    code: Annotated[str, Field(description="Catalogue code, or ID of the requirement.")]
    component: Annotated[str, Field(description="Component it counts towards.")]
    gate: Annotated[Gate, Field(description="Effect if it is not met.")]
    state: Annotated[State, Field(description="Assessment on the day.")]
    valid_until: Annotated[date | None, Field(description="Last valid day of the counted proof.")]
    assurance: Annotated[
        str | None, Field(description="How strongly the counted proof was verified.")
    ]
    evidence_ids: Annotated[list[UUID], Field(description="Counted evidence.")]
    reasons: Annotated[list[str], Field(description="Why it is not `met`.")]

    @classmethod
    def of(cls, item: Assessed) -> "ReadinessItemView":
        need = item.need
        return cls(
            requirement_id=need.requirement_id,
            ref=need.ref,
            code=need.code,
            component=need.component,
            gate=need.gate,
            state=item.state,
            valid_until=item.valid_until,
            assurance=item.assurance.name.lower() if item.assurance else None,
            evidence_ids=list(item.evidence_ids),
            reasons=list(item.reasons),
        )


class ReadinessRemarkView(View):
    """A requirement and a reason."""

    code: Annotated[str, Field(description="Code of the requirement.")]
    reason: Annotated[str, Field(description="Why it is listed.")]


class ReadinessDateView(View):
    """One date of the tender."""

    at: Annotated[TenderPoint, Field(description="Kind of date.")]
    on: Annotated[date, Field(description="The day.")]
    assumed: Annotated[bool, Field(description="True if the date was not announced.")]
    verdict: Annotated[Verdict, Field(description="Verdict on that day.")]
    score: Score


class ReadinessLapseView(View):
    """A requirement met at closing that lapses before a later date of the tender."""

    code: Annotated[str, Field(description="Code of the requirement.")]
    ends_on: Annotated[
        date,
        Field(
            description="First day on which it is no longer met; `missesOn` if you may not read "
            "the document."
        ),
    ]
    misses: Annotated[TenderPoint, Field(description="Tender date that it does not cover.")]
    misses_on: Annotated[date, Field(description="Day of that tender date.")]


class ReadinessTrendView(View):
    """Readiness on a past day."""

    day: Annotated[date, Field(description="The day.")]
    verdict: Annotated[Verdict, Field(description="Verdict on that day.")]
    score: Score


class ReadinessAnswerView(View):
    """Readiness of a company on a day."""

    organization_id: UUID
    tender_opportunity_id: Annotated[UUID | None, Field(description="Evaluated tender.")]
    on: Annotated[date, Field(description="Evaluated day.")]
    at: Annotated[
        Literal["today", "date", "closing", "validity_end", "award"],
        Field(description="How the day was chosen."),
    ]
    verdict: Annotated[
        Verdict,
        Field(description="`not_ready` if a hard requirement is missing, expired or failed."),
    ]
    score: Annotated[
        Decimal | None,
        Field(description="0 to 100, capped while there are blockers. Null if nothing is known."),
    ]
    raw_score: Annotated[Decimal | None, Field(description="Score without the cap.")]
    range: Annotated[ReadinessRangeView, Field(description="Lowest and highest possible score.")]
    coverage: Annotated[
        Decimal | None, Field(description="Percentage of the weight that is known.")
    ]
    components: Annotated[
        list[ReadinessComponentView], Field(description="Score of each component.")
    ]
    items: Annotated[list[ReadinessItemView], Field(description="Every requirement.")]
    blockers: Annotated[list[str], Field(description="Hard requirements that are not met.")]
    warnings: Annotated[
        list[ReadinessRemarkView], Field(description="Requirements below `met` that do not block.")
    ]
    unknowns: Annotated[
        list[ReadinessRemarkView], Field(description="Requirements that cannot be assessed yet.")
    ]
    assumptions: Annotated[
        list[ReadinessRemarkView],
        Field(description="States kept by others, as they were last checked."),
    ]
    dates: Annotated[list[ReadinessDateView], Field(description="Dates of the tender.")]
    lapses: Annotated[
        list[ReadinessLapseView],
        Field(description="Requirements that lapse between the tender's dates."),
    ]
    trend: Annotated[
        list[ReadinessTrendView], Field(description="Past days, if `trendDays` was sent.")
    ]
    as_of: Annotated[datetime, Field(description="When it was computed.")]
    catalogue_version: Annotated[int | None, Field(description="Version of the catalogue.")]
    stale: Annotated[
        bool,
        Field(description="True while snapshots, risks and events are not up to date."),
    ]

    @classmethod
    def of(cls, found: ReadinessAnswer) -> "ReadinessAnswerView":
        outcome = found.outcome
        return cls.model_validate(
            {
                "organization_id": found.organization_id,
                "tender_opportunity_id": found.tender_opportunity_id,
                "on": found.on,
                "at": found.at,
                "verdict": outcome.verdict,
                "score": outcome.score,
                "raw_score": outcome.raw_score,
                "range": {"low": outcome.low, "high": outcome.high},
                "coverage": outcome.coverage,
                "components": outcome.components,
                "items": [ReadinessItemView.of(item) for item in outcome.items],
                "blockers": outcome.blockers,
                "warnings": outcome.warnings,
                "unknowns": outcome.unknowns,
                "assumptions": outcome.assumptions,
                "dates": _dates(found),
                "lapses": _lapses(found),
                "trend": found.trend,
                "as_of": found.as_of,
                "catalogue_version": found.catalogue_version,
                "stale": found.is_stale,
            }
        )


def _dates(found: ReadinessAnswer) -> list[dict[str, object]]:
    return [
        {
            "at": named.point.value,
            "on": named.on,
            "assumed": named.is_assumed,
            "verdict": outcome.verdict,
            "score": outcome.score,
        }
        for named, outcome in found.dates
    ]


def _lapses(found: ReadinessAnswer) -> list[dict[str, object]]:
    return [
        {
            "code": lapse.need.code,
            "ends_on": lapse.ends_on,
            "misses": lapse.missed.point.value,
            "misses_on": lapse.missed.on,
        }
        for lapse in found.lapses
    ]


@router.get(
    "/compliance/readiness/{organizationId}",
    responses=problems(DateOutOfRange, TenderUnknown),
)
async def get_readiness(
    read: Annotated[Reader, reads(Permission.READINESS_READ)],
    on: Annotated[Day | None, Query(description="Day to evaluate, up to 730 days ahead.")] = None,
    at: Annotated[
        Literal["today", "closing", "validity_end", "award"] | None,
        Query(description="Date to evaluate. Defaults to `closing` if a tender is given."),
    ] = None,
    tender_opportunity_id: Annotated[
        UUID | None, Query(alias="tenderOpportunityId", description="Tender to evaluate for.")
    ] = None,
    trend_days: Annotated[
        int | None,
        Query(alias="trendDays", ge=7, le=400, description="Number of past days in `trend`."),
    ] = None,
) -> ReadinessAnswerView:
    """Get the organization's readiness on a day, or on the dates of one tender.

    It is computed on request. It is for information and blocks nothing by itself. For a document
    that you may not read, it shows the state of the requirement, but no evidence and no last day.
    """
    question = ReadinessQuestion(
        on=on, at=at, tender_opportunity_id=tender_opportunity_id, trend_days=trend_days
    )
    sight = await documents.sight_of(read)
    return ReadinessAnswerView.of(await readiness.answer(read, question, sight))
