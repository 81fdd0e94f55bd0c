"""What a new release of a framework may change without notice, and we would feel at once."""

from typing import Annotated

import sqlalchemy as sa
from fastapi import APIRouter, Depends, Path
from fastapi.routing import APIRoute
from pydantic import BaseModel

from thenga.kernel.db import statements
from thenga.kernel.http.framework import Dependant, get_fields_from_routes
from thenga.kernel.process.host import Host


class Given(BaseModel):
    name: str


class Found(BaseModel):
    id: int


async def caller() -> int:
    return 7


async def rename(
    thing_id: Annotated[int, Path(alias="thingId")],
    given: Given,
    who: Annotated[int, Depends(caller)],
    note: str = "none",
) -> Found:
    raise AssertionError


def route() -> APIRoute:
    router = APIRouter()
    router.add_api_route("/things/{thingId}", rename, methods=["PATCH"])
    [found] = router.routes
    assert isinstance(found, APIRoute)
    return found


def test_fastapi_says_what_a_route_takes() -> None:
    dependant = route().dependant

    assert isinstance(dependant, Dependant)
    assert dependant.call is rename
    assert [(p.alias, p.name) for p in dependant.path_params] == [("thingId", "thing_id")]
    assert [(p.alias, p.get_default()) for p in dependant.query_params] == [("note", "none")]
    assert [(p.name, p.field_info.annotation) for p in dependant.body_params] == [("given", Given)]
    assert [(d.name, d.call) for d in dependant.dependencies] == [("who", caller)]
    assert (dependant.header_params, dependant.cookie_params) == ([], [])
    dependant.dependencies.remove(dependant.dependencies[0])
    assert dependant.dependencies == []


def test_fastapi_gives_the_models_of_routes() -> None:
    fields = get_fields_from_routes([route()])

    assert {field.field_info.annotation for field in fields} >= {Given, Found}


def test_sqlalchemy_gives_one_key_for_one_shape() -> None:
    table = sa.table("thing", sa.column("id"))

    keys = [sa.select(table).where(table.c.id == key)._generate_cache_key() for key in (1, 2)]

    assert keys[0] is not None
    assert keys[1] is not None
    assert keys[0].key == keys[1].key
    assert [p.value for p in keys[1].bindparams] == [2]
    assert statements.render(sa.select(table).where(table.c.id == 2))[1] == [2]


async def test_asyncpg_says_whether_it_believes_in_a_transaction(host: Host) -> None:
    async with host.engines.connection("probe", "probe") as connection:
        before = connection._top_xact  # type: ignore[attr-defined]
        transaction = connection.transaction()
        await transaction.start()
        inside = connection._top_xact  # type: ignore[attr-defined]
        await transaction.rollback()

        assert (before, inside) == (None, transaction)
        assert connection._top_xact is None  # type: ignore[attr-defined]
