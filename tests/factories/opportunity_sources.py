"""A company with a source of its own, and the time in which the source is read."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid4

import httpx2
from sqlalchemy import select

from tests.factories import held
from tests.factories import identity as people
from tests.factories.identity import Member
from tests.providers.etenders import FILES
from tests.suites.internet import SITE
from tests.timeline import Clock, Timeline
from thenga import topology
from thenga.domains.opportunity.tables import Tenant, TenderOpportunity
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.rows import Row
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.tooling.dev.sample_tenders import sample_releases

R = TypeVar("R", bound=Row)
NOON = datetime(2026, 11, 17, 10, tzinfo=UTC)
TODAY = date(2026, 11, 17)


def working(host: Host, organization_id: UUID) -> Work:
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    return Work(host, "opportunity", Scope(SYSTEM, organization_id), origin)


def releases_on(days: dict[date, int]) -> list[dict[str, Any]]:
    """So many sample releases on each day."""
    made = iter(sample_releases(TODAY, sum(days.values())))
    found = []
    for day, count in days.items():
        for _ in range(count):
            found.append(next(made) | {"date": f"{day.isoformat()}T00:00:00Z"})
    return found


@dataclass
class Desk:
    """One company that reads a feed; what it is sent and what becomes of it."""

    host: Host
    api: httpx2.AsyncClient
    clock: Clock
    adapters: dict[type, Any] = field(default_factory=dict)
    organization_id: UUID = field(default_factory=uuid4)

    def __post_init__(self) -> None:
        # A host of its own: the right to ask one is shared, and the clock of each test is its own.
        self.address = f"https://f{uuid4().hex[:12]}.{SITE}/api/OCDSReleases"
        domains = topology.load(["opportunity"])
        self.timeline = Timeline(
            self.host, self.clock, domains, self.organization_id, adapters=self.adapters
        )

    async def open(self, *, sources: int = 2) -> Member:
        """The owner of a company with room for so many sources, who has just signed in."""
        self.clock.set(NOON)
        owner = await people.member(self.host, self.organization_id, role="owner")
        await held.granted(self.host, self.organization_id, "opportunity.sources", sources)
        work = working(self.host, self.organization_id)
        await work.add(
            Tenant(organization_id=self.organization_id, organization_type="company", sandbox=False)
        )
        await work.finish()
        self.owner = owner
        return owner

    async def call(self, method: str, path: str, **body: Any) -> httpx2.Response:
        """A call of the owner; with time, sessions end, so it is a new one each time."""
        who = await people.member(self.host, self.organization_id, role="owner")
        sent: dict[str, Any] = {"headers": who.acting}
        if method != "GET":
            sent["json"] = body
        return await self.api.request(method, path, **sent)

    async def source(self, **fields: Any) -> dict[str, Any]:
        """A draft of an eTenders source."""
        given = {
            "name": f"eTenders {uuid4().hex[:8]}",
            "kind": "etenders_ocds",
            "address": self.address,
            "licence": "ODC PDDL",
            "attribution": "National Treasury eTenders",
            "documentHosts": [FILES],
        } | fields
        answer = await self.call("POST", "/opportunity/sources", **given)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    async def active(self, **fields: Any) -> dict[str, Any]:
        """A source that was probed and activated, and has had its first poll."""
        made = await self.source(**fields)
        await self.run(made["id"], mode="probe")
        answer = await self.call("PATCH", f"/opportunity/sources/{made['id']}", move="activate")
        assert answer.status_code == 200, answer.text
        await self.after(timedelta(minutes=1))
        return await self.get(made["id"])

    async def start(self, source_id: str, **body: Any) -> httpx2.Response:
        return await self.call("POST", f"/opportunity/sources/{source_id}/runs", **body)

    async def run(self, source_id: str, *, minutes: int = 5, **body: Any) -> dict[str, Any]:
        """The latest run of a source, started now and given some minutes."""
        answer = await self.start(source_id, **body)
        assert answer.status_code == 202, answer.text
        await self.after(timedelta(minutes=minutes))
        shown: list[dict[str, Any]] = (await self.get(source_id))["recentRuns"]
        return next(run for run in shown if run["mode"] == body["mode"])

    async def get(self, source_id: str) -> dict[str, Any]:
        answer = await self.call("GET", f"/opportunity/sources/{source_id}")
        assert answer.status_code == 200, answer.text
        shown: dict[str, Any] = answer.json()
        return shown

    async def after(self, delta: timedelta) -> None:
        """Let time pass, with all that is due in it."""
        await self.timeline.until(self.host.now() + delta)

    async def all(self, row: type[R], **columns: Any) -> list[R]:
        """Rows of the company."""
        work = working(self.host, self.organization_id)
        table = row.__table__
        chosen = [table.c[name] == value for name, value in columns.items()]
        mine = table.c.organization_id == self.organization_id
        try:
            return await work.all(select(row).where(mine, *chosen).order_by(table.c.id))
        finally:
            await work.close()

    async def shared_of(self, source_id: UUID) -> list[TenderOpportunity]:
        """The shared tenders of a source, as the company sees them."""
        work = working(self.host, self.organization_id)
        statement = select(TenderOpportunity).where(
            TenderOpportunity.primary_source_id == source_id, TenderOpportunity.shared
        )
        try:
            return await work.all(statement)
        finally:
            await work.close()

    async def events(self, name: str) -> list[dict[str, Any]]:
        """What the company was told, by the name of the event, in order."""
        connecting = self.host.engines.connection("opportunity", "opportunity_system")
        async with connecting as connection:
            rows = await connection.fetch(
                "SELECT envelope::jsonb -> 'data' AS data FROM opportunity.outbox "
                "WHERE organization_id = $1 AND envelope::jsonb ->> 'type' = $2 ORDER BY position",
                self.organization_id,
                f"opportunity.{name}.v1",
            )
        return [row["data"] for row in rows]
