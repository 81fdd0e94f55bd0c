"""Words that the tests of a company's records share."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx2
import orjson

from tests.factories import identity as people
from tests.suites import clocks, streams
from thenga.kernel.declare.event import Event, envelope_text, mesh_subject
from thenga.kernel.events import mesh
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id


class Folder:
    """One collection of one organization, as one member sees it."""

    def __init__(self, api: httpx2.AsyncClient, owner: people.Member, collection: str) -> None:
        self.api = api
        self.owner = owner
        self.path = f"/organizations/{owner.organization_id}/{collection}"

    async def add(self, **body: Any) -> httpx2.Response:
        return await self.api.post(self.path, json=body, headers=self.owner.headers)

    async def made(self, **body: Any) -> dict[str, Any]:
        answer = await self.add(**body)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def get(self, rest: str = "", **query: Any) -> httpx2.Response:
        return await self.api.get(self.path + rest, params=query, headers=self.owner.headers)

    async def ids(self, **query: Any) -> list[str]:
        answer = await self.get(**query)
        assert answer.status_code == 200, answer.text
        return [one["id"] for one in answer.json()["items"]]

    async def patch(self, record_id: str, **body: Any) -> httpx2.Response:
        one = f"{self.path}/{record_id}"
        return await self.api.patch(one, json=body, headers=self.owner.headers)

    async def post(self, rest: str, **body: Any) -> httpx2.Response:
        sent = {"json": body} if body else {}
        return await self.api.post(f"{self.path}/{rest}", headers=self.owner.headers, **sent)

    async def delete(self, record_id: str) -> httpx2.Response:
        return await self.api.delete(f"{self.path}/{record_id}", headers=self.owner.headers)


async def told(host: Host, organization_id: UUID) -> list[dict[str, Any]]:
    """The events of an organization in the order in which they were told."""
    async with host.engines.connection("organization", "organization_system") as connection:
        rows = await connection.fetch(
            "SELECT envelope FROM organization.outbox WHERE organization_id = $1 ORDER BY position",
            organization_id,
        )
    return [orjson.loads(row["envelope"]) for row in rows]


async def told_types(host: Host, organization_id: UUID) -> list[str]:
    return [one["type"].split(".")[1] for one in await told(host, organization_id)]


async def sandbox(api: httpx2.AsyncClient, host: Host) -> people.Member:
    """A sandbox that was founded over HTTP; its founder's rights come over the mesh."""
    founder = await people.person(host)
    profile = {"legalName": "Mokoena Plant Hire", "legalForm": "private_company"}
    body = {"organizationType": "enterprise", "mode": "sandbox", "profile": profile}
    founded = await api.post("/organizations", json=body, headers=founder.headers)
    made = UUID(founded.json()["id"])

    async def owned() -> bool:
        path = f"/organizations/{made}/equipment"
        return (await api.get(path, headers=founder.headers)).status_code == 200

    await clocks.until(owned)
    person = (founder.user_id, founder.session_id, founder.token, founder.refresh_token)
    return people.Member(*person, made, made)


async def move_clock(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, *, to: int, by: int
) -> None:
    """Move a sandbox by days and wait until both domains know that it is `to` days ahead."""
    moved = await api.post(
        f"/organizations/{owner.organization_id}/clock",
        json={"forwardDays": by},
        headers=owner.headers,
    )
    assert moved.status_code == 200, moved.text

    async def all_know() -> bool:
        known = [
            await clocks.ahead_in(host, domain, owner.organization_id)
            for domain in ("identity", "organization")
        ]
        return known == [timedelta(days=to)] * 2

    await clocks.until(all_know)


async def tell(
    host: Host, event: Event, organization_id: UUID | None, *, event_id: UUID | None = None
) -> None:
    """Put an event of a domain that does not stand yet into its real stream."""
    told_id = event_id or new_id()
    text = envelope_text(
        event,
        id=told_id,
        time=host.now(),
        sequence=1,
        organization_id=organization_id,
        actor_id=None,
        correlation_id="test",
        causation_id=None,
        traceparent=None,
    )
    async with streams.jetstream(host, event.domain()) as js:
        await mesh.ensure_stream(js, event.domain(), host.settings)
        await js.publish(mesh_subject(event, organization_id), text.encode())
