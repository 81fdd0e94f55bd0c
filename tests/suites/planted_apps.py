"""Applications with a bug put in, for processes that a suite must find guilty."""

from datetime import datetime

from fastapi import FastAPI

from thenga import main, topology
from thenga.domains.billing.services import settlement
from thenga.domains.billing.services.settlement import webhooks
from thenga.domains.billing.services.settlement.webhooks import Received
from thenga.domains.organization.api.equipment import EquipmentView
from thenga.domains.organization.tables import Equipment
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound
from thenga.kernel.http.bounds import Bounds
from thenga.kernel.http.document import published
from thenga.kernel.http.document.published import Library, Published


def lying() -> FastAPI:
    """Answers a status that the document does not know, and bodies outside their schema."""
    made = main.app()
    NotFound.status = 418
    right = EquipmentView.of

    def wrong(item: Equipment, now: datetime) -> EquipmentView:
        view = right(item, now)
        view.__dict__["quantity"] = "many"
        return view

    EquipmentView.of = wrong  # type: ignore[method-assign]  # that is the bug
    return made


def greedy() -> FastAPI:
    """Keeps a place among the requests for every body that it waits for."""
    Bounds.begin_body = lambda *_: None  # type: ignore[method-assign]  # that is the bug
    Bounds.end_body = lambda *_: None  # type: ignore[method-assign]
    return main.app()


def hasty() -> FastAPI:
    """Answers a provider while its call is only in memory, to be written down some time."""
    waiting: list[Received] = []

    async def remembered(work: Work, call: Received) -> bool:
        waiting.append(call)
        return True

    webhooks.receive_callback = settlement.receive_callback = remembered
    return main.app()


def building() -> FastAPI:
    """Builds the document when it is asked for, on the event loop; one domain's, to be short."""

    async def built(library: Library, name: str) -> Published | None:
        return published.make(topology.load(["identity"])).get(name)

    Library.get = built  # type: ignore[method-assign]  # that is the bug
    return main.app()
