"""Variations as people draft and move them: content, balance and lists (CON-31)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from thenga.domains.contract.lifecycles import MilestoneLifecycle, VariationLifecycle
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import delivery, ledger, workspaces
from thenga.domains.contract.services.variations import execution
from thenga.domains.contract.services.variations.content import SignedContent, content_hash
from thenga.domains.contract.services.workspaces import Proof
from thenga.domains.contract.tables import (
    Confirmation,
    Party,
    Variation,
    VariationStatus,
    Workspace,
)
from thenga.domains.contract.values.changes import MilestoneChange
from thenga.domains.contract.values.refusals import invalid, told
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.series import next_number
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Conflict, Problem, extensions
from thenga.kernel.values.money import Money


class VariationUnbalanced(Problem):
    """The amounts of the milestone changes must add up to `valueDelta`. Correct one of them."""

    code, status, title = "contract-variation-unbalanced", 422, "The variation does not add up"
    members = extensions(
        valueDelta=(Money, "Change in value."),
        sum=(Money, "Sum of the milestone changes."),
    )


@dataclass(frozen=True, slots=True)
class VariationMove:
    """A move with what it needs."""

    verb: str
    reason: str | None = None
    party: Party = Party.SUPPLIER
    proof: Proof | None = None


async def create_variation(
    work: Work, workspace_id: UUID, *, fields: Mapping[str, Any]
) -> Variation:
    """Draft a change of the contract. It has no effect before both sides have signed."""
    workspace = await workspaces.workspace_for(work, workspace_id)
    await ledger.lock_money(work, workspace.id)  # an active contract has its money
    variation = Variation(
        organization_id=work.organization_id,
        workspace_id=workspace.id,
        number="",
        currency=workspace.currency,
        author_user_id=work.actor.person_id,
        **_in_minor(workspace, fields),
    )
    await _check(work, workspace, variation)
    variation.number = f"VO-{await next_number(work, f'variation:{workspace.id}'):03d}"
    return await work.add(variation)


async def change_variation(
    work: Work, variation_id: UUID, *, fields: Mapping[str, Any], move: VariationMove | None
) -> Variation:
    """Change a variation and make at most one move.

    A change of what was submitted returns it to draft and voids its signatures.
    """
    is_alone = await _is_sole_holder(work, move)
    known = await work.get(Variation, variation_id)
    workspace = await workspaces.workspace_for(work, known.workspace_id)
    variation = await work.lock(Variation, variation_id)
    await _edit(work, workspace, variation, fields)
    if move is not None:
        await _make(work, workspace, variation, move, is_alone=is_alone)
    return await work.save(variation)


async def _edit(
    work: Work, workspace: Workspace, variation: Variation, fields: Mapping[str, Any]
) -> None:
    stored = _in_minor(workspace, fields)
    changed = [name for name, value in stored.items() if getattr(variation, name) != value]
    if not changed:
        return
    if variation.status not in VariationLifecycle.OPEN:
        raise Conflict("This variation is closed. Create a new one.")
    for name in changed:
        setattr(variation, name, stored[name])
    await _check(work, workspace, variation)
    if variation.status is not VariationStatus.DRAFT:
        VariationLifecycle.revise(variation, at=work.now)
        variation.content_hash = variation.strength = None
        await workspaces.void_signatures(work, variation.id)
        _mark(work, variation, "revised")


def _in_minor(workspace: Workspace, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The change of the value as it is stored, in the currency of the contract."""
    stored = dict(fields)
    if "value_delta" in stored:
        delta = workspaces.check_currency(workspace, stored.pop("value_delta"), "value_delta")
        stored["value_delta_minor"] = 0 if delta is None else delta.minor
    return stored


async def _is_sole_holder(work: Work, move: VariationMove | None) -> bool:
    """Whether nobody else could file what the buyer decided; asked before anything is locked."""
    if move is None or move.proof is None:
        return False
    right = Permission.VARIATION_SIGN if move.verb == "sign" else Permission.VARIATION_UPDATE
    return await workspaces.sole_holder(work, right)


async def _make(
    work: Work, workspace: Workspace, variation: Variation, move: VariationMove, *, is_alone: bool
) -> None:
    if move.verb == "sign":
        if variation.status is VariationStatus.EXECUTED:
            return
        execution.check_signable(variation)
        if await _has_signed(work, variation, move.party):
            return
        confirmed = None
        if move.party is Party.BUYER:
            confirmed = await _confirm(work, workspace, variation, move, is_alone=is_alone)
        await execution.sign(work, workspace, variation, move.party, confirmed)
        return
    if not VariationLifecycle.moves[move.verb](variation, at=work.now):
        return
    if move.verb == "submit":
        variation.content_hash = content_hash(content_of(workspace, variation))
    elif move.verb in ("approve", "reject"):
        await _confirm(work, workspace, variation, move, is_alone=is_alone)
    _mark(work, variation, move.reason)


async def _has_signed(work: Work, variation: Variation, party: Party) -> bool:
    live = await workspaces.live_signatures(work, variation.id)
    return any(one.party is party for one in live)


async def _confirm(
    work: Work, workspace: Workspace, variation: Variation, move: VariationMove, *, is_alone: bool
) -> Confirmation:
    """File what the buyer decided over the content that was submitted (CON-44)."""
    confirmed = await workspaces.confirm(
        work,
        workspace.id,
        subject=("variation", variation.id, variation.version),
        decision=move.verb,
        statement={"contentHash": variation.content_hash, "decision": move.verb},
        proof=move.proof,
        author=variation.author_user_id,
        alone=is_alone,
    )
    variation.strength = confirmed.strength
    return confirmed


def _mark(work: Work, variation: Variation, reason: str | None) -> None:
    variation.status_reason = reason
    variation.status_changed_at, variation.status_changed_by = work.now, work.actor.id


def changes_of(variation: Variation) -> list[MilestoneChange]:
    return [MilestoneChange.of_row(kept) for kept in variation.milestone_changes]


def content_of(workspace: Workspace, variation: Variation) -> SignedContent:
    """What both sides sign."""
    delta = Money(variation.value_delta_minor, variation.currency)
    return SignedContent(
        contract_number=workspace.contract_number,
        number=variation.number,
        title=variation.title,
        reason_code=variation.reason_code.value,
        value_delta=delta or None,
        days_delta=variation.days_delta,
        scope=variation.scope,
        milestone_changes=changes_of(variation),
    )


async def _check(read: Reader, workspace: Workspace, variation: Variation) -> None:
    """The kinds say what changes, the amounts add up, and the milestones exist or are new."""
    said = {
        "value": bool(variation.value_delta_minor),
        "time": bool(variation.days_delta),
        "scope": bool(variation.scope),
    }
    if {kind for kind, changes in said.items() if changes} != set(variation.kinds):
        raise invalid("/kinds", "List exactly what you change: `value`, `time` or `scope`.")
    changes = changes_of(variation)
    for index, change in enumerate(changes):
        amount = change.amount_delta
        if amount is not None and amount.currency != workspace.currency:
            pointer = f"/milestoneChanges/{index}/amountDelta/currency"
            raise invalid(pointer, f"Use {workspace.currency}.")
    delta = Money(variation.value_delta_minor, variation.currency)
    total = sum(
        (one.amount_delta for one in changes if one.amount_delta is not None),
        Money(0, variation.currency),
    )
    if total != delta:
        raise VariationUnbalanced(valueDelta=told(delta), sum=told(total))
    await _check_milestones(read, workspace, changes)


async def _check_milestones(
    read: Reader, workspace: Workspace, changes: Sequence[MilestoneChange]
) -> None:
    keys = [change.key for change in changes]
    if len(set(keys)) < len(keys):
        raise invalid("/milestoneChanges", "List each milestone only once.")
    held = await delivery.live_milestones(read, workspace.id)
    live = {one.key for one in held if one.status not in MilestoneLifecycle.GONE}
    for index, change in enumerate(changes):
        pointer = f"/milestoneChanges/{index}"
        if change.new_title is None and change.key not in live:
            raise invalid(f"{pointer}/key", "This milestone does not exist.")
        if change.new_title is not None and (change.key in live or change.due_on is None):
            raise invalid(pointer, "A new milestone needs a new key and a due date.")


async def list_variations(
    read: Reader, paged: Paged, *, workspace_id: UUID | None, status: VariationStatus | None
) -> Slice[Variation]:
    """Variations of the organization's contracts."""
    statement = where_given(
        select(Variation), (Variation.workspace_id, workspace_id), (Variation.status, status)
    )
    return await read.page(statement, paged)


async def open_variations(read: Reader, workspace_id: UUID) -> int:
    """How many variations of a contract wait for a decision or a signature."""
    table = Variation.__table__
    found = await read.value(
        select(func.count())
        .select_from(table)
        .where(table.c.organization_id == read.organization_id)
        .where(table.c.workspace_id == workspace_id)
        .where(among(table.c.status, [one.value for one in VariationLifecycle.OPEN]))
    )
    return int(found or 0)
