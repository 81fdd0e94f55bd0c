"""Closing a contract: the checklist, the buyer's confirmation, and the end (CON-41, CON-42)."""

from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from dateutil.relativedelta import relativedelta

from thenga.domains.contract import public
from thenga.domains.contract.lifecycles import CloseoutLifecycle, WorkspaceLifecycle
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import workspaces
from thenga.domains.contract.services.closeout.checklist import (
    Checked,
    check,
    open_without_account,
    stored_account,
)
from thenga.domains.contract.services.ledger import ContractNotActive
from thenga.domains.contract.services.workspaces import ContractOver, Proof
from thenga.domains.contract.settings import REOPEN_MONTHS, WAIVABLE
from thenga.domains.contract.tables import (
    Award,
    Closeout,
    CloseoutStatus,
    Workspace,
    WorkspaceStatus,
)
from thenga.domains.contract.values.refusals import invalid
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import (
    Conflict,
    NotFound,
    PreconditionRequired,
    Problem,
    extensions,
)
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money


class CloseoutOpen(Problem):
    """Some items are still open. `items` lists them; `GET …/closeout` says what is missing."""

    code, status, title = "contract-closeout-open", 409, "The contract cannot be closed yet"
    members = extensions(items=(list[str], "Open items of the checklist."))


@dataclass(frozen=True, slots=True)
class CloseoutMove:
    """A move of the closeout, with what it needs."""

    verb: str
    reason: str | None = None
    proof: Proof | None = None


@dataclass(frozen=True, slots=True)
class GivenCloseout:
    """What a person sends; None leaves what is there."""

    items: list[dict[str, Any]] | None = None
    adjustments: list[dict[str, Any]] | None = None
    move: CloseoutMove | None = None


async def get_closeout(read: Reader, workspace_id: UUID) -> tuple[Closeout, Checked]:
    """The closeout of a contract, with its checklist as it stands now."""
    workspace = await workspaces.seen_workspace(read, workspace_id)
    closeout = await read.find(Closeout, workspace_id=workspace_id)
    if closeout is None:
        raise NotFound("This contract has no closeout yet. Open one first.")
    return closeout, await check(read, workspace, closeout)


async def manage_closeout(
    work: Work, workspace_id: UUID, given: GivenCloseout
) -> tuple[Closeout, Checked, bool]:
    """Open the closeout, or change it and make one move; and whether it is new."""
    move = given.move
    alone = False
    if move is not None and move.verb in ("complete", "reopen"):
        await workspaces.demand(work, Permission.CLOSEOUT_COMPLETE)
        alone = await workspaces.sole_holder(work, Permission.CLOSEOUT_COMPLETE)
        if not move.reason:
            raise invalid("/move/reason", "Give a reason.")
    workspace = await work.lock(Workspace, workspace_id, beside=True)
    workspaces.carry_correlation(work, workspace)
    held = await work.find(Closeout, workspace_id=workspace_id)
    _check_open(workspace, move, held)
    if given.items is not None:
        await _check_items(work, given.items)
    closeout, is_new = await _closeout(work, workspace, held)
    if given.items is not None:
        closeout.items = given.items
    if given.adjustments is not None:
        closeout.adjustments = [_adjustment(workspace, one) for one in given.adjustments]
    if move is not None:
        await _make(work, workspace, closeout, move, alone=alone)
    await work.save(closeout)
    return closeout, await check(work, workspace, closeout), is_new


def _check_open(workspace: Workspace, move: CloseoutMove | None, held: Closeout | None) -> None:
    is_over = workspace.status in WorkspaceLifecycle.OVER
    repeats = move is not None and move.verb == "complete" and held is not None
    reopens = move is not None and move.verb == "reopen" and held is not None
    if is_over and not (reopens or repeats):
        raise ContractOver()
    if not is_over and workspace.status not in WorkspaceLifecycle.RUNNING:
        raise ContractNotActive()


async def _closeout(
    work: Work, workspace: Workspace, held: Closeout | None
) -> tuple[Closeout, bool]:
    if held is None:
        made = await work.add(
            Closeout(
                organization_id=workspace.organization_id,
                workspace_id=workspace.id,
                items=[],
                adjustments=[],
                author_user_id=work.actor.person_id,
            )
        )
        return await work.hold(made), True
    if work.if_match is None:
        raise PreconditionRequired()
    return await work.lock(Closeout, held.id), False


async def _make(
    work: Work, workspace: Workspace, closeout: Closeout, move: CloseoutMove, *, alone: bool
) -> None:
    before = closeout.status
    if not CloseoutLifecycle.moves[move.verb](closeout, at=work.now):
        return
    closeout.status_reason = move.reason
    closeout.status_changed_at, closeout.status_changed_by = work.now, work.actor.id
    if move.verb == "submit":
        await _submit(work, workspace, closeout)
    elif move.verb == "complete":
        await _complete(work, workspace, closeout, move, alone=alone)
    elif before is CloseoutStatus.COMPLETED:
        await _reopen(work, workspace, closeout)


async def _submit(work: Work, workspace: Workspace, closeout: Closeout) -> None:
    """Everything is done but the buyer's confirmation."""
    _refuse_open(await check(work, workspace, closeout))
    closeout.author_user_id = work.actor.person_id
    await _begin_closing(work, workspace)


async def _complete(
    work: Work, workspace: Workspace, closeout: Closeout, move: CloseoutMove, *, alone: bool
) -> None:
    """The buyer confirmed the final account. All is checked again under the contract's lock."""
    checked = await check(work, workspace, closeout)
    _refuse_open(checked)
    account = stored_account(checked.account)
    confirmation = await workspaces.confirm(
        work,
        workspace.id,
        subject=("closeout", closeout.id, closeout.version),
        decision="complete",
        statement={"contractNumber": workspace.contract_number, "finalAccount": account},
        proof=move.proof,
        author=closeout.author_user_id,
        alone=alone,
    )
    closeout.confirmation_id, closeout.final_account = confirmation.id, account
    closeout.completed_on = confirmation.confirmed_on
    await _begin_closing(work, workspace)
    WorkspaceLifecycle.close(workspace, at=work.now)
    workspace.closed_on = local_day(work.now)
    workspace.outcome = workspace.outcome or "completed"
    workspace.next_check_at = None
    workspace.status_reason = move.reason
    workspace.status_changed_at, workspace.status_changed_by = work.now, work.actor.id
    award = await work.get(Award, workspace.award_id)
    await work.save(workspace)
    workspaces.meter(work, workspace, "release")
    _publish_closed(work, workspace, checked, award, confirmation.confirmed_on)


async def _reopen(work: Work, workspace: Workspace, closeout: Closeout) -> None:
    """A closed contract is worked on again, for a limited time after closing."""
    months = await configuration.value(work, REOPEN_MONTHS)
    closed_on = workspace.closed_on or local_day(work.now)
    if local_day(work.now) > closed_on + relativedelta(months=months):
        raise Conflict(f"A contract can only be reopened within {months} months of closing.")
    closeout.confirmation_id = closeout.final_account = closeout.completed_on = None
    workspace.closed_on = None
    if workspace.outcome == "completed":
        workspace.outcome = None
    await _begin_closing(work, workspace)
    workspaces.meter(work, workspace, "hold")


async def _begin_closing(work: Work, workspace: Workspace) -> None:
    previous = workspace.status
    if previous is not WorkspaceStatus.CLOSING:
        WorkspaceLifecycle.begin_closing(workspace, at=work.now)
        await workspaces.save_moved(work, workspace, previous, reason=None, code="closeout")


def _refuse_open(checked: Checked) -> None:
    missing = open_without_account(checked)
    if missing:
        raise CloseoutOpen(items=list(missing))


async def _check_items(read: Reader, items: list[dict[str, Any]]) -> None:
    """Only some items can be set not applicable, each with a reason."""
    allowed = await configuration.value(read, WAIVABLE)
    for place, one in enumerate(items):
        if one["code"] not in allowed:
            raise invalid(
                f"/items/{place}/code", f"{one['code']} cannot be marked as not applicable."
            )


def _publish_closed(
    work: Work, workspace: Workspace, checked: Checked, award: Award, completed_on: date
) -> None:
    work.publish(
        public.ContractClosed(
            organization_id=workspace.organization_id,
            workspace_id=workspace.id,
            contract_number=workspace.contract_number,
            title=workspace.title,
            buyer_name=workspace.counterparty["name"],
            final_value=Money(checked.account.agreed.minor, workspace.currency),
            started_on=workspace.starts_on,
            completed_on=completed_on,
            outcome=workspace.outcome or "completed",
            tender_opportunity_id=award.tender_opportunity_id,
        )
    )


def _adjustment(workspace: Workspace, given: dict[str, Any]) -> dict[str, Any]:
    workspaces.check_currency(workspace, given["amount"], "adjustments")
    return {"text": given["text"], "amount_minor": given["amount"].minor}
