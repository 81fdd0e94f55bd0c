"""Contracts."""

from typing import Annotated

from fastapi import Query

from thenga.domains.contract.api.workspace_bodies import (
    ChangeContractWorkspace,
    OpenContractWorkspace,
)
from thenga.domains.contract.api.workspace_ids import WorkspaceId
from thenga.domains.contract.api.workspace_views import Around, ContractWorkspaceView, view_of
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import health, ledger, workspaces
from thenga.domains.contract.services.awards import AwardUnknown
from thenga.domains.contract.services.workspaces import (
    AwardWithdrawn,
    Challenged,
    ConfirmationMissing,
    ContractOver,
    NeedsVariation,
    NotReady,
    SignatureMissing,
    Standstill,
    WorkspaceFilters,
)
from thenga.domains.contract.tables import (
    Award,
    ContractCategory,
    Regime,
    Workspace,
    WorkspaceStatus,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.law import PAY_DAYS
from thenga.kernel.errors import (
    Duplicate,
    EntitlementRequired,
    Forbidden,
    InvalidTransition,
    PlanLimitReached,
    RuleViolated,
    StepUpRequired,
)
from thenga.kernel.http.bodies import PageOf
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, text

router = make_router("Contract / Workspaces")


@router.post(
    "/contracts/workspaces",
    status_code=201,
    responses=problems(
        RuleViolated, AwardUnknown, AwardWithdrawn, Duplicate, EntitlementRequired, PlanLimitReached
    ),
)
async def open_contract_workspace(
    body: OpenContractWorkspace,
    work: Annotated[Work, writes(Permission.WORKSPACE_CREATE)],
) -> ContractWorkspaceView:
    """Open a contract from an award. It is `pending` until it is signed and activated.

    Find the award with `GET /contracts/awards`. For a contract won outside the platform, record an
    outcome in Bid first.
    """
    days = await configuration.value(work, PAY_DAYS)
    fields = body.to_fields(days)
    workspace = await workspaces.open_workspace(work, body.award_event_id, fields)
    return await _whole(work, workspace)


@router.get("/contracts/workspaces")
async def list_contract_workspaces(
    read: Annotated[Reader, reads(Permission.WORKSPACE_READ)],
    page: Annotated[Paged, paged("endsOn", "currentValue", "createdAt", default="endsOn")],
    status: Annotated[WorkspaceStatus | None, Query(description="Filter by status.")] = None,
    regime: Annotated[Regime | None, Query(description="Filter by legal regime.")] = None,
    category: Annotated[ContractCategory | None, Query(description="Filter by category.")] = None,
    counterparty: Annotated[
        Annotated[str, text(1, 200)] | None, Query(description="Filter by the buyer's name.")
    ] = None,
    ends_before: Annotated[
        Day | None, Query(alias="endsBefore", description="Ending before this date.")
    ] = None,
) -> PageOf[ContractWorkspaceView]:
    """List contracts, earliest end date first."""
    filters = WorkspaceFilters(status, regime, category, counterparty, ends_before)
    found = await workspaces.list_workspaces(read, page, filters)
    awards = await workspaces.awards_of(read, found.items)
    obstacles = await workspaces.activation_obstacles(read, found.items, awards)
    return PageOf[ContractWorkspaceView].of(
        found,
        lambda one: view_of(
            one, Around(awards[one.award_id], obstacle=obstacles.get(one.id)), read.now
        ),
    )


@router.get("/contracts/workspaces/{workspaceId}")
async def get_contract_workspace(
    workspace_id: WorkspaceId,
    read: Annotated[Reader, reads(Permission.WORKSPACE_READ)],
) -> ContractWorkspaceView:
    """Get a contract with its signatures, money and health."""
    return await _whole(read, await workspaces.seen_workspace(read, workspace_id))


@router.patch(
    "/contracts/workspaces/{workspaceId}",
    responses=problems(
        RuleViolated,
        *(ContractOver, NeedsVariation, Standstill, SignatureMissing, NotReady, Challenged),
        *(AwardWithdrawn, Duplicate, InvalidTransition, ConfirmationMissing),
        *(Forbidden, StepUpRequired),
    ),
)
async def change_contract_workspace(
    workspace_id: WorkspaceId,
    body: ChangeContractWorkspace,
    work: Annotated[Work, writes(Permission.WORKSPACE_UPDATE, if_match=True)],
) -> ContractWorkspaceView:
    """Update a contract and make at most one move.

    While it is `pending`, you can change all fields; a change of the content voids signatures.
    After that, only a variation can change value, dates and terms. `sign`, `activate`, `suspend`,
    `resume`, `cancel` and `terminate` require recent identity verification and a reason.
    """
    days = await configuration.value(work, PAY_DAYS)
    fields = body.to_changes(days)
    move = None if body.move is None else body.move.to_move()
    workspace = await workspaces.change_workspace(work, workspace_id, fields=fields, move=move)
    return await _whole(work, workspace)


async def _whole(read: Reader, workspace: Workspace) -> ContractWorkspaceView:
    award = await read.get(Award, workspace.award_id)
    obstacles = await workspaces.activation_obstacles(read, [workspace], {award.id: award})
    around = Around(
        award=award,
        obstacle=obstacles.get(workspace.id),
        signatures=await workspaces.live_signatures(read, workspace.id),
        money=await ledger.money_of(read, workspace.id),
        health=await health.health_of(read, workspace),
        stale=await workspaces.stale_references(read, workspace.document_refs),
    )
    return view_of(workspace, around, read.now)
