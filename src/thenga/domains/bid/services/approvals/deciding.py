"""Decisions on approvals: by another person, on exactly what was shown (BID-37, 38)."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import select

from thenga.domains.bid import public
from thenga.domains.bid.lifecycles import ApprovalLifecycle, WorkbookLifecycle
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.services import pricing, workspaces
from thenga.domains.bid.services.approvals.requesting import subject_of
from thenga.domains.bid.services.approvals.voiding import (
    PRICE,
    end,
    event_facts,
    kind_facts,
    take_back,
)
from thenga.domains.bid.services.workspaces import Need
from thenga.domains.bid.tables import Approval, ApprovalStatus, Workbook, Workspace
from thenga.domains.identity import public as identity
from thenga.kernel.db.acting import same_person
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import explain
from thenga.kernel.errors import Forbidden, Problem, RuleViolated, SamePerson, extensions
from thenga.kernel.values.money import Money

Decision = Literal["approve", "reject", "request_changes", "cancel"]


class SubjectChanged(Problem):
    """The price or pack changed since you read it.

    Read the approval again and send the SHA-256 of its subject.
    """

    code, status, title = "bid-subject-changed", 409, "The subject has changed"
    members = extensions(currentSha256=(str | None, "Current SHA-256 of the subject."))


@dataclass(frozen=True, slots=True)
class Decided:
    """What somebody decides, and about which bytes."""

    decision: Decision
    subject_sha256: str
    comment: str | None = None


async def get_approval(read: Reader, approval_id: UUID) -> Approval:
    """An approval for somebody who needs to know; of a price for those who may see prices."""
    approval = await read.get(Approval, approval_id)
    needs = (Need.READ, Need.PRICE) if approval.kind == PRICE else (Need.READ,)
    await workspaces.seen_workspace(read, approval.workspace_id, *needs)
    return approval


async def decide(work: Work, approval_id: UUID, decided: Decided) -> Approval:
    """Record a decision; the last one needed settles the approval."""
    if decided.decision != "approve" and decided.decision != "cancel" and not decided.comment:
        raise RuleViolated("Give the reason in `comment`.", rule="BID-37", field="comment")
    seen = await work.get(Approval, approval_id)
    is_high = seen.needed_high and await workspaces.holds(work, Permission.APPROVAL_DECIDE_HIGH)
    needs = (Need.READ, Need.PRICE) if seen.kind == PRICE else (Need.READ,)
    workspace = await workspaces.workspace_for(work, seen.workspace_id, *needs)
    approval = await work.lock(Approval, approval_id)
    if decided.decision == "cancel":
        return await _cancel(work, workspace, approval)
    if _decided_before(work, approval, decided.decision):
        return approval
    if approval.status is not ApprovalStatus.REQUESTED:
        ApprovalLifecycle.approve(approval, at=work.now)  # refused, with what is possible
        return approval
    await _check(work, workspace, approval, decided)
    _record(work, approval, decided, is_high=is_high)
    if decided.decision == "approve":
        await _approve(work, workspace, approval)
    else:
        await _refuse(work, workspace, approval, decided)
    work.publish(
        public.ApprovalDecided(
            **kind_facts(workspace, approval),
            decision=decided.decision,
            status=approval.status.value,
        )
    )
    return approval


def _decided_before(work: Work, approval: Approval, decision: str) -> bool:
    """A person decides once; the same again changes nothing."""
    return any(
        one["user_id"] == str(work.user_id) and one["decision"] == decision
        for one in approval.decisions
    )


async def _check(work: Work, workspace: Workspace, approval: Approval, decided: Decided) -> None:
    """Four eyes, the right people, this hash, and in time."""
    if approval.expires_at <= work.now:
        raise Forbidden(
            "This request has expired. Request the approval again.", reasonCode="expired"
        )
    subject = await subject_of(work, workspace, approval.kind, approval.subject_id)
    if subject.sha256 != approval.subject_sha256 or decided.subject_sha256 != subject.sha256:
        raise SubjectChanged(currentSha256=subject.sha256)
    person = work.user_id
    if same_person(work, approval.requested_by, *map(UUID, subject.authors)):
        raise SamePerson(
            "You requested this approval or wrote its subject, so someone else must decide."
        )
    if approval.approver_user_ids and str(person) not in approval.approver_user_ids:
        raise Forbidden("You are not one of the requested approvers.", reasonCode="not_an_approver")
    await _check_amount(work, subject.total)


async def _check_amount(work: Work, total: Money | None) -> None:
    """Identity says at this moment whether the person may decide about this amount."""
    if total is None:
        return
    decision = await work.port(identity.Decisions).check(
        actor=identity.ActorRef(type="user", id=work.user_id, session_id=work.actor.session_id),
        organization_id=work.organization_id,
        action=Permission.APPROVAL_DECIDE,
        resource=identity.ResourceRef(type="bid.approval"),
        channel="http",
        request_id=work.origin.request_id,
        amount=total.minor,
    )
    if decision.decision != "allow":
        raise Forbidden(
            "You are not allowed to decide on this amount.",
            action=Permission.APPROVAL_DECIDE,
            reasonCode=decision.reason_code,
        )


def _record(work: Work, approval: Approval, decided: Decided, *, is_high: bool) -> None:
    entry: dict[str, Any] = {
        "user_id": str(work.user_id),
        "decision": decided.decision,
        "at": work.now.isoformat(),
        "comment": decided.comment,
        "shown_sha256": approval.shown_sha256,
        "high": is_high,
    }
    approval.decisions = [*approval.decisions, entry]


async def _approve(work: Work, workspace: Workspace, approval: Approval) -> None:
    given = [one for one in approval.decisions if one["decision"] == "approve"]
    has_high = not approval.needed_high or any(one["high"] for one in given)
    if len(given) < approval.needed_count or not has_high:
        await work.save(approval)
        return
    ApprovalLifecycle.approve(approval, at=work.now)
    explain(approval, at=work.now, by=work.user_id, code="approved")
    approval.next_check_at = None
    await work.save(approval)
    if approval.kind != PRICE:
        work.publish(public.BidApproved(**event_facts(workspace, approval)))
        return
    workbook = await work.lock(Workbook, approval.subject_id, beside=True)
    WorkbookLifecycle.approve(workbook, at=work.now)
    explain(workbook, at=work.now, by=work.user_id, code="approved")
    workbook.authors = []
    await work.save(workbook)
    work.publish(pricing.event_of(workspace, workbook))
    work.publish(public.PricingApproved(**event_facts(workspace, approval)))


async def _refuse(work: Work, workspace: Workspace, approval: Approval, decided: Decided) -> None:
    """One reject ends it (BID-38)."""
    rejects = decided.decision == "reject"
    move = ApprovalLifecycle.reject if rejects else ApprovalLifecycle.request_changes
    move(approval, at=work.now)
    code = "rejected" if rejects else "changes_requested"
    explain(approval, at=work.now, by=work.user_id, code=code, text=decided.comment)
    approval.next_check_at = None
    await work.save(approval)
    await take_back(work, workspace, approval, code)


async def _cancel(work: Work, workspace: Workspace, approval: Approval) -> Approval:
    if approval.requested_by != work.user_id:
        raise Forbidden(
            "Only the person who requested this approval can cancel it.",
            reasonCode="not_the_requester",
        )
    return await end(work, workspace, approval.id, ApprovalLifecycle.cancel, "cancelled")


async def live_approval(
    read: Reader, workspace_id: UUID, kind: str, sha256: str | None
) -> Approval | None:
    """The given approval that is bound to this hash."""
    statement = select(Approval).where(
        Approval.workspace_id == workspace_id,
        Approval.kind == kind,
        Approval.status == ApprovalStatus.APPROVED,
        Approval.subject_sha256 == (sha256 or ""),
    )
    found = await read.all(statement.order_by(Approval.id.desc()), limit=1)
    return found[0] if found else None


async def drop_approver(work: Work, user_id: UUID) -> None:
    """A member left: nobody waits for their decision; what they decided stays (BID-9)."""
    statement = select(Approval).where(
        Approval.organization_id == work.organization_id,
        Approval.status == ApprovalStatus.REQUESTED,
    )
    for one in await work.all(statement):
        if str(user_id) in one.approver_user_ids:
            held = await work.lock(Approval, one.id, beside=True)
            held.approver_user_ids = [
                other for other in held.approver_user_ids if other != str(user_id)
            ]
            await work.save(held)
