"""Reading admin actions."""

from datetime import datetime
from typing import Any

from sqlalchemy import select

from thenga.domains.administration.tables import AdminAction
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given


async def list_actions(
    read: Reader,
    paged: Paged,
    *,
    since: datetime | None,
    until: datetime | None,
    **filters: Any,
) -> Slice[AdminAction]:
    """What staff did; `filters` are columns of the record."""
    table = AdminAction.__table__
    statement = where_given(
        select(AdminAction), *((table.c[name], value) for name, value in filters.items())
    )
    if since is not None:
        statement = statement.where(AdminAction.created_at >= since)
    if until is not None:
        statement = statement.where(AdminAction.created_at < until)
    return await read.page(statement, paged)
