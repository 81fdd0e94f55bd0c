"""Tasks of bids."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.bid.api.parameters import EntryKey, TaskId, WorkspaceId
from thenga.domains.bid.api.references import BidReferenceBody, BidReferenceView
from thenga.domains.bid.lifecycles import TaskLifecycle
from thenga.domains.bid.lifecycles.workspaces import BidTaskBlocked
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.services import planning
from thenga.domains.bid.services.planning import (
    BidDependencyCycle,
    BidDependencyOpen,
    TaskFilters,
)
from thenga.domains.bid.services.workspaces import BidPersonNotInTeam, BidPersonUnknown, person_of
from thenga.domains.bid.tables import Task, TaskStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import InvalidTransition, RuleViolated, SamePerson
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, lines, text

router = make_router("Bid / Tasks")

TaskKind = Literal["general", "clarification", "document", "section", "form", "pricing", "delivery"]
Priority = Literal["low", "normal", "high"]
Title = Annotated[str, text(1, 160), Field(description="Title of the task.")]
Description = Annotated[Annotated[str, lines(1, 5000)] | None, Field(description="Description.")]
Owner = Annotated[UUID | None, Field(description="Person responsible.")]
Reviewer = Annotated[UUID | None, Field(description="Person who reviews and finishes the task.")]
MilestoneKey = Annotated[EntryKey | None, Field(description="Key of the milestone it belongs to.")]
DueAt = Annotated[Instant | None, Field(description="Due time.")]
DependsOn = Annotated[
    list[UUID], Field(max_length=20, description="Tasks that must be done first.")
]
About = Annotated[BidReferenceBody | None, Field(description="Subject of the task.")]


class BidCheckItem(Body):
    """An item of a checklist."""

    text: Annotated[str, text(1, 300), Field(description="What to check.")]
    done: Annotated[bool, Field(description="Whether it is done.")] = False


class AddBidTask(Body):
    """Task to add."""

    title: Title
    description: Description = None
    kind: Annotated[TaskKind, Field(description="Kind of task.")] = "general"
    owner_user_id: Owner = None
    reviewer_user_id: Reviewer = None
    milestone_key: MilestoneKey = None
    due_at: DueAt = None
    depends_on: DependsOn = []
    subject: About = None
    checklist: Annotated[
        dict[EntryKey, BidCheckItem], Field(max_length=30, description="Checklist by key.")
    ] = {}
    priority: Annotated[Priority, Field(description="Priority.")] = "normal"


class ChangeBidTask(Body):
    """Fields to update, and at most one move. Omitted fields stay unchanged."""

    title: Title = "unchanged"
    description: Description = None
    kind: Annotated[TaskKind, Field(description="Kind of task.")] = "general"
    owner_user_id: Owner = None
    reviewer_user_id: Reviewer = None
    milestone_key: MilestoneKey = None
    due_at: DueAt = None
    depends_on: DependsOn = []
    subject: About = None
    checklist: Annotated[
        dict[EntryKey, BidCheckItem | None],
        Field(max_length=30, description="Checklist items to change. Null removes one."),
    ] = {}
    priority: Annotated[Priority, Field(description="Priority.")] = "normal"
    move: Annotated[
        Literal["start", "review", "return", "finish", "reopen", "cancel", "block", "unblock"]
        | None,
        Field(description="Move to make."),
    ] = None
    reason: Annotated[
        Annotated[str, lines(1, 1000)] | None, Field(description="Reason. Required to block.")
    ] = None


class BidCheckItemView(View):
    """An item of a checklist."""

    text: Annotated[str, Field(description="What to check.")]
    done: Annotated[bool, Field(description="Whether it is done.")]


class BidTaskBlock(View):
    """Why a task is blocked."""

    reason: Annotated[str, Field(description="Reason.")]
    since: Annotated[datetime, Field(description="Time at which it was blocked.")]
    by: Annotated[UUID | None, Field(description="Person who blocked it.")]


class BidTaskView(Stored):
    """A task of a bid."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Workspace of the bid.")]
    title: Annotated[str, Field(description="Title of the task.")]
    description: Annotated[str | None, Field(description="Description.")]
    kind: Annotated[TaskKind, Field(description="Kind of task.")]
    owner_user_id: Owner
    reviewer_user_id: Reviewer
    milestone_key: Annotated[str | None, Field(description="Key of the milestone it belongs to.")]
    due_at: Annotated[datetime | None, Field(description="Due time.")]
    depends_on: Annotated[list[UUID], Field(description="Tasks that must be done first.")]
    waiting_on: Annotated[
        list[UUID], Field(description="Tasks of `dependsOn` that are still open.")
    ]
    subject: Annotated[BidReferenceView | None, Field(description="Subject of the task.")]
    checklist: Annotated[dict[str, BidCheckItemView], Field(description="Checklist by key.")]
    priority: Annotated[Priority, Field(description="Priority.")]
    blocked: Annotated[
        BidTaskBlock | None, Field(description="Why it is blocked. Null if it is not.")
    ]
    overdue: Annotated[bool, Field(description="Whether the task is overdue.")]
    status: TaskStatus
    status_reason: Annotated[str | None, Field(description="Why the status changed.")]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/bids/tasks/{self.id}"

    @classmethod
    def of(cls, task: Task, known: Mapping[UUID, Task], now: datetime) -> "BidTaskView":
        blocked = None
        if task.blocked_since is not None:
            blocked = {
                "reason": task.blocked_reason,
                "since": task.blocked_since,
                "by": task.blocked_by,
            }
        more = {
            "subject": task.about,
            "waiting_on": planning.waiting_on(task, dict(known)),
            "blocked": blocked,
            "overdue": planning.is_overdue(task, now),
            "status_reason": task.status_text or task.status_code,
            "allowed_moves": TaskLifecycle.allowed(task, now),
        }
        return cls.model_validate(task.__dict__ | more)


def _columns(fields: dict[str, Any]) -> dict[str, Any]:
    """The columns of the fields that were sent."""
    if "subject" in fields:
        about: BidReferenceBody | None = fields.pop("subject")
        fields["about"] = None if about is None else about.model_dump(mode="json")
    if "checklist" in fields:
        fields["checklist"] = {
            key: None if one is None else one.model_dump()
            for key, one in fields["checklist"].items()
        }
    return fields


@router.post(
    "/bids/workspaces/{workspaceId}/tasks",
    status_code=201,
    responses=problems(BidDependencyCycle, BidPersonUnknown, BidPersonNotInTeam, RuleViolated),
)
async def add_bid_task(
    workspace_id: WorkspaceId,
    body: AddBidTask,
    work: Annotated[Work, writes(Permission.TASK_CREATE)],
) -> BidTaskView:
    """Add a task. Its owner is notified."""
    fields = {name: getattr(body, name) for name in type(body).model_fields}
    task = await planning.add_task(work, workspace_id, _columns(fields))
    return BidTaskView.of(task, await planning.dependencies_of(work, [task]), work.now)


@router.get("/bids/tasks")
async def list_bid_tasks(
    read: Annotated[Reader, reads(Permission.TASK_READ)],
    page: Annotated[Paged, paged("dueAt", "createdAt", default="dueAt")],
    workspace_id: Annotated[
        UUID | None, Query(alias="workspaceId", description="Filter by workspace.")
    ] = None,
    owner_user_id: Annotated[
        UUID | Literal["me"] | None,
        Query(alias="ownerUserId", description="Filter by owner. Use `me` for your own tasks."),
    ] = None,
    status: Annotated[TaskStatus | None, Query(description="Filter by status.")] = None,
    overdue: Annotated[
        bool | None, Query(description="Filter by whether the task is overdue.")
    ] = None,
    blocked: Annotated[
        bool | None, Query(description="Filter by whether the task is blocked.")
    ] = None,
    due_before: Annotated[
        Instant | None, Query(alias="dueBefore", description="Due before this time.")
    ] = None,
    milestone_key: Annotated[
        EntryKey | None, Query(alias="milestoneKey", description="Filter by milestone.")
    ] = None,
    kind: Annotated[TaskKind | None, Query(description="Filter by kind.")] = None,
) -> PageOf[BidTaskView]:
    """List tasks of the bids that you can see, earliest due time first."""
    owner = person_of(read) if owner_user_id == "me" else owner_user_id
    filters = TaskFilters(
        workspace_id=workspace_id,
        owner_user_id=owner,
        status=status,
        overdue=overdue,
        blocked=blocked,
        due_before=due_before,
        milestone_key=milestone_key,
        kind=kind,
    )
    found = await planning.list_tasks(read, page, filters)
    known = await planning.dependencies_of(read, found.items)
    return PageOf[BidTaskView].of(found, lambda one: BidTaskView.of(one, known, read.now))


@router.get("/bids/tasks/{taskId}")
async def get_bid_task(
    task_id: TaskId, read: Annotated[Reader, reads(Permission.TASK_READ)]
) -> BidTaskView:
    """Retrieve a task."""
    task = await planning.get_task(read, task_id)
    return BidTaskView.of(task, await planning.dependencies_of(read, [task]), read.now)


@router.patch(
    "/bids/tasks/{taskId}",
    responses=problems(
        BidDependencyCycle,
        BidDependencyOpen,
        BidTaskBlocked,
        BidPersonUnknown,
        BidPersonNotInTeam,
        SamePerson,
        InvalidTransition,
        RuleViolated,
    ),
)
async def change_bid_task(
    task_id: TaskId,
    body: ChangeBidTask,
    work: Annotated[Work, writes(Permission.TASK_UPDATE)],
) -> BidTaskView:
    """Change a task and make at most one move.

    A task can start and finish once everything it depends on is done or cancelled. If it has a
    reviewer, only the reviewer can finish it.
    """
    fields = body.changes()
    move, reason = fields.pop("move", None), fields.pop("reason", None)
    task = await planning.change_task(work, task_id, _columns(fields), move=move, reason=reason)
    return BidTaskView.of(task, await planning.dependencies_of(work, [task]), work.now)
