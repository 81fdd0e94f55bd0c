"""Two signatures over one hash execute a variation: value, end, plan and amounts move together in
one transaction, or not at all (CON-31..33)."""

from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from thenga.domains.contract import public
from thenga.domains.contract.lifecycles.money import VariationLifecycle
from thenga.domains.contract.services import delivery, ledger, workspaces
from thenga.domains.contract.services.variations.limit import LimitUse, limit_use
from thenga.domains.contract.tables import (
    Confirmation,
    LimitState,
    Party,
    Variation,
    VariationStatus,
    Workspace,
    WorkspaceMoney,
    WorkspaceStatus,
)
from thenga.domains.contract.values.changes import MilestoneChange
from thenga.domains.contract.values.refusals import told
from thenga.domains.contract.values.terms import Terms
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare import law
from thenga.kernel.errors import Conflict, Problem, extensions
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

_PRIVATE = "private"
_WORKS = "works"
_RUNNING = (WorkspaceStatus.ACTIVE, WorkspaceStatus.SUSPENDED)


class VariationLimitPassed(Problem):
    """Above the legal limit, increases of a public contract need a further approval.

    Add the approval as `limitApprovalRef`. A municipality must also table it and give public
    notice.
    """

    code, status, title = "contract-variation-limit", 409, "The variation exceeds the legal limit"
    members = extensions(
        limit=(Money, "Maximum that variations can add to the original value."),
        cumulative=(Money, "Total increases with this variation."),
    )


class ContractEnded(Problem):
    """A variation cannot take effect after the end of the contract. Sign it before the end."""

    code, status, title = "contract-ended", 409, "This contract has ended"
    members = extensions(endedOn=(str, "Last day of the contract."))


class ValueBelowBilled(Problem):
    """A contract or milestone cannot be worth less than what was billed. Credit invoices first."""

    code, status, title = "contract-value-below-billed", 409, "More has already been billed"
    members = extensions(billed=(Money, "Amount billed."))


async def sign(
    work: Work,
    workspace: Workspace,
    variation: Variation,
    party: Party,
    confirmed: Confirmation | None,
) -> None:
    """Sign for one party; the second signature executes the variation."""
    signatures = await workspaces.sign(
        work,
        workspace.id,
        subject=("variation", variation.id),
        party=party,
        content_hash=variation.content_hash or "",
        confirmation=confirmed,
    )
    held = {one.party for one in signatures if one.content_hash == variation.content_hash}
    if held == set(Party):
        await _execute(work, workspace, variation)
    else:
        await work.touch(variation)  # a signature below it is a change of the variation


def check_signable(variation: Variation) -> None:
    if variation.status is not VariationStatus.APPROVED or variation.content_hash is None:
        raise Conflict(
            "Only an approved variation can be signed. Record the buyer's approval first."
        )


async def limit_of(
    read: Reader, workspace: Workspace, *, increases: Money, delta: Money
) -> LimitUse | None:
    """Use of the legal limit. None for private contracts, which have none."""
    if workspace.regime == _PRIVATE:
        return None
    limits = await configuration.value(read, law.VARIATION_LIMIT)
    return limit_use(
        Money(workspace.contract_value_minor, workspace.currency),
        increases=increases,
        delta=delta,
        allowed=limits.works if workspace.category == _WORKS else limits.other,
    )


async def _execute(work: Work, workspace: Workspace, variation: Variation) -> None:
    """Apply a variation that both sides have signed."""
    money = await ledger.lock_money(work, workspace.id)
    delta = Money(variation.value_delta_minor, variation.currency)
    _check_running(work, workspace)
    use = await _check_limit(work, workspace, variation, money, delta)
    changes = [MilestoneChange.of_row(kept) for kept in variation.milestone_changes]
    _check_billed(Money(money.value_minor + delta.minor, money.currency), money.billed_minor)
    await _check_milestones(work, workspace.id, changes)
    variation.value_before_minor = money.value_minor
    variation.ends_before = workspace.current_ends_on
    await ledger.change_value(work, money, delta=delta, terms=Terms.of_row(workspace.terms))
    workspace.current_value_minor = money.value_minor
    workspace.current_ends_on += timedelta(days=variation.days_delta)
    number = await delivery.rebaseline(
        work, workspace, changes=changes, variation_id=variation.id, reason=variation.title
    )
    variation.plan_number = number or None
    await work.save(workspace)
    VariationLifecycle.execute(variation, at=work.now)
    variation.status_changed_at, variation.status_changed_by = work.now, work.actor.id
    variation.executed_at = work.now
    variation.value_after_minor = money.value_minor
    variation.ends_after = workspace.current_ends_on
    if use is not None:
        variation.cumulative_percent, variation.limit_state = use.percent, use.state
    await work.save(variation)
    _publish(work, workspace, variation, use)


def _check_running(work: Work, workspace: Workspace) -> None:
    """An ended contract is neither extended nor enlarged (CON-33)."""
    is_over = local_day(work.now) > workspace.current_ends_on
    if is_over or workspace.status not in _RUNNING:
        raise ContractEnded(endedOn=workspace.current_ends_on.isoformat())


async def _check_limit(
    work: Work, workspace: Workspace, variation: Variation, money: WorkspaceMoney, delta: Money
) -> LimitUse | None:
    increases = Money(money.increases_minor, money.currency)
    use = await limit_of(work, workspace, increases=increases, delta=delta)
    is_passed = use is not None and use.state is LimitState.EXCEEDS and delta.minor > 0
    if use is not None and is_passed and variation.limit_approval_ref is None:
        raise VariationLimitPassed(
            f"Increases of {use.cumulative} exceed the limit, {use.limit}. Add `limitApprovalRef`.",
            limit=told(use.limit),
            cumulative=told(use.cumulative),
        )
    return use


def _check_billed(value: Money, billed_minor: int) -> None:
    billed = Money(billed_minor, value.currency)
    if value < billed:
        raise ValueBelowBilled(
            f"{billed} has already been billed. Credit invoices first.", billed=told(billed)
        )


async def _check_milestones(work: Work, workspace_id: UUID, changes: list[MilestoneChange]) -> None:
    """No milestone becomes worth less than was billed of it."""
    known = {one.key: one for one in await delivery.live_milestones(work, workspace_id)}
    for change in changes:
        milestone = known.get(change.key)
        if milestone is not None and change.amount_delta is not None:
            amount = Money(milestone.amount_minor, milestone.currency) + change.amount_delta
            _check_billed(amount, milestone.billed_minor)


def _publish(work: Work, workspace: Workspace, variation: Variation, use: LimitUse | None) -> None:
    state = LimitState.WITHIN if use is None else use.state
    percent = variation.cumulative_percent
    work.publish(
        public.VariationExecuted(
            organization_id=variation.organization_id,
            workspace_id=workspace.id,
            variation_id=variation.id,
            number=variation.number,
            label=variation.title,
            value_delta=Money(variation.value_delta_minor, variation.currency),
            days_delta=variation.days_delta,
            current_value=Money(workspace.current_value_minor, workspace.currency),
            current_ends_on=workspace.current_ends_on,
            cumulative_percent=percent or Decimal(0),
            limit_state=state.value,
            plan_number=variation.plan_number,
            strength=variation.strength or "document",
        )
    )
