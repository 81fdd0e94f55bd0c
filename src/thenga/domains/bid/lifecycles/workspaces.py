"""Moves of workspaces, plans, tasks, comments and outcomes."""

from datetime import datetime

from thenga.domains.bid.tables import (
    Comment,
    CommentStatus,
    OutcomeStatus,
    PlanStatus,
    Task,
    TaskStatus,
    Workspace,
    WorkspaceStatus,
)
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move
from thenga.kernel.errors import Conflict, Problem

_BEFORE_SUBMISSION = (
    WorkspaceStatus.PREPARING,
    WorkspaceStatus.IN_REVIEW,
    WorkspaceStatus.READY,
)


class BidTaskBlocked(Problem):
    """A blocked task cannot be started or finished. Unblock it first."""

    code, status, title = "bid-task-blocked", 409, "This task is blocked"


class BidCommentClosed(Problem):
    """Only the author can edit a comment, within 15 minutes.

    A deleted comment cannot be changed.
    """

    code, status, title = "bid-comment-closed", 409, "This comment cannot be changed"


def tender_open(workspace: Workspace, at: datetime) -> None:
    if workspace.gate_at is None or at >= workspace.gate_at:
        raise Conflict("The tender has closed, so the bid cannot be resumed.")


class WorkspaceLifecycle(Lifecycle, initial=(WorkspaceStatus.PREPARING, WorkspaceStatus.SUBMITTED)):
    """A bid, from its opening to its outcome."""

    BEFORE_SUBMISSION = frozenset(_BEFORE_SUBMISSION)
    TERMINAL = frozenset(
        (
            WorkspaceStatus.AWARDED,
            WorkspaceStatus.UNSUCCESSFUL,
            WorkspaceStatus.DISQUALIFIED,
            WorkspaceStatus.WITHDRAWN,
            WorkspaceStatus.TENDER_CANCELLED,
        )
    )
    # Statuses that count against the limit of open workspaces.
    COUNTED = frozenset((*_BEFORE_SUBMISSION, WorkspaceStatus.SUBMITTED))

    review = Move(WorkspaceStatus.PREPARING, to=WorkspaceStatus.IN_REVIEW, by=By.SYSTEM)
    return_ = Move(
        *(WorkspaceStatus.IN_REVIEW, WorkspaceStatus.READY),
        to=WorkspaceStatus.PREPARING,
        by=By.SYSTEM,
    )
    ready = Move(
        *(WorkspaceStatus.PREPARING, WorkspaceStatus.IN_REVIEW),
        to=WorkspaceStatus.READY,
        by=By.SYSTEM,
    )
    submit = Move(
        WorkspaceStatus.READY, WorkspaceStatus.LAPSED, to=WorkspaceStatus.SUBMITTED, by=By.SYSTEM
    )
    award = Move(
        *(WorkspaceStatus.SUBMITTED, WorkspaceStatus.UNSUCCESSFUL),
        to=WorkspaceStatus.AWARDED,
        by=By.SYSTEM,
    )
    lose = Move(WorkspaceStatus.SUBMITTED, to=WorkspaceStatus.UNSUCCESSFUL, by=By.SYSTEM)
    disqualify = Move(WorkspaceStatus.SUBMITTED, to=WorkspaceStatus.DISQUALIFIED, by=By.SYSTEM)
    set_aside = Move(WorkspaceStatus.AWARDED, to=WorkspaceStatus.SUBMITTED, by=By.SYSTEM)
    no_bid = Move(*_BEFORE_SUBMISSION, to=WorkspaceStatus.NO_BID)
    resume = Move(WorkspaceStatus.NO_BID, to=WorkspaceStatus.PREPARING, guard=tender_open)
    withdraw = Move(WorkspaceStatus.SUBMITTED, to=WorkspaceStatus.WITHDRAWN)
    resubmit = Move(WorkspaceStatus.SUBMITTED, to=WorkspaceStatus.PREPARING, by=By.SYSTEM)
    lapse = Move(*_BEFORE_SUBMISSION, to=WorkspaceStatus.LAPSED, by=By.SYSTEM)
    revive = Move(WorkspaceStatus.LAPSED, to=WorkspaceStatus.PREPARING, by=By.SYSTEM)
    cancel = Move(
        *(*_BEFORE_SUBMISSION, WorkspaceStatus.SUBMITTED, WorkspaceStatus.NO_BID),
        WorkspaceStatus.LAPSED,
        to=WorkspaceStatus.TENDER_CANCELLED,
        by=By.SYSTEM,
    )


class PlanLifecycle(Lifecycle, initial=PlanStatus.DRAFT):
    """A revision of a plan; a newer baseline replaces it."""

    baseline = Move(PlanStatus.DRAFT, to=PlanStatus.BASELINED, by=By.SYSTEM)
    supersede = Move(PlanStatus.DRAFT, PlanStatus.BASELINED, to=PlanStatus.SUPERSEDED, by=By.SYSTEM)


def not_blocked(task: Task, at: datetime) -> None:
    if task.blocked_since is not None:
        raise BidTaskBlocked()


class TaskLifecycle(Lifecycle, initial=TaskStatus.TODO):
    """A task; what it depends on is done first (BID-9)."""

    OPEN = frozenset((TaskStatus.TODO, TaskStatus.IN_PROGRESS, TaskStatus.IN_REVIEW))
    ENDED = frozenset((TaskStatus.DONE, TaskStatus.CANCELLED))

    start = Move(TaskStatus.TODO, to=TaskStatus.IN_PROGRESS, guard=not_blocked)
    review = Move(TaskStatus.IN_PROGRESS, to=TaskStatus.IN_REVIEW)
    return_ = Move(TaskStatus.IN_REVIEW, to=TaskStatus.IN_PROGRESS)
    finish = Move(
        TaskStatus.IN_PROGRESS, TaskStatus.IN_REVIEW, to=TaskStatus.DONE, guard=not_blocked
    )
    reopen = Move(TaskStatus.DONE, to=TaskStatus.IN_PROGRESS)
    cancel = Move(
        *(TaskStatus.TODO, TaskStatus.IN_PROGRESS, TaskStatus.IN_REVIEW), to=TaskStatus.CANCELLED
    )


def not_deleted(comment: Comment, at: datetime) -> None:
    if comment.deleted_at is not None:
        raise BidCommentClosed()


class CommentLifecycle(Lifecycle, initial=CommentStatus.OPEN):
    """A thread of comments, moved at its first one (BID-10)."""

    resolve = Move(CommentStatus.OPEN, to=CommentStatus.RESOLVED, guard=not_deleted)
    reopen = Move(CommentStatus.RESOLVED, to=CommentStatus.OPEN, guard=not_deleted)


class OutcomeLifecycle(Lifecycle, initial=OutcomeStatus.PENDING):
    """The result of a bid, recorded by a person (BID-51)."""

    win = Move(OutcomeStatus.PENDING, OutcomeStatus.LOST, to=OutcomeStatus.WON, by=By.SYSTEM)
    lose = Move(OutcomeStatus.PENDING, to=OutcomeStatus.LOST, by=By.SYSTEM)
    disqualify = Move(OutcomeStatus.PENDING, to=OutcomeStatus.DISQUALIFIED, by=By.SYSTEM)
    cancel = Move(OutcomeStatus.PENDING, to=OutcomeStatus.CANCELLED, by=By.SYSTEM)
    set_aside = Move(OutcomeStatus.WON, to=OutcomeStatus.PENDING, by=By.SYSTEM)
