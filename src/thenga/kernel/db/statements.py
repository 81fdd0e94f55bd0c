"""Statements: composed with SQLAlchemy, compiled once, run on asyncpg itself.

SQLAlchemy's own cache key says whether two statements have the same shape; the text is rendered
once a shape and asyncpg keeps it prepared. The statements of the hot path (one row by its key,
insert, update) are rendered once a table and do not pass through SQLAlchemy at all.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from functools import cache
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Select
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ClauseElement

from thenga.kernel.db import search_operators
from thenga.kernel.values.calendar import local_midnight

T = TypeVar("T")
S = TypeVar("S", bound=Select[*tuple[Any, ...]])

_DIALECT = PGDialect_asyncpg()  # type: ignore[no-untyped-call]  # not annotated upstream
_COMPILED: dict[Any, SQLCompiler] = {}
_MOST_SHAPES = 5_000


def render(statement: ClauseElement, named: dict[str, Any] | None = None) -> tuple[str, list[Any]]:
    """The text and the arguments of a statement, compiled at most once a shape.

    `named` are the values of its `bindparam`s.
    """
    key = statement._generate_cache_key()
    if key is None:
        raise TypeError("this statement cannot be cached; compose it from plain expressions")
    compiled = _COMPILED.get(key.key)
    if compiled is None:
        if len(_COMPILED) >= _MOST_SHAPES:
            # So many shapes mean that values are written into statements: a defect, not a load.
            raise RuntimeError("too many statement shapes; values must be bound, not written")
        search_operators.check(statement)
        made = statement.compile(dialect=_DIALECT, cache_key=key)
        assert isinstance(made, SQLCompiler)  # noqa: S101  # narrows the type for mypy
        compiled = _COMPILED[key.key] = made
    values = compiled.construct_params(
        named, extracted_parameters=key.bindparams, escape_names=False
    )
    return str(compiled), [values[name] for name in compiled.positiontup or ()]


def among(column: ColumnElement[T], values: Iterable[T]) -> ColumnElement[bool]:
    """Whether a column is one of some values, bound as one array: one shape, however many.

    Members of an enum are bound as what the column holds.
    """
    plain = [one.value if isinstance(one, Enum) else one for one in values]
    return column == sa.any_(sa.literal(plain, ARRAY(column.type)))


def among_named(column: ColumnElement[T], name: str) -> ColumnElement[bool]:
    """As `among`, in a statement that is composed once: the values are given by that name."""
    return column == sa.any_(sa.bindparam(name, type_=ARRAY(column.type)))


def where_given(statement: S, *filters: tuple[Any, object]) -> S:
    """The rows whose columns have the values that a caller gave; None was not given."""
    given = [column == value for column, value in filters if value is not None]
    return statement.where(*given) if given else statement


def on_local_days(
    statement: S, column: ColumnElement[datetime], since: date | None, until: date | None
) -> S:
    """The rows whose instant falls on local days, from the first to the last; None is no bound."""
    if since is not None:
        statement = statement.where(column >= local_midnight(since))
    if until is not None:
        statement = statement.where(column < local_midnight(until + timedelta(days=1)))
    return statement


@dataclass(frozen=True, slots=True)
class _Extended:
    """A statement of a caller with parts of the kernel's own, rendered once a shape."""

    text: str
    sources: list[tuple[bool, Any]]  # (ours, name) or (the caller's, place among its parameters)


_EXTENDED: dict[Any, _Extended] = {}


def render_extended(
    statement: Select[*tuple[Any, ...]],
    extend: Callable[[Select[*tuple[Any, ...]]], Select[*tuple[Any, ...]]],
    *,
    shape: Any,
    ours: dict[str, Any],
) -> tuple[str, list[Any]]:
    """As `render` for `extend(statement)`, which is composed only for a shape not seen before.

    `extend` may depend on `shape` alone and takes its values from parameters named in `ours`.
    """
    key = statement._generate_cache_key()
    if key is None:
        raise TypeError("this statement cannot be cached; compose it from plain expressions")
    known = _EXTENDED.get((key.key, shape))
    if known is None:
        if len(_EXTENDED) >= _MOST_SHAPES:
            raise RuntimeError("too many statement shapes; values must be bound, not written")
        search_operators.check(statement)
        compiled = extend(statement).compile(dialect=_DIALECT)
        assert isinstance(compiled, SQLCompiler)  # noqa: S101  # narrows the type for mypy
        places = {id(bind): place for place, bind in enumerate(key.bindparams)}
        sources: list[tuple[bool, Any]] = []
        for name in compiled.positiontup or ():
            bind = compiled.binds[name]
            if name not in ours and id(bind) not in places:
                raise TypeError("an order holds no bound value; write it as a literal column")
            sources.append((True, name) if name in ours else (False, places[id(bind)]))
        known = _EXTENDED[key.key, shape] = _Extended(str(compiled), sources)
    given = key.bindparams
    arguments = [
        ours[source] if is_ours else given[source].effective_value
        for is_ours, source in known.sources
    ]
    return known.text, arguments


def _name(table: sa.Table) -> str:
    return f'"{table.schema}"."{table.name}"'


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


# A column, or several of which any one may have the value.
Named = str | tuple[str, ...]
SHARED = "shared"  # of a notice: everybody may read it


def is_any_of(table: sa.Table, named: Named, value: Any) -> ColumnElement[bool]:
    """Whether a column, or any one of several, has a value; `shared` counts as having it."""
    names = (named,) if isinstance(named, str) else named
    return sa.or_(*(table.c[n] if n == SHARED else table.c[n] == value for n in names))


def _matches(named: Named, place: int) -> str:
    names = (named,) if isinstance(named, str) else named
    tests = (SHARED if name == SHARED else f'"{name}" = ${place}' for name in names)
    return f"({' OR '.join(tests)})"


@cache
def select_by(
    table: sa.Table,
    columns: tuple[Named, ...],
    *,
    locking: bool = False,
    loaded: tuple[str, ...] | None = None,
) -> str:
    """One row by the columns named: these columns of it, or all in declared order."""
    where = " AND ".join(_matches(named, n) for n, named in enumerate(columns, 1))
    lock = " FOR UPDATE" if locking else ""
    shown = _listed(table.c.keys() if loaded is None else loaded)
    return f"SELECT {shown} FROM {_name(table)} WHERE {where}{lock}"


@cache
def insert(table: sa.Table) -> str:
    """Insert every declared column."""
    places = ", ".join(f"${n}" for n in range(1, len(table.c) + 1))
    return f"INSERT INTO {_name(table)} ({_listed(table.c.keys())}) VALUES ({places})"


@cache
def insert_once(table: sa.Table, by: tuple[str, ...]) -> str:
    """Insert, unless another row has these values of a whole unique constraint."""
    return f"{insert(table)} ON CONFLICT ({_listed(by)}) DO NOTHING"


@cache
def update(table: sa.Table, changed: tuple[str, ...], key: tuple[str, ...]) -> str:
    """Set the changed columns of the row that still has the version read."""
    sets = ", ".join(f'"{name}" = ${n}' for n, name in enumerate(changed, 1))
    where = " AND ".join(f'"{name}" = ${n}' for n, name in enumerate(key, len(changed) + 1))
    last = len(changed) + len(key) + 1
    return f"UPDATE {_name(table)} SET {sets} WHERE {where} AND version = ${last}"


@cache
def delete(table: sa.Table, key: tuple[str, ...]) -> str:
    """Remove one row; only short-lived rows (tokens, links) are ever removed."""
    where = " AND ".join(f'"{name}" = ${n}' for n, name in enumerate(key, 1))
    return f"DELETE FROM {_name(table)} WHERE {where}"
