"""The shapes on the wire: `Body` comes in, `View` goes out, `PageOf` is a list's answer."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from types import NoneType
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar, TypeVarTuple
from uuid import UUID

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from thenga.kernel.db.paging import Slice
from thenga.kernel.db.rows import Row
from thenga.kernel.values.by_name import shown_values
from thenga.kernel.values.json_writer import to_json

R = TypeVar("R", bound=Row)
V = TypeVar("V", bound=BaseModel)
Beside = TypeVarTuple("Beside")


_NONE_SET: set[str] = set()  # shared: nobody asks a view which of its fields were set
_set = object.__setattr__  # past pydantic's own, which looks at every name


class Body(BaseModel):
    """What a client sends; a field we do not know is refused, so a typing mistake is not lost."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=False)

    def changes(self) -> dict[str, Any]:
        """The fields the client really sent."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class WrongView(TypeError):
    """A view was given values that its schema does not describe; found in test builds."""


class View(BaseModel):
    """What a client gets; made from a row by its attributes."""

    checked: ClassVar[bool] = False  # in test builds: `shown` compares its values with the schema

    model_config = ConfigDict(
        from_attributes=True,
        alias_generator=to_camel,
        populate_by_name=True,
        serialize_by_alias=True,
        json_schema_serialization_defaults_required=True,  # every field is always sent
        defer_build=True,  # only test builds and the OpenAPI document validate answers
    )

    @classmethod
    def shown(cls, values: dict[str, Any]) -> Self:
        """A view of values that a row holds already: they are typed, so they are not read again.

        The dictionary becomes the view's own. What is not a field stays inside; a field without
        a value is a defect and raises when the answer is rendered. In test builds they are read
        nevertheless, and a value of another type than the schema says is a defect too.
        """
        view = cls.__new__(cls)
        _set(view, "__dict__", values)
        _set(view, "__pydantic_fields_set__", _NONE_SET)
        _set(view, "__pydantic_extra__", None)
        _set(view, "__pydantic_private__", None)
        if View.checked:
            _check(view)
        return view


def _check(view: View) -> None:
    """Whether pydantic takes the values, and would write them as we do."""
    kind, values = type(view), view.__dict__
    given = {name: values[name] for name in kind.model_fields if name in values}
    try:
        read = kind.model_validate(given).__dict__
    except ValidationError as error:
        raise WrongView(f"{kind.__name__}: {error}") from error
    for name, value in given.items():
        ours, theirs = to_json(value), to_json(read[name])
        if ours != theirs and not _is_alike(orjson.loads(ours), orjson.loads(theirs)):
            raise WrongView(f"{kind.__name__}.{name}: {value!r} is written unlike {read[name]!r}")


def _is_alike(ours: Any, theirs: Any) -> bool:
    """Of the same types under the same names; a document of a row may write an instant its way."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() <= theirs.keys() and all(
            _is_alike(value, theirs[name]) for name, value in ours.items()
        )
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_is_alike, ours, theirs))
    return type(ours) is type(theirs) and (ours == theirs or isinstance(ours, str))


class Stored(View):
    """What every stored resource shows."""

    id: Annotated[
        UUID, Field(description="Unique identifier. It never changes and is never reused.")
    ]
    created_at: datetime
    updated_at: Annotated[datetime, Field(description="Time of the last change.")]
    version: Annotated[
        int,
        Field(
            ge=1,
            description="Version number. It increases with every change; send it in `If-Match`.",
        ),
    ]

    @classmethod
    def of(cls, *rows: Any, **more: Any) -> Self:
        """The view of one row: its columns by name, `more` for what it does not have.

        The signature is open, because a view may take what it needs: `of(cls, case, read)`.
        """
        (row,) = rows
        return cls.shown(shown_values(cls, row, more))


@dataclass(frozen=True, slots=True)
class Known(Generic[V]):
    """The resource existed already: its route answers 200 in place of 201."""

    view: V


@dataclass(frozen=True, slots=True)
class Accepted(Generic[V]):
    """The work goes on after the answer: its route answers 202, with `own_path` as `Location`."""

    view: V


class Progress(View):
    """Progress of work that takes longer than a request. Read the resource again to follow it."""

    done: Annotated[int, Field(ge=0, description="Number of completed steps.")]
    total: Annotated[
        int | None, Field(ge=0, description="Total number of steps. Null until it is known.")
    ]
    note: Annotated[str | None, Field(description="Current step, for people to read.")]


class PageOf(View, Generic[V]):
    """One page of a list."""

    items: Annotated[list[V], Field(description="Items of this page.")]
    next_cursor: Annotated[
        str | None,
        Field(description="Cursor of the next page. Send it as `cursor`; null on the last page."),
    ]

    @classmethod
    def of(cls, page: Slice[R], view: Callable[[R, *Beside], V], *beside: *Beside) -> "PageOf[V]":
        """The views of a slice, each made of its row and of what is given beside it."""
        return cls.model_construct(
            items=[view(row, *beside) for row in page.items], next_cursor=page.next_cursor
        )


class _Once:
    """Marks a field that is shown in one answer only."""


SHOWN_ONCE = _Once()


@cache
def secrets_of(kind: type[BaseModel]) -> list[str]:
    """The fields of an answer that a repeated call must not show again."""
    return [n for n, f in kind.model_fields.items() if SHOWN_ONCE in f.metadata]


def without_secrets(model: BaseModel) -> bytes | None:
    """The answer to keep for a repeat; None if the answer as sent may be kept."""
    emptied = _emptied(model)
    return None if emptied is model else emptied.model_dump_json(by_alias=True).encode()


_PLAIN = frozenset({str, int, float, bool, NoneType, UUID, date, datetime})  # hold nothing inside


def _emptied(value: Any) -> Any:
    """The value with its secrets null, however deep they are; itself where it holds none."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, list):
        items = [_emptied(one) for one in value]
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    if isinstance(value, dict):
        entries = {name: _emptied(one) for name, one in value.items()}
        return entries if any(entries[name] is not value[name] for name in value) else value
    if isinstance(value, BaseModel):
        changed: dict[str, Any] = dict.fromkeys(secrets_of(type(value)))
        for name in type(value).model_fields:
            inner = value.__dict__[name]
            if name not in changed and (made := _emptied(inner)) is not inner:
                changed[name] = made
        return value.model_copy(update=changed) if changed else value
    return value
