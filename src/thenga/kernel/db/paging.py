"""Keyset paging: stable under inserts, bounded, with cursors that give no rights."""

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import asyncpg
from sqlalchemy import ColumnElement, Integer, Select, bindparam, literal, tuple_
from sqlalchemy.dialects.postgresql import UUID

from thenga.kernel.crypto.sealing import Ring
from thenga.kernel.db.cursors import open_cursor, seal_cursor
from thenga.kernel.db.rows import Row
from thenga.kernel.db.statements import Named, is_any_of, render_extended

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
    # What `sort` means, where the route names a column; a service may map the name itself.
    by: ColumnElement[Any] | None = field(default=None, compare=False)

    def seal_after(self, ring: Ring, bound_to: str, last: asyncpg.Record) -> str:
        """The cursor behind the last row shown; its order column comes last in the record."""
        return seal_cursor(ring, [last["_by"], last["id"]], bound_to=bound_to)


@dataclass(frozen=True, slots=True)
class Keyset:
    """How one page is cut out of a statement: whose rows, in which order, from where."""

    row: type[Row]
    holder: Named | None  # the column, or either column, that names whose rows they are
    by: ColumnElement[Any] | None
    descending: bool
    from_start: bool

    @property
    def shape(self) -> tuple[Any, ...]:
        """What the text of the statement depends on; values are bound."""
        order = None if self.by is None else id(self.by)  # orders are constants of services
        return (self.row.__table__, self.holder, order, self.descending, self.from_start)

    def extend(self, statement: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
        """The statement of one page: one row more than asked, to know whether there is a next."""
        identifier = self.row.__table__.c.id
        order = identifier if self.by is None else self.by
        if self.holder is not None:
            statement = statement.where(_is_held(self.row, self.holder))
        if not self.from_start:
            here = tuple_(order, identifier)
            there = tuple_(
                bindparam("_by_value", type_=order.type), bindparam("_id", type_=identifier.type)
            )
            statement = statement.where(here < there if self.descending else here > there)
        parts: list[ColumnElement[Any]] = [identifier] if self.by is None else [order, identifier]
        ordering = [part.desc() for part in parts] if self.descending else parts
        shown = statement.add_columns(order.label("_by"))
        return shown.order_by(*ordering).limit(bindparam("_most", type_=Integer()))


def _is_held(row: type[Row], holder: Named) -> ColumnElement[bool]:
    return is_any_of(row.__table__, holder, bindparam("_holder", type_=UUID()))


def bounded_statement(
    statement: Select[R], row: type[Row], holder: tuple[Named, Any] | None, values: dict[str, Any]
) -> tuple[str, list[Any]]:
    """The text and arguments of a statement that names its values, bound to whose rows they are."""

    def extend(made: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
        if holder is not None:
            made = made.where(_is_held(row, holder[0]))
        return made.limit(bindparam("_most", type_=Integer()))

    ours = values if holder is None else values | {"_holder": holder[1]}
    shape = (row.__table__, holder and holder[0])
    return render_extended(statement, extend, shape=shape, ours=ours)


def page_statement(
    statement: Select[R],
    row: type[Row],
    paged: Paged,
    by: ColumnElement[Any] | None,
    *,
    holder: tuple[Named, Any] | None,
    ring: Ring,
    bound_to: str,
) -> tuple[str, list[Any]]:
    """The text and arguments of one page of a statement."""
    values: dict[str, Any] = {"_most": paged.limit + 1}
    if holder is not None:
        values["_holder"] = holder[1]
    if paged.cursor is not None:
        values["_by_value"], values["_id"] = open_cursor(ring, paged.cursor, bound_to=bound_to)
    cut = Keyset(row, holder[0] if holder else None, by, paged.descending, paged.cursor is None)
    return render_extended(statement, cut.extend, shape=cut.shape, ours=values)


def cut_records(
    statement: Select[*tuple[Any, ...]],
    paged: Paged,
    order: tuple[ColumnElement[Any], ColumnElement[Any]],
    *,
    ring: Ring,
    bound_to: str,
) -> Select[*tuple[Any, ...]]:
    """One page, and one row more, of a statement that is no table's; ordered by two columns."""
    if paged.cursor is not None:
        last = open_cursor(ring, paged.cursor, bound_to=bound_to)
        there = tuple_(*(literal(v, c.type) for v, c in zip(last, order, strict=True)))
        here = tuple_(*order)
        statement = statement.where(here < there if paged.descending else here > there)
    ordering = [part.desc() for part in order] if paged.descending else list(order)
    return statement.order_by(*ordering).limit(paged.limit + 1)
