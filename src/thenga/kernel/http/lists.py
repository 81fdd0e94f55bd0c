"""What every list takes: `limit`, `cursor` and `sort`, and how a route names its orders."""

from collections.abc import Callable
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Depends, Query, Request

from thenga.kernel.db.paging import Paged

Limit = Annotated[int, Query(ge=1, le=200, description="Number of items on a page.")]
Cursor = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=2000,
        pattern="^[A-Za-z0-9_-]+$",
        description="`nextCursor` of the previous page.",
    ),
]
# The route goes on by `await on_behalf_of(read, organization_id)` of `kernel/db/acting.py`.
OfOrganization = Annotated[
    UUID | None,
    Query(
        alias="organizationId",
        description="Organization to read. Operators only; everyone else sees their own.",
    ),
]
_NOT_FILTERS = ("cursor", "limit")


def paged(*orders: str, default: str | None = None) -> Any:
    """The paging of a list; `orders` are the fields one may sort by, `-` turns an order round."""
    return Depends(_reader_of((*orders, *(f"-{order}" for order in orders)), default or orders[0]))


def _reader_of(orders: tuple[str, ...], default: str) -> Callable[..., Any]:
    allowed: Any = Literal[orders]
    sort_type = Annotated[allowed, Query(description="Sort order of the list.")]

    async def read(
        request: Request, limit: Limit = 50, cursor: Cursor = None, sort: str = default
    ) -> Paged:
        filters = sorted(i for i in request.query_params.multi_items() if i[0] not in _NOT_FILTERS)
        return Paged(
            limit=limit,
            cursor=cursor,
            sort=sort.removeprefix("-"),
            descending=sort.startswith("-"),
            bound_to=f"{request.scope['path']}|{sort}|{filters}",
        )

    read.__annotations__["sort"] = sort_type
    return read
