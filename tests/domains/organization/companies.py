"""Companies in tests: founded over HTTP or as rows, and what was told of them."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx2
import orjson

from tests.factories import identity as people
from tests.factories import organization
from thenga.domains.identity.services import memberships
from thenga.domains.organization.jobs import jobs
from thenga.domains.organization.services import facts
from thenga.kernel.access.actors import SYSTEM, Actor, ActorKind, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.sandbox import clock_offset
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Job
from thenga.kernel.process.host import Host

BANK = {
    "bankName": "First National Bank",
    "branchCode": "250655",
    "accountNumber": "62001234567",
    "accountType": "business",
    "holder": "Mokoena Civils (Pty) Ltd",
}


class Company:
    """A company with an owner who is signed in; every call is the owner's."""

    def __init__(self, api: httpx2.AsyncClient, host: Host, owner: people.Member) -> None:
        self.api, self.host, self.owner = api, host, owner
        self.id = owner.organization_id
        self.path = f"/organizations/{self.id}"

    async def get(self, rest: str = "") -> httpx2.Response:
        return await self.api.get(self.path + rest, headers=self.owner.headers)

    async def post(
        self, rest: str, body: Any = None, who: people.Person | None = None, **headers: str
    ) -> httpx2.Response:
        said = (who or self.owner).headers | headers
        return await self.api.post(self.path + rest, json=body, headers=said)

    async def patch(self, body: dict[str, Any], **headers: str) -> httpx2.Response:
        said = self.owner.headers | {k.replace("_", "-"): v for k, v in headers.items()}
        return await self.api.patch(f"{self.path}/profile", json=body, headers=said)

    async def fact(self, key: str) -> dict[str, Any]:
        answer = await self.get(f"/facts/{key}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def work(self, actor: Actor = SYSTEM) -> Work:
        """A unit of work of this company, as jobs and imports have one."""
        offset = await clock_offset(self.host, "organization", self.id)
        scope = Scope(actor=actor, organization_id=self.id, clock_offset=offset)
        origin = Origin(action="test", request_id="test", correlation_id="test")
        return Work(self.host, "organization", scope, origin)

    async def imported(self, key: str, value: Any, register: str) -> None:
        """What an import would do for one cell of a register's extract."""
        work = await self.work(Actor(ActorKind.SYSTEM))
        source = {"register": register, "reference": "extract 1"}
        await facts.state_imported(work, key, value, register=register, source=source)
        await work.finish()

    async def told(self, *types: str) -> list[dict[str, Any]]:
        """The events of this company in order, of the types named."""
        async with self.host.engines.connection(
            "organization", "organization_system"
        ) as connection:
            rows = await connection.fetch(
                "SELECT envelope FROM organization.outbox WHERE organization_id = $1 "
                "ORDER BY position",
                self.id,
            )
        found = [orjson.loads(row["envelope"]) for row in rows]
        return [one["data"] for one in found if one["type"].split(".")[1] in types]

    async def changes(self) -> list[tuple[str, str, str]]:
        """Key, change and conflict of each ProfileFactChanged, one entry an event."""
        return [
            (change["factKey"], change["change"], change["conflictStatus"])
            for event in await self.told("ProfileFactChanged")
            for change in event["changes"]
        ]


async def company(api: httpx2.AsyncClient, host: Host, *, mode: str = "live") -> Company:
    """A company as rows, with its owner; nobody has to wait for Identity."""
    who = await people.person(host)
    made = await organization.organization(host, who.user_id, mode=mode)
    sandbox = mode == "sandbox"
    owner = await people.member(host, made.id, role="owner", who=who, sandbox=sandbox)
    return Company(api, host, owner)


async def ahead(place: Company, by: timedelta, sequence: int = 1) -> None:
    """Let Identity's gate and the jobs of Organization follow the sandbox's clock at once."""
    work = people.working(place.host, place.id)
    await memberships.move_clock(work, place.id, ahead=by, sequence=sequence)
    await work.finish()
    async with place.host.engines.connection("organization", "organization_system") as connection:
        await connection.execute(
            "INSERT INTO organization.clock_offset (organization_id, ahead, sequence) "
            "VALUES ($1, $2, $3) ON CONFLICT (organization_id) DO UPDATE SET ahead = $2",
            place.id,
            by,
            sequence,
        )


async def sweep(host: Host, doing: Job) -> int:
    """What the worker does for a job of `when_due`: it finds what is due, and each is done by it.

    How many were found; jobs of other companies are left to them.
    """
    origin = Origin(action="sweep", request_id="sweep", correlation_id="sweep")
    scope = Scope(actor=SYSTEM)
    finding = Work(host, "organization", scope, origin, login="organization_system")
    await jobs.declared[f"find_to_{doing.name}"].body(finding)
    for found in finding._jobs:
        job = jobs.declared[found.task.split(".")[1]]
        company_id = UUID(found.arguments["organization_id"])
        offset = await clock_offset(host, "organization", company_id)
        mine = Scope(actor=SYSTEM, organization_id=company_id, clock_offset=offset)
        work = Work(host, "organization", mine, origin)
        await job.body(work, **job.read_arguments(found.arguments["arguments"]))
        await work.finish()
    await finding.close()
    return len(finding._jobs)


async def count(host: Host, text: str, *arguments: Any) -> int:
    async with host.engines.connection("organization", "organization_system") as connection:
        found: int = await connection.fetchval(text, *arguments)
    return found


async def member_of(company: Company, role: str) -> people.Member:
    return await people.member(company.host, company.id, role=role)


def version_of(answer: httpx2.Response) -> str:
    return answer.headers["etag"]


def uuid_of(answer: httpx2.Response) -> UUID:
    return UUID(answer.json()["id"])
