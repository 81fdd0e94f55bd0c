"""Recording what became of a bid; Contract and those who learn from it are told (BID-51, 52)."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.bid import public
from thenga.domains.bid.lifecycles import OutcomeLifecycle, WorkspaceLifecycle
from thenga.domains.bid.services import pricing, workspaces
from thenga.domains.bid.services.outcomes.results import check_result
from thenga.domains.bid.tables import (
    BidFile,
    Outcome,
    OutcomeStatus,
    Pack,
    PackStatus,
    Workspace,
    WorkspaceStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move, not_possible
from thenga.kernel.errors import NotFound, PreconditionRequired, RuleViolated
from thenga.kernel.files import contents
from thenga.kernel.values.money import Money
from thenga.kernel.values.references import Reference

# The move of the outcome and of the workspace for each result.
_MOVES: dict[OutcomeStatus, tuple[Move, Move]] = {
    OutcomeStatus.WON: (OutcomeLifecycle.win, WorkspaceLifecycle.award),
    OutcomeStatus.LOST: (OutcomeLifecycle.lose, WorkspaceLifecycle.lose),
    OutcomeStatus.DISQUALIFIED: (OutcomeLifecycle.disqualify, WorkspaceLifecycle.disqualify),
    OutcomeStatus.CANCELLED: (OutcomeLifecycle.cancel, WorkspaceLifecycle.cancel),
    OutcomeStatus.PENDING: (OutcomeLifecycle.set_aside, WorkspaceLifecycle.set_aside),
}
# Facts of an award: another value is another revision, which Contract hears of.
_OF_AWARD = ("award_reference", "awarded_minor", "awarded_currency", "decided_on")
_RULE = "BID-51"


async def find_outcome(read: Reader, workspace_id: UUID) -> Outcome | None:
    """The outcome of a workspace, also where only a published award is known."""
    return await read.find(Outcome, workspace_id=workspace_id)


async def get_outcome(read: Reader, workspace_id: UUID) -> tuple[Outcome, bool]:
    """The outcome, and whether the caller is in the team; others read the lessons that are shared
    (BID-52). 404 before anything was recorded."""
    workspace = await read.get(Workspace, workspace_id)
    outcome = await find_outcome(read, workspace_id)
    inside = workspaces.is_in_team(read, workspace)
    lessons = {} if outcome is None else outcome.lessons
    if not inside and not any(one["shared"] for one in lessons.values()):
        workspaces.check_needs(read, workspace, ())
    if outcome is None:
        raise NotFound()
    return outcome, inside


async def record(
    work: Work,
    workspace_id: UUID,
    fields: dict[str, Any],
    *,
    result: str | None,
    reason: str | None,
) -> tuple[Workspace, Outcome, bool]:
    """Merge what was sent over what is stored; whether it is the first record."""
    version, work.if_match = work.if_match, None
    workspace = await workspaces.workspace_for(work, workspace_id)
    _check_submitted(workspace)
    await _check_files(work, workspace, fields)
    outcome = await find_outcome(work, workspace_id)
    is_first = outcome is None or outcome.recorded_at is None
    if outcome is None:
        outcome = await work.add(new_outcome(work, workspace_id))
    elif not is_first and version is None:
        raise PreconditionRequired()
    held = await _hold(work, outcome, None if is_first else version)
    before, told_before = held.status, _facts(held)
    merge_patch(held, _merged(held, fields))
    wished = held.status if result is None else OutcomeStatus(result)
    check_result(wished, held.__dict__, is_outside=_is_outside(workspace))
    moved = await _move(work, workspace, held, wished, reason)
    if wished is OutcomeStatus.WON and (moved or told_before != _facts(held)):
        held.revision += 1
    if not (is_first or work.changes(held)):
        return workspace, held, is_first
    held.recorded_by, held.recorded_at = workspaces.person_of(work), held.recorded_at or work.now
    _keep_history(work, held, before, reason)
    await work.save(held)
    if not moved:
        await work.touch(workspace)
    await _publish(work, workspace, held, before, told_before)
    return workspace, held, is_first


async def _hold(work: Work, outcome: Outcome, version: int | None) -> Outcome:
    if version is not None:
        work.if_match = version
        return await work.lock(Outcome, outcome.id)
    return await work.hold(outcome)


def new_outcome(work: Work, workspace_id: UUID) -> Outcome:
    return Outcome(
        organization_id=work.organization_id,
        workspace_id=workspace_id,
        file_ids=[],
        reasons=[],
        lessons={},
        appeal={"status": "none", "lodgedOn": None, "dueOn": None},
        history=[],
    )


def _check_submitted(workspace: Workspace) -> None:
    status = workspace.status
    decided = (WorkspaceStatus.AWARDED, WorkspaceStatus.UNSUCCESSFUL, WorkspaceStatus.DISQUALIFIED)
    if status is not WorkspaceStatus.SUBMITTED and status not in decided:
        raise not_possible(
            "Only a submitted bid can have an outcome.",
            status=status.value,
            operation="record",
            allowed=WorkspaceLifecycle.open(workspace),
        )


async def _check_files(work: Work, workspace: Workspace, fields: Mapping[str, Any]) -> None:
    """Files are of this workspace and clean."""
    named = {UUID(one) for one in fields.get("file_ids", ())}
    feedback = fields.get("feedback") or {}
    named |= {UUID(one) for one in feedback.get("fileIds", ())}
    if not named:
        return
    statement = select(BidFile).where(
        BidFile.workspace_id == workspace.id, among(BidFile.id, sorted(named))
    )
    found = await work.all(statement, limit=len(named))
    if len(found) != len(named):
        raise RuleViolated("A file does not belong to this bid.", rule=_RULE, field="fileIds")
    for file in found:
        contents.clean(file)


def _merged(outcome: Outcome, fields: dict[str, Any]) -> dict[str, Any]:
    """Maps are merged by key; null takes an entry out."""
    made = dict(fields)
    for name in ("lessons", "appeal"):
        if name in fields:
            merged = getattr(outcome, name) | (fields[name] or {})
            made[name] = {key: one for key, one in merged.items() if one is not None}
    if "appeal" in made:
        made["appeal"] = {"status": "none", "lodgedOn": None, "dueOn": None} | made["appeal"]
    return made


async def _move(
    work: Work, workspace: Workspace, outcome: Outcome, wished: OutcomeStatus, reason: str | None
) -> bool:
    if wished is outcome.status:
        return False
    if wished is OutcomeStatus.PENDING and reason is None:
        raise RuleViolated(
            "Give the reason why the award was set aside.", rule="BID-52", field="reason"
        )
    upheld = outcome.appeal["status"] == "upheld"
    if outcome.status is OutcomeStatus.LOST and wished is OutcomeStatus.WON and not upheld:
        raise RuleViolated(
            "A lost bid can be recorded as won only after an appeal was upheld.",
            rule="BID-52",
            field="appeal",
        )
    of_outcome, of_workspace = _MOVES[wished]
    of_outcome(outcome, at=work.now)
    return await workspaces.move(work, workspace, of_workspace, code=wished.value, text=reason)


def _facts(outcome: Outcome) -> tuple[Any, ...]:
    return tuple(getattr(outcome, name) for name in _OF_AWARD)


def _keep_history(work: Work, outcome: Outcome, before: OutcomeStatus, reason: str | None) -> None:
    if outcome.status is not before:
        entry = {
            "result": outcome.status.value,
            "previousResult": before.value,
            "at": work.now.isoformat(),
            "by": None if outcome.recorded_by is None else str(outcome.recorded_by),
            "reason": reason,
        }
        outcome.history = [*outcome.history, entry]


async def _publish(
    work: Work,
    workspace: Workspace,
    outcome: Outcome,
    before: OutcomeStatus,
    facts: tuple[Any, ...],
) -> None:
    told = _told(workspace, outcome)
    work.publish(
        public.BidOutcomeChanged(
            **told | {"stage": outcome.stage},
            result=outcome.status.value,
            appeal=outcome.appeal["status"],
        )
    )
    is_new = outcome.status is not before
    if outcome.status is OutcomeStatus.WON and (is_new or facts != _facts(outcome)):
        kind = public.ContractCreationRecorded if _is_outside(workspace) else public.BidAwarded
        work.publish(kind(**told, **await award_facts(work, workspace, outcome)))
    elif is_new and before is OutcomeStatus.WON:
        work.publish(
            public.BidAwardSetAside(
                **told, award_reference=outcome.award_reference, reason_code="set_aside"
            )
        )
    elif is_new and outcome.status is not OutcomeStatus.PENDING:
        price = await pricing.current_price(work, workspace.id)
        total = None if price is None else price.total
        work.publish(public.BidLost(**told, **_loss(outcome), bid_total=total))


def _told(workspace: Workspace, outcome: Outcome) -> dict[str, Any]:
    return {
        **workspaces.told_of(workspace),
        "outcome_id": outcome.id,
    }


async def award_facts(read: Reader, workspace: Workspace, outcome: Outcome) -> dict[str, Any]:
    """What Contract is told of an award."""
    pack = await _submitted_pack(read, workspace.id)
    return {
        "award_reference": outcome.award_reference,
        "awarded_on": outcome.decided_on,
        "awarded_value": value_of(outcome),
        "buyer_name": workspace.buyer_name,
        "document_refs": [
            Reference(domain="bid", type="file", id=UUID(one)) for one in outcome.file_ids
        ],
        "pack_id": None if pack is None else pack.id,
        "manifest_sha256": None if pack is None else pack.manifest_sha256,
        "bidders": bidders_told(workspace),
    }


async def _submitted_pack(read: Reader, workspace_id: UUID) -> Pack | None:
    statement = select(Pack).where(
        Pack.workspace_id == workspace_id, Pack.status == PackStatus.SUBMITTED
    )
    return next(iter(await read.all(statement.order_by(Pack.number.desc()), limit=1)), None)


def bidders_told(workspace: Workspace) -> list[public.Bidder]:
    """The bidding group as others are told of it."""
    return [
        public.Bidder(
            key=key,
            ref=None if one.get("ref") is None else Reference.model_validate(one["ref"]),
            share_percent=one.get("sharePercent"),
        )
        for key, one in sorted(workspace.bidders.items())
    ]


def value_of(outcome: Outcome) -> Money | None:
    """The awarded value."""
    minor, currency = outcome.awarded_minor, outcome.awarded_currency
    return None if minor is None or currency is None else Money(minor, currency)


def _loss(outcome: Outcome) -> dict[str, Any]:
    winner = outcome.winner or {}
    return {
        "result": outcome.status.value,
        "reasons": [one["code"] for one in outcome.reasons],
        "our_scores": outcome.our_scores,
        "winner_scores": winner.get("scores"),
    }


def _is_outside(workspace: Workspace) -> bool:
    return workspace.origin == "outside_platform"
