"""Listings as a provider, a customer and a moderator work with them over HTTP."""

import json
from typing import Any

import httpx2

from tests.factories import identity as people
from tests.factories import marketplace as factory
from tests.factories import organization as companies
from tests.factories.identity import Member, Person
from thenga.kernel.process.host import Host

PATH = "/marketplace/listings"


class Stall:
    """One member of a company that has a profile."""

    def __init__(self, api: httpx2.AsyncClient, host: Host, who: Member) -> None:
        self.api, self.host, self.who = api, host, who

    async def post(self, **body: Any) -> httpx2.Response:
        return await self.api.post(PATH, json=body, headers=self.who.acting)

    async def get(self, path: str = "", **query: Any) -> httpx2.Response:
        return await self.api.get(f"{PATH}{path}", params=query, headers=self.who.acting)

    async def patch(self, listing_id: str, path: str = "", **body: Any) -> httpx2.Response:
        at = f"{PATH}/{listing_id}{path}"
        return await self.api.patch(at, json=body, headers=self.who.acting)

    async def made(self, *, submit: bool = True, **said: Any) -> dict[str, Any]:
        """A listing, submitted for review unless said otherwise."""
        given = await factory.content(self.host, **said)
        answer = await self.post(kind="service", content=given, submit=submit)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def read(self, listing_id: str) -> dict[str, Any]:
        answer = await self.get(f"/{listing_id}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def moved(self, listing_id: str, **body: Any) -> dict[str, Any]:
        answer = await self.patch(listing_id, **body)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def sees(self, listing_id: str) -> bool:
        """Whether the listing is there at all."""
        answer = await self.get(f"/{listing_id}")
        assert answer.status_code in (200, 404), answer.text
        return answer.status_code == 200

    async def events(self) -> list[tuple[str, dict[str, Any]]]:
        """Name and data of what this company's stream has, in the order of publishing."""
        async with self.host.engines.connection("marketplace", "marketplace_system") as connection:
            rows = await connection.fetch(
                "SELECT envelope FROM marketplace.outbox WHERE organization_id = $1 "
                "ORDER BY position",
                self.who.organization_id,
            )
        found = [json.loads(row["envelope"]) for row in rows]
        return [(envelope["type"].split(".")[1], envelope["data"]) for envelope in found]


class Moderator:
    """A member of staff who decides about listings."""

    def __init__(self, api: httpx2.AsyncClient, who: Person) -> None:
        self.api, self.who = api, who

    async def get(self, path: str = "", **query: Any) -> httpx2.Response:
        return await self.api.get(f"{PATH}{path}", params=query, headers=self.who.headers)

    async def asked(self, listing_id: str, **body: Any) -> httpx2.Response:
        at = f"{PATH}/{listing_id}/moderate"
        return await self.api.post(at, json=body, headers=self.who.headers)

    async def decide(
        self, listing: dict[str, Any], decision: str, *codes: str, **body: Any
    ) -> httpx2.Response:
        """Decide about the version that is open in this answer, or about the live one."""
        version = listing["change"] or listing["live"]
        given = {
            "versionNumber": version["number"],
            "contentHash": version["contentHash"],
            "decision": decision,
            "reasonCodes": list(codes) or ["in_order"],
        }
        return await self.asked(listing["id"], **given | body)

    async def decided(
        self, listing: dict[str, Any], decision: str, *codes: str, **body: Any
    ) -> dict[str, Any]:
        answer = await self.decide(listing, decision, *codes, **body)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


async def stall(api: httpx2.AsyncClient, host: Host, name: str) -> Stall:
    """The owner of a company with a profile."""
    who = await people.person(host)
    company = await companies.organization(host, who.user_id, name=name)
    return Stall(api, host, await people.member(host, company.id, role="owner", who=who))
