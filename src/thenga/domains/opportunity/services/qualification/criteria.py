"""Criteria: what a tender asks for, judged by proof, profile, attendance and answer (OPP-36)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.compliance.public import (
    Readiness,
    ReadinessItem,
    ReadinessView,
    TenderTerms,
    Term,
)
from thenga.domains.opportunity.services import matching
from thenga.domains.opportunity.services.matching import CidbAsked, TenderFeatures
from thenga.domains.opportunity.services.qualification.verdicts import (
    Criterion,
    Functionality,
    Result,
    functionality,
    merge,
)
from thenga.domains.opportunity.tables import (
    Briefing,
    MatchProfile,
    Requirement,
    RequirementStatus,
    TenderOpportunity,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.ports.asking import asking
from thenga.kernel.values.calendar import local_day

_RESULTS: dict[str, Result] = {"pass": "met", "fail": "not_met", "unknown": "unknown"}
_STATES: dict[str, Result] = {
    "met": "met",
    "not_applicable": "not_applicable",
    "unknown": "unknown",
    "provisional": "unknown",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known before a person answers."""

    tender: TenderOpportunity
    requirements: Sequence[Requirement]
    features: TenderFeatures
    profile: MatchProfile | None
    attended: dict[UUID, str]
    briefings: dict[UUID, datetime]
    readiness: ReadinessView | None
    now: datetime


async def gather(read: Reader, tender: TenderOpportunity) -> Facts:
    """Read the set of requirements, and ask Compliance once about all its documents."""
    requirements = await read.all(
        select(Requirement)
        .where(
            Requirement.tender_opportunity_id == tender.id,
            Requirement.status == RequirementStatus.ACTIVE,
        )
        .order_by(Requirement.ordinal, Requirement.id)
    )
    briefings = await read.all(select(Briefing).where(Briefing.tender_opportunity_id == tender.id))
    return Facts(
        tender=tender,
        requirements=requirements,
        features=await matching.tender_features(read, tender),
        profile=await matching.profile_of(read),
        attended=await matching.own_attendance(read, tender.id),
        briefings={one.id: one.starts_at for one in briefings},
        readiness=await _ask_readiness(read, tender, requirements),
        now=read.now,
    )


async def _ask_readiness(
    read: Reader, tender: TenderOpportunity, requirements: Sequence[Requirement]
) -> ReadinessView | None:
    """Silence means unknown, and is shown as such."""
    terms = [
        Term(
            ref=str(one.id),
            code=one.code,
            gate="hard" if one.gate == "hard" else "soft",
            params=one.criterion.get("params") or {},
        )
        for one in requirements
        if one.criterion_kind == "document"
    ]
    asked = TenderTerms(
        tender_opportunity_id=tender.id,
        closing_at=tender.closing_at,
        validity_ends_on=_validity_end(tender),
        sphere=tender.buyer_sphere,
        category=tender.main_category,
        terms=terms,
    )
    # Not `on_date`, which takes only tenders that Compliance tracks and days to come.
    found = await asking(
        read,
        Readiness,
        lambda port: port.for_tenders(organization_id=read.organization_id, tenders=[asked]),
        silent=None,
    )
    return None if found is None else found[0]


def lay_out(facts: Facts, answers: Sequence[dict[str, Any]]) -> list[Criterion]:
    """Every requirement with its result. An answer never overrules a failed proof."""
    said = {str(one["requirementId"]): one for one in answers}
    return [_criterion(facts, one, said.get(str(one.id))) for one in facts.requirements]


def points_of(facts: Facts, scores: dict[str, Any]) -> Functionality | None:
    """The self-scored functionality, where the tender has one."""
    found = [one for one in facts.requirements if one.criterion_kind == "functionality"]
    if not found:
        return None
    asked = found[0].criterion
    return functionality(
        {part["key"]: Decimal(str(part["points"])) for part in asked["parts"]},
        Decimal(str(asked["maxPoints"])),
        Decimal(str(asked["thresholdPoints"])),
        {key: Decimal(str(value)) for key, value in scores.items()},
    )


def _criterion(facts: Facts, one: Requirement, said: dict[str, Any] | None) -> Criterion:
    result, basis, until, refs = _proof(facts, one)
    answer: Result | None = said["result"] if said else None
    merged = merge(result, answer)
    return Criterion(
        requirement_id=str(one.id),
        label=one.title,
        requirement_class=one.requirement_class,
        kind=one.criterion_kind,
        code=one.code,
        gate=one.gate,
        cure=one.cure,
        result=merged,
        basis="person" if merged != result or (basis == "none" and answer) else basis,
        answer=answer,
        note=said.get("note") if said else None,
        valid_until=until,
        refs=(*refs, *(said.get("evidenceRefs") or [] if said else [])),
    )


def _proof(facts: Facts, one: Requirement) -> tuple[Result, Any, str | None, list[str]]:
    """What stands on its own: readiness, the register grade, recorded attendance."""
    asked = one.criterion
    if one.criterion_kind == "document":
        return _document(facts, one)
    if one.criterion_kind == "cidb_grade":
        grade = CidbAsked(asked["class"], int(asked["minGrade"]), bool(asked.get("peAllowed")))
        held = matching.profile_features(facts.profile)
        if facts.profile is None or facts.profile.revision == 0:
            return "unknown", "profile", None, []
        result = matching.grade_result(held, grade, facts.features)
        return _RESULTS[result], "profile", None, [one_.ref for one_ in held.cidb]
    if one.criterion_kind == "briefing":
        briefing_id = UUID(str(asked["briefingId"]))
        starts_at = facts.briefings.get(briefing_id, facts.now)
        state = facts.attended.get(briefing_id)
        if state != "attended" and state != "missed":
            return "unknown", "attendance", None, []
        result = matching.attendance_result(state, starts_at, facts.now)
        return _RESULTS[result], "attendance", None, [f"briefing:{briefing_id}"]
    return "unknown", "none", None, []


def _document(facts: Facts, one: Requirement) -> tuple[Result, Any, str | None, list[str]]:
    items = facts.readiness.items if facts.readiness else []
    item = next((each for each in items if each.ref == str(one.id)), None)
    if item is None:
        return "unknown", "readiness", None, []
    until = item.valid_until
    result = _STATES.get(item.state, "not_met")
    day = _needed_on(facts, one)
    if result == "met" and day is not None and _ends_before(facts, item, day):
        result = "not_met"
    refs = [] if item.evidence_ref is None else [str(item.evidence_ref.evidence_id)]
    return result, "readiness", until.isoformat() if until else None, refs


def _ends_before(facts: Facts, item: ReadinessItem, day: date) -> bool:
    """By its last day; of a document that is not for everyone only its lapses are known."""
    if item.valid_until is not None:
        return item.valid_until < day
    lapses = facts.readiness.lapses if facts.readiness else []
    return any(one.code == item.code and one.misses_on <= day for one in lapses)


def _needed_on(facts: Facts, one: Requirement) -> date | None:
    """The day on which the document must still be valid: the closing unless it says another."""
    closing = facts.tender.closing_at
    if one.criterion.get("validOn") == "validity_end":
        end = _validity_end(facts.tender)
        if end is not None:
            return end
    return local_day(closing) if closing else None


def _validity_end(tender: TenderOpportunity) -> date | None:
    days = tender.terms.get("validityDays")
    if tender.closing_at is None or not days:
        return None
    return local_day(tender.closing_at) + timedelta(days=int(days))
