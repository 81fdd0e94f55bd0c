"""Matches over HTTP: why a tender fits, why it does not, and who is told."""

from datetime import date
from typing import Any
from uuid import UUID

import httpx2
import pytest
from tests.factories import opportunity_board as factory
from tests.settling import Settle

from thenga.domains.opportunity.services.matching import features as f
from thenga.domains.opportunity.tables import Match, MatchProfile, MatchRun
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.host import Host

GRADE = {"kind": "cidb_grade", "class": "GB", "minGrade": 5, "peAllowed": False}
FEATURES = f.ProfileFeatures(
    codes=(f.HeldCode("72141000", "claimed", "capability:1"),),
    keywords=(("road",),),
    provinces=frozenset({"KZN"}),
    cidb=(f.CidbHeld("GB", 6, False, "claimed", date(2030, 3, 31), "capability:1"),),
    projects=(
        f.Project(("7214",), True, date(2025, 5, 1), "project:1"),
        f.Project(("7214",), False, None, "project:2"),
    ),
)


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
    small = f.CidbHeld("GB", 4, False, "verified", date(2030, 3, 31), "capability:1")
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


@pytest.mark.rule("OPP-35")
async def test_a_company_is_told_once_for_all_reasons(
    api: httpx2.AsyncClient, host: Host, seeded: None
) -> None:
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
    for _ in range(3):
        await factory.alerted(host, company, tender)

    events = await factory.told(host, company, "OpportunityMatched")
    kinds = sorted(one["kind"] for one in events[0]["data"]["because"])
    listed = await api.get(path, headers=owner.headers)
    print(f"events={len(events)} because={len(kinds)}")
    assert (len(events), kinds) == (1, ["match", "watchlist", "watchlist"])
    assert [one["hits30d"] for one in listed.json()["items"]] == [1, 1]
    (match,) = await factory.rows(host, Match, company)
    assert events[0]["subject"].endswith(str(match.id)) and isinstance(match.id, UUID)


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
