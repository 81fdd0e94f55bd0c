"""Bids: people are told what is theirs to do, what must be decided, and what became of a bid.

No message says an amount: whoever may read bids need not be allowed to see prices.
"""

from uuid import UUID

from thenga.domains.bid import public as bid
from thenga.domains.notification.public import Target, as_fact
from thenga.domains.notification.reactions.declared import reactions
from thenga.domains.notification.reactions.notifying import notify
from thenga.domains.notification.reactions.opportunity import closing_text
from thenga.domains.notification.services import escalations, reminders
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.values.calendar import HOME_ZONE
from thenga.kernel.values.references import Reference

READERS = Target(kind="permission", permission="bid:workspace:read")
APPROVERS = Target(kind="permission", permission="bid:approval:decide")

_TASK_OVER = frozenset({"done", "cancelled"})
# Statuses in which nobody has to decide about an amendment any more.
_BID_OVER = frozenset({"no_bid", "withdrawn", "lapsed", "tender_cancelled"})
_CAUSES = {
    "amendment": "the tender was amended",
    "by_hand": "someone unsealed it",
}
_RESULTS = {
    "lost": "another bidder won",
    "disqualified": "the bid was disqualified",
    "cancelled": "the tender was cancelled",
}

Progress = bid.BidApproved | bid.SubmissionPackSealed | bid.BidSubmitted | bid.BidWithdrawn
Ended = bid.BidAwarded | bid.BidLost | bid.BidAwardSetAside


@reactions.on_type(bid.BidTaskAssigned.type)
async def tell_assignee(work: Work, envelope: Envelope) -> None:
    """Whoever has a task is told of it; reminders follow its due time."""
    event = bid.BidTaskAssigned.model_validate(envelope.data)
    await _follow_task(work, event, envelope)
    if event.owner_user_id is None or event.status in _TASK_OVER:
        return
    due = "not set" if event.due_at is None else closing_text(event.due_at)
    await notify(
        work,
        "bid.task_assigned",
        {"task": as_fact(event.label), "dueAt": due},
        [Target(kind="users", user_ids=[event.owner_user_id])],
        Reference(domain="bid", type="task", id=event.task_id),
        deadline_at=event.due_at,
    )


@reactions.on_type(bid.BidTaskChanged.type)
async def follow_task(work: Work, envelope: Envelope) -> None:
    """Reminders follow the due time of a task, and end with the task."""
    await _follow_task(work, bid.BidTaskChanged.model_validate(envelope.data), envelope)


@reactions.on(bid.ApprovalRequested)
async def tell_approvers(work: Work, event: bid.ApprovalRequested) -> None:
    """Those who are asked to approve are told, or all who may where nobody is named."""
    named = event.approver_user_ids
    await notify(
        work,
        "bid.approval_requested",
        {
            "bid": as_fact(event.label),
            "subject": "price" if event.kind == "price" else "submission pack",
            "expiresAt": closing_text(event.expires_at),
        },
        [Target(kind="users", user_ids=named)] if named else [APPROVERS],
        Reference(domain="bid", type="approval", id=event.approval_id),
        deadline_at=event.expires_at,
    )


@reactions.on(bid.BidReconfirmationRequired)
async def escalate_amendment(work: Work, event: bid.BidReconfirmationRequired) -> None:
    """A bid that an amendment touched is escalated until somebody decides (NOT-41)."""
    await escalations.open_escalation(
        work,
        key=f"reconfirm {event.ripple_id}",
        policy_key="bid.reconfirm",
        about=_workspace(event.workspace_id),
        facts={
            "bid": as_fact(event.label),
            "amendment": str(event.amendment_number),
            "closingAt": closing_text(event.closing_at),
        },
    )


@reactions.on(bid.BidReconfirmed)
async def resolve_amendment(work: Work, event: bid.BidReconfirmed) -> None:
    """Nobody else is told of an amendment that somebody decided about."""
    await escalations.resolve_on_event(work, event.type, "bid", event.workspace_id)


@reactions.on(bid.BidWorkspaceChanged)
async def resolve_ended_bid(work: Work, event: bid.BidWorkspaceChanged) -> None:
    """Nobody has to decide about a bid that is over."""
    if event.status in _BID_OVER:
        await escalations.resolve_on_event(work, event.type, "bid", event.workspace_id)


@reactions.on(bid.BidApproved)
async def tell_of_approved_pack(work: Work, event: bid.BidApproved) -> None:
    """The pack of a bid is approved."""
    await _tell_progress(work, event, "its submission pack is approved")


@reactions.on(bid.SubmissionPackSealed)
async def tell_of_seal(work: Work, event: bid.SubmissionPackSealed) -> None:
    """A pack is sealed and can be submitted."""
    await _tell_progress(work, event, "its submission pack is sealed and can be submitted")


@reactions.on(bid.BidSubmitted)
async def tell_of_submission(work: Work, event: bid.BidSubmitted) -> None:
    """A bid was submitted; nobody has to decide about amendments before it any more."""
    await escalations.resolve_on_event(work, event.type, "bid", event.workspace_id)
    await _tell_progress(work, event, f"it was submitted on {closing_text(event.submitted_at)}")


@reactions.on(bid.BidWithdrawn)
async def tell_of_withdrawal(work: Work, event: bid.BidWithdrawn) -> None:
    """A bid that was submitted was taken back."""
    await _tell_progress(work, event, "it was withdrawn")


@reactions.on(bid.SubmissionPackUnsealed)
async def tell_of_unsealed_pack(work: Work, event: bid.SubmissionPackUnsealed) -> None:
    """A sealed pack is open again, so the bid cannot be submitted."""
    await notify(
        work,
        "bid.unsealed",
        {"bid": as_fact(event.label), "cause": _CAUSES.get(event.cause, "its content changed")},
        [READERS],
        _workspace(event.workspace_id),
    )


@reactions.on(bid.BidAwarded)
async def tell_of_won_bid(work: Work, event: bid.BidAwarded) -> None:
    """The company won."""
    await _tell_outcome(work, event, "you won")


@reactions.on(bid.BidLost)
async def tell_of_lost_bid(work: Work, event: bid.BidLost) -> None:
    """The company did not win."""
    await _tell_outcome(work, event, _RESULTS[event.result])


@reactions.on(bid.BidAwardSetAside)
async def tell_of_lost_award(work: Work, event: bid.BidAwardSetAside) -> None:
    """An award does not hold any more."""
    await _tell_outcome(work, event, "the award was set aside; the result is open again")


async def _follow_task(
    work: Work, event: bid.BidTaskAssigned | bid.BidTaskChanged, envelope: Envelope
) -> None:
    await reminders.follow(
        work,
        Reference(domain="bid", type="task", id=event.task_id),
        "deadline",
        due_at=None if event.status in _TASK_OVER else event.due_at,
        time_zone=HOME_ZONE,
        sequence=envelope.sequence or 0,
    )


async def _tell_progress(work: Work, event: Progress, news: str) -> None:
    facts = {"bid": as_fact(event.label), "news": news}
    await notify(work, "bid.changed", facts, [READERS], _workspace(event.workspace_id))


async def _tell_outcome(work: Work, event: Ended, result: str) -> None:
    facts = {"bid": as_fact(event.label), "result": result}
    await notify(work, "bid.outcome", facts, [READERS], _workspace(event.workspace_id))


def _workspace(workspace_id: UUID) -> Reference:
    return Reference(domain="bid", type="workspace", id=workspace_id)
