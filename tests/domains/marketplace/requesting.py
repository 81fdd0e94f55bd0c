"""A customer, two providers and a stranger, as they work with quote requests over HTTP."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import httpx2

from tests.domains.supplier.desks import Desk as SupplierDesk
from tests.domains.supplier.desks import desk as supplier_desk
from tests.factories import marketplace_requests as factory
from thenga.domains.supplier.tables import Supplier
from thenga.kernel.process.host import Host

PATH = "/marketplace/quote-requests"


class Desk:
    """One member of a company, at any address of Marketplace."""

    def __init__(self, made: SupplierDesk) -> None:
        self.api, self.host, self.who = made.api, made.host, made.who

    @property
    def organization_id(self) -> UUID:
        return self.who.organization_id

    async def post(self, path: str, body: dict[str, Any]) -> httpx2.Response:
        return await self.api.post(path, json=body, headers=self.who.acting)

    async def get(self, path: str, **query: Any) -> httpx2.Response:
        return await self.api.get(path, params=query, headers=self.who.acting)

    async def ask(self, *supplier_ids: UUID, **body: Any) -> httpx2.Response:
        due = {"dueAt": at(self.host.now() + timedelta(days=14))}
        return await self.post(PATH, factory.asking(*supplier_ids, **(due | body)))

    async def asked(self, *supplier_ids: UUID, **body: Any) -> dict[str, Any]:
        """A quote request that was sent."""
        answer = await self.ask(*supplier_ids, **({"send": True} | body))
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def read(self, request_id: str) -> dict[str, Any]:
        answer = await self.get(f"{PATH}/{request_id}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def change(self, request_id: str, **body: Any) -> httpx2.Response:
        """With the version as it stands now."""
        shown = await self.get(f"{PATH}/{request_id}")
        version = shown.json().get("version", 1)
        headers = self.who.acting | {"If-Match": f'"{version}"'}
        return await self.api.patch(f"{PATH}/{request_id}", json=body, headers=headers)

    async def events(self) -> list[tuple[str, dict[str, Any]]]:
        """Name and data of what this company's stream has, in the order of publishing."""
        return await events_of(self.host, self.organization_id)


async def events_of(host: Host, organization_id: UUID) -> list[tuple[str, dict[str, Any]]]:
    async with host.engines.connection("marketplace", "marketplace_system") as connection:
        rows = await connection.fetch(
            "SELECT envelope FROM marketplace.outbox WHERE mesh_subject LIKE '%' || $1 "
            "ORDER BY position",
            str(organization_id),
        )
    found = [json.loads(row["envelope"]) for row in rows]
    return [(envelope["type"].split(".")[1], envelope["data"]) for envelope in found]


def at(instant: datetime) -> str:
    return instant.isoformat().replace("+00:00", "Z")


@dataclass(frozen=True)
class Market:
    """Who is there, and the suppliers of the two providers."""

    customer: Desk
    first: Desk
    second: Desk
    stranger: Desk
    suppliers: tuple[Supplier, Supplier]

    @property
    def ids(self) -> tuple[UUID, UUID]:
        return self.suppliers[0].id, self.suppliers[1].id


async def desk(api: httpx2.AsyncClient, host: Host, name: str) -> Desk:
    return Desk(await supplier_desk(api, host, name))


async def market(api: httpx2.AsyncClient, host: Host) -> Market:
    customer = await desk(api, host, "Dlamini Civils")
    first = await desk(api, host, "Kagiso Pipes")
    second = await desk(api, host, "Rivalrous Concrete")
    made = [await factory.provider(host, each.organization_id) for each in (first, second)]
    stranger = await desk(api, host, "Mokoena Plant Hire")
    return Market(customer, first, second, stranger, (made[0], made[1]))
