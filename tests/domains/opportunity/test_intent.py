"""What a company captures, watches, saves and plans is its secret (OPP-15, OPP-43)."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx2
import pytest
from tests.conftest import Time
from tests.domains.opportunity.tendering import CLOSING, NOW, captured, published
from tests.factories import identity as people
from tests.factories import opportunity as factory
from tests.factories import opportunity_board as board_factory
from tests.planting import plant

from thenga.domains.opportunity.services import tenants
from thenga.domains.opportunity.services.board import watchlists
from thenga.domains.opportunity.tables import Deadline, Watchlist
from thenga.kernel.db.reader import Reader
from thenga.kernel.process.host import Host

_OWN = ("requestId", "instance")  # what every answer has of its own
_TOLD = """
    SELECT count(*) FROM opportunity.outbox
    WHERE (organization_id IS NULL OR organization_id <> $1) AND envelope LIKE '%' || $2 || '%'
"""


@dataclass
class Company:
    """A company with a word that stands in everything it writes, and the paths of what it wrote."""

    api: httpx2.AsyncClient
    host: Host
    who: people.Member
    word: str = field(default_factory=lambda: f"canary{uuid4().hex[:12]}")
    paths: list[str] = field(default_factory=list)

    async def write(self, path: str, **body: Any) -> dict[str, Any]:
        answer = await self.api.post(path, json=body, headers=self.who.headers)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        self.paths.append(f"{path}/{found['id']}")
        return found

    async def plan(self, shared: dict[str, Any], briefing_id: UUID) -> str:
        """Capture, note, watch, save and attend; the tender that it captured."""
        await board_factory.known(self.host, self.who.organization_id)
        await board_factory.room_for_watchlists(self.host, self.who.organization_id, 5)
        made = await captured(self.api, self.who, title=f"Hall {self.word}")
        self.paths.append(f"/opportunities/{made['id']}")
        for visibility in ("shared", "private"):  # the first is refused to a company
            path = f"/opportunities/{made['id']}/publish"
            body = {"visibility": visibility}
            await self.api.post(path, json=body, headers=self.who.headers)
        tender, mine = (
            f"/opportunities/{shared['id']}",
            f"/organizations/{self.who.organization_id}",
        )
        await self.write(f"{tender}/deadlines", kind="own", label=self.word, dueAt=CLOSING)
        url = f"https://files.example/{self.word}.pdf"
        await self.write(f"{tender}/documents", title=self.word, url=url, fetch=False)
        await self.write(f"{mine}/watchlists", name=self.word, filters={"q": "hall"})
        await self.write(
            f"{mine}/saved-opportunities", tenderOpportunityId=shared["id"], notes=self.word
        )
        attendance = {"state": "registered", "registeredAs": self.word}
        await self.api.patch(
            f"{tender}/briefings/{briefing_id}",
            json={"attendance": attendance},
            headers=self.who.headers,
        )
        return str(made["id"])


@dataclass(frozen=True)
class Leaks:
    """What another company found out: answers unlike those about nothing, and words it read."""

    unlike: list[str]
    canaries: int


async def told_others(company: Company, other: people.Member, shared: dict[str, Any]) -> Leaks:
    """Ask as another company for each thing that a company wrote, and for all lists."""
    api, host, mine = company.api, company.host, str(company.who.organization_id)
    unlike = []
    for path in company.paths:
        asked = path.replace(mine, str(other.organization_id))
        there = await api.get(asked, headers=other.headers)
        nowhere = await api.get(f"{asked.rpartition('/')[0]}/{uuid4()}", headers=other.headers)
        if there.status_code != 404 or _plain(there) != _plain(nowhere):
            unlike.append(path)
    tender, own = f"/opportunities/{shared['id']}", f"/organizations/{other.organization_id}"
    lists = (
        *(tender, f"{tender}?include=mine", f"{tender}/amendments", f"{tender}/requirements"),
        *("/opportunities?q=hall", f"/opportunities?q={company.word}", f"{own}/watchlists"),
        *(f"{own}/saved-opportunities", f"{own}/opportunity-matches"),
    )
    canaries = 0
    for path in lists:
        answer = await api.get(path, headers=other.headers)
        assert answer.status_code == 200, answer.text
        canaries += answer.text.count(company.word)
    async with host.engines.connection("opportunity", "opportunity_system") as connection:
        canaries += await connection.fetchval(_TOLD, company.who.organization_id, company.word)
    print(f"paths={len(company.paths)} unlike={len(unlike)} canaries={canaries}")
    return Leaks(unlike, canaries)


def _plain(answer: httpx2.Response) -> dict[str, Any]:
    return {name: value for name, value in answer.json().items() if name not in _OWN}


async def leaks(api: httpx2.AsyncClient, host: Host) -> tuple[Company, str, Leaks]:
    """A company that plans, the tender that it captured, and what another company sees of it."""
    staff = await people.staff(host, "platform_operator")
    shared = await published(api, staff, "shared", tenderNumber=f"SH {uuid4().hex[:6]}")
    made = await api.post(
        f"/opportunities/{shared['id']}/briefings",
        json={"startsAt": "2026-12-10T09:00:00Z", "compulsory": True},
        headers=staff.headers,
    )
    company = Company(api, host, await people.member(host, uuid4(), role="owner"))
    capture = await company.plan(shared, made.json()["id"])
    other = await people.member(host, uuid4(), role="owner")
    return company, capture, await told_others(company, other, shared)


@pytest.mark.rule("OPP-15", "OPP-16", "OPP-43")
async def test_another_company_learns_nothing(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
) -> None:
    clock.set(NOW)

    company, capture, found = await leaks(api, host)

    assert found == Leaks([], 0)
    kept = await api.get(f"/opportunities/{capture}", headers=company.who.headers)
    assert (kept.json()["visibility"], kept.json()["status"]) == ("private", "open")


async def test_a_planted_company_that_shares_its_captures_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    seeded: None,
    clock: Time,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock.set(NOW)
    plant(monkeypatch, tenants, "may_share", lambda _: True)

    _, capture, found = await leaks(api, host)

    assert found.unlike == [f"/opportunities/{capture}"]
    assert found.canaries > 0


@pytest.mark.rule("OPP-15")
@pytest.mark.parametrize("is_shared", [False, True], ids=["private tender", "shared child"])
async def test_the_database_refuses_rows_below_a_foreign_tender(
    host: Host, seeded: None, is_shared: bool
) -> None:
    keeper: dict[str, Any] = {} if is_shared else {"organization_id": uuid4()}
    tender = await factory.tender(host, **keeper)
    stranger = uuid4()
    work = factory.working(host, stranger)
    row = Deadline(
        organization_id=stranger,
        shared=is_shared,
        tender_opportunity_id=tender.id,
        kind="own",
        label="x",
        due_at=factory.BRIEFING,
        moved_from=[],
        basis="captured",
    )

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await work.add(row)
    await work.close()


async def seen_by_colleague(api: httpx2.AsyncClient, host: Host) -> list[int]:
    """How a colleague is answered about a private watchlist, and about the same one shared."""
    company = await board_factory.company(host)
    owner = await board_factory.owner_of(host, company)
    colleague = await board_factory.owner_of(host, company)
    await board_factory.room_for_watchlists(host, company, 5)
    path = f"/organizations/{company}/watchlists"
    body = {"name": "Mine", "filters": {"q": "school"}}
    made = (await api.post(path, json=body, headers=owner.headers)).json()
    hidden = await api.get(f"{path}/{made['id']}", headers=colleague.headers)
    await api.patch(f"{path}/{made['id']}", json={"shared": True}, headers=owner.headers)
    shown = await api.get(f"{path}/{made['id']}", headers=colleague.headers)
    return [hidden.status_code, shown.status_code]


@pytest.mark.rule("OPP-41")
async def test_a_private_watchlist_is_its_owners_alone(
    api: httpx2.AsyncClient, host: Host, seeded: None
) -> None:
    assert await seen_by_colleague(api, host) == [404, 200]


async def test_a_planted_watchlist_that_everybody_reads_is_found(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def anybody(read: Reader, watchlist_id: UUID) -> Watchlist:
        return await read.get(Watchlist, watchlist_id)

    plant(monkeypatch, watchlists, "get_watchlist", anybody)

    assert await seen_by_colleague(api, host) == [200, 200]
