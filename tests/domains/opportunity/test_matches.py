"""Matches over HTTP: why a tender fits, why it does not, and who is told."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx2
import pytest
from tests.conftest import Time
from tests.factories import opportunity_board as factory
from tests.factories.opportunity_sources import TODAY, Desk, releases_on
from tests.planting import plant
from tests.providers.etenders import Etenders
from tests.settling import Settle

from thenga.domains.opportunity.reactions import reactions
from thenga.domains.opportunity.services.board import alerts
from thenga.domains.opportunity.services.matching import features as f
from thenga.domains.opportunity.services.notices import telling
from thenga.domains.opportunity.tables import Match, MatchProfile, MatchRun
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.declare.event import Envelope
from thenga.kernel.process.host import Host

NOW = datetime(2026, 11, 16, 8, tzinfo=UTC)
GRADE = {"kind": "cidb_grade", "class": "GB", "minGrade": 5, "peAllowed": False}
FEATURES = f.ProfileFeatures(
    codes=(f.HeldCode("72141000", "claimed", "capability:1"),),
    keywords=(("road",),),
    provinces=frozenset({"KZN"}),
    cidb=(f.CidbHeld("GB", 6, False, "claimed", date(2027, 3, 31), "capability:1"),),
    projects=(
        f.Project(("7214",), True, date(2025, 5, 1), "project:1"),
        f.Project(("7214",), False, None, "project:2"),
    ),
)


@pytest.fixture(autouse=True)
def day(clock: Time) -> None:
    """A day on which the grading of the vector is valid and its project not too old."""
    clock.set(NOW)


@pytest.mark.rule("OPP-30")
async def test_a_match_shows_the_score_of_the_vector(
    api: httpx2.AsyncClient, host: Host, seeded: None
) -> None:
    company = await factory.company(host, FEATURES)
    owner = await factory.owner_of(host, company)
    tender = await factory.shared_tender(host)
    await factory.requirement(host, tender, GRADE)

    asked = await api.post(f"/opportunities/{tender.id}/matches", json={}, headers=owner.acting)
    listed = await api.get(f"/organizations/{company}/opportunity-matches", headers=owner.headers)

    assert asked.status_code == 202, asked.text
    match, run = asked.json()["match"], asked.json()["run"]
    print(f"score={match['score']} coverage={match['coverage']} band={match['band']}")
    assert (match["score"], match["coverage"], match["band"]) == ("77.8", "0.90", "good")
    assert (run["status"], match["stored"], match["stale"]) == ("succeeded", True, False)
    assert [one["tenderOpportunityId"] for one in listed.json()["items"]] == [str(tender.id)]


@pytest.mark.rule("OPP-31")
@pytest.mark.rule("OPP-34")
async def test_a_low_grade_blocks_and_is_explained_below_the_floor(
    api: httpx2.AsyncClient, host: Host, seeded: None
) -> None:
    small = f.CidbHeld("GB", 4, False, "verified", date(2027, 3, 31), "capability:1")
    company = await factory.company(host, f.ProfileFeatures(cidb=(small,)))
    near = f.ProfileFeatures(cidb=(small,), codes=FEATURES.codes, provinces=FEATURES.provinces)
    other = await factory.company(host, near)
    owner, second = await factory.owner_of(host, company), await factory.owner_of(host, other)
    tender = await factory.shared_tender(host)
    hinted = await factory.shared_tender(host, title="Construction at Nositha: 5GB")
    await factory.requirement(host, tender, GRADE)

    why = await api.get(f"/opportunities/{tender.id}/matches", headers=owner.acting)
    hint = await api.get(f"/opportunities/{hinted.id}/matches", headers=owner.acting)
    await api.post(f"/opportunities/{tender.id}/matches", json={}, headers=second.acting)
    path = f"/organizations/{other}/opportunity-matches"
    blocked = await api.get(path, params={"blockedBy": "cidb_grade"}, headers=second.headers)
    free = await api.get(path, params={"blockedBy": "closed"}, headers=second.headers)

    match = why.json()["match"]
    results = {one["code"]: one["result"] for one in match["gates"]}
    hints = {one["code"]: one["result"] for one in hint.json()["match"]["gates"]}
    assert (match["stored"], match["eligible"], len(match["factors"])) == (False, False, 6)
    assert (results["cidb_grade"], hints["cidb_grade"]) == ("fail", "unknown")
    assert [one["tenderOpportunityId"] for one in blocked.json()["items"]] == [str(tender.id)]
    assert free.json()["items"] == []


@pytest.mark.rule("OPP-33")
async def test_a_changed_profile_makes_a_match_stale(
    api: httpx2.AsyncClient, host: Host, seeded: None
) -> None:
    company = await factory.company(host, FEATURES)
    owner = await factory.owner_of(host, company)
    tender = await factory.shared_tender(host)
    await api.post(f"/opportunities/{tender.id}/matches", json={}, headers=owner.acting)

    work = factory.working(host, company)
    profile = await work.lock_by(MatchProfile)
    profile.revision += 1
    await work.save(profile)
    await work.finish()
    shown = await api.get(f"/opportunities/{tender.id}/matches", headers=owner.acting)
    stale = await api.get(
        f"/organizations/{company}/opportunity-matches?stale=true", headers=owner.headers
    )

    match = shown.json()["match"]
    assert (match["stale"], match["staleReasons"]) == (True, ["profile_changed"])
    assert len(stale.json()["items"]) == 1


async def told_of(api: httpx2.AsyncClient, host: Host, clock: Time) -> tuple[list[Any], list[int]]:
    """The events for a match and two watchlists that fit at once, and the hits of each."""
    company = await factory.company(host, FEATURES)
    owner = await factory.owner_of(host, company)
    await factory.room_for_watchlists(host, company, 5)
    path = f"/organizations/{company}/watchlists"
    for name, filters in (("Roads", {"q": "road repair"}), ("KZN", {"province": "KZN"})):
        body = {"name": name, "filters": filters}
        made = await api.post(path, json=body, headers=owner.headers)
        assert made.status_code == 201, made.text
    tender = await factory.shared_tender(host)
    await factory.percolated(host, tender)
    for second in range(3):
        clock.set(NOW + timedelta(seconds=second))
        await factory.alerted(host, company, tender)
    listed = await api.get(path, headers=owner.headers)
    events = await factory.told(host, company, "OpportunityMatched")
    (match,) = await factory.rows(host, Match, company)
    assert events[0]["subject"].endswith(str(match.id)) and isinstance(match.id, UUID)
    return events, [one["hits30d"] for one in listed.json()["items"]]


@pytest.mark.rule("OPP-35")
async def test_a_company_is_told_once_for_all_reasons(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
) -> None:
    events, hits = await told_of(api, host, clock)

    kinds = sorted(one["kind"] for one in events[0]["data"]["because"])
    print(f"events={len(events)} because={len(kinds)}")
    assert (len(events), kinds) == (1, ["match", "watchlist", "watchlist"])
    assert hits == [1, 1]


async def test_a_planted_alert_for_each_reason_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    seeded: None,
    clock: Time,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = alerts._new_reasons

    async def one_by_one(*given: Any) -> dict[str, Any]:
        return dict(list((await right(*given)).items())[:1])

    plant(monkeypatch, alerts, "_new_reasons", one_by_one)

    events, _ = await told_of(api, host, clock)

    assert [len(one["data"]["because"]) for one in events] == [1, 1, 1]


async def alerts_of(feed: Etenders, desk: Desk, runs: list[dict[str, str]]) -> tuple[int, int]:
    """How many tenders of the last two years come in, and how many of them are told."""
    await factory.company(desk.host, FEATURES, organization_id=desk.organization_id)
    await factory.watchlist(desk.host, desk.organization_id)
    days = [TODAY - timedelta(days=100 * n + 10) for n in range(7)]
    for one in releases_on(dict.fromkeys(days, 1)):
        period = {"endDate": "2027-01-20T11:00:00Z"}
        where = {"province": "KwaZulu-Natal", "deliveryLocation": "Nositha"}
        tender = one["tender"] | {"tenderPeriod": period, "status": "active"} | where
        feed.publish(one | {"tender": tender})
    source = await desk.active(settings={"windowDays": 31})
    for run in runs:
        await desk.run(source["id"], **run)
    came = await hear(desk, "TenderOpportunityPublished")
    return came, len(await desk.events("OpportunityMatched"))


async def hear(desk: Desk, name: str) -> int:
    """React to the company's own events of a name, as the consumer would; how many there are."""
    found = await factory.told(desk.host, desk.organization_id, name)
    for one in found:
        for reaction in reactions.all:
            if reaction.event_type == one["type"]:
                work = factory.working(desk.host, desk.organization_id)
                await reaction.handle(work, Envelope.model_validate(one))
                await work.finish()
    return len(found)


TWO_YEARS = [
    {"mode": "backfill", "from": "2025-11-01", "to": "2026-11-12"},
    {"mode": "backfill", "from": "2024-11-17", "to": "2025-10-31"},
]


@pytest.mark.rule("OPP-35")
async def test_a_backfill_of_two_years_alerts_of_nothing(feed: Etenders, desk: Desk) -> None:
    came, alerted = await alerts_of(feed, desk, TWO_YEARS)

    print(f"backfilled={came} alerts={alerted}")
    assert (came, alerted) == (7, 0)


async def test_a_planted_backfill_that_alerts_is_found(
    feed: Etenders, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = telling.tell_published

    async def as_new(work: Any, tender: Any, *, backfilled: bool) -> None:
        await right(work, tender, backfilled=False)

    plant(monkeypatch, telling, "tell_published", as_new)

    assert await alerts_of(feed, desk, TWO_YEARS) == (7, 7)


@pytest.mark.rule("OPP-34")
@pytest.mark.settles("opportunity")
async def test_publishing_reaches_companies_by_events(host: Host, settle: Settle) -> None:
    company = await factory.company(host, FEATURES)
    tender = await factory.shared_tender(host)

    async def alerted() -> list[dict[str, Any]] | None:
        return await factory.told(host, company, "OpportunityMatched") or None

    (event,) = await settle(alerted)
    (run,) = await factory.rows(host, MatchRun, OPERATOR, tender_opportunity_id=tender.id)
    print(f"run={run.status} chunks={run.done}/{run.total}")
    assert event["data"]["tenderOpportunityId"] == str(tender.id)
    assert event["causationid"] is not None
    assert run.status.value == "succeeded"
