"""What every list takes: `limit`, `cursor` and `sort`, and how a route names its orders."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Depends, Query, Request
from pydantic.alias_generators import to_camel
from sqlalchemy import Column, ColumnElement, Label

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
PAGING = frozenset({"limit", "cursor", "sort"})  # the parameters of every list


def paged(*orders: str | ColumnElement[Any], default: str | None = None) -> Any:
    """The paging of a list; `orders` are what one may sort by, `-` turns an order round.

    `"createdAt"` is the order of identifiers. A column stands for its wire name, an expression for
    its label; a list whose service maps names to columns gives names alone.
    """
    columns = dict(_order_of(order) for order in orders)
    names = (*columns, *(f"-{name}" for name in columns))
    return Depends(_reader_of(names, default or names[0], columns))


def _order_of(order: str | ColumnElement[Any]) -> tuple[str, ColumnElement[Any] | None]:
    if isinstance(order, str):
        return order, None
    if isinstance(order, Label):
        return to_camel(order.name), order.element
    if not isinstance(order, Column):
        raise TypeError(f"{order} has no name to sort by; label it")
    if order.nullable:
        raise TypeError(f"{order} may be null, and a page would leave such rows out")
    return to_camel(order.key), order


def _reader_of(
    orders: tuple[str, ...], default: str, columns: Mapping[str, ColumnElement[Any] | None]
) -> Callable[..., Any]:
    allowed: Any = Literal[orders]
    sort_type = Annotated[allowed, Query(description="Sort order of the list.")]

    async def read(
        request: Request, limit: Limit = 50, cursor: Cursor = None, sort: str = default
    ) -> Paged:
        filters = sorted(i for i in request.query_params.multi_items() if i[0] not in _NOT_FILTERS)
        name = sort.removeprefix("-")
        return Paged(
            limit=limit,
            cursor=cursor,
            sort=name,
            descending=sort.startswith("-"),
            bound_to=f"{request.scope['path']}|{sort}|{filters}",
            by=columns[name],
        )

    read.__annotations__["sort"] = sort_type
    return read
