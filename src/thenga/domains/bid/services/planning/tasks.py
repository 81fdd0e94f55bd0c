"""Tasks: owners, dependencies, moves; overdue by the clock and told once (BID-9)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, literal, literal_column, or_, select

from thenga.domains.bid import public
from thenga.domains.bid.lifecycles import TaskLifecycle
from thenga.domains.bid.services import workspaces
from thenga.domains.bid.services.planning.schedule import find_cycle
from thenga.domains.bid.tables import Task, TaskStatus, Workspace
from thenga.kernel.access.actors import ActorKind
from thenga.kernel.db.acting import same_person
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Instant, merge_patch
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import explain
from thenga.kernel.errors import Forbidden, Problem, RuleViolated, SamePerson, extensions

MOST_TASKS = 300
_OPEN = tuple(sorted(TaskLifecycle.OPEN))
_NEVER: ColumnElement[Any] = literal_column("timestamptz '9999-12-31 00:00Z'", Instant)
_BY: dict[str, ColumnElement[Any]] = {
    "dueAt": func.coalesce(Task.due_at, _NEVER),
    "createdAt": Task.created_at,
}
_TASKS = (list[str], "IDs of the open tasks.")


class BidDependencyCycle(Problem):
    """A task cannot depend on itself, even through others. Remove a dependency in `path`."""

    code, status, title = "bid-dependency-cycle", 422, "These tasks depend on each other"
    members = extensions(path=(list[str], "Task IDs. Each task depends on the next."))


class BidDependencyOpen(Problem):
    """This task depends on open tasks. Finish or cancel those in `taskIds` first."""

    code, status, title = "bid-dependency-open", 409, "This task waits for other tasks"
    members = extensions(taskIds=_TASKS)


@dataclass(frozen=True, slots=True)
class TaskFilters:
    """How tasks are narrowed."""

    workspace_id: UUID | None = None
    owner_user_id: UUID | None = None
    status: TaskStatus | None = None
    overdue: bool | None = None
    blocked: bool | None = None
    due_before: datetime | None = None
    milestone_key: str | None = None
    kind: str | None = None


async def add_task(work: Work, workspace_id: UUID, fields: dict[str, Any]) -> Task:
    """Add something to do."""
    workspace = await workspaces.workspace_for(work, workspace_id)
    people = (fields["owner_user_id"], fields["reviewer_user_id"])
    await workspaces.check_assignees(work, workspace, people)
    known = await _all_of(work, workspace_id)
    if len(known) >= MOST_TASKS:
        raise RuleViolated("A bid can have at most 300 tasks.", rule="BID-9", limit=MOST_TASKS)
    depends_on: list[UUID] = fields.pop("depends_on")
    _check_known(known, depends_on)
    task = Task(
        organization_id=work.organization_id,
        workspace_id=workspace_id,
        depends_on=[str(one) for one in dict.fromkeys(depends_on)],
        **fields,
    )
    task.next_check_at = task.due_at
    await work.add(task)
    if task.owner_user_id is not None:
        work.publish(_assigned(workspace, task))
    return task


async def change_task(
    work: Work,
    task_id: UUID,
    fields: dict[str, Any],
    *,
    move: str | None,
    reason: str | None,
) -> Task:
    """Change fields and make at most one move; a new owner is told."""
    seen = await work.get(Task, task_id)
    workspace = await workspaces.seen_workspace(work, seen.workspace_id)
    people = [fields[name] for name in ("owner_user_id", "reviewer_user_id") if name in fields]
    await workspaces.check_assignees(work, workspace, people)
    known = await _all_of(work, workspace.id)
    task = await work.lock(Task, task_id)
    owner, due_at = task.owner_user_id, task.due_at
    if "reviewer_user_id" in fields:
        _check_reviewer(work, workspace, task, fields["reviewer_user_id"])
    if "depends_on" in fields:
        _check_dependencies(known, task, fields["depends_on"])
        fields["depends_on"] = [str(one) for one in dict.fromkeys(fields["depends_on"])]
    if fields.get("checklist") is not None:
        merged = task.checklist | fields["checklist"]
        fields["checklist"] = {key: one for key, one in merged.items() if one is not None}
    merge_patch(task, fields)
    if move is not None:
        _move(work, workspace, task, known, move, reason)
    if task.due_at != due_at or move is not None:
        task.next_check_at = task.due_at if is_open(task) else None
    if not work.changes(task):
        return task
    await work.save(task)
    if task.owner_user_id != owner:
        work.publish(_assigned(workspace, task))
    work.publish(_changed(workspace, task))
    return task


def _check_known(known: dict[UUID, Task], depends_on: Iterable[UUID]) -> None:
    unknown = [str(one) for one in depends_on if one not in known]
    if unknown:
        raise RuleViolated(
            "A task can depend only on tasks of the same bid.",
            rule="BID-9",
            field="dependsOn",
            unknown=unknown,
        )


def _check_dependencies(known: dict[UUID, Task], task: Task, depends_on: list[UUID]) -> None:
    _check_known(known, depends_on)
    graph = {key: [UUID(one) for one in row.depends_on] for key, row in known.items()}
    path = find_cycle(graph | {task.id: depends_on})
    if path:
        raise BidDependencyCycle(path=[str(one) for one in path])


def waiting_on(task: Task, known: dict[UUID, Task]) -> list[UUID]:
    """What a task depends on and is still open."""
    return [
        UUID(one)
        for one in task.depends_on
        if UUID(one) in known and known[UUID(one)].status in TaskLifecycle.OPEN
    ]


def _move(
    work: Work,
    workspace: Workspace,
    task: Task,
    known: dict[UUID, Task],
    verb: str,
    reason: str | None,
) -> None:
    if verb in ("block", "unblock"):
        _check_who(work, workspace, task, verb)
        _block(work, task, verb, reason)
        return
    if verb in ("start", "finish") and (waits := waiting_on(task, known)):
        raise BidDependencyOpen(taskIds=[str(one) for one in waits])
    _check_who(work, workspace, task, verb)
    if TaskLifecycle.moves[verb](task, at=work.now):
        explain(task, at=work.now, by=workspaces.person_of(work), code=verb, text=reason)


def _block(work: Work, task: Task, verb: str, reason: str | None) -> None:
    if verb == "unblock":
        task.blocked_reason = task.blocked_since = task.blocked_by = None
        return
    if reason is None:
        raise RuleViolated("Give the reason why the task is blocked.", rule="BID-9", field="reason")
    if task.blocked_since is None:
        task.blocked_since, task.blocked_by = work.now, workspaces.person_of(work)
    task.blocked_reason = reason


def _check_who(work: Work, workspace: Workspace, task: Task, verb: str) -> None:
    """With a reviewer only that person finishes a task; only the manager cancels one."""
    reviewed = verb == "finish" and task.reviewer_user_id is not None
    if reviewed and same_person(work, task.owner_user_id):
        raise SamePerson("Only the reviewer can finish this task, not its owner.")
    if work.actor.kind is not ActorKind.USER:
        return
    person, manages = work.actor.id, workspaces.is_manager(work, workspace)
    if reviewed:
        if person != task.reviewer_user_id:
            raise _not_yours(work, "Only the reviewer can finish this task.")
    elif verb == "cancel" and not manages:
        raise _not_yours(work, "Only the bid manager can cancel tasks.")
    elif not (manages or person in (task.owner_user_id, task.reviewer_user_id)):
        raise _not_yours(work, "Only the owner, the reviewer or the bid manager can do this.")


def _check_reviewer(work: Work, workspace: Workspace, task: Task, wanted: UUID | None) -> None:
    """The owner cannot take the reviewer away, also not by a key."""
    if task.reviewer_user_id in (None, wanted):
        return
    if work.actor.kind is not ActorKind.USER and not same_person(work, task.owner_user_id):
        return
    if work.actor.id != task.reviewer_user_id and not workspaces.is_manager(work, workspace):
        raise _not_yours(work, "Only the reviewer or the bid manager can change the reviewer.")


def _not_yours(work: Work, detail: str) -> Forbidden:
    return Forbidden(detail, action=work.origin.action, reasonCode="not_the_owner")


async def get_task(read: Reader, task_id: UUID) -> Task:
    """A task of a workspace that the caller may see."""
    task = await read.get(Task, task_id)
    await workspaces.seen_workspace(read, task.workspace_id)
    return task


async def list_tasks(read: Reader, page: Paged, filters: TaskFilters) -> Slice[Task]:
    """Tasks of the workspaces that the caller may see."""
    statement = where_given(
        select(Task).where(_visible(read)),
        (Task.workspace_id, filters.workspace_id),
        (Task.owner_user_id, filters.owner_user_id),
        (Task.status, filters.status),
        (Task.milestone_key, filters.milestone_key),
        (Task.kind, filters.kind),
    )
    if filters.overdue is not None:
        late = and_(
            among(Task.status, _OPEN),
            func.coalesce(Task.due_at, _NEVER) < literal(read.now, Instant),
        )
        statement = statement.where(late if filters.overdue else ~late)
    if filters.blocked is not None:
        free = Task.blocked_since.is_(None)
        statement = statement.where(~free if filters.blocked else free)
    if filters.due_before is not None:
        statement = statement.where(Task.due_at < filters.due_before)
    return await read.page(statement, page, _BY[page.sort])


def _visible(read: Reader) -> ColumnElement[bool]:
    if read.actor.kind is not ActorKind.USER:
        return Task.id.is_not(None)
    known = select(Workspace.id).where(
        Workspace.organization_id == read.organization_id,
        Workspace.id == Task.workspace_id,
        or_(
            Workspace.access == "organization",
            Workspace.bid_manager_user_id == read.actor.id,
            func.jsonb_exists(Workspace.team, literal(str(read.actor.id))),
        ),
    )
    return known.exists()


async def tasks_of(read: Reader, workspace_id: UUID) -> list[Task]:
    """Every task of a workspace, in the order in which they were added."""
    return list((await _all_of(read, workspace_id)).values())


async def dependencies_of(read: Reader, tasks: Iterable[Task]) -> dict[UUID, Task]:
    """The tasks on which these depend, by their ids."""
    ids = {UUID(one) for task in tasks for one in task.depends_on}
    if not ids:
        return {}
    found = await read.all(select(Task).where(among(Task.id, sorted(ids))), limit=len(ids))
    return {task.id: task for task in found}


async def _all_of(read: Reader, workspace_id: UUID) -> dict[UUID, Task]:
    statement = select(Task).where(Task.workspace_id == workspace_id).order_by(Task.id)
    return {task.id: task for task in await read.all(statement, limit=MOST_TASKS)}


def is_open(task: Task) -> bool:
    return task.status in TaskLifecycle.OPEN


def is_overdue(task: Task, now: datetime) -> bool:
    """By the clock, also before any job has looked."""
    return is_open(task) and task.due_at is not None and task.due_at < now


async def tell_overdue(work: Work, task_id: UUID) -> None:
    """Tell once that a task is open after its due time; a job of time."""
    task = await work.lock(Task, task_id)
    is_late = is_overdue(task, work.now)
    task.next_check_at = task.due_at if is_open(task) and not is_late else None
    if task.due_at is None or not is_late or task.overdue_told_for == task.due_at:
        await work.save(task)
        return
    task.overdue_told_for = task.due_at
    await work.save(task)
    workspace = await work.get(Workspace, task.workspace_id)
    work.publish(public.BidTaskOverdue(**_told(workspace, task), due_at=task.due_at))


async def release_owner(work: Work, user_id: UUID) -> None:
    """Open tasks of somebody who is no member any more have no owner (BID-9)."""
    statement = select(Task).where(Task.owner_user_id == user_id, among(Task.status, _OPEN))
    for found in await work.all(statement, limit=10_000):
        task = await work.hold(found)
        task.owner_user_id = None
        await work.save(task)
        workspace = await work.get(Workspace, task.workspace_id)
        work.publish(_assigned(workspace, task))


def _told(workspace: Workspace, task: Task) -> dict[str, Any]:
    return {
        **workspaces.told_of(workspace),
        "task_id": task.id,
        "label": task.title,
        "owner_user_id": task.owner_user_id,
        "status": task.status.value,
    }


def _assigned(workspace: Workspace, task: Task) -> public.BidTaskAssigned:
    return public.BidTaskAssigned(**_told(workspace, task), due_at=task.due_at)


def _changed(workspace: Workspace, task: Task) -> public.BidTaskChanged:
    return public.BidTaskChanged(
        **_told(workspace, task), due_at=task.due_at, blocked=task.blocked_since is not None
    )
