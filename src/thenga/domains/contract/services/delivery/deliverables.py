"""Deliverables: what is handed over, and what the buyer says of it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from thenga.domains.contract import public
from thenga.domains.contract.lifecycles import DeliverableLifecycle
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import workspaces
from thenga.domains.contract.services.delivery.milestones import DeliveryMove
from thenga.domains.contract.tables import Deliverable, Workspace
from thenga.domains.contract.values.refusals import missing
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day

_DECISIONS = ("accept", "reject")


async def change_deliverable(
    work: Work, deliverable_id: UUID, *, fields: Mapping[str, Any], move: DeliveryMove | None
) -> Deliverable:
    """Track a deliverable, and make one move."""
    known = await work.get(Deliverable, deliverable_id)
    if move is not None and move.verb in _DECISIONS:
        await workspaces.demand(work, Permission.DELIVERABLE_DECIDE)
    workspace = await workspaces.active_workspace_for(work, known.workspace_id)
    deliverable = await work.lock(Deliverable, deliverable_id)
    merge_patch(deliverable, fields)
    if move is not None:
        await _make(work, workspace, deliverable, move)
    return await work.save(deliverable)


async def _make(
    work: Work, workspace: Workspace, deliverable: Deliverable, move: DeliveryMove
) -> None:
    if not DeliverableLifecycle.moves[move.verb](deliverable, at=work.now):
        return
    deliverable.status_reason = move.reason
    deliverable.status_changed_at, deliverable.status_changed_by = work.now, work.actor.id
    if move.verb == "deliver":
        if not deliverable.evidence_refs and not deliverable.note:
            raise missing("/evidenceRefs", "Add a document or a note as evidence of the delivery.")
        deliverable.delivered_on = deliverable.delivered_on or local_day(work.now)
    elif move.verb == "reject":
        if not move.reason:
            raise missing("/move/reason", "Say why the buyer rejected it.")
        deliverable.rejections += 1
        deliverable.delivered_on = None
    elif move.verb == "accept":
        await _accept(work, workspace, deliverable, move)


async def _accept(
    work: Work, workspace: Workspace, deliverable: Deliverable, move: DeliveryMove
) -> None:
    confirmation = await workspaces.confirm(
        work,
        workspace.id,
        subject=("deliverable", deliverable.id, deliverable.version),
        decision="accept",
        statement={
            "contractNumber": workspace.contract_number,
            "key": deliverable.key,
            "title": deliverable.title,
        },
        proof=move.proof,
    )
    deliverable.confirmation_id = confirmation.id
    deliverable.accepted_on = confirmation.confirmed_on
    await work.save(deliverable)
    work.publish(
        public.DeliverableAccepted(
            organization_id=deliverable.organization_id,
            workspace_id=workspace.id,
            deliverable_id=deliverable.id,
            milestone_id=deliverable.milestone_id,
            accepted_on=confirmation.confirmed_on,
            rejections=deliverable.rejections,
            strength=confirmation.strength,
        )
    )
