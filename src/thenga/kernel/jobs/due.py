"""What is due, by the clock of the organization that owns it.

A row that time will move has `next_check_at`. Its table needs two indexes: `next_check_at`, and
`organization_id, next_check_at`; `make_table(…, due=True)` makes the column and both. Rows of a
platform table belong to no organization: they are due by the base clock, and their jobs run as the
system.
"""

import inspect
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from thenga.kernel.db.rows import Row
from thenga.kernel.db.sandbox import offsets_of
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Body, Job, Jobs


def when_due(
    jobs: Jobs, row: type[Row], *, every: timedelta, limit: int = 500, outside: bool = False
) -> Callable[[Body], Job]:
    """What is done with each row whose time has come: `every` so often they are found, and each
    is done in a job of its own, so one failure stops nothing. The body names the row's id."""

    def declare(body: Body) -> Job:
        named = inspect.signature(body).parameters.values()
        (name,) = [one.name for one in named if one.kind is one.KEYWORD_ONLY]
        key = f"{{{name}}}"
        is_owned = "organization_id" in row.__table__.c
        declaring = (
            jobs.outside(key=key) if outside else jobs.queued(key=key, as_system=not is_owned)
        )
        do = declaring(body)
        if is_owned:
            jobs.moved[row] = (do, name)

        async def find(work: Work) -> None:
            for organization_id, row_id in await due(work, row, limit=limit):
                named_id: dict[str, Any] = {name: row_id}
                work.enqueue(do, organization_id=organization_id, **named_id)

        find.__name__ = f"find_to_{body.__name__}"
        jobs.every(every)(find)
        return do

    return declare


async def due(work: Work, row: type[Row], *, limit: int) -> list[tuple[UUID | None, UUID]]:
    """Organization and identifier of rows whose time has come, earliest first.

    A sandbox organization's clock runs ahead, so more of its rows are due; these are found one
    sandbox at a time, and everybody's rows by the base clock as if there were no sandboxes.
    """
    statement = _statement(row.__table__, work.now, limit)
    return [(record[0], record[1]) for record in await work.records(statement)]


def _statement(table: sa.Table, now: datetime, limit: int) -> sa.Select[tuple[UUID | None, UUID]]:
    base = sa.literal(now, sa.DateTime(timezone=True))
    if "organization_id" not in table.c:
        return (
            sa.select(sa.cast(None, sa.Uuid), table.c.id)
            .where(table.c.next_check_at <= base)
            .order_by(table.c.next_check_at, table.c.id)
            .limit(limit)
        )
    offsets = offsets_of(str(table.schema))
    columns = (table.c.organization_id, table.c.id, table.c.next_check_at)
    by_base = (
        sa.select(*columns)
        .where(table.c.next_check_at <= base)
        .order_by(table.c.next_check_at)
        .limit(limit)
    )
    ahead = (
        sa.select(*columns)
        .where(
            table.c.organization_id == offsets.c.organization_id,
            table.c.next_check_at > base,
            table.c.next_check_at <= base + offsets.c.ahead,
        )
        .order_by(table.c.next_check_at)
        .limit(limit)
        .correlate(offsets)
        .lateral("ahead")
    )
    by_sandbox = sa.select(*ahead.c).select_from(offsets.join(ahead, sa.true()))
    both = sa.union_all(by_base.subquery("by_base").select(), by_sandbox).subquery("both")
    return (
        sa.select(both.c.organization_id, both.c.id)
        .order_by(both.c.next_check_at, both.c.id)
        .limit(limit)
    )
