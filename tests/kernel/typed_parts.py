"""What mypy must refuse, each with the error it gives; an ignore that is not needed fails too."""

from uuid import UUID

from tests.kernel.tickets_domain import TicketView
from tests.probe import ThingChanged, ThingMade, Ticket, TicketLifecycle
from thenga.kernel.db.paging import Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.reaction import Reactions
from thenga.kernel.http.bodies import PageOf
from thenga.kernel.jobs.queued import queued

reactions = Reactions("probe")


@reactions.on(ThingMade, ThingChanged)
async def count_both(work: Work, event: ThingMade | ThingChanged) -> None: ...


@reactions.on(ThingMade, ThingChanged)  # type: ignore[arg-type]
async def count_the_first(work: Work, event: ThingMade) -> None: ...


@queued(key="{thing_id}", domain="typed")
async def index_thing(work: Work, *, thing_id: UUID, again: bool = False) -> None: ...


async def enqueue(work: Work, read: Reader, thing_id: UUID) -> None:
    work.enqueue(index_thing.call(thing_id=thing_id))
    work.enqueue(index_thing.call(thing=thing_id))  # type: ignore[call-arg]
    work.enqueue(index_thing.call(thing_id="3"))  # type: ignore[arg-type]
    work.enqueue(index_thing.call(thing_id=thing_id), again=True)  # type: ignore[call-overload]
    await index_thing(work, thing_id=thing_id)
    await index_thing(read, thing_id=thing_id)  # type: ignore[arg-type]


def move(work: Work, read: Reader, ticket: Ticket) -> bool:
    ticket.status_code, ticket.status_text = "needed", None
    ticket.status_note = "It rains"  # type: ignore[attr-defined]
    TicketLifecycle.use.make(read, ticket)  # type: ignore[arg-type]
    TicketLifecycle.use.make(work, ticket, reason="It rains")  # type: ignore[call-arg]
    return TicketLifecycle.use.make(work, ticket, code="needed", text="It rains")


def page(read: Reader, found: Slice[Ticket]) -> PageOf[TicketView]:
    PageOf.of(found, TicketView.of)  # type: ignore[arg-type]
    return PageOf.of(found, TicketView.of, read)


async def add(work: Work, ticket: Ticket) -> Ticket:
    await work.add_or_find(ticket, by="name")  # type: ignore[arg-type]
    found, _ = await work.add_or_find(ticket, by=("organization_id", "name"))
    return found
