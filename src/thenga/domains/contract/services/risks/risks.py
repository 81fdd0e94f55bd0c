"""Risks of a contract: added, treated, and told where they are high (CON-38)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, select

from thenga.domains.contract import public
from thenga.domains.contract.lifecycles import RiskLifecycle
from thenga.domains.contract.services import delivery, workspaces
from thenga.domains.contract.services.risks.rules import SERIOUS, band_of, score_of
from thenga.domains.contract.tables import Risk, RiskBand, RiskStatus, Workspace
from thenga.domains.contract.values.refusals import missing
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated

_BY: dict[str, ColumnElement[Any]] = {"score": Risk.score, "createdAt": Risk.created_at}


@dataclass(frozen=True, slots=True)
class ContractRiskMove:
    """A move with its reason."""

    verb: str
    reason: str | None = None


async def add_risk(work: Work, workspace_id: UUID, fields: Mapping[str, Any]) -> Risk:
    """Add a risk; a high or critical one is told."""
    workspace = await workspaces.workspace_for(work, workspace_id)
    named = fields.get("milestone_ids") or []
    await delivery.refuse_foreign(work, workspace_id, named, "/milestoneIds")
    return await _add(work, workspace, _in_minor(workspace, fields))


async def raise_by_rule(work: Work, workspace: Workspace, *, rule: str, title: str) -> Risk | None:
    """Raise a critical risk that a rule found; once while it is open."""
    statement = (
        select(Risk)
        .where(Risk.workspace_id == workspace.id)
        .where(Risk.raised_by_rule == rule)
        .where(among(Risk.status, RiskLifecycle.LIVE))
    )
    if await work.all(statement, limit=1):
        return None
    fields = {
        "title": title,
        "category": "legal",
        "likelihood": 4,
        "impact": 5,
        "response": "reduce",
        "milestone_ids": [],
        "raised_by_rule": rule,
    }
    return await _add(work, workspace, fields)


async def change_risk(
    work: Work, risk_id: UUID, *, fields: Mapping[str, Any], move: ContractRiskMove | None
) -> Risk:
    """Change a risk, and make one move; told when it becomes high or has materialised."""
    known = await work.get(Risk, risk_id)
    workspace = await workspaces.workspace_for(work, known.workspace_id)
    named = fields.get("milestone_ids") or []
    await delivery.refuse_foreign(work, known.workspace_id, named, "/milestoneIds")
    risk = await work.lock(Risk, risk_id)
    before, watched = risk.band, set(risk.milestone_ids)
    merge_patch(risk, _in_minor(workspace, fields))
    _rate(risk)
    has_moved = move is not None and _make(work, risk, move)
    if not work.changes(risk):
        return risk
    await work.save(risk)
    materialised = has_moved and risk.status is RiskStatus.MATERIALISED
    if materialised or (before not in SERIOUS and risk.band in SERIOUS):
        _publish(work, risk)
    await delivery.check_soon(work, sorted(watched.union(risk.milestone_ids)))
    return risk


async def list_risks(
    read: Reader,
    paged: Paged,
    *,
    workspace_id: UUID | None,
    status: RiskStatus | None,
    band: RiskBand | None,
) -> Slice[Risk]:
    """Risks of contracts."""
    statement = where_given(
        select(Risk),
        (Risk.workspace_id, workspace_id),
        (Risk.status, status),
        (Risk.band, band),
    )
    return await read.page(statement, paged, by=_BY[paged.sort])


async def _add(work: Work, workspace: Workspace, fields: Mapping[str, Any]) -> Risk:
    score = score_of(fields["likelihood"], fields["impact"])
    risk = Risk(
        organization_id=workspace.organization_id,
        workspace_id=workspace.id,
        currency=workspace.currency,
        score=score,
        band=band_of(score),
        **fields,
    )
    _rate(risk)
    await work.add(risk)
    if risk.band in SERIOUS:
        _publish(work, risk)
    await delivery.check_soon(work, risk.milestone_ids)
    return risk


def _in_minor(workspace: Workspace, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The amount as it is stored, in the currency of the contract."""
    stored = dict(fields)
    if "impact_amount" in stored:
        given = stored.pop("impact_amount")
        amount = workspaces.check_currency(workspace, given, "impact_amount")
        stored["impact_amount_minor"] = None if amount is None else amount.minor
    return stored


def _rate(risk: Risk) -> None:
    risk.score = score_of(risk.likelihood, risk.impact)
    risk.band = band_of(risk.score)
    if risk.target_likelihood is not None and risk.target_impact is not None:
        residual = score_of(risk.target_likelihood, risk.target_impact)
        if residual > risk.score:
            raise RuleViolated(
                "The target score cannot exceed the current score. Lower the target.", rule="CON-38"
            )


def _make(work: Work, risk: Risk, move: ContractRiskMove) -> bool:
    if move.verb == "accept" and risk.status is not RiskStatus.ACCEPTED:
        if risk.owner_user_id is None:
            raise RuleViolated("Assign an owner before you accept the risk.", rule="CON-38")
        if not move.reason:
            raise missing("/move/reason", "Say why the risk is accepted.")
    if not RiskLifecycle.moves[move.verb](risk, at=work.now):
        return False
    risk.status_reason = move.reason
    risk.status_changed_at, risk.status_changed_by = work.now, work.actor.id
    return True


def _publish(work: Work, risk: Risk) -> None:
    work.publish(
        public.ContractRiskRaised(
            organization_id=risk.organization_id,
            workspace_id=risk.workspace_id,
            risk_id=risk.id,
            label=risk.title,
            score=risk.score,
            band=risk.band.value,
            category=risk.category,
            materialised=risk.status is RiskStatus.MATERIALISED,
        )
    )
