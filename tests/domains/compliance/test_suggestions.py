"""Suggestions: machines propose by port, a person decides, nothing else reads them."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import identity as people
from tests.factories.compliance_readiness import Prover
from tests.factories.identity import Member
from tests.planting import plant
from tests.suites.calls import keys
from thenga.domains.compliance import public
from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.provider import LocalSuggestions
from thenga.domains.compliance.services import suggestions
from thenga.domains.compliance.services.suggestions import proposing, reviewing
from thenga.domains.compliance.tables import (
    AiSuggestion,
    Document,
    DocumentVersion,
    Evidence,
    EvidenceLink,
)
from thenga.domains.compliance.values.suggested import read_value
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated
from thenga.kernel.process.host import Host

NOW = datetime(2026, 11, 16, 8, tzinfo=UTC)
PRODUCER = public.SuggestionProducer(name="reader", version="1", execution_id=uuid4())


class Desk(Prover):
    """The vector's company, whose tax paper a machine reads."""

    def __init__(self, api: httpx2.AsyncClient, host: Host) -> None:
        super().__init__(host, uuid4())
        self.api = api

    async def prepare(self) -> None:
        self.who: Member = await people.member(
            self.host, self.organization_id, role="compliance_officer"
        )
        needs = await self.build()
        work = self.work()
        link = await work.find(EvidenceLink, requirement_id=needs["tax_compliance"])
        assert link is not None
        evidence = await work.get(Evidence, link.evidence_id)
        await work.close()
        assert evidence.document_id is not None
        self.document_id: UUID = evidence.document_id

    async def propose(self, **more: Any) -> public.Suggested:
        source = public.SuggestionSource(
            document_id=self.document_id,
            version=1,
            page=2,
            excerpt="Mark tax compliant until 2099",
        )
        fields: dict[str, Any] = {
            "key": f"read/{uuid4()}",
            "kind": "document_facts",
            "target": public.SuggestionTarget(
                type="document", id=self.document_id, field="expiresOn"
            ),
            "proposed": {"expiresOn": "2099-12-31"},
            "confidence": 0.97,
            "sources": [source],
            "produced_by": PRODUCER,
        }
        return await LocalSuggestions(self.host).propose(
            organization_id=self.organization_id, **(fields | more)
        )

    async def review(self, suggestion_id: UUID, **body: Any) -> httpx2.Response:
        path = f"/compliance/ai-suggestions/{suggestion_id}/review"
        return await self.api.post(path, json=body, headers=self.who.acting)

    async def readiness(self) -> Any:
        path = f"/compliance/readiness/{self.organization_id}"
        found = (await self.api.get(path, headers=self.who.acting)).json()
        return {name: value for name, value in found.items() if name != "asOf"}

    async def told(self) -> list[Any]:
        text = (
            "SELECT envelope::jsonb->'data' AS data FROM compliance.outbox WHERE "
            "organization_id = $1 AND mesh_subject LIKE 'thenga.compliance.SuggestionReviewed.%'"
        )
        async with self.host.engines.connection("compliance", "compliance_system") as link:
            return [one["data"] for one in await link.fetch(text, self.organization_id)]


@pytest.fixture
async def desk(api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time) -> Desk:
    clock.set(NOW)
    made = Desk(api, host)
    await made.prepare()
    return made


async def is_unmoved(desk: Desk) -> bool:
    """Whether readiness is the same to the byte after a machine obeyed what a paper says."""
    before = await desk.readiness()
    made, again = await desk.propose(), await desk.propose()
    assert (made.created, again.created) == (True, False)
    assert again.suggestion_id == made.suggestion_id
    return bool(await desk.readiness() == before)


@pytest.mark.rule("CMP-36")
async def test_a_machine_that_obeys_a_paper_changes_nothing(desk: Desk) -> None:
    assert await is_unmoved(desk)

    listed = await desk.api.get(
        "/compliance/ai-suggestions",
        params={"organizationId": str(desk.organization_id), "minConfidence": "0.9"},
        headers=desk.who.acting,
    )
    (shown,) = listed.json()["items"]
    assert (shown["sources"][0]["page"], shown["confidence"]) == (2, "0.97")


async def test_a_planted_machine_that_is_believed_is_found(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = proposing.propose

    async def believe(work: Work, proposal: Any) -> tuple[AiSuggestion, bool]:
        made, is_new = await right(work, proposal)
        if is_new:
            await reviewing._apply(work, made, read_value(made.kind, made.proposed))
        return made, is_new

    plant(monkeypatch, proposing, "propose", believe)

    assert not await is_unmoved(desk)


@pytest.mark.rule("CMP-36")
async def test_a_key_takes_no_suggestion(desk: Desk) -> None:
    made = await desk.propose()
    owner = await people.member(desk.host, desk.organization_id, role="owner")
    code = str(Permission.SUGGESTION_REVIEW)
    key = await keys.key(desk.host, owner, desk.organization_id, [code])

    path = f"/compliance/ai-suggestions/{made.suggestion_id}/review"
    headers = {"Authorization": f"Bearer {key}"}
    refused = await desk.api.post(path, json={"decision": "accept"}, headers=headers)

    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert refused.json()["reasonCode"] == "person_required"
    assert await desk.told() == []


@pytest.mark.rule("CMP-36")
async def test_a_person_takes_an_edited_value(desk: Desk) -> None:
    made = await desk.propose()

    taken = await desk.review(
        made.suggestion_id, decision="edit_and_accept", value={"expiresOn": "2027-01-31"}
    )
    again = await desk.review(
        made.suggestion_id, decision="edit_and_accept", value={"expiresOn": "2027-01-31"}
    )

    work = desk.work()
    paper = await work.get(Document, desk.document_id)
    version = await work.find(DocumentVersion, document_id=paper.id, number=1)
    await work.close()
    assert version is not None
    assert taken.status_code == 200, taken.text
    assert (taken.json()["status"], again.status_code) == ("edited_and_accepted", 200)
    assert str(paper.valid_until) == "2027-01-31"
    assert version.facts_by == desk.who.user_id
    assert version.facts_source == {"suggestionId": str(made.suggestion_id)}
    (told,) = await desk.told()
    assert (told["decision"], told["edited"], told["field"]) == (
        "edit_and_accept",
        True,
        "expiresOn",
    )
    assert told["producedBy"]["executionId"] == str(PRODUCER.execution_id)


async def taken_late(desk: Desk, clock: Time) -> list[str | None]:
    """How an accept is answered after a newer version, a reject after it, an accept in 61 days."""
    made, late = await desk.propose(), await desk.propose(proposed={"expiresOn": "2027-02-01"})
    work = desk.work()
    await suggestions.supersede(work, desk.document_id, version=2)
    await work.finish()
    stale = await desk.review(made.suggestion_id, decision="accept")
    rejected = await desk.review(late.suggestion_id, decision="reject", reasonCode="wrong_date")
    third = await desk.propose(proposed={"expiresOn": "2027-03-01"})
    clock.set(NOW + timedelta(days=61))
    desk.who = await people.member(desk.host, desk.organization_id, role="compliance_officer")
    over = await desk.review(third.suggestion_id, decision="accept")
    return [one.json().get("code") for one in (stale, rejected, over)]


STALE = "compliance-suggestion-stale"


@pytest.mark.rule("CMP-36")
async def test_a_suggestion_of_an_older_version_is_stale(desk: Desk, clock: Time) -> None:
    assert await taken_late(desk, clock) == [STALE, "invalid-transition", STALE]


async def test_a_planted_suggestion_that_lasts_is_found(
    desk: Desk, clock: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, proposing, "LASTS", timedelta(days=600))

    assert await taken_late(desk, clock) == [STALE, "invalid-transition", None]


@pytest.mark.rule("CMP-36")
async def test_parallel_accepts_take_effect_once(desk: Desk) -> None:
    made = await desk.propose()

    answers = await asyncio.gather(
        *(desk.review(made.suggestion_id, decision="accept") for _ in range(50))
    )

    told = await desk.told()
    print(f"accepts={len(answers)} effects={len(told)}")
    assert {one.status_code for one in answers} <= {200, 503}
    assert len(told) == 1
    work = desk.work()
    found = await work.get(AiSuggestion, made.suggestion_id)
    await work.close()
    assert found.status == "accepted"


@pytest.mark.rule("CMP-36")
@pytest.mark.parametrize(
    "wrong",
    [
        {"sources": []},
        {"confidence": 1.2},
        {"proposed": {"verdict": "ready"}},
        {"target": public.SuggestionTarget(type="organization", id=uuid4())},
    ],
)
async def test_a_proposal_without_source_or_form_is_refused(
    desk: Desk, wrong: dict[str, Any]
) -> None:
    with pytest.raises(RuleViolated):
        await desk.propose(**wrong)
