"""Keyset paging: stable under inserts, bounded, with cursors that give no rights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import asyncpg
from sqlalchemy import ColumnElement, Select, literal, tuple_

from thenga.kernel.db.cursors import open_cursor, seal_cursor
from thenga.kernel.db.rows import Row

R = TypeVar("R", bound=Row)


@dataclass(frozen=True)
class Slice(Generic[R]):
    """One page of rows and the cursor of the next, if there is one."""

    items: list[R]
    next_cursor: str | None


@dataclass(frozen=True)
class Paged:
    """What a caller asked of a list: how many, from where, in which order."""

    limit: int = 50
    cursor: str | None = None
    sort: str = "createdAt"
    descending: bool = False
    bound_to: str = ""  # route, filters and order: a cursor of another list is refused

    def seal_after(self, key: bytes, bound_to: str, last: asyncpg.Record) -> str:
        """The cursor behind the last row shown; its order column comes last in the record."""
        return seal_cursor(key, [last["_by"], last["id"]], bound_to=bound_to)


def keyset(
    statement: Select[R],
    row: type[Row],
    paged: Paged,
    by: ColumnElement[Any] | None,
    key: bytes,
    bound_to: str,
) -> Select[*tuple[Any, ...]]:
    """The statement of one page: one row more than asked, to know whether there is a next."""
    identifier = row.__table__.c.id
    order = identifier if by is None else by
    if paged.cursor is not None:
        position = _position(open_cursor(key, paged.cursor, bound_to=bound_to))
        here = tuple_(order, identifier)
        there = tuple_(literal(position[0], order.type), literal(position[1], identifier.type))
        statement = statement.where(here < there if paged.descending else here > there)
    parts: list[ColumnElement[Any]] = [identifier] if by is None else [order, identifier]
    shown = statement.add_columns(order.label("_by"))
    ordering = [part.desc() for part in parts] if paged.descending else parts
    return shown.order_by(*ordering).limit(paged.limit + 1)


def _position(values: Sequence[Any]) -> tuple[Any, Any]:
    first, second = values
    return first, second
