"""Qualification: what a tender asks for, and whether the company can prove it."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.opportunity.api.tender_fields import TenderOpportunityId
from thenga.domains.opportunity.lifecycles import QualificationLifecycle
from thenga.domains.opportunity.permissions import Permission
from thenga.domains.opportunity.public.describing import CriterionKind, Cure, RequirementClass
from thenga.domains.opportunity.public.judgement import QualificationVerdict
from thenga.domains.opportunity.services import qualification
from thenga.domains.opportunity.services.qualification import (
    AnswersMissing,
    QualificationIsStale,
    Said,
)
from thenga.domains.opportunity.tables import (
    Qualification,
    QualificationStatus,
    TenderOpportunity,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import PreconditionRequired, RuleViolated
from thenga.kernel.http.bodies import Body, Known, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import decimal, lines, text

router = make_router("Opportunity / Qualification")

Answer = Literal["met", "not_met", "unknown", "not_applicable"]


class CriterionAnswer(Body):
    """Your answer to one requirement."""

    requirement_id: Annotated[UUID, Field(description="Requirement that you answer.")]
    result: Annotated[Answer, Field(description="Your answer, which can be `unknown`.")]
    note: Annotated[
        Annotated[str, lines(1, 2000)] | None, Field(description="Explanation of the answer.")
    ] = None
    evidence_refs: Annotated[
        list[Annotated[str, text(1, 200)]],
        Field(max_length=20, description="Evidence for the answer."),
    ] = []


class AnswerQualification(Body):
    """Answers to add or replace, and what to do with the draft."""

    answers: Annotated[
        list[CriterionAnswer] | None,
        Field(max_length=500, description="Answers. Earlier answers to other requirements stay."),
    ] = None
    self_scores: Annotated[
        dict[Annotated[str, text(1, 60)], Annotated[Decimal, decimal(6, 2)]] | None,
        Field(max_length=40, description="Points you give yourself, by part."),
    ] = None
    note: Annotated[
        Annotated[str, lines(1, 4000)] | None, Field(description="Note for your colleagues.")
    ] = None
    move: Annotated[
        Literal["complete", "reopen"] | None,
        Field(description="`complete` needs `If-Match`; `reopen` starts a new revision."),
    ] = None

    def said(self) -> Said:
        answers = None
        if self.answers is not None:
            answers = [one.model_dump(mode="json", by_alias=True) for one in self.answers]
        scores = self.self_scores
        return Said(
            answers=answers,
            self_scores=None if scores is None else {k: str(v) for k, v in scores.items()},
            note=self.note,
            has_note="note" in self.model_fields_set,
            move=self.move,
        )


class CriterionView(View):
    """A requirement and its result."""

    requirement_id: Annotated[UUID, Field(description="ID of the requirement.")]
    label: Annotated[str, Field(description="Title of the requirement.")]
    requirement_class: Annotated[
        RequirementClass, Field(alias="class", description="Class of the requirement.")
    ]
    kind: Annotated[CriterionKind, Field(description="Kind of the criterion.")]
    code: Annotated[str | None, Field(description="Requirement code in Compliance.")]
    cure: Annotated[Cure, Field(description="How to fix it if it is not met.")]
    result: Annotated[Answer, Field(description="Result that counts.")]
    basis: Annotated[
        Literal["readiness", "profile", "attendance", "person", "none"],
        Field(description="Basis of the result."),
    ]
    answer: Annotated[Answer | None, Field(description="Your own answer, separate from the proof.")]
    note: Annotated[str | None, Field(description="Explanation of the answer.")]
    valid_until: Annotated[date | None, Field(description="Last valid day of the proof.")]
    refs: Annotated[list[str], Field(description="Evidence for the result.")]


class QualificationReadinessView(View):
    """Result from Compliance."""

    verdict: Annotated[str, Field(description="Verdict on the closing day.")]
    blockers: Annotated[list[str], Field(description="Codes of requirements that are not met.")]
    lapses: Annotated[
        list[str], Field(description="Codes of requirements that lapse before a later date.")
    ]
    as_of: Annotated[datetime, Field(description="When it was assessed.")]


class FunctionalityView(View):
    """Points for functionality."""

    points: Annotated[
        Decimal | None, Field(description="Your points. Null until every part has points.")
    ]
    max: Annotated[Decimal, Field(description="Highest possible points.")]
    threshold: Annotated[Decimal, Field(description="Points that a bid must reach.")]


class QualificationView(Stored):
    """A revision of your qualification for a tender."""

    organization_id: Annotated[UUID, Field(description="Your organization.")]
    tender_opportunity_id: Annotated[UUID, Field(description="ID of the tender.")]
    revision: Annotated[int, Field(description="Number of the revision.")]
    status: Annotated[QualificationStatus, Field(description="Status.")]
    verdict: Annotated[
        QualificationVerdict | None, Field(description="Verdict based on the results so far.")
    ]
    criteria: Annotated[list[CriterionView], Field(description="Requirements and results.")]
    readiness: Annotated[
        QualificationReadinessView | None,
        Field(description="Result from Compliance. Null if it did not answer."),
    ]
    functionality: Annotated[
        FunctionalityView | None,
        Field(description="Points for functionality. Null if it is not scored."),
    ]
    self_scores: Annotated[dict[str, Decimal], Field(description="Your points by part.")]
    note: Annotated[str | None, Field(description="Note for your colleagues.")]
    stale: Annotated[bool, Field(description="Whether its inputs have changed.")]
    stale_reasons: Annotated[list[str], Field(description="Inputs that have changed.")]
    decided_by: Annotated[UUID | None, Field(description="Person who completed it.")]
    decided_at: Annotated[datetime | None, Field(description="When it was completed.")]
    allowed_moves: Annotated[list[AllowedMove], Field(description="Possible moves.")]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/opportunities/{self.tender_opportunity_id}/qualification"

    @classmethod
    async def read_of(cls, row: Qualification, read: Reader) -> "QualificationView":
        tender = await read.get(TenderOpportunity, row.tender_opportunity_id)
        values: dict[str, Any] = row.__dict__ | {
            "criteria": [_criterion(one) for one in row.criteria],
            "stale": qualification.is_stale(row, tender),
            "allowed_moves": QualificationLifecycle.allowed(row, read.now),
        }
        return cls.model_validate({name: values[name] for name in cls.model_fields})


def _criterion(row: dict[str, Any]) -> CriterionView:
    return CriterionView.model_validate(row)


@router.post(
    "/opportunities/{tenderOpportunityId}/qualification",
    status_code=201,
    responses=problems(AnswersMissing, QualificationIsStale, PreconditionRequired, RuleViolated),
)
async def answer_qualification(
    tender_opportunity_id: TenderOpportunityId,
    body: AnswerQualification,
    work: Annotated[Work, writes(Permission.QUALIFICATION_MANAGE)],
) -> QualificationView | Known[QualificationView]:
    """Start, continue or complete your qualification for a tender.

    Compliance assesses documents; gradings come from your profile and briefings from your
    attendance. You answer the rest. Only a person can complete it. The response is 201 for a new
    draft, otherwise 200.
    """
    row, is_new = await qualification.answer(work, tender_opportunity_id, body.said())
    view = await QualificationView.read_of(row, work)
    return view if is_new else Known(view)


@router.get("/opportunities/{tenderOpportunityId}/qualification")
async def get_qualification(
    tender_opportunity_id: TenderOpportunityId,
    read: Annotated[Reader, reads(Permission.QUALIFICATION_READ)],
    revision: Annotated[
        int | None, Query(ge=1, le=100_000, description="Revision. Defaults to the newest.")
    ] = None,
) -> QualificationView:
    """Retrieve your qualification for a tender."""
    row = await qualification.get_qualification(read, tender_opportunity_id, revision)
    return await QualificationView.read_of(row, read)
