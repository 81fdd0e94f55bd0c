"""Suppliers as somebody of one company works with them over HTTP."""

import json
from typing import Any

import httpx2

from tests.factories import identity as people
from tests.factories import organization as companies
from tests.factories.identity import Member
from thenga.kernel.process.host import Host


class Desk:
    """One member of a company that has a profile."""

    def __init__(self, api: httpx2.AsyncClient, host: Host, who: Member) -> None:
        self.api, self.host, self.who = api, host, who

    async def post(self, path: str = "", **body: Any) -> httpx2.Response:
        return await self.api.post(f"/suppliers{path}", json=body, headers=self.who.acting)

    async def get(self, path: str = "", **query: Any) -> httpx2.Response:
        return await self.api.get(f"/suppliers{path}", params=query, headers=self.who.acting)

    async def patch(self, supplier_id: str, **body: Any) -> httpx2.Response:
        path = f"/suppliers/{supplier_id}"
        return await self.api.patch(path, json=body, headers=self.who.acting)

    async def made(self, path: str = "", **body: Any) -> dict[str, Any]:
        answer = await self.post(path, **body)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def read(self, supplier_id: str) -> dict[str, Any]:
        answer = await self.get(f"/{supplier_id}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def ids(self, **query: Any) -> list[str]:
        answer = await self.get(**query)
        assert answer.status_code == 200, answer.text
        return [supplier["id"] for supplier in answer.json()["items"]]

    async def events(self) -> list[tuple[str, dict[str, Any]]]:
        """Name and data of what this company's stream has, in the order of publishing."""
        async with self.host.engines.connection("supplier", "supplier_system") as connection:
            rows = await connection.fetch(
                "SELECT envelope FROM supplier.outbox WHERE organization_id = $1 ORDER BY position",
                self.who.organization_id,
            )
        found = [json.loads(row["envelope"]) for row in rows]
        return [(envelope["type"].split(".")[1], envelope["data"]) for envelope in found]


async def desk(api: httpx2.AsyncClient, host: Host, name: str) -> Desk:
    """The owner of a company with a profile."""
    who = await people.person(host)
    company = await companies.organization(host, who.user_id, name=name)
    return Desk(api, host, await people.member(host, company.id, role="owner", who=who))
