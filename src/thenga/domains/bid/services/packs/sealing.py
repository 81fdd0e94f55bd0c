"""Sealing freezes a bid on one manifest; unsealing takes it back, by hand or by a reaction
(BID-46, BID-47)."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from thenga.domains.bid import public
from thenga.domains.bid.lifecycles import PackLifecycle, WorkbookLifecycle, WorkspaceLifecycle
from thenga.domains.bid.services import approvals, files, pricing, proposals, workspaces
from thenga.domains.bid.services.packs import validating
from thenga.domains.bid.services.packs.assembling import current_pack, event_facts
from thenga.domains.bid.services.packs.validating import forms_of
from thenga.domains.bid.services.workspaces import Need
from thenga.domains.bid.tables import (
    BidFile,
    Pack,
    PackStatus,
    Workbook,
    WorkbookStatus,
    Workspace,
    WorkspaceStatus,
)
from thenga.domains.bid.values.findings import Class, Finding
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import explain
from thenga.kernel.errors import Problem, RuleViolated, extensions

_FINDINGS = (list[str], "Findings that block the pack.")


class PackBlocked(Problem):
    """The pack has open findings. Fix or override the blocking ones and acknowledge high risks."""

    code, status, title = "bid-pack-blocked", 409, "Findings block the pack"
    members = extensions(findings=_FINDINGS)


class ApprovalMissing(Problem):
    """The price and the pack need approvals of their current versions. Request those in `kinds`."""

    code, status, title = "bid-approval-missing", 409, "An approval is missing"
    members = extensions(kinds=(list[str], "Kinds of the missing approvals."))


class ReconfirmationRequired(Problem):
    """An amendment affects this bid. Reconfirm the bid before you seal it."""

    code, status, title = "bid-reconfirmation-required", 409, "The bid must be reconfirmed"


class PinsMoved(Problem):
    """Parts changed after the pack was assembled. Assemble it again."""

    code, status, title = "bid-pins-moved", 409, "The pack is out of date"
    members = extensions(moved=(list[str], "Parts that changed."))


class ClosingPassed(Problem):
    """The closing time has passed. A pack cannot be sealed or submitted after it."""

    code, status, title = "bid-closing-passed", 422, "The tender has closed"


@dataclass(frozen=True, slots=True)
class Shown:
    """A pack, its workspace and its checks as they are now."""

    pack: Pack
    workspace: Workspace
    findings: Sequence[Finding]


async def get_pack(read: Reader, pack_id: UUID) -> Shown:
    """A pack with its validation as it stands; a sealed one shows what it was sealed with."""
    pack = await read.get(Pack, pack_id)
    workspace = await workspaces.seen_workspace(read, pack.workspace_id, Need.READ)
    if pack.status is not PackStatus.BUILT:
        return Shown(pack, workspace, [Finding.of_row(one) for one in pack.findings])
    waived = bool(pack.build.get("waived"))
    found = await validating.validate(read, workspace, pack, waived=waived)
    return Shown(pack, workspace, found)


async def read_pack(read: Reader, pack: Pack) -> Shown:
    """A pack after a write, with what its build found."""
    workspace = await read.get(Workspace, pack.workspace_id)
    return Shown(pack, workspace, [Finding.of_row(one) for one in pack.findings])


async def seal(work: Work, pack_id: UUID, *, manifest_sha256: str) -> Pack:
    """Seal a pack: hashed again, nothing open, approvals bound, in time."""
    seen = await work.get(Pack, pack_id)
    await workspaces.seen_workspace(work, seen.workspace_id, Need.READ)
    alone = await approvals.is_alone(work)
    await _check_bytes(work, seen)
    workspace = await work.lock(Workspace, seen.workspace_id, beside=True)
    pack = await work.lock(Pack, pack_id)
    if pack.status is PackStatus.SEALED and pack.manifest_sha256 == manifest_sha256:
        return pack
    _check_time(work, workspace)
    PackLifecycle.seal(pack, at=work.now)
    if pack.manifest_sha256 != manifest_sha256:
        raise PinsMoved(moved=["manifest"])
    if workspace.reconfirm_amendment is not None:
        raise ReconfirmationRequired()
    await _check_pins(work, workspace, pack)
    await _check_guards(work, workspace, pack, alone=alone)
    pack.sealed_by, pack.sealed_at = work.user_id, work.now
    explain(pack, at=work.now, by=work.user_id, code="sealed")
    await work.save(pack)
    await _lock_price(work, workspace)
    await workspaces.move(work, workspace, WorkspaceLifecycle.ready, code="pack_sealed")
    work.publish(
        public.SubmissionPackSealed(**event_facts(workspace, pack), overrides=len(pack.overrides))
    )
    return pack


def _check_time(work: Work, workspace: Workspace) -> None:
    """Before the closing of the newest amendment, by the locked row (BID-5)."""
    if workspace.gate_at is None:
        raise RuleViolated(
            "The tender has no closing time, so the pack cannot be sealed. Set `closingAt` on the "
            "tender, or wait until the buyer announces it.",
            rule="BID-5",
        )
    if work.now >= workspace.gate_at:
        raise ClosingPassed()


async def _check_bytes(work: Work, pack: Pack) -> None:
    """The stored archives are still those that the manifest was made of."""
    for envelope in pack.envelopes:
        file = await work.get(BidFile, UUID(envelope["zip_file_id"]))
        content = await files.content_of(work.host.files, file)
        if sha256(content).hexdigest() != envelope["zip_sha256"]:
            raise PinsMoved(moved=[envelope["name"]])


async def _check_pins(read: Reader, workspace: Workspace, pack: Pack) -> None:
    """What was pinned is still the current version of each part."""
    now = {
        **{("form", str(one.id)): one.version for one in await forms_of(read, workspace.id)},
        **{
            ("section", str(one.section_id)): one.version_number
            for one in await proposals.pack_texts(read, workspace.id)
        },
    }
    workbook = await read.find(Workbook, workspace_id=workspace.id)
    moved = []
    for pin in pack.pins:
        if pin["kind"] == "form" and now.get(("form", pin["id"])) != pin["version"]:
            moved.append(pin["title"])
        elif pin["kind"] == "text":
            parts = pin["sections"]
            if any(now.get(("section", one["id"])) != one["version"] for one in parts):
                moved.append(pin["title"])
        elif pin["kind"] == "price" and (
            workbook is None or workbook.content_sha256 != pin["sha256"]
        ):
            moved.append(pin["title"])
    if moved:
        raise PinsMoved(moved=moved)


async def _check_approvals(
    read: Reader, workspace: Workspace, pack: Pack, kinds: Sequence[str]
) -> None:
    """Approvals that are bound to exactly what is sealed."""
    workbook = await read.find(Workbook, workspace_id=workspace.id)
    hashes = {
        approvals.PRICE: None if workbook is None else workbook.content_sha256,
        approvals.PACK: pack.manifest_sha256,
    }
    missing = [
        kind
        for kind in kinds
        if await approvals.live_approval(read, workspace.id, kind, hashes[kind]) is None
    ]
    if missing:
        raise ApprovalMissing(kinds=missing)


async def open_findings(
    read: Reader, workspace: Workspace, pack: Pack, *, waived: bool
) -> list[Finding]:
    """Findings that nobody has overridden or acknowledged."""
    found = await validating.validate(read, workspace, pack, waived=waived)
    return [
        one
        for one in found
        if (one.severity is Class.BLOCKING and one.key not in pack.overrides)
        or (one.severity is Class.HIGH_RISK and not pack.acknowledgements.get(one.key))
    ]


async def _check_guards(read: Reader, workspace: Workspace, pack: Pack, *, alone: bool) -> None:
    """No open finding, and approvals; a waiver holds while nobody else could approve (BID-40)."""
    waived = bool(pack.build.get("waived"))
    if waived and not alone:
        await _check_approvals(read, workspace, pack, (approvals.PRICE, approvals.PACK))
    found = await open_findings(read, workspace, pack, waived=waived and alone)
    if found:
        raise PackBlocked(findings=[f"{one.key}: {one.text}" for one in found][:100])
    if not (waived and alone):
        await _check_approvals(read, workspace, pack, (approvals.PACK,))


async def _lock_price(work: Work, workspace: Workspace) -> None:
    workbook = await work.find(Workbook, workspace_id=workspace.id)
    if workbook is None or workbook.status is not WorkbookStatus.APPROVED:
        return
    held = await work.lock(Workbook, workbook.id, beside=True)
    WorkbookLifecycle.lock(held, at=work.now)
    explain(held, at=work.now, by=work.user_id, code="pack_sealed")
    await work.save(held)


async def unseal(work: Work, pack_id: UUID, *, reason: str | None) -> Pack:
    """Unseal by hand, with a reason; the approval of the pack is voided."""
    if not reason:
        raise RuleViolated("Give a reason for unsealing the pack.", rule="BID-47", field="reason")
    seen = await work.get(Pack, pack_id)
    workspace = await work.lock(Workspace, seen.workspace_id, beside=True)
    workspaces.check_needs(work, workspace, (Need.READ,))
    pack = await work.lock(Pack, pack_id)
    if not await _unseal(work, workspace, pack, "by_hand", reason):
        return pack
    await _unlock_price(work, workspace)
    await approvals.void_for(work, workspace.id, "unsealed", kinds=(approvals.PACK,))
    return pack


async def unseal_for(work: Work, workspace_id: UUID, because: str) -> Pack | None:
    """Unseal by a reaction to a material change; every approval is voided (BID-47, BID-49)."""
    found = await current_pack(work, workspace_id)
    if found is None or found.status is not PackStatus.SEALED:
        return None
    workspace = await work.lock(Workspace, workspace_id, beside=True)
    pack = await work.lock(Pack, found.id, beside=True)
    await _unseal(work, workspace, pack, because, None)
    await approvals.void_for(work, workspace_id, because)
    return pack


async def _unseal(
    work: Work, workspace: Workspace, pack: Pack, because: str, reason: str | None
) -> bool:
    if not PackLifecycle.unseal(pack, at=work.now):
        return False
    explain(pack, at=work.now, by=workspaces.person_of(work), code=because, text=reason)
    await work.save(pack)
    if workspace.status is WorkspaceStatus.READY:
        await workspaces.move(work, workspace, WorkspaceLifecycle.return_, code=because)
    work.publish(public.SubmissionPackUnsealed(**event_facts(workspace, pack), cause=because))
    return True


async def _unlock_price(work: Work, workspace: Workspace) -> None:
    workbook = await work.find(Workbook, workspace_id=workspace.id)
    if workbook is None or workbook.status is not WorkbookStatus.LOCKED:
        return
    held = await work.lock(Workbook, workbook.id, beside=True)
    WorkbookLifecycle.unlock(held, at=work.now)
    explain(held, at=work.now, by=workspaces.person_of(work), code="unsealed")
    await work.save(held)
    work.publish(pricing.event_of(workspace, held))
