"""An amendment and all that it touches, under one cause; numbers without gaps."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from sqlalchemy import select
from tests.domains.opportunity.tendering import told
from tests.domains.opportunity.test_judgement import answer, tender_with_terms
from tests.factories import opportunity as factory
from tests.factories import opportunity_board as board_factory
from tests.factories.identity import Member
from tests.planting import plant
from tests.settling import Settle

from thenga.domains.opportunity.jobs.notices import ripple_organization
from thenga.domains.opportunity.services import amendments, board, matching, notices
from thenga.domains.opportunity.services.amendments import comparing
from thenga.domains.opportunity.services.qualification import qualifications
from thenga.domains.opportunity.tables import Amendment, Qualification, TenderOpportunity
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

CAUSED = ("QualificationStale", "RecommendationChanged", "DeadlineChanged")
EFFECTS = [
    *("attention_set", "deadline_moved", "match_stale"),
    *("qualification_stale", "recommendation_proposed"),
]


async def amend(host: Host, tender_id: UUID, **fields: Any) -> Amendment:
    """Change a tender as its source would."""
    work = factory.working(host)
    held = await notices.keep(work, tender_id)
    for name, value in fields.items():
        setattr(held, name, value)
    made = await amendments.amend(work, held, origin="source_diff")
    await work.finish()
    assert made is not None
    return made


@dataclass
class Bidder:
    """A company that has judged and saved a tender and prepares a bid, with an own deadline."""

    api: httpx2.AsyncClient
    host: Host
    who: Member
    tender: TenderOpportunity
    before: int = 0

    @classmethod
    async def of(cls, api: httpx2.AsyncClient, host: Host) -> "Bidder":
        company = await board_factory.company(host)
        who = await board_factory.owner_of(host, company)
        tender, paper = await tender_with_terms(host, closes_in=timedelta(days=2))
        made = cls(api, host, who, tender)
        said = {"requirementId": paper, "result": "met"}
        scores = {"a": "30", "b": "40", "c": "30"}
        await answer(api, who, tender, answers=[said], selfScores=scores)
        done = await answer(api, who, tender, move="complete", version=1)
        assert done.status_code == 200, done.text
        path = f"/opportunities/{tender.id}"
        seen = who.acting | {"If-Match": '"0"'}
        taken = await api.patch(f"{path}/recommendation", json={"choice": "accept"}, headers=seen)
        assert taken.json()["status"] == "accepted", taken.text
        rule = {"before": "closing", "calendarDays": 1}
        body = {"kind": "clarification", "rule": rule}
        own = await api.post(f"{path}/deadlines", json=body, headers=who.headers)
        assert own.status_code == 201, own.text
        work = board_factory.working(host, company)
        await matching.store_own(work, tender, anyway=True)
        await board.open_workspace(work, tender.id, uuid4(), 1)
        await work.finish()
        made.before = len(await made.told())
        return made

    async def told(self) -> list[dict[str, Any]]:
        """What this company was told of the tender and can have been caused by an amendment."""
        mine = str(self.who.organization_id)
        events = await told(self.host, self.tender.id)
        own = [one for one in events if one.get("organizationid") == mine]
        return [one for one in own if one["type"].split(".")[1] in CAUSED]

    async def caused(self) -> list[dict[str, Any]]:
        return (await self.told())[self.before :]

    async def entries(self) -> list[dict[str, Any]]:
        """The ripple of the newest amendment, as this company sees it."""
        path = f"/opportunities/{self.tender.id}/amendments"
        listed = await self.api.get(path, headers=self.who.headers)
        return list(listed.json()["items"][0]["ripple"]["entries"])

    async def deliver(self, amendment: Amendment, times: int) -> None:
        """What the amendment touches is done again, as after an event that comes again."""
        for _ in range(times):
            work = factory.working(self.host, self.who.organization_id)
            await ripple_organization.body(work, amendment_id=amendment.id)
            await work.finish()

    async def doubled(self) -> int:
        """Entries and events that are there more than once; prints the figures."""
        entries, events = await self.entries(), [one["type"] for one in await self.caused()]
        found = len(entries) - len({(one["effect"], one["reference"]) for one in entries})
        found += len(events) - len(set(events))
        print(f"ripple_entries={len(entries)}/{len(EFFECTS)} doubled={found}")
        return found


@pytest.mark.rule("OPP-45", "OPP-46")
@pytest.mark.settles("opportunity")
async def test_a_moved_closing_ripples_under_one_cause(
    api: httpx2.AsyncClient, host: Host, settle: Settle
) -> None:
    bidder = await Bidder.of(api, host)
    tender = bidder.tender
    assert tender.closing_at is not None

    amendment = await amend(host, tender.id, closing_at=tender.closing_at + timedelta(days=1))

    async def rippled() -> list[dict[str, Any]] | None:
        found = await bidder.entries()
        return found if len(found) >= len(EFFECTS) else None

    entries = await settle(rippled)
    await bidder.deliver(amendment, 2)
    (cause,) = await told(host, tender.id, "TenderOpportunityAmended")
    caused = await bidder.caused()
    path = f"/opportunities/{tender.id}"
    shown = (await api.get(path, params={"include": "mine"}, headers=bidder.who.acting)).json()
    (own,) = [one for one in shown["deadlines"] if one["own"]]
    assert (amendment.number, amendment.material, amendment.short_notice) == (1, True, True)
    assert sorted(one["effect"] for one in entries) == EFFECTS
    assert {one["eventId"] for one in entries} == {cause["id"]}
    assert sorted(one["type"].split(".")[1] for one in caused) == sorted(CAUSED)
    assert {one["causationid"] for one in caused} == {cause["id"]}
    assert "organizationid" not in cause
    assert len(own["movedFrom"]) == 1
    assert await bidder.doubled() == 0
    judged = await api.get(f"{path}/qualification", headers=bidder.who.acting)
    advice = await api.get(f"{path}/recommendation", headers=bidder.who.acting)
    assert (judged.json()["stale"], advice.json()["status"]) == (True, "proposed")


async def test_a_planted_ripple_that_forgets_what_it_told_is_found(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = qualifications.mark_stale

    async def forgetful(work: Work, tender_id: UUID, reasons: list[str]) -> str | None:
        known = await qualifications.completed(work, tender_id)
        assert known is not None
        held = await work.lock(Qualification, known.id, beside=True)
        held.stale_reasons = []
        await work.save(held)
        return await right(work, tender_id, reasons)

    plant(monkeypatch, qualifications, "mark_stale", forgetful)
    bidder = await Bidder.of(api, host)
    assert bidder.tender.closing_at is not None
    later = bidder.tender.closing_at + timedelta(days=1)

    await bidder.deliver(await amend(host, bidder.tender.id, closing_at=later), 3)

    assert await bidder.doubled() == 2


async def touched_by_a_typo(api: httpx2.AsyncClient, host: Host) -> tuple[int, int, bool]:
    """Entries, events and a stale match after a letter was mended in the description."""
    bidder = await Bidder.of(api, host)
    text = "The road to the school with Sanitaton and a bridge"
    await amend(host, bidder.tender.id, description=text)
    bidder.before = len(await bidder.told())
    made = await amend(host, bidder.tender.id, description=text.replace("taton", "tation"))
    await bidder.deliver(made, 1)
    return len(await bidder.entries()), len(await bidder.caused()), made.material


@pytest.mark.rule("OPP-44", "OPP-45")
async def test_a_typo_touches_nothing(api: httpx2.AsyncClient, host: Host, seeded: None) -> None:
    assert await touched_by_a_typo(api, host) == (0, 0, False)


async def test_a_planted_typo_that_matters_is_found(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, comparing, "_text", lambda *_: "material")

    entries, events, is_material = await touched_by_a_typo(api, host)

    assert (entries >= 3, events >= 1, is_material) == (True, True, True)


@pytest.mark.rule("OPP-44")
async def test_numbers_have_no_hole_under_parallel_changes(host: Host) -> None:
    tender = await factory.tender(host)

    await asyncio.gather(
        *(amend(host, tender.id, title=f"Construction of hall {n}") for n in range(50))
    )

    read = factory.working(host)
    numbers = await read.values(
        select(Amendment.number)
        .where(Amendment.tender_opportunity_id == tender.id)
        .order_by(Amendment.number)
    )
    await read.close()
    print(f"numbers={len(numbers)} holes={numbers != list(range(1, len(numbers) + 1))}")
    assert numbers == list(range(1, 51))
