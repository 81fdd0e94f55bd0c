"""Qualifications: one draft and its closed revisions for each tender (OPP-36)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.opportunity import public
from thenga.domains.opportunity.lifecycles import QualificationLifecycle
from thenga.domains.opportunity.services.qualification.criteria import (
    Facts,
    gather,
    lay_out,
    points_of,
)
from thenga.domains.opportunity.services.qualification.verdicts import (
    Criterion,
    unanswered,
    verdict,
)
from thenga.domains.opportunity.tables import (
    Qualification,
    QualificationStatus,
    TenderOpportunity,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import (
    ERRORS,
    NotFound,
    PreconditionRequired,
    Problem,
    RuleViolated,
    extensions,
)


class QualificationIsStale(Problem):
    """The tender changed after the draft was saved. Save it without `move`, then complete it."""

    code, status, title = "opportunity-qualification-stale", 409, "The qualification is out of date"


class AnswersMissing(Problem):
    """Answer the mandatory and scored requirements in `errors`. `unknown` is a valid answer."""

    code, status, title = "opportunity-answers-missing", 422, "Answers are missing"
    members = extensions(errors=ERRORS)


@dataclass(frozen=True, slots=True)
class Said:
    """What a person sends; none leaves a field as it is."""

    answers: Sequence[dict[str, Any]] | None = None
    self_scores: dict[str, Any] | None = None
    note: str | None = None
    has_note: bool = False
    move: str | None = None


async def answer(work: Work, tender_id: UUID, said: Said) -> tuple[Qualification, bool]:
    """Start or continue the draft, complete it, or open a new one; whether a draft was made."""
    tender = await work.get(TenderOpportunity, tender_id)
    facts = await gather(work, tender)  # asks Compliance, so before the first write
    draft = await work.find(
        Qualification, tender_opportunity_id=tender_id, status=QualificationStatus.DRAFT.value
    )
    if draft is None:
        if said.move == "complete":
            raise NotFound("There is no draft to complete. Start one without `move`.")
        known = await _newest(work, tender_id)
        if known is not None and said.move != "reopen":
            raise RuleViolated(
                "This qualification is completed. Send `move: reopen` to start a new revision.",
                rule="OPP-36",
            )
        return await _start(work, facts, said, known), True
    if said.move == "complete" and work.if_match is None:
        raise PreconditionRequired()
    draft = await work.lock(Qualification, draft.id)
    if said.move == "complete":
        return await _complete(work, draft, facts, said), False
    _apply(draft, said)
    _judge(draft, facts)
    return await work.save(draft), False


async def get_qualification(read: Reader, tender_id: UUID, revision: int | None) -> Qualification:
    """The newest revision, or the one named."""
    await read.get(TenderOpportunity, tender_id)
    if revision is None:
        found = await _newest(read, tender_id)
    else:
        found = await read.find(Qualification, tender_opportunity_id=tender_id, revision=revision)
    if found is None:
        raise NotFound("There is no such qualification for this tender. Start one first.")
    return found


async def completed(read: Reader, tender_id: UUID) -> Qualification | None:
    """The completed revision that counts now."""
    return await read.find(
        Qualification, tender_opportunity_id=tender_id, status=QualificationStatus.COMPLETED.value
    )


async def mark_stale(work: Work, tender_id: UUID, reasons: Sequence[str]) -> str | None:
    """What a qualification rests on has changed: said once, the verdict stays readable."""
    known = await completed(work, tender_id)
    if known is None:
        return None
    row = await work.lock(Qualification, known.id, beside=True)
    new = [one for one in reasons if one not in row.stale_reasons]
    if new:
        row.stale_reasons = [*row.stale_reasons, *new]
        await work.save(row)
        work.publish(
            public.QualificationStale(
                organization_id=row.organization_id,
                qualification_id=row.id,
                tender_opportunity_id=tender_id,
                revision=row.revision,
                verdict=row.verdict,  # type: ignore[arg-type]  # one of its values
                stale_reasons=row.stale_reasons,
            )
        )
    return f"qualification/{row.id}"


def criteria_of(row: Qualification) -> list[Criterion]:
    return [Criterion.of_row(one) for one in row.criteria]


def is_stale(row: Qualification, tender: TenderOpportunity) -> bool:
    return bool(row.stale_reasons) or row.inputs != _inputs(tender)


async def _newest(read: Reader, tender_id: UUID) -> Qualification | None:
    statement = (
        select(Qualification)
        .where(Qualification.tender_opportunity_id == tender_id)
        .order_by(Qualification.revision.desc())
    )
    return next(iter(await read.all(statement, limit=1)), None)


async def _start(
    work: Work, facts: Facts, said: Said, known: Qualification | None
) -> Qualification:
    draft = Qualification(
        organization_id=work.organization_id,
        tender_opportunity_id=facts.tender.id,
        revision=known.revision + 1 if known else 1,
        answers=known.answers if known else [],
        self_scores=known.self_scores if known else {},
        note=known.note if known else None,
        criteria=[],
        inputs={},
        stale_reasons=[],
    )
    _apply(draft, said)
    _judge(draft, facts)
    return await work.add(draft)


async def _complete(work: Work, draft: Qualification, facts: Facts, said: Said) -> Qualification:
    seen = draft.inputs
    _apply(draft, said)
    _judge(draft, facts)
    if seen != draft.inputs:
        raise QualificationIsStale()
    missing = unanswered(criteria_of(draft))
    if missing:
        detail = "Answer this requirement: met, not_met, unknown or not_applicable."
        raise AnswersMissing(
            errors=[
                {"pointer": f"/answers/{one}", "code": "answer_missing", "detail": detail}
                for one in missing
            ]
        )
    previous = await completed(work, draft.tender_opportunity_id)
    if previous is not None:
        older = await work.lock(Qualification, previous.id, beside=True)
        QualificationLifecycle.supersede(older, at=work.now)
        await work.save(older)
    QualificationLifecycle.complete(draft, at=work.now)
    draft.decided_by, draft.decided_at = work.user_id, work.now
    await work.save(draft)
    work.publish(
        public.QualificationCompleted(
            organization_id=draft.organization_id,
            qualification_id=draft.id,
            tender_opportunity_id=draft.tender_opportunity_id,
            revision=draft.revision,
            verdict=draft.verdict,  # type: ignore[arg-type]  # one of its values
            unmet=[
                one.code or one.requirement_id
                for one in criteria_of(draft)
                if one.result == "not_met"
            ],
        )
    )
    return draft


def _apply(draft: Qualification, said: Said) -> None:
    if said.answers is not None:
        new = {str(one["requirementId"]): one for one in said.answers}
        kept = [one for one in draft.answers if str(one["requirementId"]) not in new]
        draft.answers = [*kept, *new.values()]
    if said.self_scores is not None:
        draft.self_scores = said.self_scores
    if said.has_note:
        draft.note = said.note


def _judge(draft: Qualification, facts: Facts) -> None:
    criteria = lay_out(facts, draft.answers)
    points = points_of(facts, draft.self_scores)
    closing = facts.tender.closing_at
    draft.criteria = [one.to_row() for one in criteria]
    draft.functionality = None
    if points is not None:
        draft.functionality = {
            "points": None if points.points is None else str(points.points),
            "max": str(points.max_points),
            "threshold": str(points.threshold),
        }
    answered = facts.readiness
    draft.readiness = None
    if answered is not None:
        draft.readiness = {
            "verdict": answered.verdict,
            "blockers": answered.blockers,
            "lapses": [one.code for one in answered.lapses],
            "asOf": answered.as_of.isoformat().replace("+00:00", "Z"),
        }
    draft.verdict = verdict(
        criteria, points, is_before_closing=closing is None or closing > facts.now
    )
    draft.inputs = _inputs(facts.tender)


def _inputs(tender: TenderOpportunity) -> dict[str, Any]:
    return {
        "requirementSetVersion": tender.requirement_set_version,
        "materialRevision": tender.material_revision,
    }
