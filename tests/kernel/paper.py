"""A domain that exists on paper only: routes, events and a lifecycle, and no table behind them."""

from enum import StrEnum
from pathlib import Path as Folder
from typing import Annotated
from uuid import UUID

from fastapi import Path
from pydantic import BaseModel, Field

from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Event
from thenga.kernel.declare.lifecycle import Lifecycle, Move
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.permission import Audience, Granted
from thenga.kernel.errors import InvalidTransition
from thenga.kernel.http.bodies import Body, PageOf, Stored
from thenga.kernel.http.doors import router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems


class Permission(StrEnum):
    SHEET_READ = "paper:sheet:read"
    SHEET_WRITE = "paper:sheet:write"


class Size(BaseModel):
    width: int
    height: int


class SheetWritten(Event, type="paper.SheetWritten.v1", subject="sheet_id"):
    """Somebody wrote on a sheet."""

    organization_id: UUID
    sheet_id: UUID
    size: Size
    title: str | None = Field(description="What stands on top.")


class SheetFolded(Event, type="paper.SheetFolded.v1", subject="sheet_id"):
    """A sheet is folded now."""

    organization_id: UUID
    sheet_id: UUID


class SheetStatus(StrEnum):
    FLAT = "flat"
    FOLDED = "folded"


class SheetLifecycle(Lifecycle, initial=SheetStatus.FLAT):
    fold = Move(SheetStatus.FLAT, to=SheetStatus.FOLDED)


class WriteSheet(Body):
    title: str


class SheetView(Stored):
    title: str


SheetId = Annotated[UUID, Path(alias="sheetId")]
sheets = router("Paper / Sheet")


@sheets.get("/paper/sheets")
async def list_sheets(read: Annotated[Reader, reads(Permission.SHEET_READ)]) -> PageOf[SheetView]:
    """All sheets."""
    raise NotImplementedError


@sheets.get("/paper/sheets/{sheetId}")
async def read_sheet(
    sheet_id: SheetId, read: Annotated[Reader, reads(Permission.SHEET_READ)]
) -> SheetView:
    """One sheet."""
    raise NotImplementedError


@sheets.post("/paper/sheets", status_code=201)
async def write_sheet(
    body: WriteSheet, work: Annotated[Work, writes(Permission.SHEET_WRITE)]
) -> SheetView:
    """Write a sheet."""
    raise NotImplementedError


@sheets.post("/paper/sheets/{sheetId}/fold", responses=problems(InvalidTransition))
async def fold_sheet(
    sheet_id: SheetId, work: Annotated[Work, writes(Permission.SHEET_WRITE)]
) -> SheetView:
    """Fold a sheet."""
    raise NotImplementedError


def paper(home: Folder) -> Domain:
    """The domain, with its folder where a test wants it."""
    return Domain(
        name="paper",
        home=home,
        routers=[sheets],
        permissions=[
            Granted(Permission.SHEET_READ, "See sheets", (Audience.TENANT,)),
            Granted(Permission.SHEET_WRITE, "Write sheets", (Audience.TENANT,)),
        ],
        events=[SheetWritten, SheetFolded],
        lifecycles=[SheetLifecycle],
    )
