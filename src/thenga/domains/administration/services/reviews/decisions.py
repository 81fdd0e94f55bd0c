"""Governance decisions: numbered without gaps, never changed, each with one successor at most."""

import hashlib
from datetime import date
from typing import Any
from uuid import UUID

import asyncpg
import orjson
import rfc8785
import sqlalchemy as sa
from sqlalchemy import ColumnElement, select

from thenga.domains.administration import public
from thenga.domains.administration.lifecycles import GovernanceDecisionLifecycle
from thenga.domains.administration.services import actions
from thenga.domains.administration.tables import (
    DecisionCategory,
    DecisionStatus,
    GovernanceDecision,
)
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.series import next_number
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, RuleViolated
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.json_writer import to_json

SORTS: dict[str, ColumnElement[Any] | None] = {
    "createdAt": None,
    "number": GovernanceDecision.number,
}
_HASHED = (
    *("title", "category", "context", "decision", "consequences", "alternatives"),
    *("decided_on", "decided_by", "relates_to", "supersedes"),
)
_SUCCESSOR = "governance_decision_successor_once"


class AlreadySuperseded(Problem):
    """Another decision has already superseded this one. Supersede the newest decision instead."""

    code, status, title = "administration-already-superseded", 409, "This decision was superseded"


async def record_decision(work: Work, *, fields: dict[str, Any], reason: str) -> GovernanceDecision:
    """Record a decision with the next number of the year. A correction supersedes (ADM-31)."""
    if fields["decided_on"] > local_day(work.now):
        raise RuleViolated("`decidedOn` cannot be in the future.", rule="decided-on")
    await actions.act_for_platform(work)
    superseded = fields.get("supersedes")
    if superseded is not None:
        await _check_superseded(work, superseded)
    decision = await _add(work, fields)
    await actions.record(work, decision, reason=reason)
    _publish(work, decision)
    if superseded is not None:
        former = await work.lock(GovernanceDecision, superseded, beside=True)
        GovernanceDecisionLifecycle.supersede(former, at=work.now)
        former.superseded_by = decision.id
        await work.save(former)
        _publish(work, former)
    return decision


async def _add(work: Work, fields: dict[str, Any]) -> GovernanceDecision:
    """Insert first: the unique index tells which of two successors was the first."""
    year = local_day(work.now).year
    decision = GovernanceDecision(
        number=f"GD-{year}-{await next_number(work, f'governance_decision:{year}'):04d}",
        content_hash="",
        created_by=actions.actor_of(work),
        **fields,
    )
    decision.content_hash = content_hash(decision)
    try:
        return await work.add(decision)
    except asyncpg.UniqueViolationError as error:
        if error.constraint_name != _SUCCESSOR:
            raise
        raise AlreadySuperseded() from None


async def list_decisions(
    read: Reader,
    paged: Paged,
    *,
    category: DecisionCategory | None,
    status: DecisionStatus | None,
    decided_from: date | None,
    decided_to: date | None,
    q: str | None,
) -> Slice[GovernanceDecision]:
    """The decisions of the platform."""
    statement = where_given(
        select(GovernanceDecision),
        (GovernanceDecision.category, category),
        (GovernanceDecision.status, status),
    )
    if decided_from is not None:
        statement = statement.where(GovernanceDecision.decided_on >= decided_from)
    if decided_to is not None:
        statement = statement.where(GovernanceDecision.decided_on <= decided_to)
    if q is not None:
        found = sa.func.strpos(sa.func.lower(GovernanceDecision.title), q.lower())
        statement = statement.where(found > 0)
    return await read.page(statement, paged, SORTS[paged.sort])


def content_hash(decision: GovernanceDecision) -> str:
    """SHA-256 of what the author wrote, in the canonical form of RFC 8785."""
    written = orjson.loads(to_json({name: getattr(decision, name) for name in _HASHED}))
    return hashlib.sha256(rfc8785.dumps(written)).hexdigest()


async def _check_superseded(work: Work, decision_id: UUID) -> None:
    if await work.find(GovernanceDecision, id=decision_id) is None:
        raise RuleViolated(
            "There is no decision with the ID in `supersedes`.", rule="known-decision"
        )


def _publish(work: Work, decision: GovernanceDecision) -> None:
    work.publish(
        public.GovernanceDecisionRecorded(
            decision_id=decision.id,
            number=decision.number,
            category=decision.category.value,
            status=decision.status.value,
            supersedes=decision.supersedes,
            content_hash=decision.content_hash,
        )
    )
