"""A fuzzer that follows the schema is never refused, and one that breaks it always is."""

import os
from typing import Annotated

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from pydantic import BaseModel, ConfigDict
from schemathesis import GenerationMode

from thenga.kernel.values import fields
from thenga.kernel.values.money import Money

EXAMPLES = 500 if os.environ.get("THENGA_PROVE") else 40


class Everything(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: fields.Name
    note: fields.Note | None = None
    word: Annotated[str, fields.text(3, 12)]
    optional: Annotated[str, fields.text(0, 5)]
    email: fields.Email
    currency: fields.CurrencyCode
    zone: fields.TimeZoneName
    count: fields.Count
    small: fields.SmallInt
    big: fields.BigInt
    rate: fields.FiniteDecimal
    share: fields.Percent
    day: fields.Day
    at: fields.Instant
    price: Money
    prices: list[Money] = []


app = FastAPI()


@app.post("/everything")
async def keep(body: Everything) -> Everything:
    return body


OPERATION = schemathesis.openapi.from_asgi("/openapi.json", app)["/everything"]["POST"]


@pytest.mark.rule("37")
@pytest.mark.parametrize(
    ("mode", "expected"),
    [(GenerationMode.POSITIVE, {200}), (GenerationMode.NEGATIVE, {400, 422})],
    ids=["follows", "breaks"],
)
def test_the_schema_tells_the_whole_rule(mode, expected):
    statuses: list[int] = []

    @given(case=OPERATION.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    def send(case):
        answer = case.call()
        statuses.append(answer.status_code)
        assert answer.status_code in expected, answer.text
        case.validate_response(answer, checks=[schemathesis.checks.not_a_server_error])

    send()
    print(f"fields_fuzzed mode={mode.value} requests={len(statuses)} wrong=0")
