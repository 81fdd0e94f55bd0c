"""Qualification and recommendation over HTTP: a person decides on what is known."""

from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

import httpx2
import pytest
from fastapi import FastAPI
from tests.conftest import Time
from tests.factories import identity as people
from tests.factories import opportunity_board as factory
from tests.factories.identity import Member
from tests.planting import plant

from thenga.domains.compliance.public import readiness as compliance
from thenga.domains.opportunity.services import amendments
from thenga.domains.opportunity.services.matching import tenders as matching_tenders
from thenga.domains.opportunity.services.qualification import criteria, qualifications
from thenga.domains.opportunity.tables import Briefing, TenderOpportunity
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.process.host import Host

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


async def tender_with_terms(host: Host, **fields: Any) -> tuple[TenderOpportunity, str]:
    tender = await factory.shared_tender(host, **fields)
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

    def __init__(
        self, state: compliance.State | None, misses: Literal["validity_end"] | None = None
    ) -> None:
        self.state, self.misses = state, misses

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
                verdict=verdict,
                score=None,
                as_of=asked.closing_at,
                items=items,
                lapses=self._lapses(asked),
            )
        ]

    def _lapses(self, asked: compliance.TenderTerms) -> list[compliance.Lapse]:
        on = asked.validity_ends_on
        if self.misses is None or on is None:
            return []
        codes = [one.code for one in asked.terms if one.code is not None]
        return [
            compliance.Lapse(code=code, ends_on=on, misses=self.misses, misses_on=on)
            for code in codes
        ]


def play_compliance(
    monkeypatch: pytest.MonkeyPatch,
    app: FastAPI,
    state: compliance.State | None,
    misses: Literal["validity_end"] | None = None,
) -> None:
    bound = app.state.shared.host.bindings._bound
    monkeypatch.setitem(bound, compliance.Readiness, Compliance(state, misses))


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


@pytest.mark.rule("CMP-48", "OPP-36")
@pytest.mark.parametrize(("misses", "result"), [("validity_end", "not_met"), (None, "met")])
async def test_hidden_document_that_lapses_is_not_met(
    app: FastAPI,
    api: httpx2.AsyncClient,
    host: Host,
    owner: Member,
    monkeypatch: pytest.MonkeyPatch,
    misses: Literal["validity_end"] | None,
    result: str,
) -> None:
    """Compliance tells no last day of such a document, only that it lapses."""
    play_compliance(monkeypatch, app, "met", misses)
    tender = await factory.shared_tender(host, terms={"validityDays": 90, "forms": []})
    asked = TAX | {"validOn": "validity_end"}
    await factory.requirement(host, tender, asked, code="tax_status")

    judged = (await answer(api, owner, tender)).json()

    (criterion,) = judged["criteria"]
    assert (criterion["result"], criterion["validUntil"], criterion["refs"]) == (result, None, [])


def silently_judged(started: httpx2.Response) -> tuple[Any, str, list[str]]:
    """Readiness, verdict and results of a first draft."""
    first = started.json()
    return first["readiness"], first["verdict"], [one["result"] for one in first["criteria"]]


async def test_a_planted_silence_taken_for_a_yes_is_found(
    app: FastAPI,
    api: httpx2.AsyncClient,
    host: Host,
    owner: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    play_compliance(monkeypatch, app, None)
    plant(monkeypatch, criteria, "_document", lambda *_: ("met", "readiness", None, []))
    tender, _ = await tender_with_terms(host)

    found = silently_judged(await answer(api, owner, tender))

    assert found == (None, "qualified", ["met", "unknown"])


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

    assert shown.json() == done.json()
    assert (started.status_code, answered.status_code) == (201, 200), started.text
    assert silently_judged(started) == (None, "insufficient_information", ["unknown", "unknown"])
    assert (early.status_code, early.json()["code"]) == (422, "opportunity-answers-missing")
    assert without.status_code == 428
    assert answered.json()["functionality"] == {"points": "75", "max": "100", "threshold": "70"}
    assert (done.status_code, done.json()["verdict"]) == (200, "qualified"), done.text
    (event,) = await factory.told(host, owner.organization_id, "QualificationCompleted")
    assert (event["data"]["verdict"], event["data"]["unmet"]) == ("qualified", [])


async def completed_late(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> tuple[int, str | None]:
    """How the completion of a qualification is answered whose tender changed in between."""
    tender, paper = await tender_with_terms(host)
    said = {"requirementId": paper, "result": "met"}
    await answer(api, owner, tender, answers=[said], selfScores={"a": "30", "b": "40", "c": "30"})
    work = factory.working(host, OPERATOR)
    row = await work.lock(TenderOpportunity, tender.id)
    row.requirement_set_version += 1
    await work.save(row)
    await work.finish()
    done = await answer(api, owner, tender, move="complete", version=1)
    return done.status_code, done.json().get("code")


@pytest.mark.rule("OPP-36")
async def test_a_tender_that_changed_meanwhile_is_not_completed(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> None:
    assert await completed_late(api, host, owner) == (409, "opportunity-qualification-stale")


async def test_a_planted_completion_that_looks_at_nothing_is_found(
    api: httpx2.AsyncClient, host: Host, owner: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, qualifications, "_inputs", lambda tender: {})

    assert await completed_late(api, host, owner) == (200, None)


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


async def attended(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> list[tuple[str, str | None]]:
    """The gate of two compulsory briefings and the verdict: nothing said of the second one,
    then that it was missed, then moved to a later day."""
    tender = await factory.shared_tender(host)
    now = host.now()
    over = [await factory.briefing(host, tender, now - timedelta(hours=n)) for n in (2, 1)]
    path = f"/opportunities/{tender.id}"

    async def say(briefing: Briefing, state: str) -> None:
        body = {"attendance": {"state": state}}
        said = await api.patch(f"{path}/briefings/{briefing.id}", json=body, headers=owner.headers)
        assert said.status_code == 200, said.text

    async def look() -> tuple[str, str | None]:
        match = (await api.get(f"{path}/matches", headers=owner.acting)).json()["match"]
        advice = (await api.get(f"{path}/recommendation", headers=owner.acting)).json()
        (gate,) = [one for one in match["gates"] if one["code"] == "compulsory_briefing"]
        return gate["result"], advice["verdict"]

    await say(over[0], "attended")
    seen = [await look()]
    await say(over[1], "missed")
    seen.append(await look())
    work = factory.working(host, OPERATOR)
    later = {"starts_at": now + timedelta(days=1)}
    await amendments.change_briefing(work, tender.id, over[1].id, later)
    await work.finish()
    return [*seen, await look()]


@pytest.mark.rule("OPP-27")
async def test_a_missed_briefing_ends_the_bid_until_it_is_moved(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> None:
    unrecorded, missed, moved = await attended(api, host, owner)

    print(f"unrecorded={unrecorded} missed={missed} moved={moved}")
    assert (unrecorded[0], missed, moved[0]) == ("unknown", ("fail", "do_not_bid"), "pass")
    assert "do_not_bid" not in (unrecorded[1], moved[1])


async def test_a_planted_attendance_that_nobody_reads_is_found(
    api: httpx2.AsyncClient, host: Host, owner: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: object) -> dict[UUID, str]:
        return {}

    plant(monkeypatch, matching_tenders, "own_attendance", nothing)

    assert [gate for gate, _ in await attended(api, host, owner)] == ["unknown"] * 3
