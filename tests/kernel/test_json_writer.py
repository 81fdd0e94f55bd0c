"""Views are written to the byte as pydantic writes them: recorded answers and random pages."""

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID, uuid4

import pytest
from asyncpg.pgproto.pgproto import UUID as DriverUUID
from pydantic import BaseModel, TypeAdapter
from typing_extensions import is_typeddict

from tests.suites.sizes import size
from thenga import topology
from thenga.kernel.http.bodies import View
from thenga.kernel.http.document import examples
from thenga.kernel.http.document.answers import is_paginated
from thenga.kernel.http.document.operations import Operation, operations
from thenga.kernel.values import json_writer
from thenga.kernel.values.json_writer import to_json
from thenga.kernel.values.money import Money

OPERATIONS = operations(topology.load(topology.DOMAINS))
ANSWERED = [
    one
    for one in OPERATIONS
    if examples.load(one.domain).get(one.name, {}).get("response") is not None
    if one.door.response_field is not None  # else it is bytes, not a view
]
LISTS = [one for one in OPERATIONS if is_paginated(one.door)]
ROWS = size(20, 2_000)


class Colour(StrEnum):
    BLUE = "blue"


class Inner(View):
    only_one: int


class Everything(View):
    id: UUID
    at: datetime
    at_once: datetime
    on: date
    price: Money
    share: Decimal
    colour: Colour
    inner: list[Inner]
    by_name: dict[str, Inner]
    nothing: Annotated[str | None, "said so"]


def test_every_kind_of_value_is_written_as_pydantic_writes_it():
    view = Everything(
        id=DriverUUID("019a0000-0000-7000-8000-000000000001"),
        at=datetime(2026, 11, 14, 8, 30, 0, 120, tzinfo=UTC),
        at_once=datetime(2026, 11, 14, 8, 30, tzinfo=UTC),
        on=date(2026, 11, 14),
        price=Money.of("1234.50", "ZAR"),
        share=Decimal("12.50"),
        colour=Colour.BLUE,
        inner=[Inner(only_one=1)],
        by_name={"a": Inner(only_one=2)},
        nothing=None,
    )

    assert to_json(view) == view.model_dump_json(by_alias=True).encode()


@pytest.mark.parametrize("operation", ANSWERED, ids=lambda one: one.name)
def test_recorded_answers_are_written_as_pydantic_writes_them(operation: Operation):
    recorded = examples.load(operation.domain)[operation.name]["response"]
    field = operation.door.response_field
    assert field is not None
    # Some answers are one of several views; the adapter finds which.
    view = TypeAdapter(field.field_info.annotation).validate_python(recorded)

    assert to_json(view) == view.model_dump_json(by_alias=True).encode()


@pytest.mark.parametrize("operation", LISTS, ids=lambda one: one.name)
def test_random_pages_are_written_as_pydantic_writes_them(operation: Operation) -> None:
    page = _page_of(operation)

    assert to_json(page) == page.model_dump_json(by_alias=True).encode()


def test_planted_difference_in_a_random_page_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    page = _page_of(next(one for one in LISTS if one.name == "list_equipment"))
    (view,) = {type(item) for item in page.items}
    write = json_writer._writer(view)

    def swapped(item: Any) -> object:
        struct: Any = write(item)
        struct.created_at, struct.updated_at = struct.updated_at, struct.created_at
        return struct

    monkeypatch.setitem(json_writer._WRITERS, view, swapped)

    assert to_json(page) != page.model_dump_json(by_alias=True).encode()


def _page_of(operation: Operation) -> Any:
    field = operation.door.response_field
    assert field is not None
    kind: Any = field.field_info.annotation
    drawn = [_drawn(kind.model_fields["items"].annotation, 1) for _ in range(ROWS)]
    items = [item for part in drawn for item in part]
    rest = {n: _drawn(f.annotation) for n, f in kind.model_fields.items() if n != "items"}
    return kind.model_construct(items=items, **rest)


def _instant() -> datetime:
    whole = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=random.randrange(10**9))
    return whole.replace(microsecond=random.choice((0, 120, 123456)))


_SIMPLE: dict[Any, Callable[[], Any]] = {
    str: lambda: random.choice(("", "Thandi", 'a "b" \\ \n', "ḓ \u2028 😀", "\x7f\x01")),
    int: lambda: random.randrange(-(2**53), 2**53),
    float: lambda: random.randrange(10**6) / 10**4,
    bool: lambda: random.random() < 0.5,
    NoneType: lambda: None,
    UUID: lambda: DriverUUID(uuid4().bytes),  # the class that rows hold
    datetime: _instant,
    date: lambda: _instant().date(),
    Decimal: lambda: Decimal(random.randrange(10**6)).scaleb(-2),
    Money: lambda: Money(random.randrange(10**9), "ZAR"),
    Any: lambda: {"a": [1, None, "b"]},
}


def _drawn(kind: Any, least: int = 0) -> Any:
    """A random value of an annotation, as a view holds it."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _SIMPLE:
        return _SIMPLE[kind]()
    if origin is Annotated:
        return _drawn(arguments[0], least)
    if origin in (Union, UnionType):
        return _drawn(random.choice(arguments))
    if origin is Literal:
        return random.choice(arguments)
    if origin is list:
        return [_drawn(arguments[0]) for _ in range(max(least, random.randrange(3)))]
    if origin is dict:
        return {_drawn(arguments[0]): _drawn(arguments[1]) for _ in range(random.randrange(3))}
    if is_typeddict(kind):
        return {name: _drawn(inner) for name, inner in kind.__annotations__.items()}
    if issubclass(kind, Enum):
        return random.choice(list(kind))
    assert issubclass(kind, BaseModel), kind
    drawn = {name: _drawn(field.annotation) for name, field in kind.model_fields.items()}
    return kind.model_construct(**drawn)
