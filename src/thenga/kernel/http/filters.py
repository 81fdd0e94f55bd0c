"""Filters of a list: the query parameters on the wire, and the condition that each one means.

A filter means equality with the column of its name, or one of several values where it is a list.
Any other meaning stands in its annotation: `before`, `after`, `contains` or `Where`. A filter
without a column and without a meaning raises when its class is made.
"""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from datetime import date, datetime
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import sqlalchemy as sa
from fastapi import Depends, Query
from pydantic import Field
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo
from sqlalchemy import ColumnElement, Select
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.rows import Row
from thenga.kernel.db.statements import among
from thenga.kernel.http.lists import PAGING
from thenga.kernel.values.calendar import local_midnight
from thenga.kernel.values.fields import Whole

R = TypeVar("R", bound=Row)
Meaning = Callable[[Any], ColumnElement[bool]]

_MOST_VALUES = 50  # of a list, unless the filter says so itself


class WrongFilter(TypeError):
    """A filter has no meaning in its table; found when its class is made."""


@dataclass(frozen=True)
class Where:
    """A filter with a condition of its own: `Annotated[Text | None, Where(is_nearby)]`."""

    meaning: Meaning
    column: sa.Column[Any] | None = None
    description: str | None = None


class _InService:
    """Marks a filter that the service applies: its condition needs more than its value."""


IN_SERVICE = _InService()


def before(column: sa.Column[Any]) -> Where:
    """Earlier than the instant or day that was given."""
    text = f"Only items with `{to_camel(column.key)}` before this time."
    return Where(lambda value: column < _instant(column, value), column, text)


def after(column: sa.Column[Any]) -> Where:
    """At the instant or day that was given, or later."""
    text = f"Only items with `{to_camel(column.key)}` at or after this time."
    return Where(lambda value: column >= _instant(column, value), column, text)


def contains(column: sa.Column[Any]) -> Where:
    """The text as a part, in any case; of an array, the value as an element."""
    words = column.key.replace("_", " ")
    if isinstance(column.type, pg.ARRAY):
        return Where(lambda value: value == sa.any_(column), column, f"Filter by {words}.")
    found = sa.func.strpos
    return Where(
        lambda value: found(sa.func.lower(column), value.lower()) > 0,
        column,
        f"Filter by part of the {words}.",
    )


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Filters(Generic[R]):
    """What a list can be narrowed to; `None` is no filter."""

    __row__: ClassVar[type[Row]]
    __meanings__: ClassVar[tuple[tuple[str, Meaning], ...]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in vars(cls).get("__orig_bases__", ()):
            for row in get_args(base):
                cls.__row__ = row
        made: Any = dataclass(frozen=True, kw_only=True)(cls)
        hints = get_type_hints(cls, include_extras=True)
        declared = {f.name: _Filter.of(cls, f.name, hints[f.name]) for f in fields(made)}
        cls.__meanings__ = tuple((n, f.meaning) for n, f in declared.items() if f.meaning)
        # The framework reads the parameters from here.
        made.__signature__ = inspect.Signature(
            [declared[field.name].parameter(field.default) for field in fields(made)]
        )

    def select(self) -> Select[R]:
        """The rows that these filters leave."""
        statement: Select[R] = sa.select(self.__row__)
        given = ((meaning, getattr(self, name)) for name, meaning in self.__meanings__)
        conditions = [meaning(value) for meaning, value in given if value is not None]
        return statement.where(*conditions) if conditions else statement


def filtered() -> Any:
    """The filters of a list, read from its query: `Annotated[SomeFilters, filtered()]`."""
    return Depends()


@dataclass(frozen=True)
class _Filter:
    """One filter as its annotation declares it."""

    name: str
    kind: Any
    constraints: tuple[Any, ...]
    description: str | None
    meaning: Meaning | None

    @classmethod
    def of(cls, owner: type[Filters[Any]], name: str, annotation: Any) -> "_Filter":
        kind, metadata = annotation, []
        if get_origin(annotation) is Annotated:
            kind, *metadata = get_args(annotation)
        markers = [m for m in metadata if isinstance(m, Where | _InService)]
        described = [m for m in metadata if isinstance(m, FieldInfo)]
        constraints = [m for m in metadata if m not in markers and m not in described]
        constraints += [part for field in described for part in field.metadata]
        constraints = [part for given in constraints for part in _of_query(given)]
        wire_name, is_list = to_camel(name), _is_list(kind)
        if wire_name in PAGING or len(markers) > 1:
            raise WrongFilter(f"{owner.__name__}.{name}: this name or its meaning is not unique")
        if is_list and not any(hasattr(part, "max_length") for part in constraints):
            constraints += Field(max_length=_MOST_VALUES).metadata
        marker = markers[0] if markers else _equality(owner, name, is_list=is_list)
        text = next((field.description for field in described if field.description), None)
        if isinstance(marker, _InService):
            return cls(name, kind, tuple(constraints), text, None)
        if marker.column is not None:
            _check_column(owner, name, marker.column)
        return cls(name, kind, tuple(constraints), text or marker.description, marker.meaning)

    def parameter(self, default: Any) -> inspect.Parameter:
        """The query parameter, as the framework reads it."""
        kind = self.kind
        for part in self.constraints:
            kind = Annotated[kind, part]
        query = Query(alias=to_camel(self.name), description=self.description)
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if default is MISSING else default,
            annotation=Annotated[kind, query],
        )


def _equality(owner: type[Filters[Any]], name: str, *, is_list: bool) -> Where:
    column = owner.__row__.__table__.c.get(name)
    row = owner.__row__.__name__
    if column is None:
        raise WrongFilter(f"{owner.__name__}.{name}: {row} has no such column; say what it means")
    if isinstance(column.type, pg.ARRAY | pg.JSONB):
        raise WrongFilter(f"{owner.__name__}.{name}: use `contains`, or `Where` for a document")
    if is_list:
        return Where(lambda values: among(column, values), column)
    return Where(lambda value: column == value, column)


def _check_column(owner: type[Filters[Any]], name: str, column: sa.Column[Any]) -> None:
    row = owner.__row__
    if column.table is not row.__table__:
        raise WrongFilter(f"{owner.__name__}.{name}: {column} is no column of {row.__name__}")
    if column.key in row.__secret__:
        raise WrongFilter(f"{owner.__name__}.{name}: {column} is secret")


def _of_query(constraint: Any) -> list[Any]:
    """A whole number comes as text in a query, unlike in a body."""
    if isinstance(constraint, Whole):
        return [*Field(ge=constraint.least, le=constraint.most).metadata]
    return [constraint]


def _is_list(kind: Any) -> bool:
    if get_origin(kind) is Annotated:
        return _is_list(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return any(_is_list(part) for part in get_args(kind) if part is not NoneType)
    return get_origin(kind) is list


def _instant(column: sa.Column[Any], value: Any) -> Any:
    """A day means its local midnight where the column has instants."""
    is_day = isinstance(value, date) and not isinstance(value, datetime)
    return local_midnight(value) if is_day and isinstance(column.type, sa.DateTime) else value
