"""Opening a workspace: one transaction makes it, its matrix, forms and plan (BID-1, 2, 6)."""

from typing import Any
from uuid import UUID

import asyncpg

from thenga.domains.bid import public
from thenga.domains.bid.services import forms, planning, proposals, workspaces
from thenga.domains.bid.tables import Workspace, WorkspaceStatus
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, RuleViolated

OUTSIDE = "outside_platform"
_RULE = "BID-6"


async def open_workspace(work: Work, fields: dict[str, Any]) -> Workspace:
    """Open the one workspace of a tender, or of a contract won outside of the platform."""
    manager = fields["bid_manager_user_id"] or workspaces.person_of(work)
    team = fields.pop("team")
    fields["bid_manager_user_id"] = manager
    if fields["origin"] == OUTSIDE:
        await workspaces.check_members(work, [manager, *map(UUID, team)])
        return await _open_outside(work, fields, workspaces.team_of(team, manager))
    tender_id = fields["tender_opportunity_id"]
    if tender_id is None:
        raise RuleViolated("Send the ID of the tender.", rule="BID-2", field="tenderOpportunityId")
    await _check_new(work, tender_opportunity_id=tender_id)
    asked = await workspaces.ask_tender(work, tender_id)
    await workspaces.check_members(work, [manager, *map(UUID, team)])
    tender = workspaces.check_open_tender(asked, work.now)
    await workspaces.check_room_for_one(work)
    await _check_new(work, tender_opportunity_id=tender_id)
    submission = tender.submission
    issued = "single" if submission is None else submission.envelopes
    workspace = _new(work, fields, workspaces.team_of(team, manager))
    workspace.title = fields["title"] or tender.title[:160]
    workspace.envelopes = fields["envelopes"] or issued
    workspace.closing_at, workspace.gate_at = tender.closing_at, workspaces.gate_of(tender)
    workspace.amendment_number = tender.amendment_number
    workspace.next_check_at = workspace.gate_at
    await _insert(work, workspace)
    stored = await workspaces.store_tender(work, workspace, tender)
    await proposals.add_rows(work, workspace, tender)
    await forms.create_from_tender(work, workspace, tender)
    await planning.draft_plan(work, workspace, stored)
    await proposals.refresh_coverage(work, await work.hold(workspace))
    _publish(work, workspace)
    return workspace


async def _open_outside(work: Work, fields: dict[str, Any], team: dict[str, Any]) -> Workspace:
    """A contract won elsewhere opens as submitted; it has files, comments and an outcome."""
    needed = ("buyer_name", "external_reference", "title")
    missing = [name for name in needed if fields[name] is None]
    if missing or fields["tender_opportunity_id"] is not None:
        raise RuleViolated(
            "Send `buyerName`, `externalReference` and `title` instead of a tender.",
            rule=_RULE,
            missing=missing,
        )
    buyer, reference = fields["buyer_name"], fields["external_reference"]
    key = f"{' '.join(buyer.casefold().split())}\n{reference}"
    await _check_new(work, external_key=key)
    workspace = _new(work, fields, team)
    workspace.title, workspace.external_key = fields["title"], key
    workspace.envelopes = fields["envelopes"] or "single"
    workspace.status = WorkspaceStatus.SUBMITTED
    await _insert(work, workspace)
    _publish(work, workspace)
    return workspace


def _new(work: Work, fields: dict[str, Any], team: dict[str, Any]) -> Workspace:
    bidders = workspaces.bidders_of(fields["bidders"], work.organization_id)
    plain = {name: one for name, one in fields.items() if name not in ("title", "envelopes")}
    return Workspace(
        organization_id=work.organization_id,
        **plain | {"title": "", "team": team, "bidders": bidders},
    )


async def _check_new(work: Work, **key: Any) -> None:
    known = await work.find(Workspace, **key)
    if known is not None:
        raise _taken(known)


async def _insert(work: Work, workspace: Workspace) -> None:
    try:
        await work.add(workspace)
    except asyncpg.UniqueViolationError:
        raise _taken(None) from None


def _taken(known: Workspace | None) -> Duplicate:
    existing = None
    if known is not None:
        existing = {"domain": "bid", "type": "workspace", "id": str(known.id)}
    return Duplicate(
        "This tender or contract already has a workspace. Continue there.", existing=existing
    )


def _publish(work: Work, workspace: Workspace) -> None:
    work.publish(
        public.BidWorkspaceOpened(
            **workspaces.told_of(workspace),
            status=workspace.status.value,
            closing_at=workspace.closing_at,
            bid_manager_user_id=workspace.bid_manager_user_id,
        )
    )
    workspaces.report_usage(work, workspace, None)
