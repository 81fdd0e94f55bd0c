"""Routes of the domain of stalls: a body with a shape, a patch, and a list with filters."""

from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path as InPath
from pydantic import MISSING, BaseModel, Field
from sqlalchemy import ColumnElement

from tests.stalls import Place, Produce, Stall, StallAdded, StallStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.permission import Audience, Granted
from thenga.kernel.http.bodies import Body, PageOf, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.filters import (
    IN_SERVICE,
    Filters,
    Where,
    after,
    before,
    contains,
    filtered,
)
from thenga.kernel.http.lists import paged
from thenga.kernel.values.fields import Day, Instant, text, whole

Code = Annotated[str, text(1, 40), Field(description="Code of the stall.")]
Name = Annotated[str, text(1, 80)]
StallId = Annotated[UUID, InPath(alias="stallId", description="ID of the stall.")]


class Permission(StrEnum):
    READ = "stalls:stall:read"
    WRITE = "stalls:stall:write"


class StallFields(BaseModel):
    """What a stall is made with and shows."""

    code: Code
    size: Annotated[Literal["small", "large"], Field(description="Size of the stall.")] = "small"
    opens_on: Annotated[Day, Field(description="First day.")]
    place: Annotated[Place | None, Field(description="Where it stands.")] = None
    produce: Annotated[list[Produce], Field(max_length=9, description="What it sells.")] = []


class AddStall(StallFields, Body):
    """A new stall."""


class ChangeStall(Body):
    """Fields to update."""

    code: Code | MISSING = MISSING
    name: Annotated[Name | None, Field(description="Name of the stall.")] | MISSING = MISSING
    place: Annotated[Place | None, Field(description="Where it stands.")] | MISSING = MISSING


class StallView(StallFields, Stored):
    """A stall."""

    name: Annotated[Name | None, Field(description="Name of the stall.")]
    status: Annotated[StallStatus, Field(description="Status.")]


def is_in_town(town: str) -> ColumnElement[bool]:
    return Stall.place["town"].astext == town


class StallFilters(Filters[Stall]):
    """What stalls are listed."""

    status: StallStatus | None = None
    code: Annotated[list[Name] | None, Field(description="Filter by codes.")] = None
    opens_before: Annotated[Day | None, before(Stall.opens_on)] = None
    made_after: Annotated[Instant | None, after(Stall.created_at)] = None
    made_from: Annotated[Day | None, after(Stall.created_at)] = None
    q: Annotated[Name | None, contains(Stall.code)] = None
    produce: Annotated[Produce | None, contains(Stall.produce)] = None
    town: Annotated[Name | None, Where(is_in_town), Field(description="Filter by town.")] = None
    least: Annotated[int | None, whole(0, 99), IN_SERVICE] = None


router = make_router("Stalls / Stall")


async def add_stall(body: AddStall, work: Annotated[Work, writes(Permission.WRITE)]) -> StallView:
    """Add a stall."""
    stall = await work.add(Stall.of(body, organization_id=work.organization_id))
    work.publish(StallAdded.of(stall, by_phone=False))
    return StallView.of(stall)


async def change_stall(
    stall_id: StallId, body: ChangeStall, work: Annotated[Work, writes(Permission.WRITE)]
) -> StallView:
    """Change the fields that are sent."""
    stall = await work.lock(Stall, stall_id)
    merge_patch(stall, body)
    return StallView.of(await work.save(stall))


async def list_stalls(
    read: Annotated[Reader, reads(Permission.READ)],
    page: Annotated[Paged, paged("createdAt", Stall.opens_on, default="-createdAt")],
    filters: Annotated[StallFilters, filtered()],
) -> PageOf[StallView]:
    """List stalls."""
    statement = filters.select()
    if filters.least is not None:
        statement = statement.where(Stall.places >= filters.least)
    return PageOf[StallView].of(await read.page(statement, page), StallView.of)


for path, function, method, status in (
    ("/stalls", add_stall, "POST", 201),
    ("/stalls/{stallId}", change_stall, "PATCH", 200),
    ("/stalls", list_stalls, "GET", 200),
):
    function.__domain__ = "stalls"  # type: ignore[attr-defined]  # a domain's module says it itself
    router.add_api_route(path, function, methods=[method], status_code=status)

for kind in (AddStall, ChangeStall, StallView, Place, StallStatus, Produce):
    kind.__domain__ = "stalls"  # type: ignore[attr-defined]  # as above

DOMAIN = Domain(
    name="stalls",
    home=Path(__file__).parent,
    routers=(router,),
    permissions=(
        Granted(Permission.READ, "Read stalls", (Audience.TENANT,), ("viewer",)),
        Granted(Permission.WRITE, "Change stalls", (Audience.TENANT,)),
    ),
    events=(StallAdded,),
)
FIRST_DAY = date(2026, 11, 14)
