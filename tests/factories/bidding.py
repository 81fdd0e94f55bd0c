"""One bid over HTTP, and what stands behind it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx2
from sqlalchemy import select

from tests.factories import bid as factory
from tests.factories import identity as people
from tests.factories.bid_offer import PRICE
from tests.factories.identity import Member
from tests.timeline import Clock, Timeline
from thenga import topology
from thenga.domains.bid.tables import Workspace
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host


async def rows_of(host: Host, domain: str, row: Any, owner: Member) -> list[Any]:
    """The rows of another domain that belong to the company."""
    work = Work(host, domain, Scope(SYSTEM, owner.organization_id), factory.ORIGIN)
    try:
        return await work.all(select(row))
    finally:
        await work.close()


async def dump(host: Host, organization_id: UUID) -> str:
    """Everything that Bid stores of a company, as text."""
    async with host.engines.connection("bid", "bid_system") as connection:
        tables = await connection.fetch(
            "SELECT table_name FROM information_schema.columns "
            "WHERE table_schema = 'bid' AND column_name = 'organization_id'"
        )
        found = [
            await connection.fetch(
                f"SELECT t::text FROM bid.{name} t WHERE organization_id = $1", organization_id
            )
            for (name,) in tables
        ]
    return str(found)


@dataclass
class Bidding:
    """One bid over HTTP, with the jobs of its company done by `settle`."""

    api: httpx2.AsyncClient
    host: Host
    clock: Clock
    owner: Member
    workspace: Workspace

    def __post_init__(self) -> None:
        names = topology.load(["bid"])
        self.timeline = Timeline(self.host, self.clock, names, self.owner.organization_id)

    @property
    def path(self) -> str:
        return f"/bids/workspaces/{self.workspace.id}"

    async def settle(self) -> None:
        await self.timeline.work_off()

    async def until(self, instant: datetime) -> None:
        await self.timeline.until(instant)

    async def get(self, path: str, who: Member | None = None, **headers: str) -> httpx2.Response:
        return await self.api.get(path, headers=(who or self.owner).acting | headers)

    async def post(
        self, path: str, body: Any, who: Member | None = None, **headers: str
    ) -> httpx2.Response:
        return await self.api.post(path, json=body, headers=(who or self.owner).acting | headers)

    async def patch(
        self, path: str, body: Any, version: int | None, who: Member | None = None
    ) -> httpx2.Response:
        more = {} if version is None else {"If-Match": f'"{version}"'}
        return await self.api.patch(path, json=body, headers=(who or self.owner).acting | more)

    async def colleague(self, role: str, *, price: bool = True) -> Member:
        """A further member; in the team and with price, unless said otherwise."""
        made = await people.member(self.host, self.owner.organization_id, role=role)
        work = self.work()
        held = await work.lock(Workspace, self.workspace.id)
        entry = {"roles": ["approver"], "price": price}
        held.team = {**held.team, str(made.user_id): entry}
        await work.save(held)
        await work.finish()
        return made

    def work(self) -> Work:
        return factory.working(self.host, self.owner.organization_id)

    async def priced(self, body: dict[str, Any] | None = None) -> Any:
        """The workbook of the bid, newly made."""
        made = await self.post(f"{self.path}/pricing-workbook", body or PRICE)
        assert made.status_code == 201, made.text
        return made.json()

    async def forms(self, *codes: str) -> dict[str, Any]:
        """Forms that were added, by code."""
        body = {"forms": [{"formCode": code} for code in codes]}
        made = await self.post(f"{self.path}/sbd-forms", body)
        assert made.status_code == 201, made.text
        return {one["formCode"]: one for one in made.json()["created"]}

    async def answered(self, form: Any, **answers: Any) -> httpx2.Response:
        """A form with every proposal confirmed and these answers given."""
        path = f"/bids/sbd-forms/{form['id']}"
        shown = (await self.get(path)).json()
        confirmed = {
            key: {"confirm": True}
            for key, one in shown["answers"].items()
            if one["state"] in ("proposed", "stale") and key != "4.table"
        }
        given = {key.replace("__", "."): value for key, value in answers.items()}
        return await self.patch(path, {"answers": confirmed | given}, shown["version"])

    async def move(self, form_id: str, move: str, **more: Any) -> httpx2.Response:
        path = f"/bids/sbd-forms/{form_id}"
        version = (await self.get(path)).json()["version"]
        return await self.patch(path, {"move": move, **more}, version)

    async def rows(self, row: Any) -> list[Any]:
        work = self.work()
        try:
            return await work.all(select(row))
        finally:
            await work.close()
