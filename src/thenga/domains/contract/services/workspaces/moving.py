"""Moves of a contract: signatures, activation, challenge, suspension and termination (CON-5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from thenga.domains.compliance.public import Readiness, ReadinessView
from thenga.domains.contract import public
from thenga.domains.contract.lifecycles import WorkspaceLifecycle
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import awards, ledger
from thenga.domains.contract.services.workspaces import (
    changes,
    confirmations,
    rights,
    signatures,
)
from thenga.domains.contract.services.workspaces.confirmations import Proof
from thenga.domains.contract.services.workspaces.opening import AwardWithdrawn, meter
from thenga.domains.contract.services.workspaces.rules import standstill_ends_at
from thenga.domains.contract.tables import Award, Party, Signature, Workspace, WorkspaceStatus
from thenga.domains.contract.values.refusals import missing
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, extensions
from thenga.kernel.ports.asking import asking
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money
from thenga.kernel.values.references import Reference

READINESS_UNKNOWN = "readiness_unknown"
READINESS_OVERRIDDEN = "readiness_overridden"


class SignatureMissing(Problem):
    """Both parties must sign the same content first. `parties` lists who has not signed yet."""

    code, status, title = "contract-signature-missing", 409, "A signature is missing"
    members = extensions(parties=(list[str], "Parties that have not signed."))


class Standstill(Problem):
    """Others can still appeal against the award. You can activate the contract from `until` on."""

    code, status, title = "contract-standstill", 409, "The stand-still period has not ended"
    members = extensions(until=(str, "Time from which the contract can be activated."))


class Challenged(Problem):
    """The award or the contract is being challenged. Clear the challenge once it is settled."""

    code, status, title = "contract-challenged", 409, "This contract is challenged"


class NotReady(Problem):
    """The company does not meet all requirements today. `blockers` lists what is missing.

    Someone with permission to govern contracts can activate it anyway with `overrideReason`.
    """

    code, status, title = "contract-not-ready", 409, "The company is not ready"
    members = extensions(blockers=(list[str], "Requirements that are not met."))


@dataclass(frozen=True, slots=True)
class WorkspaceMove:
    """A move of a contract, with what it needs."""

    verb: str
    reason: str | None = None
    reason_code: str | None = None
    party: Party = Party.SUPPLIER
    proof: Proof | None = None
    note: str | None = None
    effective_on: date | None = None
    evidence_refs: Sequence[Reference] = ()
    override_reason: str | None = None


PERMISSIONS = {
    "sign": Permission.WORKSPACE_SIGN,
    "activate": Permission.WORKSPACE_SIGN,
    "suspend": Permission.WORKSPACE_GOVERN,
    "resume": Permission.WORKSPACE_GOVERN,
    "cancel": Permission.WORKSPACE_GOVERN,
    "terminate": Permission.WORKSPACE_GOVERN,
}
_NEED_CODE = ("suspend", "cancel", "terminate")


async def change_workspace(
    work: Work, workspace_id: UUID, *, fields: Mapping[str, Any], move: WorkspaceMove | None
) -> Workspace:
    """Change what a contract says, and make one move; its permission is asked for first."""
    needed = None if move is None else PERMISSIONS.get(move.verb)
    if needed is not None:
        await rights.demand(work, needed)
    workspace = await changes.lock_to_change(work, workspace_id)
    ready = None
    if move is not None and move.verb == "activate":
        if move.override_reason:
            await rights.demand(work, Permission.WORKSPACE_GOVERN)
        ready = await _ask_readiness(work)
    await changes.apply_fields(work, workspace, fields)
    if move is not None:
        await _make(work, workspace, move, ready)
    return await work.save(workspace)


async def _make(
    work: Work, workspace: Workspace, move: WorkspaceMove, ready: ReadinessView | None
) -> None:
    """Make one move on a locked contract; one that has arrived already stays as it is."""
    if move.verb in PERMISSIONS:
        _need(move.reason, "reason", "Give a reason.")
    if move.verb in _NEED_CODE:
        _need(move.reason_code, "reasonCode", "Send a reason code.")
    if move.verb == "sign":
        await _sign(work, workspace, move)
    elif move.verb == "activate":
        await _activate(work, workspace, move, ready)
    elif move.verb in ("challenge", "clear"):
        await _challenge(work, workspace, move)
    else:
        await _govern(work, workspace, move)


async def _sign(work: Work, workspace: Workspace, move: WorkspaceMove) -> None:
    """Each side signs the content once; ours by whoever acts, the buyer's by document."""
    if workspace.status is not WorkspaceStatus.PENDING:
        WorkspaceLifecycle.activate(workspace, at=work.now)  # refuses with the open moves
        return
    live = await signatures.live_signatures(work, workspace.id)
    if move.party.value not in signatures.missing_parties(live, workspace.content_hash):
        return
    confirmation = None
    if move.party is Party.BUYER:
        confirmation = await confirmations.confirm(
            work,
            workspace.id,
            subject=("workspace", workspace.id, workspace.version),
            decision="sign",
            statement={
                "contractNumber": workspace.contract_number,
                "contentHash": workspace.content_hash,
            },
            proof=move.proof,
        )
    await signatures.sign(
        work,
        workspace.id,
        subject=("workspace", workspace.id),
        party=move.party,
        content_hash=workspace.content_hash,
        confirmation=confirmation,
    )
    await work.touch(workspace)


async def _activate(
    work: Work, workspace: Workspace, move: WorkspaceMove, ready: ReadinessView | None
) -> None:
    """The contract is in force: both signed, nobody can appeal, nothing is missing (CON-5)."""
    if workspace.status is WorkspaceStatus.ACTIVE:
        return
    await _check_agreed(work, workspace)
    if ready is None or ready.verdict == "unknown":
        _warn(workspace, READINESS_UNKNOWN)
    elif ready.blockers:
        if not move.override_reason:
            raise NotReady(blockers=ready.blockers)
        _warn(workspace, READINESS_OVERRIDDEN)
    previous = workspace.status
    WorkspaceLifecycle.activate(workspace, at=work.now)
    workspace.activated_on = local_day(work.now)
    reason = " ".join(part for part in (move.reason, move.override_reason) if part)
    await save_moved(work, workspace, previous, reason=reason, code=None)
    await ledger.open_money(work, workspace)


async def _check_agreed(work: Work, workspace: Workspace) -> None:
    if workspace.status is WorkspaceStatus.PENDING:
        award = await work.get(Award, workspace.award_id)
        live = await signatures.live_signatures(work, workspace.id)
        obstacle = _obstacle(workspace, award, live, work.now)
        if obstacle is not None:
            raise obstacle


def _obstacle(
    workspace: Workspace, award: Award, live: list[Signature], now: datetime
) -> Problem | None:
    """What a pending contract still waits for; the company's readiness is asked on activation."""
    if awards.is_withdrawn(award):
        return AwardWithdrawn()
    unsigned = signatures.missing_parties(live, workspace.content_hash)
    if unsigned:
        return SignatureMissing(
            f"Both parties must sign the same content first. Missing: {', '.join(unsigned)}.",
            parties=unsigned,
        )
    if workspace.challenge is not None:
        return Challenged()
    until = workspace.standstill_until
    if until is not None and now < standstill_ends_at(until):
        ends = standstill_ends_at(until).strftime("%Y-%m-%dT%H:%M:%SZ")
        return Standstill(
            f"Others can still appeal against the award. You can activate it from {ends} on.",
            until=ends,
        )
    return None


async def activation_obstacles(
    read: Reader, workspaces: Sequence[Workspace], found: Mapping[UUID, Award]
) -> dict[UUID, str]:
    """Why contracts cannot be activated yet, by ID, with their awards by ID."""
    pending = [one for one in workspaces if one.status is WorkspaceStatus.PENDING]
    live = await signatures.live_signatures_of(read, [one.id for one in pending])
    obstacles = {
        one.id: _obstacle(one, found[one.award_id], live[one.id], read.now) for one in pending
    }
    return {key: problem.detail for key, problem in obstacles.items() if problem is not None}


async def _ask_readiness(read: Reader) -> ReadinessView | None:
    """What Compliance says of its own today; silence means unknown, and the contract says so."""
    return await asking(
        read,
        Readiness,
        lambda port: port.on_date(organization_id=read.organization_id),
        silent=None,
    )


async def _challenge(work: Work, workspace: Workspace, move: WorkspaceMove) -> None:
    """Somebody disputes the award or the contract, or does so no more."""
    if move.verb == "clear":
        if workspace.challenge is None:
            return
        workspace.challenge = None
        await save_moved(work, workspace, workspace.status, reason=move.note, code="cleared")
        return
    _need(move.note, "note", "Say what is challenged.")
    await set_challenge(work, workspace, note=move.note or "", code="challenged")


async def set_challenge(work: Work, workspace: Workspace, *, note: str, code: str) -> None:
    """Mark a contract as challenged; nothing is cancelled by machine (CON-4)."""
    if workspace.challenge is not None:
        return
    workspace.challenge = {"since": local_day(work.now).isoformat(), "note": note}
    await save_moved(work, workspace, workspace.status, reason=note, code=code)


async def _govern(work: Work, workspace: Workspace, move: WorkspaceMove) -> None:
    previous = workspace.status
    if move.verb == "terminate" and previous is not WorkspaceStatus.TERMINATED:
        _need(
            move.effective_on, "effectiveOn", "Send the date on which the termination takes effect."
        )
        _need(move.evidence_refs, "evidenceRefs", "Attach the notice of termination.")
    if not WorkspaceLifecycle.moves[move.verb](workspace, at=work.now):
        return
    if workspace.status is WorkspaceStatus.TERMINATED:
        workspace.terminated_on, workspace.outcome = move.effective_on, "terminated"
        added = confirmations.to_rows(move.evidence_refs)
        workspace.document_refs = [*workspace.document_refs, *added]
    await save_moved(work, workspace, previous, reason=move.reason, code=move.reason_code)
    if workspace.status is WorkspaceStatus.CANCELLED:
        meter(work, workspace, "release")


async def save_moved(
    work: Work,
    workspace: Workspace,
    previous: WorkspaceStatus,
    *,
    reason: str | None,
    code: str | None,
) -> None:
    """Store a move of a contract and tell it."""
    workspace.status_reason = reason or code
    workspace.status_changed_at, workspace.status_changed_by = work.now, work.actor.id
    await work.save(workspace)
    work.publish(
        public.ContractStateChanged(
            organization_id=workspace.organization_id,
            workspace_id=workspace.id,
            previous=previous.value,
            to=workspace.status.value,
            reason_code=code,
            challenged=workspace.challenge is not None,
            current_value=Money(workspace.current_value_minor, workspace.currency),
            current_ends_on=workspace.current_ends_on,
        )
    )


async def challenge_by_award(work: Work, workspace_id: UUID, *, reason: str) -> Workspace | None:
    """The award of a contract was set aside; one in force is challenged by it (CON-4)."""
    workspace = await work.lock(Workspace, workspace_id, beside=True)
    work.origin.correlation_id = workspace.correlation_id
    if workspace.status not in (WorkspaceStatus.ACTIVE, WorkspaceStatus.SUSPENDED):
        return None
    await set_challenge(work, workspace, note=reason, code="award_set_aside")
    return workspace


def _warn(workspace: Workspace, warning: str) -> None:
    if warning not in workspace.warnings:
        workspace.warnings = [*workspace.warnings, warning]


def _need(value: object, name: str, detail: str) -> None:
    if not value:
        raise missing(f"/move/{name}", detail)
