"""What the annotation of a column says: its type in the database, and how its values are read."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

import sqlalchemy as sa
from pydantic import BaseModel, TypeAdapter
from sqlalchemy.dialects import postgresql as pg
from sqlalchemy.types import TypeEngine
from typing_extensions import TypeAliasType

Read = Callable[[Any], Any]

Instant = sa.DateTime(timezone=True)
Json = pg.JSONB

_TYPES: dict[Any, TypeEngine[Any]] = {
    str: sa.Text(),
    int: sa.BigInteger(),
    bool: sa.Boolean(),
    bytes: sa.LargeBinary(),
    Decimal: sa.Numeric(),
    UUID: pg.UUID(),
    datetime: Instant,
    date: sa.Date(),
}


class NoColumnType(TypeError):
    """An annotation does not say which type its column has; pass the type to `col`."""


@dataclass(frozen=True)
class ColumnType:
    """One column as its annotation means it."""

    stored: TypeEngine[Any]
    nullable: bool = False
    enum: type[StrEnum] | None = None
    read: Read | None = None  # from what the driver gives to what the row has


def column_type(annotation: Any) -> ColumnType:
    """The column of a type such as `UUID | None`, a `StrEnum`, a list or a `Shape`."""
    kind, nullable = _without_none(_plain(annotation))
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return ColumnType(sa.Text(), nullable, enum=kind)
    if get_origin(kind) is Literal and all(type(value) is str for value in get_args(kind)):
        return ColumnType(sa.Text(), nullable)
    if kind in _TYPES:
        return ColumnType(_TYPES[kind], nullable)
    if _has_models(kind):
        return ColumnType(Json(), nullable, read=_reader(kind))
    if get_origin(kind) is list:
        return _list(_plain(get_args(kind)[0]), nullable)
    if kind is dict or get_origin(kind) is dict:
        return ColumnType(Json(), nullable)
    raise NoColumnType(f"{annotation} names no type of a column; write `col(<type>)`")


def _list(item: Any, nullable: bool) -> ColumnType:
    if isinstance(item, type) and issubclass(item, StrEnum):
        return ColumnType(pg.ARRAY(sa.Text()), nullable, read=lambda found: [*map(item, found)])
    inner = column_type(item)
    if isinstance(inner.stored, Json | pg.ARRAY):
        return ColumnType(Json(), nullable)
    return ColumnType(pg.ARRAY(inner.stored), nullable)


def _reader(kind: Any) -> Read:
    """Reads a document by the names of the fields.

    A field that this version does not know is passed over: while versions change, an older process
    reads what a newer one has written.
    """
    validate = TypeAdapter(kind).validator.validate_python

    def read(found: Any) -> Any:
        return validate(found, by_alias=False, by_name=True, extra="ignore")

    return read


def _has_models(kind: Any) -> bool:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return True
    return any(_has_models(_plain(part)) for part in get_args(kind))


def _plain(kind: Any) -> Any:
    """The type without its name and without its bounds, which the wire has checked."""
    while True:
        if isinstance(kind, TypeAliasType):
            kind = kind.__value__
        elif get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        else:
            return kind


def _without_none(kind: Any) -> tuple[Any, bool]:
    if get_origin(kind) not in (Union, UnionType):
        return kind, False
    parts = [_plain(part) for part in get_args(kind) if part is not NoneType]
    nullable = len(parts) < len(get_args(kind))
    return (parts[0] if len(parts) == 1 else Union[tuple(parts)]), nullable  # noqa: UP007
