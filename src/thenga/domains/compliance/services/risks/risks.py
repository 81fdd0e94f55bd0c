"""Risks as people treat them: list, change, and the moves of the lifecycle (CMP-33, CMP-35)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, select

from thenga.domains.compliance import public
from thenga.domains.compliance.lifecycles import RiskLifecycle
from thenga.domains.compliance.services import documents
from thenga.domains.compliance.services.risks.rules import SERIOUS, Level, level_of, score_of
from thenga.domains.compliance.tables import Document, Risk, RiskStatus
from thenga.kernel.db.acting import same_person
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated, SamePerson, ValidationFailed
from thenga.kernel.values.calendar import HOME_ZONE, local_day, local_midnight

MOST_ACCEPTED_DAYS = 180
_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class RiskFilters:
    """What the list may be narrowed to."""

    status: RiskStatus | None = None
    level: Level | None = None
    category: str | None = None
    owner_user_id: UUID | None = None
    tender_opportunity_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class RiskMove:
    """A move with its reason; accepting also says until when."""

    verb: str
    reason: str | None = None
    until: date | None = None


async def list_risks(read: Reader, paged: Paged, filters: RiskFilters) -> Slice[Risk]:
    """Risks of the company."""
    statement = where_given(
        select(Risk),
        (Risk.status, filters.status),
        (Risk.level, filters.level),
        (Risk.category, filters.category),
        (Risk.owner_user_id, filters.owner_user_id),
        (Risk.tender_opportunity_id, filters.tender_opportunity_id),
    )
    columns: dict[str, ColumnElement[Any]] = {"score": Risk.score, "createdAt": Risk.created_at}
    return await read.page(statement, paged, by=columns[paged.sort])


async def hidden_documents(read: Reader, risks: Sequence[Risk]) -> frozenset[UUID]:
    """The documents behind these risks that the caller may not read (CMP-48)."""
    ids = {risk.document_id for risk in risks if risk.document_id is not None}
    if not ids:
        return frozenset()
    sight = await documents.sight_of(read)
    shown = await read.values(select(Document.id).where(among(Document.id, ids), sight.shown()))
    return frozenset(ids) - set(shown)


async def change_risk(
    work: Work, risk_id: UUID, *, fields: Mapping[str, Any], move: RiskMove | None
) -> Risk:
    """Change what people say of a risk, and make one move."""
    risk = await work.lock(Risk, risk_id)
    for name, value in fields.items():
        setattr(risk, name, value)
    risk.score = score_of(risk.likelihood, risk.impact)
    risk.level = level_of(risk.score).value
    has_moved = move is not None and _make(work, risk, move)
    if not work.changes(risk):
        return risk
    await work.save(risk)
    if has_moved:
        publish_change(work, risk)
    return risk


def _make(work: Work, risk: Risk, move: RiskMove) -> bool:
    """Make a move if its conditions hold; False where the risk is there already."""
    if risk.status is RiskLifecycle.moves[move.verb].to:
        return False
    if move.verb == "accept":
        _check_acceptance(work, risk, move)
    elif move.verb == "mitigate" and not risk.actions:
        raise RuleViolated("Add at least one action before you mitigate a risk.", rule="CMP-33")
    elif move.verb in ("materialise", "close") and not move.reason:
        raise _needs("/move/reason", "Give a reason.")
    RiskLifecycle.moves[move.verb](risk, at=work.now)
    mark_status(work, risk, code=move.verb, text=move.reason)
    if move.verb == "accept" and move.until is not None:
        risk.accepted_until, risk.accepted_by = move.until, work.actor.id
        risk.next_check_at = local_midnight(move.until + _ONE_DAY, HOME_ZONE)
    else:
        risk.accepted_until = risk.accepted_by = risk.next_check_at = None
    return True


def _check_acceptance(work: Work, risk: Risk, move: RiskMove) -> None:
    """A high or critical risk is accepted by somebody else than its owner, for a time (CMP-35)."""
    today = local_day(work.now, HOME_ZONE)
    last = today + timedelta(days=MOST_ACCEPTED_DAYS)
    if move.until is None:
        raise _needs("/move/until", "Send `until`, the last day of the acceptance.")
    if not today <= move.until <= last:
        raise _needs("/move/until", f"Choose a day from {today} to {last}.")
    if not move.reason:
        raise _needs("/move/reason", "Give a reason for accepting the risk.")
    if Level(risk.level) not in SERIOUS:
        return
    if risk.owner_user_id is None:
        raise RuleViolated(
            "Assign an owner first. Someone else must accept a high or critical risk.",
            rule="CMP-35",
        )
    if same_person(work, risk.owner_user_id):
        raise SamePerson("The owner of a high or critical risk cannot accept it. Ask someone else.")


def _needs(pointer: str, detail: str) -> ValidationFailed:
    return ValidationFailed(errors=[{"pointer": pointer, "code": "missing", "detail": detail}])


async def lapse(work: Work, risk_id: UUID) -> None:
    """Open a risk again whose acceptance has ended; told once."""
    risk = await work.lock(Risk, risk_id)
    risk.next_check_at = None
    today = local_day(work.now, HOME_ZONE)
    is_over = risk.accepted_until is not None and risk.accepted_until < today
    if risk.status is RiskStatus.ACCEPTED and is_over:
        RiskLifecycle.lapse(risk, at=work.now)
        mark_status(work, risk, code="lapse", text=None)
        risk.accepted_until = risk.accepted_by = None
        await work.save(risk)
        publish_change(work, risk)
        return
    await work.save(risk)


async def clear_owner(work: Work, user_id: UUID) -> None:
    """Whoever has left owns no risk any more (CMP-35)."""
    statement = select(Risk).where(Risk.owner_user_id == user_id)
    for found in await work.all(statement):
        risk = await work.hold(found)
        risk.owner_user_id = None
        await work.save(risk)
        publish_change(work, risk)


def mark_status(work: Work, risk: Risk, *, code: str, text: str | None) -> None:
    """Write down who moved a risk, when and why."""
    risk.status_code, risk.status_text = code, text
    risk.status_changed_at, risk.status_changed_by = work.now, work.actor.id


def publish_change(work: Work, risk: Risk) -> None:
    work.publish(public.ComplianceRiskChanged(**event_fields(risk)))


def event_fields(risk: Risk) -> dict[str, Any]:
    """What both events of a risk say."""
    return {
        "organization_id": risk.organization_id,
        "risk_id": risk.id,
        "rule_code": risk.rule_code,
        "level": risk.level,
        "score": risk.score,
        "status": risk.status.value,
        "tender_opportunity_id": risk.tender_opportunity_id,
    }
