"""Rendering by plan gives the text that pydantic gives, for every recorded answer."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated
from uuid import UUID

import pytest
from asyncpg.pgproto.pgproto import UUID as DriverUUID
from pydantic import TypeAdapter

from thenga import topology
from thenga.kernel.http.bodies import View
from thenga.kernel.http.document import examples
from thenga.kernel.http.document.operations import Operation, operations
from thenga.kernel.values.json_writer import to_json
from thenga.kernel.values.money import Money

ANSWERED = [
    one
    for one in operations(topology.load(topology.DOMAINS))
    if examples.load(one.domain).get(one.name, {}).get("response") is not None
]


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

    assert json.loads(to_json(view)) == json.loads(view.model_dump_json(by_alias=True))


@pytest.mark.parametrize("operation", ANSWERED, ids=lambda one: one.name)
def test_recorded_answers_are_written_as_pydantic_writes_them(operation: Operation):
    recorded = examples.load(operation.domain)[operation.name]["response"]
    field = operation.door.response_field
    assert field is not None
    # Some answers are one of several views; the adapter finds which.
    view = TypeAdapter(field.field_info.annotation).validate_python(recorded)

    assert json.loads(to_json(view)) == json.loads(view.model_dump_json(by_alias=True))
