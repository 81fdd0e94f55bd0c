"""The lines of a migration that make tables and columns, in the form of migrations here."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from enum import Enum
from typing import Any

import orjson
import sqlalchemy as sa
from pydantic import BaseModel
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.rows import Row
from thenga.kernel.values.shapes import as_document

_WIDTH = 96  # of a line inside `upgrade`
_BASE = ("id", "created_at", "updated_at", "version")
_MAKERS: tuple[tuple[type[Any], str], ...] = (
    (sa.Text, "text"),
    (sa.UUID, "ident"),
    (sa.DateTime, "instant"),
    (sa.Date, "day"),
    (sa.Boolean, "flag"),
    (sa.BigInteger, "number"),
    (sa.Integer, "whole"),
    (pg.JSONB, "json"),
    (sa.LargeBinary, "octets"),
)
_TYPES: tuple[tuple[type[Any], str], ...] = (
    (sa.Text, "sa.Text"),
    (sa.UUID, "pg.UUID"),
    (sa.DateTime, "sa.DateTime(timezone=True)"),
    (sa.Date, "sa.Date"),
    (sa.Boolean, "sa.Boolean"),
    (sa.BigInteger, "sa.BigInteger"),
    (sa.SmallInteger, "sa.SmallInteger"),
    (sa.Integer, "sa.Integer"),
    (pg.JSONB, "pg.JSONB"),
    (sa.LargeBinary, "sa.LargeBinary"),
)


def new_table(row: type[Row]) -> list[str]:
    """The call of `make_table` for a row class."""
    options, kind, table = row.__options__, row.__kind__, row.__table__
    ours = {*_BASE, *kind.value.holder, *kind.value.beside}
    ours |= {"next_check_at"} if options.due else set()
    arguments = [f'"{table.fullname}"', f"Kind.{kind.name}"]
    arguments += [_column(column) for column in table.c if column.name not in ours]
    if row.__key__ != kind.key:
        arguments.append(f"key={_text(row.__key__)}")
    for name in ("unique", "indexes", "references"):
        if given := getattr(options, name):
            arguments += _keyword(name, given)
    arguments += [f"{n}=True" for n in ("deletes", "due", "appends") if getattr(options, n)]
    return ["make_table(", *(f"    {line}" for line in _with_commas(arguments)), ")"]


def new_column(row: type[Row], column: sa.Column[Any]) -> tuple[list[str], bool]:
    """The call of `op.add_column`, and whether rows that exist have a value afterwards."""
    domain, table, name = row.__table__.schema, row.__table__.name, column.name
    if column.nullable or name not in row.__defaults__:
        made = f'op.add_column("{table}", {_column(column)}, schema="{domain}")'
        return [made], bool(column.nullable)
    filled = _quoted(_as_default(row.__defaults__[name], column))
    return [
        "op.add_column(",
        f'    "{table}",',
        "    sa.Column(",
        *(f"        {part}," for part in (f'"{name}"', _type(column), "nullable=False")),
        f"        server_default={filled},",
        "    ),",
        f'    schema="{domain}",',
        ")",
        f'op.alter_column("{table}", "{name}", server_default=None, schema="{domain}")',
    ], True


def _as_default(value: Any, column: sa.Column[Any]) -> str:
    """The value that a class gives to rows, as PostgreSQL reads it."""
    if isinstance(column.type, pg.JSONB):
        plain = value if not isinstance(value, BaseModel) else as_document(value)
        return orjson.dumps(plain, default=as_document).decode()
    if isinstance(column.type, pg.ARRAY):
        return "{" + ",".join(_as_element(each) for each in value) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Enum):
        return str(value.value)
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _as_element(value: Any) -> str:
    """A value inside an array; what is more than a word is quoted."""
    text = _as_default(value, sa.Column(sa.Text))
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return text if text.isidentifier() else f'"{escaped}"'


def _column(column: sa.Column[Any]) -> str:
    null = ", nullable=True" if column.nullable else ""
    if isinstance(column.type, pg.ARRAY) and isinstance(column.type.item_type, sa.Text):
        return f'texts("{column.name}"{null})'
    for kind, maker in _MAKERS:
        # `SmallInteger` is an `Integer`, and no maker has it.
        if isinstance(column.type, kind) and not isinstance(column.type, sa.SmallInteger):
            return f'{maker}("{column.name}"{null})'
    return f'sa.Column("{column.name}", {_type(column)}, nullable={bool(column.nullable)})'


def _type(column: sa.Column[Any]) -> str:
    kind = column.type
    if isinstance(kind, pg.ARRAY):
        return f"pg.ARRAY({_type(sa.Column(kind.item_type))})"
    if isinstance(kind, sa.Numeric):
        return f"sa.Numeric({kind.precision}, {kind.scale})" if kind.precision else "sa.Numeric"
    for known, text in _TYPES:
        if isinstance(kind, known):
            return text
    raise TypeError(f"{column.name} has the type {kind!r}; write its migration by hand")


def _keyword(name: str, values: Iterable[Any]) -> list[str]:
    listed = [_text(value) for value in values]
    line = f"{name}=[{', '.join(listed)}]"
    if len(line) <= _WIDTH - 5:
        return [line]
    return [f"{name}=[\n" + "".join(f"    {value},\n" for value in listed) + "]"]


def _text(value: Any) -> str:
    """A tuple of names, or a text, with double quotes."""
    if isinstance(value, str):
        return _quoted(value)
    inner = ", ".join(_text(each) for each in value)
    return f"({inner},)" if len(value) == 1 else f"({inner})"


def _quoted(text: str) -> str:
    """A literal with the quotes that need fewer escapes, as the formatter writes it."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n").replace(quote, "\\" + quote)
    return f"{quote}{escaped}{quote}"


def _with_commas(arguments: list[str]) -> Iterator[str]:
    for argument in arguments:
        *first, last = argument.split("\n")
        yield from first
        yield f"{last},"
