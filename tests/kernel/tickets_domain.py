"""Tickets of the probe, in the shape of new domains: customers and staff call the same routes."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated
from uuid import UUID

from fastapi import Path as InPath
from pydantic import Field
from sqlalchemy import select

from tests.probe import ThingStatus, Ticket, TicketLifecycle
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.permission import Audience, Granted
from thenga.kernel.http.bodies import Accepted, Body, Known, PageOf
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.moved import Moved
from thenga.kernel.values.fields import text

PATH = "/probe/tickets"
ROLES = ("viewer", "owner", "platform_operator")


class Permission(StrEnum):
    READ = "probe:ticket:read"
    MAKE = "probe:ticket:make"


class MakeTicket(Body):
    name: Annotated[str, text(1, 80)]


class TicketView(Moved, lifecycle=TicketLifecycle):
    name: str
    status: Annotated[ThingStatus, Field(description="Status.")]
    status_code: str | None
    status_text: str | None

    @property
    def own_path(self) -> str:
        return f"/v1{PATH}/{self.id}"


router = make_router("Tickets")
TicketId = Annotated[UUID, InPath(alias="ticketId")]


async def make_ticket(
    body: MakeTicket, work: Annotated[Work, writes(Permission.MAKE, for_staff=True)]
) -> TicketView | Known[TicketView] | Accepted[TicketView]:
    """Make a ticket, unless there is one of that name; a large one is made later."""
    ticket, is_new = await work.add_or_find(
        Ticket(organization_id=work.organization_id, name=body.name), by=("organization_id", "name")
    )
    view = TicketView.of(ticket, work)
    if body.name == "Large":
        return Accepted(view)
    return view if is_new else Known(view)


async def begin_ticket(
    body: MakeTicket, work: Annotated[Work, writes(Permission.MAKE)]
) -> Accepted[TicketView]:
    """Begin to make a ticket."""
    ticket = Ticket(organization_id=work.organization_id, name=body.name)
    return Accepted(TicketView.of(await work.add(ticket), work))


async def list_tickets(
    read: Annotated[Reader, reads(Permission.READ, for_staff=True)],
    page: Annotated[Paged, paged("createdAt")],
) -> PageOf[TicketView]:
    """The tickets of the caller's side."""
    return PageOf.of(await read.page(select(Ticket), page), TicketView.of, read)


async def use_ticket(
    ticket_id: TicketId,
    body: MakeTicket,
    work: Annotated[Work, writes(Permission.MAKE, for_staff=True)],
) -> TicketView:
    """Use a ticket, for a reason."""
    ticket = await work.lock(Ticket, ticket_id)
    if TicketLifecycle.use.make(work, ticket, code="needed", text=body.name):
        await work.save(ticket)
    return TicketView.of(ticket, work)


for path, function, method, status in (
    (PATH, make_ticket, "POST", 201),
    (f"{PATH}/begin", begin_ticket, "POST", None),
    (PATH, list_tickets, "GET", None),
    (f"{PATH}/{{ticketId}}/use", use_ticket, "POST", None),
):
    function.__domain__ = "probe"  # type: ignore[attr-defined]  # a domain's module says it itself
    router.add_api_route(path, function, methods=[method], status_code=status)

DOMAIN = Domain(
    name="probe",
    home=Path(__file__).parent,
    routers=(router,),
    permissions=(
        Granted(Permission.READ, "Read tickets", (Audience.TENANT, Audience.PLATFORM), ROLES),
        Granted(Permission.MAKE, "Make tickets", (Audience.TENANT, Audience.PLATFORM), ROLES),
    ),
)
