"""The proof of submission: Bid records what happened outside, in time or late with a file
(BID-48)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from sqlalchemy import select

from thenga.domains.bid import public, settings
from thenga.domains.bid.lifecycles import PackLifecycle, WorkspaceLifecycle
from thenga.domains.bid.services import files, proposals, workspaces
from thenga.domains.bid.services.packs.sealing import ClosingPassed, PackBlocked
from thenga.domains.bid.services.packs.validating import forms_of
from thenga.domains.bid.services.workspaces import Need
from thenga.domains.bid.tables import FormStatus, Pack, PackStatus, Proof, TenderRef, Workspace
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare import law
from thenga.kernel.declare.lifecycle import explain
from thenga.kernel.errors import Problem, RuleViolated
from thenga.kernel.values.calendar import add_working_days, local_day, local_midnight
from thenga.kernel.values.ids import new_id

Channel = Literal["box", "courier", "portal", "email", "hand"]
_MINUTE = timedelta(minutes=1)  # people tell a time to the minute
_KEPT = (PackStatus.SEALED, PackStatus.SUBMITTED)


class NotSealed(Problem):
    """Only a sealed pack can be submitted. Seal it first."""

    code, status, title = "bid-not-sealed", 409, "The pack is not sealed"


class ProofRequired(Problem):
    """Send a receipt reference or a file. After the closing date, a file is required."""

    code, status, title = "bid-proof-required", 422, "Proof of submission is required"


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """How, when and with which receipt the bid was submitted."""

    channel: Channel
    submitted_at: datetime
    place: str | None = None
    receipt_reference: str | None = None
    received_by: str | None = None
    copies: int | None = None
    file_ids: Sequence[UUID] = ()


async def submit(work: Work, pack_id: UUID, submission: Submission) -> tuple[Pack, Proof]:
    """Record the proof that a sealed pack was submitted; a second proof is added to the first."""
    seen = await work.get(Pack, pack_id)
    await workspaces.seen_workspace(work, seen.workspace_id, Need.READ)
    workspace = await work.lock(Workspace, seen.workspace_id, beside=True)
    pack = await work.lock(Pack, pack_id)
    if pack.status not in _KEPT or pack.sealed_at is None or pack.manifest_sha256 is None:
        raise NotSealed()
    tender = await workspaces.stored_tender(work, workspace)
    late = await _check_time(work, workspace, tender, pack, submission)
    await files.check_clean(work, workspace.id, submission.file_ids)
    if not submission.file_ids and (late or not submission.receipt_reference):
        raise ProofRequired()
    await _check_parts(work, workspace, pack)
    proof = Proof(
        id=new_id(),
        organization_id=work.organization_id,
        workspace_id=workspace.id,
        pack_id=pack.id,
        channel=submission.channel,
        submitted_at=submission.submitted_at,
        place=submission.place,
        receipt_reference=submission.receipt_reference,
        received_by=submission.received_by,
        copies=submission.copies,
        file_ids=[str(one) for one in submission.file_ids],
        manifest_sha256=pack.manifest_sha256,
        recorded_by=work.user_id,
        recorded_late=late,
    )
    await work.add(proof)
    if PackLifecycle.submit(pack, at=work.now):
        explain(pack, at=work.now, by=work.user_id, code="submitted")
        await work.save(pack)
        await workspaces.settle_by_time(work, workspace)
        await workspaces.move(work, workspace, WorkspaceLifecycle.submit, code="submitted")
        work.publish(_submitted(workspace, pack, proof))
    return pack, proof


async def _check_time(
    work: Work,
    workspace: Workspace,
    tender: TenderRef | None,
    pack: Pack,
    submission: Submission,
) -> bool:
    """Whether it is recorded late: submitted by the closing, told of within some working days."""
    ends = _last_instant(workspace, tender)
    at = submission.submitted_at
    if at > work.now:
        raise RuleViolated(
            "The submission time cannot be in the future.", rule="BID-48", field="submittedAt"
        )
    if pack.sealed_at is not None and at + _MINUTE <= pack.sealed_at:
        raise RuleViolated(
            "The submission time cannot be before the pack was sealed.",
            rule="BID-48",
            field="submittedAt",
        )
    if ends is None:
        return False
    if at > ends:
        raise ClosingPassed()
    if work.now <= ends:
        return False
    days = await configuration.value(work, settings.PROOF_LATE_DAYS)
    extra = await configuration.value(work, law.EXTRA_HOLIDAYS)
    last = add_working_days(local_day(ends), days, extra)
    if local_day(work.now) > last:
        raise ClosingPassed(f"Late proof was accepted until {last}.")
    return True


def _last_instant(workspace: Workspace, tender: TenderRef | None) -> datetime | None:
    """The last instant at which a bid counts; of a closing known by its day, the end of it."""
    if workspace.closing_at is None or tender is None or tender.closing_precision != "day":
        return workspace.closing_at
    day = local_day(workspace.closing_at, tender.time_zone) + timedelta(days=1)
    return local_midnight(day, tender.time_zone) - timedelta(milliseconds=1)


async def _check_parts(read: Reader, workspace: Workspace, pack: Pack) -> None:
    """What failed or went out of date after sealing blocks the submission (BID-47)."""
    if pack.status is not PackStatus.SEALED:
        return
    pinned = {(pin["kind"], pin["id"]) for pin in pack.pins}
    blocking = {
        f"form_outdated:form:{one.id}"
        for one in await forms_of(read, workspace.id)
        if ("form", str(one.id)) in pinned and one.status is FormStatus.OUTDATED
    }
    blocking |= {
        f"evidence_invalid_at_closing:evidence:{proof.evidence_id}"
        for one in await proposals.matrix_of(read, workspace.id)
        for proof in one.evidence
        if one.row.requirement_class == "mandatory"
        and ("evidence", str(proof.evidence_id)) in pinned
        and proof.at_closing != "valid"
    }
    if blocking - pack.overrides.keys():
        raise PackBlocked(findings=sorted(blocking - pack.overrides.keys()))


def _submitted(workspace: Workspace, pack: Pack, proof: Proof) -> public.BidSubmitted:
    facts = {
        **workspaces.told_of(workspace),
        "pack_id": pack.id,
        "proof_id": proof.id,
        "submitted_at": proof.submitted_at,
        "channel": proof.channel,
        "recorded_late": proof.recorded_late,
    }
    return public.BidSubmitted.model_validate(facts)


async def proofs_of(read: Reader, pack_id: UUID) -> list[Proof]:
    """The proofs of a pack, the first one first."""
    return await read.all(select(Proof).where(Proof.pack_id == pack_id).order_by(Proof.id))
