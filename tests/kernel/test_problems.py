"""How refusals look on the wire, and how the faults of others become ours."""

import json
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import asyncpg
import pytest
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from thenga.kernel import errors
from thenga.kernel.db.engine import Engines
from thenga.kernel.errors import Problem, RuleViolated
from thenga.kernel.http import problems
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.fields import by_rule

SENT = "canary-7f3a"


def rendered(problem: Problem) -> Response:
    return problems.render(
        problem, request_id="request-1", instance="/v1/bids/1", base_url="https://api.example/"
    )


def body_of(response: Response) -> dict[str, object]:
    return dict(json.loads(bytes(response.body)))


def test_a_problem_has_all_members_of_the_standard_and_its_facts() -> None:
    response = rendered(
        errors.Forbidden("Ask an owner.", reasonCode="no_role", decisionId=UUID(int=7))
    )

    assert response.status_code == 403
    assert response.headers["content-type"] == "application/problem+json"
    assert body_of(response) == {
        "type": "https://api.example/problems/forbidden",
        "title": "You do not have permission",
        "status": 403,
        "detail": "Ask an owner.",
        "instance": "/v1/bids/1",
        "code": "forbidden",
        "requestId": "request-1",
        "reasonCode": "no_role",
        "decisionId": "00000000-0000-0000-0000-000000000007",
    }


def test_a_fact_cannot_take_the_place_of_a_member() -> None:
    body = body_of(rendered(errors.Conflict(status=200, code="fine", amount=Decimal("1.50"))))

    assert (body["status"], body["code"], body["amount"]) == (409, "conflict", "1.50")


def test_headers_are_merged_whatever_their_case() -> None:
    assert rendered(errors.Unauthenticated()).headers["www-authenticate"] == "Bearer"
    own = errors.TokenExpired(headers={"WWW-Authenticate": 'Bearer error="invalid_token"'})
    assert rendered(own).headers.getlist("www-authenticate") == ['Bearer error="invalid_token"']
    limited = errors.RateLimited(headers={"Retry-After": "17", "RateLimit": '"a";r=0;t=17'})
    assert rendered(limited).headers["retry-after"] == "17"
    assert rendered(limited).headers["ratelimit"] == '"a";r=0;t=17'
    assert rendered(errors.Overloaded()).headers["retry-after"] == "1"
    assert "www-authenticate" not in rendered(errors.NotFound()).headers


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (asyncpg.NumericValueOutOfRangeError(SENT), errors.ValidationFailed),
        (asyncpg.InvalidTextRepresentationError(SENT), errors.ValidationFailed),
        (asyncpg.UniqueViolationError(SENT), errors.Conflict),
        (asyncpg.ForeignKeyViolationError(SENT), errors.Conflict),
        (asyncpg.SerializationError(SENT), problems.Retryable),
        (asyncpg.DeadlockDetectedError(SENT), problems.Retryable),
        (asyncpg.LockNotAvailableError(SENT), problems.Retryable),
        (asyncpg.InvalidCachedStatementError(SENT), problems.Retryable),
        (asyncpg.ConnectionDoesNotExistError(SENT), errors.DependencyUnavailable),
        (asyncpg.TooManyConnectionsError(SENT), errors.DependencyUnavailable),
        (asyncpg.QueryCanceledError(SENT), errors.DependencyUnavailable),
        (asyncpg.AdminShutdownError(SENT), errors.DependencyUnavailable),
        (ConnectionRefusedError(SENT), errors.DependencyUnavailable),
    ],
)
def test_a_refusal_of_the_database_is_told_without_its_words(
    error: Exception, expected: type[Problem]
) -> None:
    problem = problems.from_database(error)

    assert type(problem) is expected
    assert SENT not in bytes(rendered(problem).body).decode()


async def test_a_slow_statement_is_cancelled_by_the_server(settings: Settings) -> None:
    engines = Engines(settings.model_copy(update={"statement_seconds": 0.2}))
    try:
        with pytest.raises(asyncpg.QueryCanceledError) as slow:
            async with engines.pool("probe").connection() as connection:
                await connection.fetchval("SELECT pg_sleep(20)")
    finally:
        await engines.close()

    assert isinstance(problems.of_error(slow.value), errors.DependencyUnavailable)


async def test_the_client_waits_longer_than_the_server(settings: Settings) -> None:
    """Else its own time-out could come first, which is no error of PostgreSQL and a 500."""
    engines = Engines(settings.model_copy(update={"statement_seconds": 1.0}))
    try:
        async with engines.pool("probe").connection() as connection:
            await connection.execute("SET statement_timeout = 0")
            await connection.fetchval("SELECT pg_sleep(1.4)")
    finally:
        await engines.close()


def test_the_cause_is_found_under_the_wrapping_of_sqlalchemy() -> None:
    class Wrapped(Exception):
        orig = asyncpg.UniqueViolationError("x")

    adapted = Exception("adapted")
    adapted.__cause__ = asyncpg.SerializationError("x")

    assert isinstance(problems.from_database(Wrapped()), errors.Conflict)
    assert isinstance(problems.from_database(adapted), problems.Retryable)


@pytest.mark.parametrize(
    "error",
    [
        asyncpg.UndefinedTableError("x"),
        asyncpg.InsufficientPrivilegeError("x"),
        ValueError("x"),
        asyncpg.InterfaceError("x"),
    ],
)
def test_a_defect_of_ours_stays_one(error: Exception) -> None:
    assert problems.from_database(error) is None


def test_what_the_framework_refuses_keeps_its_headers() -> None:
    problem = problems.from_http(HTTPException(405, headers={"Allow": "GET"}))

    assert (problem.status, rendered(problem).headers["allow"]) == (405, "GET")
    assert [problems.from_http(HTTPException(code)).status for code in (404, 418, 502)] == [
        404,
        400,
        500,
    ]


class Card(BaseModel):
    kind: Literal["card"]
    number: str = Field(max_length=4)


class Transfer(BaseModel):
    kind: Literal["transfer"]
    account: str


class Line(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")

    unit_price: Annotated[Decimal, Field(ge=1, max_digits=6)]
    secret_word: str = "x"

    @field_validator("secret_word")
    @classmethod
    def checked(cls, value: str) -> str:
        if value == SENT:
            raise ValueError(f"{value} is not allowed")
        if value == "told":
            raise PydanticCustomError("too_plain", "Use a less plain word.")
        return value


class Order(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")

    line_items: list[Line] = Field(min_length=1)
    payment: Card | Transfer = Field(discriminator="kind")


def refused(model: type[BaseModel], body: object) -> Problem:
    """As FastAPI reports it: the place begins with where the value came from."""
    with pytest.raises(ValidationError) as found:
        TypeAdapter(model).validate_python(body)
    faults = [{**fault, "loc": ("body", *fault["loc"])} for fault in found.value.errors()]
    return problems.from_validation(RequestValidationError(faults, body=body))


def told(body: object) -> list[dict[str, str]]:
    problem = refused(Order, body)
    assert SENT not in bytes(rendered(problem).body).decode()
    return list(problem.facts["errors"])


def test_each_fault_points_at_its_place_in_what_was_sent() -> None:
    faults = told(
        {
            "lineItems": [{"unitPrice": "0"}, {"secretWord": SENT}, {"unitPrice": 5, "a/b_c": 1}],
            "payment": {"kind": "card", "number": SENT},
        }
    )

    assert faults == [
        {
            "pointer": "/lineItems/0/unitPrice",
            "code": "greater_than_equal",
            "detail": "This must be 1 or more.",
        },
        {"pointer": "/lineItems/1/unitPrice", "code": "missing", "detail": "This is required."},
        {
            "pointer": "/lineItems/1/secretWord",
            "code": "value_error",
            "detail": "This value is not valid.",
        },
        {
            "pointer": "/lineItems/2/a~1b_c",
            "code": "extra_forbidden",
            "detail": "This field does not exist here. Remove it or check the spelling.",
        },
        {
            "pointer": "/payment/number",  # without the name of the union's member
            "code": "string_too_long",
            "detail": "Use at most 4 characters.",
        },
    ]


def test_what_a_validator_of_ours_wants_to_say_is_said() -> None:
    [fault] = told(
        {
            "lineItems": [{"unitPrice": 5, "secretWord": "told"}],
            "payment": {"kind": "transfer", "account": "1"},
        }
    )

    assert (fault["code"], fault["detail"]) == ("too_plain", "Use a less plain word.")


def _above_nothing(amount: int) -> int:
    if amount <= 0:
        raise RuleViolated("Send an amount above 0.", rule="amount")
    return amount


class Invoice(BaseModel):
    amounts: list[Annotated[int, by_rule(_above_nothing)]]
    vat: int = 0


def test_a_field_that_breaks_a_rule_is_named() -> None:
    problem = refused(Invoice, {"amounts": [1, 0, -1]})

    assert (problem.code, problem.detail) == ("rule-violated", "Send an amount above 0.")
    assert problem.facts == {"rule": "amount", "field": "amounts/1"}


def test_a_broken_rule_is_told_beside_fields_that_are_not_valid() -> None:
    problem = refused(Invoice, {"amounts": [0], "vat": "none"})

    assert problem.code == "validation-failed"
    assert [(one["pointer"], one["detail"]) for one in problem.facts["errors"]] == [
        ("/amounts/0", "Send an amount above 0."),
        ("/vat", "Send an integer."),
    ]


def test_an_unknown_kind_is_not_repeated() -> None:
    [fault] = told({"lineItems": [{"unitPrice": 5}], "payment": {"kind": SENT}})

    assert fault["pointer"] == "/payment"
    assert fault["detail"] == "Use one of: 'card', 'transfer'."


@pytest.mark.parametrize(
    ("place", "kind", "pointer"),
    [
        (("query", "limit"), "int_parsing", "/query/limit"),
        (("path", "subscription_id"), "uuid_parsing", "/path/subscriptionId"),
        (("header", "x-organization-id"), "uuid_parsing", "/header/x-organization-id"),
        (("body",), "missing", ""),
        (("body", 17), "json_invalid", ""),
    ],
)
def test_faults_outside_of_the_body_say_where_they_are(
    place: tuple[str | int, ...], kind: str, pointer: str
) -> None:
    fault = {"type": kind, "loc": place, "msg": SENT, "input": SENT, "ctx": {"error": SENT}}
    problem = problems.from_validation(RequestValidationError([fault], body=None))

    assert problem.facts["errors"][0]["pointer"] == pointer
    assert SENT not in bytes(rendered(problem).body).decode()


def test_a_thousand_faults_are_counted_and_fifty_told() -> None:
    body = {
        "lineItems": [{"unitPrice": "0"}] * 1_000,
        "payment": {"kind": "transfer", "account": "1"},
    }

    assert len(told(body)) == 50


def test_problem_code_declared_in_two_modules_is_refused() -> None:
    told = {"code": "not-found", "status": 404, "title": "There is no such thing"}

    with pytest.raises(TypeError, match="'not-found' is declared twice"):
        type("NotFound", (Problem,), told | {"__module__": "thenga.domains.planted"})

    assert errors.PROBLEMS["not-found"] is errors.NotFound
