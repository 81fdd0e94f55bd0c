"""Filters: what each means in a list, in the document, and which mistakes raise at import."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID, uuid4

import httpx2
import pytest
from fastapi import FastAPI

from tests.factories import identity as people
from tests.kernel.serving import serving
from tests.stalls import Stall, Visit
from tests.stalls.routes import DOMAIN, FIRST_DAY, StallFilters
from tests.stalls.stored import migrate_stalls
from thenga.kernel.db.statements import render
from thenga.kernel.http.document.openapi import document
from thenga.kernel.http.document.operations import mounted
from thenga.kernel.http.filters import Filters, WrongFilter, before
from thenga.kernel.http.lists import paged
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.fields import Instant

ORGANIZATION = UUID("019a0000-0000-7000-8000-0000000000c3")
TOWNS = ("Giyani", "Sibasa", "Giyani", None)


@pytest.fixture(scope="module")
async def market(settings: Settings, seeded: None) -> AsyncIterator[httpx2.AsyncClient]:
    migrate_stalls(settings)
    apart = {"actor_per_minute": 1_000_000, "redis": settings.redis.replace("/0", "/2")}
    async with serving(settings.model_copy(update=apart), DOMAIN) as client:
        yield client


@pytest.fixture(scope="module")
async def owner(host: Host, market: httpx2.AsyncClient) -> people.Member:
    """The owner of a company with four stalls."""
    found = await people.member(host, uuid4(), role="owner")
    for number, town in enumerate(TOWNS):
        body = {
            "code": f"Stall-{number}",
            "opensOn": (FIRST_DAY - timedelta(days=number)).isoformat(),
            "place": town and {"town": town},
            "produce": ["bread"] if number % 2 else ["fruit", "bread"],
        }
        answer = await market.post("/stalls", json=body, headers=found.headers)
        assert answer.status_code == 201, answer.text
    return found


async def codes(market: httpx2.AsyncClient, owner: people.Member, query: str) -> list[str]:
    answer = await market.get(f"/stalls?{query}", headers=owner.headers)
    assert answer.status_code == 200, answer.text
    return [item["code"][-1] for item in answer.json()["items"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sort=createdAt", "0123"),
        ("", "3210"),
        ("status=open", "3210"),
        ("status=closed", ""),
        ("code=Stall-1&code=Stall-3", "31"),
        ("opensBefore=2026-11-13", "32"),
        ("madeAfter=2020-01-01T00:00:00Z", "3210"),
        ("madeAfter=2150-01-01T00:00:00Z", ""),
        ("madeFrom=2150-01-01", ""),
        ("q=TALL-2", "2"),
        ("q=%25", ""),
        ("produce=fruit", "20"),
        ("town=Giyani", "20"),
        ("town=Giyani&produce=fruit&code=Stall-0", "0"),
        ("least=2", ""),
        ("sort=opensOn", "3210"),
        ("sort=-opensOn", "0123"),
    ],
)
async def test_each_filter_leaves_its_rows(
    market: httpx2.AsyncClient, owner: people.Member, query: str, expected: str
):
    assert "".join(await codes(market, owner, query)) == expected


async def test_pages_go_on_in_the_order_of_a_column(
    market: httpx2.AsyncClient, owner: people.Member
):
    query, found = "sort=opensOn&limit=1&status=open", ""
    cursor = ""
    while True:
        answer = await market.get(f"/stalls?{query}{cursor}", headers=owner.headers)
        found += answer.json()["items"][0]["code"][-1]
        if answer.json()["nextCursor"] is None:
            break
        cursor = f"&cursor={answer.json()['nextCursor']}"
    foreign = await market.get(
        f"/stalls?{query.replace('status=open', 'status=closed')}{cursor}", headers=owner.headers
    )

    assert found == "3210"
    assert (foreign.status_code, foreign.json()["code"]) == (400, "invalid-cursor")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("statuss=open", "statuss"),
        ("opens_before=2026-11-13", "extra_forbidden"),
        ("status=gone", "status"),
        ("opensBefore=yesterday", "opensBefore"),
        ("sort=code", "sort"),
        ("least=100", "least"),
        ("&".join(f"code=s{number}" for number in range(51)), "code"),
    ],
)
async def test_an_unknown_filter_or_value_is_refused(
    market: httpx2.AsyncClient, owner: people.Member, query: str, field: str
):
    answer = await market.get(f"/stalls?{query}", headers=owner.headers)

    assert (answer.status_code, answer.json()["code"]) == (422, "validation-failed")
    assert field in answer.text


def test_the_document_shows_filters_as_described_parameters():
    made = document(mounted([DOMAIN]).routes, [DOMAIN], examples=False)

    listed = {
        parameter["name"]: parameter
        for parameter in made["paths"]["/v1/stalls"]["get"]["parameters"]
        if "name" in parameter
    }
    assert [*listed] == [
        *("sort", "status", "code", "opensBefore", "madeAfter", "madeFrom", "q"),
        *("produce", "town", "least"),
    ]
    assert listed["sort"]["schema"]["enum"] == ["createdAt", "opensOn", "-createdAt", "-opensOn"]
    assert listed["status"] == {
        "name": "status",
        "in": "query",
        "required": False,
        "schema": {"$ref": "#/components/schemas/StallsStallStatus"},
        "description": "Filter by status.",
    }
    assert listed["code"]["schema"]["type"] == "array"
    assert listed["code"]["schema"]["maxItems"] == 50
    assert listed["opensBefore"]["description"] == "Only items with `opensOn` before this time."
    assert listed["opensBefore"]["schema"]["format"] == "date"
    assert listed["q"]["description"] == "Filter by part of the code."
    assert listed["town"]["description"] == "Filter by town."


def test_a_list_with_filters_documents_a_malformed_query():
    made = document(mounted([DOMAIN]).routes, [DOMAIN], examples=False)

    refused = made["paths"]["/v1/stalls"]["get"]["responses"]["400"]
    assert refused["$ref"] == "#/components/responses/InvalidCursorOrMalformedRequest"


def test_equal_filters_are_one_prepared_statement():
    first, _ = render(StallFilters(code=["a"], q="x").select())
    again, values = render(StallFilters(code=["b", "c"], q="y").select())

    assert first == again
    assert values[:2] == [["b", "c"], "y"]


def test_a_filter_without_column_or_meaning_raises():
    with pytest.raises(WrongFilter, match=r"Crooked\.sttaus: Stall has no such column"):

        class Crooked(Filters[Stall]):
            """Planted: misspelt."""

            sttaus: str | None = None

    with pytest.raises(WrongFilter, match=r"Foreign\.made_before: .* is no column of Visit"):

        class Foreign(Filters[Visit]):
            """Planted: of another table."""

            made_before: Annotated[Instant | None, before(Stall.created_at)] = None

    with pytest.raises(WrongFilter, match=r"Leaking\.pin: .* is secret"):

        class Leaking(Filters[Stall]):
            """Planted: a secret could be guessed."""

            pin: str | None = None

    with pytest.raises(WrongFilter, match=r"Unclear\.produce: use `contains`"):

        class Unclear(Filters[Stall]):
            """Planted: an array equals no value."""

            produce: str | None = None

    with pytest.raises(WrongFilter, match=r"Taken\.cursor"):

        class Taken(Filters[Stall]):
            """Planted: every list has it."""

            cursor: str | None = None


def test_an_order_that_leaves_rows_out_raises():
    with pytest.raises(TypeError, match="may be null"):
        paged("createdAt", Stall.landlord_id)
    with pytest.raises(TypeError, match="label it"):
        paged("createdAt", Stall.places + 1)


def test_an_expression_is_sorted_by_under_its_label():
    made: Any = paged("createdAt", (Stall.places + 1).label("place_count"))
    app = FastAPI()
    app.get("/x", dependencies=[made])(lambda: None)

    schema = app.openapi()["paths"]["/x"]["get"]["parameters"][-1]["schema"]
    assert schema["enum"] == ["createdAt", "placeCount", "-createdAt", "-placeCount"]


def test_a_misspelt_filter_in_code_raises():
    with pytest.raises(TypeError, match="sttaus"):
        StallFilters(sttaus="open")  # type: ignore[call-arg]  # planted, mypy finds it
