"""Approvals are requested for exactly one version, with what the approver will see (BID-37, 38)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import orjson
import rfc8785
from sqlalchemy import select

from thenga.domains.bid import public, settings
from thenga.domains.bid.lifecycles import WorkbookLifecycle, WorkspaceLifecycle
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.services import pricing, workspaces
from thenga.domains.bid.services.approvals.voiding import PACK, PRICE, kind_facts
from thenga.domains.bid.services.workspaces import Need
from thenga.domains.bid.tables import (
    Approval,
    ApprovalStatus,
    Pack,
    PackStatus,
    Workbook,
    WorkbookStatus,
    Workspace,
    WorkspaceStatus,
)
from thenga.domains.bid.values.findings import Class
from thenga.domains.identity import public as identity
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare import law
from thenga.kernel.declare.lifecycle import explain
from thenga.kernel.errors import (
    Conflict,
    Duplicate,
    NotFound,
    Problem,
    extensions,
)
from thenga.kernel.ports.asking import asking
from thenga.kernel.values.calendar import HOME_ZONE, add_working_days, local_day, local_instant
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.json_writer import to_json
from thenga.kernel.values.money import Money

Kind = Literal["price", "pack"]
SINGLE_MEMBER = "single_member"


class BidFindingsOpen(Problem):
    """The price or pack has blocking findings. Fix them before you request approval."""

    code, status, title = "bid-findings-open", 409, "Findings block the approval"
    members = extensions(findings=(list[str], "Findings that block the approval."))


class ApproverNotPossible(Problem):
    """Approvers need permission to decide and access to the subject. Choose someone else.

    The requester and the authors of the subject cannot approve it.
    """

    code, status, title = "bid-approver-not-possible", 422, "This person cannot be an approver"
    members = extensions(userIds=(list[str], "Refused user IDs."))


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be approved, and what the approver is shown."""

    id: UUID
    version: int
    sha256: str
    authors: frozenset[str]
    blocking: Sequence[str]
    shown: dict[str, Any]
    total: Money | None


@dataclass(frozen=True, slots=True)
class Requested:
    """The approval, or the waiver where nobody else could give it (BID-40)."""

    approval: Approval | None
    waiver: str | None
    subject: Subject


async def request(
    work: Work,
    workspace_id: UUID,
    *,
    kind: Kind,
    subject_id: UUID,
    approver_user_ids: Sequence[UUID],
    note: str | None,
) -> Requested:
    """Ask others to approve a price or a pack as it is now."""
    holders = await holding(work)
    needs = (Need.EDIT, Need.PRICE) if kind == PRICE else (Need.EDIT,)
    workspace = await workspaces.workspace_for(work, workspace_id, *needs)
    subject = await subject_of(work, workspace, kind, subject_id)
    if subject.blocking:
        raise BidFindingsOpen(findings=list(subject.blocking)[:50])
    requester = work.actor.person_id
    barred = {*subject.authors, str(requester)}
    others = None if holders is None else {str(one) for one in holders} - {str(requester)}
    if others is not None and not others:
        return Requested(None, SINGLE_MEMBER, subject)
    _check_approvers(workspace, kind, approver_user_ids, others, barred)
    await _check_none_open(work, kind, subject)
    approval = await _add(work, workspace, kind, subject, approver_user_ids, note)
    await _begin_review(work, workspace, kind, subject)
    work.publish(
        public.ApprovalRequested(
            **kind_facts(workspace, approval),
            approver_user_ids=list(approver_user_ids),
            expires_at=approval.expires_at,
        )
    )
    return Requested(approval, None, subject)


async def subject_of(read: Reader, workspace: Workspace, kind: str, subject_id: UUID) -> Subject:
    """The subject of an approval as it is now."""
    if kind == PACK:
        return await _pack(read, workspace, subject_id)
    workbook = await read.get(Workbook, subject_id)
    if workbook.workspace_id != workspace.id:
        raise NotFound()
    picture = (await pricing.picture_of(read, workspace, workbook)).picture
    return Subject(
        id=workbook.id,
        version=workbook.version_number,
        sha256=workbook.content_sha256,
        authors=frozenset(workbook.authors),
        blocking=[one.text for one in picture.findings if one.severity is Class.BLOCKING],
        shown=_shown_of(picture),
        total=picture.priced.totals.total,
    )


async def _pack(read: Reader, workspace: Workspace, pack_id: UUID) -> Subject:
    pack = await read.get(Pack, pack_id)
    if pack.workspace_id != workspace.id:
        raise NotFound()
    if pack.status is not PackStatus.BUILT or pack.manifest_sha256 is None:
        raise Conflict("Only a pack with the status `built` can be approved.")
    blocking = [
        one["text"]
        for one in pack.findings
        if one["severity"] == Class.BLOCKING.value
        and f"{one['code']}:{one['subject']}" not in pack.overrides
    ]
    counts = {severity.value: 0 for severity in Class}
    for one in pack.findings:
        counts[one["severity"]] += 1
    return Subject(
        id=pack.id,
        version=pack.build_number,
        sha256=pack.manifest_sha256,
        authors=frozenset() if pack.requested_by is None else frozenset({str(pack.requested_by)}),
        blocking=blocking,
        shown={
            "pack": {
                "number": pack.number,
                "manifest_sha256": pack.manifest_sha256,
                "counts": counts,
                "overrides": sorted(pack.overrides),
            }
        },
        total=None,
    )


def _shown_of(picture: pricing.Picture) -> dict[str, Any]:
    """What an approver sees of a price, as it is kept with the decision (BID-36, 37)."""
    totals = picture.priced.totals
    shown: dict[str, Any] = {
        "total": totals.total,
        "vat": totals.vat,
        "net": totals.net,
        "cost": totals.cost,
        "margin_percent": totals.margin_percent,
        "findings": [one.to_row() | {"key": one.key, "state": "open"} for one in picture.findings],
        "points": picture.points,
        "cash_picture": picture.cash,
    }
    written: dict[str, Any] = orjson.loads(to_json({"price": shown}))
    return written


async def holding(read: Reader) -> list[UUID] | None:
    """Who may decide approvals; silence is not «nobody», so no waiver rests on it (BID-40)."""
    return await asking(
        read,
        identity.Members,
        lambda port: port.holding(
            organization_id=read.organization_id, permission=Permission.APPROVAL_DECIDE
        ),
        silent=None,
    )


async def is_alone(read: Reader) -> bool:
    """Whether nobody but the caller could approve, so that the waiver holds."""
    holders = await holding(read)
    person = workspaces.person_of(read)
    return holders is not None and person is not None and not set(holders) - {person}


def _check_approvers(
    workspace: Workspace,
    kind: str,
    wanted: Sequence[UUID],
    others: set[str] | None,
    barred: set[str],
) -> None:
    refused = [
        str(one)
        for one in wanted
        if str(one) in barred
        or (others is not None and str(one) not in others)
        or (kind == PRICE and not workspaces.may_see_price(workspace, one))
    ]
    if refused:
        raise ApproverNotPossible(userIds=refused)


async def _check_none_open(work: Work, kind: str, subject: Subject) -> None:
    statement = select(Approval).where(
        Approval.organization_id == work.organization_id,
        Approval.subject_id == subject.id,
        Approval.kind == kind,
        Approval.status == ApprovalStatus.REQUESTED,
    )
    for one in await work.all(statement):
        raise Duplicate(existing={"id": str(one.id)})


async def _add(
    work: Work,
    workspace: Workspace,
    kind: str,
    subject: Subject,
    approver_user_ids: Sequence[UUID],
    note: str | None,
) -> Approval:
    count, high = await _needed(work, kind, subject.total)
    expires_at = await _expires_at(work, workspace)
    approval = Approval(
        id=new_id(),
        organization_id=work.organization_id,
        workspace_id=workspace.id,
        kind=kind,
        subject_id=subject.id,
        subject_version=subject.version,
        subject_sha256=subject.sha256,
        approver_user_ids=[str(one) for one in approver_user_ids],
        needed_count=count,
        needed_high=high,
        decisions=[],
        shown=subject.shown,
        shown_sha256=sha256(rfc8785.dumps(subject.shown)).hexdigest(),
        note=note,
        requested_by=work.actor.person_id,
        expires_at=expires_at,
        next_check_at=expires_at,
    )
    return await work.add(approval)


async def _needed(read: Reader, kind: str, total: Money | None) -> tuple[int, bool]:
    """How many must approve, and whether one of them must hold the high band (BID-38)."""
    if kind == PACK or total is None:
        return 1, False
    bands = await configuration.value(read, settings.APPROVAL_BANDS)
    if total <= Money.of(f"{bands.one_up_to:.2f}"):
        return 1, False
    return 2, total > Money.of(f"{bands.two_up_to:.2f}")


async def _expires_at(read: Reader, workspace: Workspace) -> datetime:
    """Some working days from now, at the latest when the tender closes."""
    days = await configuration.value(read, settings.APPROVAL_DAYS)
    extra = await configuration.value(read, law.EXTRA_HOLIDAYS)
    day = add_working_days(local_day(read.now), days, extra)
    clock = read.now.astimezone(ZoneInfo(HOME_ZONE)).time()
    ends = local_instant(day, clock)
    return ends if workspace.gate_at is None else min(ends, workspace.gate_at)


async def _begin_review(work: Work, workspace: Workspace, kind: str, subject: Subject) -> None:
    if kind == PRICE:
        workbook = await work.lock(Workbook, subject.id, beside=True)
        if workbook.status is WorkbookStatus.DRAFT:
            WorkbookLifecycle.submit(workbook, at=work.now)
            explain(workbook, at=work.now, by=workspaces.person_of(work), code="approval_requested")
            await work.save(workbook)
            work.publish(pricing.event_of(workspace, workbook))
    elif workspace.status is WorkspaceStatus.PREPARING:
        await workspaces.move(work, workspace, WorkspaceLifecycle.review, code="approval_requested")
