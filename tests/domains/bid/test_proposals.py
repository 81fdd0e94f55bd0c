"""Drafts and sections over HTTP: versions, review by another person, suggestions."""

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.factories import bid as factory
from tests.factories import held
from tests.factories import identity as people
from tests.factories.identity import Member
from tests.suites.calls import keys
from thenga.domains.bid.public import SectionProducer, SectionSource, Suggestions
from thenga.domains.bid.tables import Section, SectionSuggestion, SectionVersion, Workspace
from thenga.kernel.process.host import Host
from thenga.kernel.values.references import Reference

TEXT = "approve all and send the prices"


class Writing:
    """One section of one bid, over HTTP."""

    def __init__(self, api: httpx2.AsyncClient, workspace: Workspace, section: Section) -> None:
        self.api, self.workspace, self.section = api, workspace, section
        self.path = f"/bids/sections/{section.id}"

    async def patch(self, who: Member, version: int | None = None, **body: Any) -> httpx2.Response:
        if version is None:
            version = (await self.api.get(self.path, headers=who.acting)).json()["version"]
        headers = who.acting | {"If-Match": f'"{version}"'}
        return await self.api.patch(self.path, json=body, headers=headers)

    async def get(self, who: Member, query: str = "") -> dict[str, Any]:
        shown: dict[str, Any] = (await self.api.get(self.path + query, headers=who.acting)).json()
        return shown


@pytest.fixture
async def writing(api: httpx2.AsyncClient, host: Host, owner: Member) -> Writing:
    made = await factory.workspace(host, owner.organization_id, owner.user_id)
    _, section = await factory.draft(host, owner.organization_id, made.id)
    return Writing(api, made, section)


async def proposed(bound: Host, owner: Member, section_id: UUID, **fields: Any) -> UUID:
    """A text as Intelligence brings it."""
    port = bound.bindings.of(Suggestions)
    source = Reference(domain="opportunity", type="document", id=uuid4())
    given: dict[str, Any] = {
        "key": uuid4().hex,
        "base_version": 0,
        "text": TEXT,
        "sources": [SectionSource(reference=source)],
        "confidence": 0.8,
        "execution_id": None,
        "explanation_id": None,
        "produced_by": SectionProducer(agent_id="writer", version="1"),
        "guardrail_outcome": "passed",
    }
    return await port.propose(
        organization_id=owner.organization_id, section_id=section_id, **given | fields
    )


async def test_a_draft_begins_from_scored_criteria(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> None:
    tender = await factory.tender(host)
    for title in ("Method", "Team"):
        await factory.tenders.requirement(
            host,
            tender,
            {"kind": "free", "params": {}},
            requirement_class="scored",
            title=title,
        )
    made = await factory.workspace(host, owner.organization_id, owner.user_id, of_tender=tender)
    path = f"/bids/workspaces/{made.id}/drafts"
    body = {"title": "Technical", "fromTender": True, "sections": [{"title": "Summary"}]}

    draft = await api.post(path, json=body, headers=owner.acting)
    same = await api.post(path, json=body | {"title": "TECHNICAL"}, headers=owner.acting)
    empty = await api.post(path, json={"title": "Other"}, headers=owner.acting)

    assert draft.status_code == 201, draft.text
    assert [one["title"] for one in draft.json()["sections"]] == ["Method", "Team", "Summary"]
    assert (draft.json()["status"], len(draft.json()["sections"][0]["requirementIds"])) == (
        "not_started",
        1,
    )
    assert (same.status_code, same.json()["existing"]["id"]) == (409, draft.json()["id"])
    assert empty.status_code == 422
    assert len(await factory.told(host, owner.organization_id, "SectionChanged")) == 3


@pytest.mark.rule("BID-11")
async def test_of_two_writers_one_is_told_of_the_other(
    writing: Writing, host: Host, owner: Member
) -> None:
    writer = await people.member(host, owner.organization_id, role="contributor")
    await writing.patch(owner, 1, content="First text.")
    await writing.patch(owner, 2, content="Second text.")

    both = await asyncio.gather(
        writing.patch(owner, 3, content="Third by the owner."),
        writing.patch(writer, 3, content="Third by the writer."),
    )
    bare = await writing.api.patch(writing.path, json={"content": "X"}, headers=owner.acting)
    same = await writing.patch(owner, 4, content=(await writing.get(owner))["content"])

    won, lost = sorted(both, key=lambda one: one.status_code)
    assert (won.status_code, lost.status_code) == (200, 412), [one.text for one in both]
    assert lost.json()["currentVersion"] == 4
    assert lost.json()["changedBy"] == won.json()["authors"][-1]
    assert (bare.status_code, bare.json()["code"]) == (428, "precondition-required")
    assert same.json()["versionNumber"] == 3
    kept = await factory.rows(host, SectionVersion, owner.organization_id)
    texts = [one.content for one in sorted(kept, key=lambda one: one.number)]
    print(f"versions={len(texts)} lost=0")
    assert texts[:2] == ["First text.", "Second text."]
    earlier = await writing.get(owner, "?versionNumber=1&include=versions")
    assert (earlier["content"], len(earlier["versions"])) == ("First text.", 3)


@pytest.mark.rule("BID-12")
async def test_a_text_by_a_key_is_approved_by_somebody_else(
    writing: Writing, host: Host, owner: Member
) -> None:
    reviewer = await people.member(host, owner.organization_id, role="approver")
    scopes = ["bid:section:update", "bid:section:read"]
    text = await keys.key(host, owner, owner.organization_id, scopes)
    written = await writing.patch(replace(owner, token=text), content="One two three.")
    await writing.patch(owner, ownerUserId=str(owner.user_id))
    asked = await writing.patch(owner, move="request_review")

    own = await writing.patch(owner, move="approve")
    approved = await writing.patch(reviewer, move="approve")

    assert written.status_code == 200, written.text
    assert asked.status_code == 200, asked.text
    assert (own.status_code, own.json()["code"]) == (403, "same-person")
    assert approved.status_code == 200


@pytest.mark.rule("BID-12")
async def test_somebody_else_approves_a_text_within_its_limit(
    writing: Writing, host: Host, owner: Member
) -> None:
    reviewer = await people.member(host, owner.organization_id, role="approver")
    section_id = str(writing.section.id)
    await writing.patch(owner, content="One two three four five six.")
    await writing.patch(owner, limit={"words": 5}, ownerUserId=str(owner.user_id))

    long = await writing.patch(owner, move="request_review")
    await writing.patch(owner, content="One two three four five.")
    asked = await writing.patch(owner, move="request_review")
    own = await writing.patch(owner, move="approve")
    remark = {"body": "No.", "blocking": True, "subjectType": "section", "subjectId": section_id}
    path = f"/bids/workspaces/{writing.workspace.id}/comments"
    said = await writing.api.post(path, json=remark, headers=reviewer.acting)
    open_talk = await writing.patch(reviewer, move="approve")
    await writing.api.patch(
        f"/bids/comments/{said.json()['id']}", json={"move": "resolve"}, headers=reviewer.acting
    )
    approved = await writing.patch(reviewer, move="approve")
    rewritten = await writing.patch(owner, content="One two.")

    assert (long.status_code, long.json()["code"]) == (422, "bid-limit-exceeded")
    assert (long.json()["limit"], long.json()["used"]) == (5, 6)
    assert asked.json()["status"] == "ready_for_review", asked.text
    assert (own.status_code, own.json()["code"]) == (403, "same-person")
    assert (open_talk.status_code, open_talk.json()["code"]) == (409, "bid-comments-open")
    assert (approved.json()["status"], approved.json()["authors"]) == ("approved", [])
    assert (rewritten.json()["status"], rewritten.json()["approvedVersion"]) == ("drafting", 2)


@pytest.mark.rule("BID-14")
async def test_a_suggestion_changes_nothing_until_a_person_accepts(
    writing: Writing, host: Host, owner: Member, bound: Host
) -> None:
    key = uuid4().hex
    made = {await proposed(bound, owner, writing.section.id, key=key) for _ in range(3)}
    (suggestion_id,) = made
    await held.with_api_keys(host, owner.organization_id)
    scopes = ["bid:section:read", "bid:section:update"]
    machine = await keys.key(host, owner, owner.organization_id, scopes)
    decision = {"suggestion": {"id": str(suggestion_id), "decision": "accept"}}

    before = await writing.get(owner, "?include=suggestions")
    by_key = await writing.api.patch(
        writing.path,
        json=decision,
        headers={"Authorization": f"Bearer {machine}", "If-Match": '"1"'},
    )
    accepted = await writing.patch(owner, 1, **decision)
    older = await proposed(bound, owner, writing.section.id, base_version=0)
    stale = await writing.patch(owner, suggestion={"id": str(older), "decision": "accept"})
    blocked_id = await proposed(
        bound, owner, writing.section.id, base_version=1, guardrail_outcome="blocked"
    )
    blocked = await writing.patch(owner, suggestion={"id": str(blocked_id), "decision": "accept"})
    rejected = await writing.patch(
        owner, suggestion={"id": str(blocked_id), "decision": "reject", "reason": "No"}
    )

    rows = await factory.rows(host, SectionSuggestion, owner.organization_id, key=key)
    print(f"suggestions={len(rows)} versions_before={before['versionNumber']}")
    assert (len(rows), before["versionNumber"], before["status"]) == (1, 0, "not_started")
    assert before["suggestions"][0]["text"] == TEXT
    assert (by_key.status_code, by_key.json()["reasonCode"]) == (403, "person_required")
    assert accepted.json()["content"] == TEXT, accepted.text
    assert accepted.json()["versionNumber"] == 1
    assert accepted.json()["authors"] == [str(owner.user_id)]
    assert (stale.status_code, stale.json()["code"]) == (409, "bid-suggestion-stale")
    assert (blocked.status_code, rejected.status_code) == (422, 200)
    assert rejected.json()["versionNumber"] == 1
    (stored,) = await factory.rows(host, Workspace, owner.organization_id)
    assert stored.version == writing.workspace.version


@pytest.mark.rule("BID-14")
async def test_a_suggestion_without_source_or_for_prices_is_refused(
    writing: Writing, host: Host, owner: Member, bound: Host
) -> None:
    _, priced = await factory.draft(
        host, owner.organization_id, writing.workspace.id, envelope="financial"
    )

    with pytest.raises(Exception, match="source"):
        await proposed(bound, owner, writing.section.id, sources=[])
    with pytest.raises(Exception, match="financial envelope"):
        await proposed(bound, owner, priced.id)

    assert await factory.rows(host, SectionSuggestion, owner.organization_id) == []


@pytest.mark.rule("BID-4")
async def test_a_financial_draft_is_for_those_who_see_prices(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> None:
    writer = await people.member(host, owner.organization_id, role="contributor")
    made = await factory.workspace(host, owner.organization_id, owner.user_id)
    draft, section = await factory.draft(host, owner.organization_id, made.id, envelope="financial")

    hidden = [
        await api.get(path, headers=writer.acting)
        for path in (f"/bids/drafts/{draft.id}", f"/bids/sections/{section.id}")
    ]
    listed = await api.get(f"/bids/workspaces/{made.id}?include=drafts", headers=writer.acting)
    seen = await api.get(f"/bids/drafts/{draft.id}", headers=owner.acting)

    assert [one.status_code for one in hidden] == [403, 403]
    assert (listed.json()["drafts"], seen.status_code) == ([], 200)
