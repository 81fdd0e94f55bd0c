"""Component names of classes whose name stands in two domains, in requests and in answers."""

from pathlib import Path
from types import new_class
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from thenga.domains.organization.permissions import Permission
from thenga.kernel.db.work import Work
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.http.bodies import Body, View
from thenga.kernel.http.document.openapi import document
from thenga.kernel.http.document.operations import mounted
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import writes
from thenga.kernel.values.shapes import Shape

Json = dict[str, Any]


class Uneven(BaseModel):
    """Its fields with defaults are required in answers only."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


def _class(base: type[BaseModel], name: str, module: str, field: Any, default: Any = ...) -> Any:
    members: Json = {"__module__": module, "__annotations__": {"value": field}}
    if default is not ...:
        members["value"] = default
    return new_class(name, (base,), exec_body=lambda namespace: namespace.update(members))


def _domain(name: str, field: Any, *, base: type[BaseModel] = Shape) -> Domain:
    """A domain with `Spot`, which its only operation takes and answers."""
    home = f"thenga.domains.{name}"
    spot = _class(base, "Spot", f"{home}.values.spots", field, default=None)
    body = _class(Body, "AddSpot", f"{home}.api.spots", list[spot])
    view = _class(View, "FieldView", f"{home}.api.spots", spot)
    doors = make_router(f"{name.capitalize()} / Spot")

    async def add(body: Any, work: Any) -> Any:
        """Add a spot."""
        raise NotImplementedError

    add.__module__ = f"{home}.api.spots"
    add.__name__ = f"add_{name}"
    work = Annotated[Work, writes(Permission.PROFILE_READ)]
    add.__annotations__ = {"body": body, "work": work, "return": view}
    doors.post(f"/{name}", status_code=201)(add)
    return Domain(name=name, home=Path("/nowhere"), routers=(doors,))


def _schemas(*domains: Domain) -> Json:
    made = document(mounted(domains).routes, domains, examples=False)
    found: Json = made["components"]["schemas"]
    return {name: schema for name, schema in found.items() if "Problem" not in name}


NORTH = Annotated[int | None, Field(description="Number of the spot.")]
SOUTH = Annotated[str | None, Field(max_length=9, description="Code of the spot.")]


def test_another_domain_changes_no_name_of_a_shape() -> None:
    north, south = _domain("north", NORTH), _domain("south", SOUTH)

    alone, both = _schemas(north), _schemas(north, south)

    assert [*alone] == ["NorthSpot", "NorthSpotAdd", "NorthSpotField"]
    assert {name: both[name] for name in alone} == alone
    assert [*both] == [*alone, "SouthSpot", "SouthSpotAdd", "SouthSpotField"]
    shown = both["SouthSpotField"]["properties"]["value"]
    asked = both["SouthSpotAdd"]["properties"]["value"]["items"]
    assert shown == asked == {"$ref": "#/components/schemas/SouthSpot"}


def test_a_class_that_differs_in_requests_has_a_second_name() -> None:
    north = _domain("north", NORTH, base=Uneven)
    south = _domain("south", SOUTH, base=Uneven)

    alone, both = _schemas(north), _schemas(north, south)

    assert [*alone] == ["NorthSpot", "NorthSpotAdd", "NorthSpotField", "NorthSpotInput"]
    assert "required" not in alone["NorthSpotInput"]
    assert alone["NorthSpot"]["required"] == ["value"]
    assert {name: both[name] for name in alone} == alone
    assert both["SouthSpotAdd"]["properties"]["value"]["items"] == {
        "$ref": "#/components/schemas/SouthSpotInput"
    }
