"""Qualification and recommendation over HTTP: a person decides on what is known."""

from typing import Any
from uuid import UUID

import httpx2
import pytest
from fastapi import FastAPI
from tests.conftest import Time
from tests.factories import identity as people
from tests.factories import opportunity_board as factory
from tests.factories.identity import Member

from thenga.domains.compliance.public import readiness as compliance
from thenga.domains.opportunity.services import board
from thenga.domains.opportunity.tables import Amendment, TenderOpportunity
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.host import Host

PARTS = [
    {"key": "a", "title": "Team", "points": 30},
    {"key": "b", "title": "Method", "points": 40},
    {"key": "c", "title": "Plan", "points": 30},
]
POINTS = {"kind": "functionality", "maxPoints": 100, "thresholdPoints": 70, "parts": PARTS}
TAX = {"kind": "document", "requirementCode": "tax_status", "validOn": "closing"}


@pytest.fixture
async def owner(host: Host, seeded: None) -> Member:
    return await factory.owner_of(host, await factory.company(host))


async def tender_with_terms(host: Host) -> tuple[TenderOpportunity, str]:
    tender = await factory.shared_tender(host)
    paper = await factory.requirement(host, tender, TAX, code="tax_status", cure="renew")
    await factory.requirement(host, tender, POINTS, requirement_class="scored", ordinal=2)
    return tender, str(paper.id)


async def answer(
    api: httpx2.AsyncClient, who: Member, tender: TenderOpportunity, **body: Any
) -> httpx2.Response:
    headers = who.acting
    if "version" in body:
        headers = headers | {"If-Match": f'"{body.pop("version")}"'}
    return await api.post(f"/opportunities/{tender.id}/qualification", json=body, headers=headers)


class Compliance(compliance.Readiness):
    """Compliance that does not answer in time, or finds each term in one state."""

    def __init__(self, state: compliance.State | None) -> None:
        self.state = state

    async def on_date(self, **_: Any) -> compliance.ReadinessView:
        raise NotImplementedError

    async def for_tenders(
        self, *, organization_id: UUID, tenders: list[compliance.TenderTerms]
    ) -> list[compliance.ReadinessView]:
        if self.state is None:
            raise DependencyUnavailable(dependency="compliance.readiness")
        (asked,) = tenders
        assert asked.closing_at is not None
        items = [
            compliance.ReadinessItem(ref=one.ref, code=one.code, gate="hard", state=self.state)
            for one in asked.terms
        ]
        verdict: compliance.Verdict = "ready" if self.state == "met" else "not_ready"
        return [
            compliance.ReadinessView(
                verdict=verdict, score=None, as_of=asked.closing_at, items=items
            )
        ]


def play_compliance(
    monkeypatch: pytest.MonkeyPatch, app: FastAPI, state: compliance.State | None
) -> None:
    bound = app.state.shared.host.bindings._bound
    monkeypatch.setitem(bound, compliance.Readiness, Compliance(state))


@pytest.mark.rule("OPP-36")
@pytest.mark.rule("OPP-37")
@pytest.mark.parametrize(
    ("state", "result", "verdict"),
    [("met", "met", "qualified"), ("missing", "not_met", "conditional")],
)
async def test_documents_are_judged_by_compliance(
    app: FastAPI,
    api: httpx2.AsyncClient,
    host: Host,
    owner: Member,
    monkeypatch: pytest.MonkeyPatch,
    state: compliance.State,
    result: str,
    verdict: str,
) -> None:
    play_compliance(monkeypatch, app, state)
    tender, paper = await tender_with_terms(host)

    said = {"requirementId": paper, "result": "met"}
    scored = {"a": "24", "b": "24", "c": "27"}
    judged = (await answer(api, owner, tender, answers=[said], selfScores=scored)).json()

    assert judged["criteria"][0]["basis"] == "readiness"
    assert (judged["criteria"][0]["result"], judged["verdict"]) == (result, verdict)


@pytest.mark.rule("OPP-36")
async def test_a_tender_that_compliance_does_not_track_is_judged(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> None:
    tender, _ = await tender_with_terms(host)

    judged = await answer(api, owner, tender)

    assert judged.status_code == 201, judged.text
    assert judged.json()["readiness"] is not None


@pytest.mark.rule("OPP-36")
@pytest.mark.rule("OPP-37")
async def test_a_silent_readiness_is_unknown_and_answers_qualify(
    app: FastAPI,
    api: httpx2.AsyncClient,
    host: Host,
    owner: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    play_compliance(monkeypatch, app, None)
    tender, paper = await tender_with_terms(host)

    started = await answer(api, owner, tender)
    early = await answer(api, owner, tender, move="complete", version=1)
    without = await answer(api, owner, tender, move="complete")
    said = {"requirementId": paper, "result": "met"}
    scored = {"a": "24", "b": "24", "c": "27"}
    answered = await answer(api, owner, tender, answers=[said], selfScores=scored)
    done = await answer(api, owner, tender, move="complete", version=2)
    path = f"/opportunities/{tender.id}/qualification"
    shown = await api.get(path, headers=owner.acting)

    first = started.json()
    assert shown.json() == done.json()
    assert (started.status_code, answered.status_code) == (201, 200), started.text
    assert (first["readiness"], first["verdict"]) == (None, "insufficient_information")
    assert [one["result"] for one in first["criteria"]] == ["unknown", "unknown"]
    assert (early.status_code, early.json()["code"]) == (422, "opportunity-answers-missing")
    assert without.status_code == 428
    assert answered.json()["functionality"] == {"points": "75", "max": "100", "threshold": "70"}
    assert (done.status_code, done.json()["verdict"]) == (200, "qualified"), done.text
    (event,) = await factory.told(host, owner.organization_id, "QualificationCompleted")
    assert (event["data"]["verdict"], event["data"]["unmet"]) == ("qualified", [])


@pytest.mark.rule("OPP-36")
async def test_a_tender_that_changed_meanwhile_is_not_completed(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> None:
    tender, paper = await tender_with_terms(host)
    said = {"requirementId": paper, "result": "met"}
    await answer(api, owner, tender, answers=[said], selfScores={"a": "30", "b": "40", "c": "30"})

    work = factory.working(host, OPERATOR)
    row = await work.lock(TenderOpportunity, tender.id)
    row.requirement_set_version += 1
    await work.save(row)
    await work.finish()
    done = await answer(api, owner, tender, move="complete", version=1)

    assert (done.status_code, done.json()["code"]) == (409, "opportunity-qualification-stale")


@pytest.mark.rule("OPP-38")
async def test_a_person_decides_on_the_version_that_was_seen(
    api: httpx2.AsyncClient, host: Host, owner: Member, clock: Time
) -> None:
    tender = await factory.shared_tender(host)
    path = f"/opportunities/{tender.id}/recommendation"
    decision = {"choice": "accept"}

    shown = await api.get(path, headers=owner.acting)
    blind = await api.patch(path, json=decision, headers=owner.acting)
    seen = owner.acting | {"If-Match": '"0"'}
    accepted = await api.patch(path, json=decision, headers=seen)
    late = await api.patch(path, json={"refresh": True}, headers=seen)

    first = shown.json()
    assert (first["version"], first["preliminary"], first["analysis"]) == (0, True, None)
    assert shown.headers["etag"].startswith('"0-')
    assert blind.status_code == 428
    assert (accepted.status_code, accepted.json()["status"]) == (200, "accepted"), accepted.text
    assert late.status_code == 412
    (event,) = await factory.told(host, owner.organization_id, "RecommendationChanged")
    assert event["data"]["status"] == "accepted"

    assert tender.closing_at is not None
    clock.set(tender.closing_at)
    again = await people.member(host, owner.organization_id, role="owner")
    current = again.acting | {"If-Match": f'"{accepted.json()["version"]}"'}
    closed = await api.patch(path, json={"refresh": True}, headers=current)
    assert (closed.status_code, closed.json()["code"]) == (
        409,
        "opportunity-recommendation-expired",
    )


@pytest.mark.rule("OPP-45")
async def test_an_amendment_touches_what_the_company_judged(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> None:
    tender, paper = await tender_with_terms(host)
    company = owner.organization_id
    said = {"requirementId": paper, "result": "met"}
    await answer(api, owner, tender, answers=[said], selfScores={"a": "30", "b": "40", "c": "30"})
    await answer(api, owner, tender, move="complete", version=1)
    path = f"/opportunities/{tender.id}/recommendation"
    seen = owner.acting | {"If-Match": '"0"'}
    await api.patch(path, json={"choice": "accept"}, headers=seen)
    await api.post(
        f"/organizations/{company}/saved-opportunities",
        json={"tenderOpportunityId": str(tender.id)},
        headers=owner.headers,
    )

    amendment = Amendment(
        organization_id=OPERATOR,
        tender_opportunity_id=tender.id,
        number=1,
        from_version=1,
        to_version=2,
        origin="source_diff",
        changes=[],
        level="material",
        material=True,
        short_notice=True,
        detected_at=host.now(),
    )
    effects = []
    for _ in range(3):
        work = factory.working(host, company)
        row = await work.get(TenderOpportunity, tender.id)
        effects.append(await board.ripple_effects(work, row, amendment))
        await work.finish()

    stale = await factory.told(host, company, "QualificationStale")
    proposed = await factory.told(host, company, "RecommendationChanged")
    shown = await api.get(path, headers=owner.acting)
    names = [effect for effect, _ in effects[0]]
    print(f"ripple_entries={len(names)} doubled={len(stale) - 1 + len(proposed) - 2}")
    assert names == ["qualification_stale", "recommendation_proposed", "attention_set"]
    assert (len(stale), len(proposed), shown.json()["status"]) == (1, 2, "proposed")
