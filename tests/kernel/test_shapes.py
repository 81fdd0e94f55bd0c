"""Shapes and patches over HTTP: wire names alone, not sent and null, and one schema for both."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from pydantic import BaseModel, ValidationError

from tests.factories import identity as people
from tests.kernel.serving import serving
from tests.stalls import Place
from tests.stalls.routes import DOMAIN, AddStall
from tests.stalls.stored import migrate_stalls
from tests.suites.test_sweeps_routes import body_faults
from thenga.kernel.http.bodies import Body
from thenga.kernel.http.document.openapi import document
from thenga.kernel.http.document.operations import mounted
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.shapes import Shape

PLACE = {"town": "Giyani", "radiusKm": 5, "rentPaid": "10.50"}


@pytest.fixture(scope="module")
async def market(settings: Settings, seeded: None) -> AsyncIterator[httpx2.AsyncClient]:
    migrate_stalls(settings)
    apart = {"actor_per_minute": 1_000_000, "redis": settings.redis.replace("/0", "/2")}
    async with serving(settings.model_copy(update=apart), DOMAIN) as client:
        yield client


@pytest.fixture(scope="module")
async def owner(host: Host, market: httpx2.AsyncClient) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


async def added(market: httpx2.AsyncClient, owner: people.Member, **more: Any) -> httpx2.Response:
    body = {"code": uuid4().hex, "opensOn": "2026-11-14", "place": PLACE, **more}
    return await market.post("/stalls", json=body, headers=owner.headers)


async def test_a_shape_is_answered_as_it_was_sent(market: httpx2.AsyncClient, owner: people.Member):
    answer = await added(market, owner)
    listed = await market.get("/stalls", headers=owner.headers)

    assert (answer.status_code, answer.json()["place"]) == (201, PLACE)
    assert listed.json()["items"][0]["place"] == PLACE


@pytest.mark.parametrize(
    ("place", "field"),
    [
        ({"town": "Giyani", "radius_km": 5}, "radius_km"),
        ({"town": "Giyani", "region": "Limpopo"}, "region"),
        ({"town": "Giyani", "radiusKm": 501}, "radiusKm"),
        ({"radiusKm": 5}, "town"),
    ],
)
async def test_a_shape_takes_wire_names_and_its_bounds_alone(
    market: httpx2.AsyncClient, owner: people.Member, place: dict[str, Any], field: str
):
    answer = await added(market, owner, place=place)

    assert (answer.status_code, answer.json()["code"]) == (422, "validation-failed")
    assert f"/place/{field}" in answer.text


async def test_a_patch_tells_not_sent_from_null(market: httpx2.AsyncClient, owner: people.Member):
    made = (await added(market, owner)).json()
    path = f"/stalls/{made['id']}"

    named = await market.patch(path, json={"name": "Bread"}, headers=owner.headers)
    emptied = await market.patch(path, json={"place": None}, headers=owner.headers)
    nothing = await market.patch(path, json={}, headers=owner.headers)
    refused = await market.patch(path, json={"code": None}, headers=owner.headers)

    assert (named.json()["name"], named.json()["place"]) == ("Bread", PLACE)
    assert (emptied.json()["name"], emptied.json()["place"]) == ("Bread", None)
    assert nothing.json()["version"] == emptied.json()["version"] == 3
    assert (refused.status_code, refused.json()["code"]) == (422, "validation-failed")


def test_the_document_has_one_schema_of_a_shape():
    made = document(mounted([DOMAIN]).routes, [DOMAIN], examples=False)
    schemas = made["components"]["schemas"]
    patch = schemas["StallsStallChange"]

    assert [name for name in schemas if "Place" in name] == ["StallsStallPlace"]
    assert schemas["StallsStallPlace"]["required"] == ["town"]
    assert "required" not in patch
    assert patch["properties"]["code"] == {
        "type": "string",
        "maxLength": 40,
        "minLength": 1,
        "pattern": patch["properties"]["code"]["pattern"],
        "description": "Code of the stall.",
    }
    assert patch["properties"]["name"]["anyOf"][1] == {"type": "null"}
    assert "MISSING" not in str(schemas)
    assert "missing" not in str(schemas).lower()


def test_a_shape_is_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        Place(town="Giyani").town = "Sibasa"  # type: ignore[misc]  # planted


class LooseInside(BaseModel):
    """Planted: a value of a request that is no shape."""

    radius: int


class LooseShape(Shape):
    """Planted: a shape without bounds."""

    note: str


class LooseBody(Body):
    """Planted."""

    inside: LooseInside
    shape: LooseShape


def test_the_sweep_over_bodies_takes_shapes():
    assert body_faults(AddStall) == []
    assert body_faults(LooseBody) == [
        "LooseBody.inside.radius: plain int: no bound or form holds it",
        "LooseBody.shape.note: plain str: no bound or form holds it",
        "LooseInside: lets unknown fields through",
        "LooseInside.radius: plain int: no bound or form holds it",
        "LooseShape.note: plain str: no bound or form holds it",
    ]
