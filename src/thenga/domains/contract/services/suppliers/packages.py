"""Packages that suppliers take over, and matters between us and a supplier (CON-35)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ColumnElement, literal_column, select

from thenga.domains.contract import public
from thenga.domains.contract.lifecycles import CoordinationLifecycle
from thenga.domains.contract.services import delivery, workspaces
from thenga.domains.contract.services.suppliers.rules import check_milestones, check_share
from thenga.domains.contract.services.suppliers.trust import ask_trust, check_trust
from thenga.domains.contract.tables import Coordination, CoordinationStatus, Workspace
from thenga.domains.contract.values.packages import package_of_rows
from thenga.domains.contract.values.terms import Terms
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Conflict

PACKAGE = "package"
_AMOUNTS = ("value", "final_cost")
_BY: dict[str, ColumnElement[Any]] = {
    # A matter without a date is the last one.
    "dueOn": literal_column("coalesce(due_on, DATE '9999-12-31')", type_=sa.Date()),
    "createdAt": Coordination.created_at,
}


@dataclass(frozen=True, slots=True)
class CoordinationMove:
    """A move of a package or matter."""

    verb: str
    reason: str | None = None
    waive_payment: bool = False


async def add_coordination(
    work: Work, workspace_id: UUID, fields: Mapping[str, Any]
) -> Coordination:
    """Add a package or a matter. The supplier's trust is asked before anything is written."""
    known = await workspaces.seen_workspace(work, workspace_id)
    trust = None
    if fields["kind"] == PACKAGE:
        trust = await ask_trust(work, fields.get("supplier_id"))
        check_trust(trust, fields.get("override_reason"))
    workspace = await workspaces.workspace_for(work, known.id)
    made = Coordination(
        organization_id=workspace.organization_id,
        workspace_id=workspace.id,
        currency=workspace.currency,
        trust=trust,
        **_in_minor(workspace, fields),
    )
    if made.kind == PACKAGE:
        await _check_milestones(work, made)
        await _check_share(work, workspace, made)
    await work.add(made)
    _publish(work, made)
    return made


async def change_coordination(
    work: Work,
    coordination_id: UUID,
    *,
    fields: Mapping[str, Any],
    move: CoordinationMove | None,
) -> Coordination:
    """Change a package or matter that is not over, and make one move."""
    known = await work.get(Coordination, coordination_id)
    workspace = await workspaces.workspace_for(work, known.workspace_id)
    record = await work.lock(Coordination, coordination_id)
    if fields and record.status in CoordinationLifecycle.OVER:
        raise Conflict("This record is closed or cancelled and cannot be changed. Add a new one.")
    stored = _in_minor(workspace, fields)
    _check_value(record, stored)
    value = record.value_minor or 0
    merge_patch(record, stored)
    if record.kind == PACKAGE and "package_milestones" in stored:
        await _check_milestones(work, record)
    if record.kind == PACKAGE and (record.value_minor or 0) > value:
        await _check_share(work, workspace, record)
    has_moved = move is not None and _make(work, record, move)
    await work.save(record)
    if has_moved:
        _publish(work, record)
    return record


async def list_coordination(
    read: Reader,
    paged: Paged,
    *,
    workspace_id: UUID | None,
    status: CoordinationStatus | None,
    kind: str | None,
) -> Slice[Coordination]:
    """Packages and matters."""
    statement = where_given(
        select(Coordination),
        (Coordination.workspace_id, workspace_id),
        (Coordination.status, status),
        (Coordination.kind, kind),
    )
    return await read.page(statement, paged, by=_BY[paged.sort])


async def values_of(read: Reader, workspace_ids: list[UUID]) -> dict[UUID, int]:
    """The current value of contracts, to show the share of packages."""
    if not workspace_ids:
        return {}
    found = await read.all(select(Workspace).where(among(Workspace.id, workspace_ids)))
    return {one.id: one.current_value_minor for one in found}


def _in_minor(workspace: Workspace, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Amounts as they are stored; they are in the currency of the contract."""
    stored = dict(fields)
    for name in _AMOUNTS:
        if name in stored:
            amount = workspaces.check_currency(workspace, stored.pop(name), name)
            stored[f"{name}_minor"] = None if amount is None else amount.minor
    return stored


def _check_value(record: Coordination, stored: Mapping[str, Any]) -> None:
    """The value is corrected only before the supplier relies on it or has invoiced part of it."""
    if stored.get("value_minor", record.value_minor) == record.value_minor:
        return
    if record.status is not CoordinationStatus.OPEN:
        raise Conflict(
            f"The status is {record.status}; the value can be changed only while it is open. "
            "Cancel this record and add a new one, or send what it cost in `finalCost`."
        )
    if any(one.is_billed for one in package_of_rows(record.package_milestones)):
        raise Conflict(
            "Part of this package was invoiced or paid, so its value cannot be changed. "
            "Add another package for the difference."
        )


async def _check_milestones(work: Work, record: Coordination) -> None:
    milestones = package_of_rows(record.package_milestones)
    check_milestones(milestones)
    tied = [one.milestone_id for one in milestones if one.milestone_id is not None]
    await delivery.refuse_foreign(work, record.workspace_id, tied, "/packageMilestones")


async def _check_share(work: Work, workspace: Workspace, record: Coordination) -> None:
    """Only what adds to the packages is held to the limit: the contract may have shrunk since."""
    others = await _live_total(work, workspace.id, besides=record.id)
    limit = Terms.of_row(workspace.terms).subcontract_limit_percent
    total = others + (record.value_minor or 0)
    check_share(total, workspace.current_value_minor, limit)


async def _live_total(read: Reader, workspace_id: UUID, *, besides: UUID | None) -> int:
    statement = (
        select(Coordination)
        .where(Coordination.workspace_id == workspace_id)
        .where(Coordination.kind == PACKAGE)
        .where(Coordination.status != CoordinationStatus.CANCELLED)
    )
    return sum(one.value_minor or 0 for one in await read.all(statement) if one.id != besides)


def _make(work: Work, record: Coordination, move: CoordinationMove) -> bool:
    made = CoordinationLifecycle.moves[move.verb]
    if record.kind == PACKAGE and record.status in made.sources:
        milestones = package_of_rows(record.package_milestones)
        if move.verb == "resolve" and any(one.accepted_on is None for one in milestones):
            raise Conflict("Accept all milestones of the package before you resolve it.")
        unpaid = any(one.paid_on is None for one in milestones)
        if move.verb == "close" and unpaid and not (move.waive_payment and move.reason):
            raise Conflict(
                "Pay all milestones before you close the package, or waive payment with a reason."
            )
    if not made(record, at=work.now):
        return False
    record.status_reason = move.reason
    record.status_changed_at, record.status_changed_by = work.now, work.actor.id
    return True


def _publish(work: Work, record: Coordination) -> None:
    work.publish(
        public.SupplierPackageChanged(
            organization_id=record.organization_id,
            workspace_id=record.workspace_id,
            coordination_id=record.id,
            supplier_id=record.supplier_id,
            kind=record.kind,
            status=record.status.value,
            due_on=record.due_on,
        )
    )
