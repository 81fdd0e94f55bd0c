"""Rows: tables declared for SQLAlchemy, values held in plain objects.

`Equipment.name` on the class is the SQLAlchemy column, so statements are composed and type-checked;
on an object it is the bare value, because `Col` has no `__set__` at run time and the object's own
dictionary answers first. There is no session, no identity map and no lazy loading behind it
(docs/decisions/0007).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Self,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
    overload,
)
from uuid import UUID

import sqlalchemy as sa
from pydantic import BaseModel
from sqlalchemy.dialects import postgresql as pg
from sqlalchemy.types import TypeEngine

from thenga.kernel.db.column_types import Instant, Json, Read, column_type
from thenga.kernel.db.kinds import Kind
from thenga.kernel.values.by_name import NOT_STORED, WrongFields, stored_values

__all__ = [
    "NOT_STORED",
    "BetweenRow",
    "Col",
    "Instant",
    "Json",
    "KnownTenant",
    "NoticeRow",
    "PersonalRow",
    "Row",
    "Sealed",
    "SponsoredRow",
    "TableOptions",
    "TenantRow",
    "col",
    "known_row",
    "merge_patch",
    "row_of",
    "rows",
    "status",
]

T = TypeVar("T")
R = TypeVar("R", bound="Row")

METADATA = sa.MetaData()
_REQUIRED: Any = object()


@dataclass(frozen=True)
class Sealed:
    """How a column is sealed: under which key of the deployment, bound to which other columns."""

    purpose: str
    bound_to: tuple[str, ...]


@dataclass(frozen=True)
class TableOptions:
    """What only the database needs of a row class; `make_table` says what each means."""

    unique: Sequence[tuple[str, ...]] = ()
    indexes: Sequence[tuple[str, ...]] = ()
    references: Sequence[tuple[tuple[str, ...], str, tuple[str, ...]]] = ()
    deletes: bool = False
    due: bool = False
    appends: bool = False

    def check(self, owner: str, columns: Iterable[str]) -> None:
        """A misspelt column is found when the class is made."""
        named = [*self.unique, *self.indexes, *(here for here, _, _ in self.references)]
        named += [("next_check_at",)] if self.due else []
        unknown = {name for names in named for name in names} - set(columns)
        if unknown:
            raise TypeError(f"{owner}: the table has no column {', '.join(sorted(unknown))}")


class Col(Generic[T]):
    """One column: an expression on the class, a value on the object."""

    def __init__(
        self,
        kind: TypeEngine[Any] | type[TypeEngine[Any]] | None = None,
        *,
        default: Any = _REQUIRED,
        nullable: bool = False,
        secret: bool = False,
        sealed: Sealed | None = None,
    ) -> None:
        self.column: sa.Column[Any] = sa.Column(kind, nullable=nullable)
        self.is_typed = kind is not None  # otherwise the annotation says the type
        self.default = default
        self.secret = secret or sealed is not None  # never in an audit row, never in an event
        self.sealed = sealed
        self.enum: type[StrEnum] | None = None
        self.read: Read | None = None

    def __set_name__(self, owner: type, name: str) -> None:
        self.column.name = self.column.key = name

    def annotated(self, annotation: Any) -> None:
        """Take type, nullability and enumeration from what the class says of this column."""
        meant = column_type(annotation)
        name = self.column.key
        self.column = sa.Column(name, meant.stored, nullable=meant.nullable)
        self.enum, self.read = meant.enum, meant.read
        if meant.nullable and self.default is _REQUIRED:
            self.default = None

    @overload
    def __get__(self, row: None, owner: type) -> "sa.Column[T]": ...
    @overload
    def __get__(self, row: object, owner: type) -> T: ...
    def __get__(self, row: object | None, owner: type) -> Any:
        if row is None:
            return owner.__table__.c[self.column.key]  # type: ignore[attr-defined]  # set by Row
        raise AttributeError(f"{owner.__name__}.{self.column.key} was not loaded")

    if TYPE_CHECKING:

        def __set__(self, row: object, value: T) -> None: ...


def col(
    kind: TypeEngine[Any] | type[TypeEngine[Any]] | None = None,
    *,
    default: Any = _REQUIRED,
    nullable: bool = False,
    secret: bool = False,
    sealed: Sealed | None = None,
) -> Any:
    """A column of a row class; `secret` ones never reach an audit row.

    Without a type the annotation says it, and whether the column is nullable: `Col[UUID | None]`.

    `sealed` ones are sealed under a key of the deployment, by `kernel/db/sealed.py` alone.
    """
    return Col(kind, default=default, nullable=nullable, secret=secret, sealed=sealed)


def status(of: type[StrEnum], *, default: StrEnum | None = None, nullable: bool = False) -> Any:
    """A text column that holds a member of an enumeration."""
    is_required = default is None and not nullable
    made = Col[Any](sa.Text, default=_REQUIRED if is_required else default, nullable=nullable)
    made.enum = of
    return made


def _declare(cls: type) -> None:
    """Make the columns that a class only annotates, and give each untyped one its type."""
    for name, annotation in vars(cls).get("__annotations__", {}).items():
        if isinstance(annotation, str) and annotation.startswith("Col["):
            raise TypeError(f"{cls.__name__}.{name}: write the annotation of a column unquoted")
        if get_origin(annotation) is not Col:
            continue
        column = vars(cls).get(name)
        if column is None:
            column = Col[Any]()
            setattr(cls, name, column)
            column.__set_name__(cls, name)
        if not column.is_typed:
            column.annotated(get_args(annotation)[0])


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(col, status))
class _Declared:
    """Tells type checkers that the constructor takes the columns by name."""


class Row(_Declared):
    """What every stored thing has: an identifier, two instants and a version that counts up."""

    __table__: ClassVar[sa.Table]
    __kind__: ClassVar[Kind]
    __columns__: ClassVar[tuple[str, ...]]
    __secret__: ClassVar[frozenset[str]]
    __sealed__: ClassVar[dict[str, Sealed]]
    __enums__: ClassVar[tuple[tuple[str, dict[str, StrEnum]], ...]]
    __readers__: ClassVar[tuple[tuple[str, Read], ...]]
    __options__: ClassVar[TableOptions]
    __defaults__: ClassVar[dict[str, Any]]
    __key__: ClassVar[tuple[str, ...]]
    __protected__: ClassVar[frozenset[str]]
    __told__: ClassVar[bool]

    id: Col[UUID] = col(pg.UUID, default=None)
    created_at: Col[datetime] = col(Instant, default=None)
    updated_at: Col[datetime] = col(Instant, default=None)
    version: Col[int] = col(sa.BigInteger, default=0)

    def __init_subclass__(
        cls,
        *,
        table: str | None = None,
        kind: Kind | None = None,
        key: Iterable[str] | None = None,
        told: bool = True,
        unique: Sequence[tuple[str, ...]] = (),
        indexes: Sequence[tuple[str, ...]] = (),
        references: Sequence[tuple[tuple[str, ...], str, tuple[str, ...]]] = (),
        deletes: bool = False,
        due: bool = False,
        appends: bool = False,
    ) -> None:
        """`told` is false for what is itself a note of something else, and in no trail.

        What only the database needs is written by `thenga migrations make`: see `make_table`.
        """
        super().__init_subclass__()
        _declare(cls)
        if table is None or kind is None:
            return
        cls.__told__ = told and kind is not Kind.BEARER
        schema, name = table.split(".")
        columns = _columns_of(cls)
        cls.__options__ = TableOptions(unique, indexes, references, deletes, due, appends)
        cls.__options__.check(cls.__name__, columns)
        cls.__kind__ = kind
        holders = (*kind.value.holder, *kind.value.beside)
        cls.__protected__ = frozenset(("id", "created_at", "updated_at", "version", *holders))
        cls.__key__ = tuple(key) if key is not None else kind.key
        cls.__columns__ = tuple(columns)
        cls.__secret__ = frozenset(n for n, c in columns.items() if c.secret)
        cls.__sealed__ = {n: c.sealed for n, c in columns.items() if c.sealed is not None}
        cls.__enums__ = tuple(
            (n, {m.value: m for m in c.enum}) for n, c in columns.items() if c.enum is not None
        )
        cls.__readers__ = tuple((n, c.read) for n, c in columns.items() if c.read is not None)
        cls.__defaults__ = {n: c.default for n, c in columns.items() if c.default is not _REQUIRED}
        cls.__table__ = sa.Table(
            name, METADATA, *(_copied(c) for c in columns.values()), schema=schema
        )
        _ROWS[cls.__table__] = cls

    def __init__(self, **values: Any) -> None:
        unknown = values.keys() - set(self.__columns__)
        missing = set(self.__columns__) - values.keys() - self.__defaults__.keys()
        if unknown or missing:
            raise TypeError(f"{type(self).__name__}: unknown {unknown}, missing {missing}")
        self.__dict__.update(self.__defaults__)
        self.__dict__.update(values)

    @classmethod
    def of(cls, model: BaseModel, **more: Any) -> Self:
        """A new row of a request: each field is stored in the column of its name.

        `more` has the columns that the request does not say, and wins over it. Whose the row is
        never comes from the request by itself. `NOT_STORED` marks a field without a column.
        """
        names = type(model).model_fields
        values = stored_values(cls, model, names, more, protected=cls.__protected__)
        if missing := set(cls.__columns__) - values.keys() - cls.__defaults__.keys():
            columns = ", ".join(sorted(missing))
            raise WrongFields(f"{cls.__name__} needs {columns}, not in {type(model).__name__}")
        return cls(**values)

    @classmethod
    def __clause_element__(cls) -> sa.Table:
        return cls.__table__

    @classmethod
    def load(cls: type[R], record: Iterable[Any], columns: tuple[str, ...] | None = None) -> R:
        """The object of one result row that begins with these columns, or all in declared order.

        A column that was not loaded raises when it is read.
        """
        row = cls.__new__(cls)
        names = cls.__columns__ if columns is None else columns
        values = row.__dict__ = dict(zip(names, record, strict=False))
        for name, members in cls.__enums__:
            if values.get(name) is not None:
                values[name] = members[values[name]]
        for name, read in cls.__readers__:
            if values.get(name) is not None:
                values[name] = read(values[name])
        return row

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.__dict__.get('id')}>"


class TenantRow(Row):
    """A row that one organization owns."""

    organization_id: Col[UUID] = col(pg.UUID)


class KnownTenant(TenantRow):
    """An organization as a domain keeps it: whether it is a sandbox."""

    sandbox: Col[bool] = col(sa.Boolean)


class PersonalRow(Row):
    """A row of one person, whatever organizations they belong to."""

    user_id: Col[UUID] = col(pg.UUID)


class BetweenRow(TenantRow):
    """A row that two organizations share; without the second it is the first one's alone."""

    counterparty_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class NoticeRow(TenantRow):
    """A row that one organization keeps and, while it is shared, everybody reads."""

    shared: Col[bool] = col(sa.Boolean, default=False)


class SponsoredRow(PersonalRow):
    """A row of one person, and of the organization that pays for it if there is one."""

    organization_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class Explained(Row):
    """A row that keeps why its status changed, when and by whom; `Move.make` writes it down."""

    status_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


_ROWS: dict[Any, type[Row]] = {}


def rows() -> list[type[Row]]:
    """Every row class that was declared; for sweeps."""
    return list(_ROWS.values())


def known_row(table: Any) -> type[Row] | None:
    """The row class of a table, if it has one."""
    return _ROWS.get(table)


def row_of(table: Any) -> type[Row]:
    """The row class of a table."""
    return _ROWS[table]


def _columns_of(cls: type) -> dict[str, Col[Any]]:
    found: dict[str, Col[Any]] = {}
    for base in reversed(cls.__mro__):
        # A column that is only annotated stands where the class names it, not at its end.
        names = dict.fromkeys([*vars(base).get("__annotations__", {}), *vars(base)])
        found.update({n: c for n in names if isinstance(c := vars(base).get(n), Col)})
    return found


def _copied(declared: Col[Any]) -> sa.Column[Any]:
    # A base's column belongs to several tables, and a SQLAlchemy column only ever to one.
    made = declared.column
    return sa.Column(made.key, made.type, nullable=made.nullable)


def merge_patch(row: Row, fields: Mapping[str, Any] | BaseModel, **more: Any) -> list[str]:
    """Set what a caller sent on a locked row, null included; the names of what is new.

    Of a request model these are the fields that were sent, with `more` as in `Row.of`.
    """
    if isinstance(fields, BaseModel):
        kind, sent = type(row), fields.model_fields_set
        fields = stored_values(kind, fields, sent, more, protected=kind.__protected__)
    changed = [name for name, value in fields.items() if getattr(row, name) != value]
    for name in changed:
        setattr(row, name, fields[name])
    return changed
