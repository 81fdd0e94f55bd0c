"""Latest start and finish of the tasks of a workspace, kept beside them for lists (BID-8)."""

from datetime import date, datetime
from uuid import UUID

from sqlalchemy import select

from thenga.domains.bid.lifecycles import TaskLifecycle
from thenga.domains.bid.services.planning.schedule import Job, latest_windows
from thenga.domains.bid.tables import Plan, Task, Workspace
from thenga.kernel import configuration
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.law import EXTRA_HOLIDAYS
from thenga.kernel.values.calendar import local_day

MOST_TASKS = 300
# Dates that follow from others: no new version, nothing to tell.
_STORE = """
    UPDATE bid.task AS task SET latest_start = made.start, latest_finish = made.finish
    FROM unnest($1::uuid[], $2::date[], $3::date[]) AS made (id, start, finish)
    WHERE task.organization_id = $4 AND task.id = made.id
      AND (task.latest_start, task.latest_finish) IS DISTINCT FROM (made.start, made.finish)
"""


async def refresh_windows(work: Work, workspace: Workspace) -> None:
    """Compute the latest days of every open task again."""
    statement = select(Task).where(
        Task.workspace_id == workspace.id, among(Task.status, tuple(sorted(TaskLifecycle.OPEN)))
    )
    tasks = await work.all(statement, limit=MOST_TASKS)
    if not tasks:
        return
    plan = next(
        iter(
            await work.all(
                select(Plan)
                .where(Plan.workspace_id == workspace.id)
                .order_by(Plan.revision.desc()),
                limit=1,
            )
        ),
        None,
    )
    extra = await configuration.value(work, EXTRA_HOLIDAYS)
    windows = latest_windows([_job(task, plan) for task in tasks], extra)
    ids = [task.id for task in tasks]
    starts = [windows[one].start if one in windows else None for one in ids]
    finishes = [windows[one].finish if one in windows else None for one in ids]
    await work.run(_STORE, ids, starts, finishes, work.organization_id)


def _job(task: Task, plan: Plan | None) -> Job:
    dates = [one for one in (_day(task.due_at), _milestone(task, plan)) if one is not None]
    return Job(
        id=task.id,
        days=task.duration_days,
        due_on=min(dates, default=None),
        depends_on=tuple(UUID(one) for one in task.depends_on),
    )


def _day(instant: datetime | None) -> date | None:
    return None if instant is None else local_day(instant)


def _milestone(task: Task, plan: Plan | None) -> date | None:
    entry = None if plan is None else plan.milestones.get(task.milestone_key or "")
    return None if entry is None else local_day(datetime.fromisoformat(entry["dueAt"]))
