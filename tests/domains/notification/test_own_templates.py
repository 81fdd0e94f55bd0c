"""An organization's own templates: drafts, approved by another person, and only then used."""

import asyncio
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import httpx2
import pytest
from tests.factories import identity
from tests.factories.identity import Member
from tests.planting import plant

from thenga.domains.notification.services import seeding, templates
from thenga.domains.notification.services.templates import (
    Approved,
    Locale,
    contents,
    own_templates,
    versions,
)
from thenga.domains.notification.services.templates.versions import content_of, readable
from thenga.domains.notification.tables import Template, TemplateVersion
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.reader import Reader
from thenga.kernel.process.host import Host

NOTE = "organization.announcement"
PATH = "/notifications/templates"
LOCALE = Locale("en-ZA", ZoneInfo("Africa/Johannesburg"))
RENDERS = 1000
VARIABLES = [
    {"name": "title", "maxLength": 120, "example": "Office closed"},
    {"name": "message", "maxLength": 2000, "example": "The office is closed on Wednesday."},
]


def texts(mark: str = "Own") -> dict[str, Any]:
    return {
        "inApp": {"title": f"{mark}: {{{{title}}}}", "body": "{{message}}"},
        "email": {"subject": f"{mark}: {{{{title}}}}", "body": "Good day,\n\n**{{message}}**"},
        "sms": {"body": f"{mark}: {{{{title}}}}"},
    }


def body(mark: str = "Own", **changes: Any) -> dict[str, Any]:
    return {"variables": VARIABLES, "content": {"en-ZA": texts(mark)}} | changes


@dataclass
class Pair:
    """Two people of one organization who may write and approve."""

    api: httpx2.AsyncClient
    author: Member
    approver: Member

    async def create(self, **changes: Any) -> httpx2.Response:
        given = body() | {"topicCode": NOTE, "name": "Our announcement"} | changes
        return await self.api.post(PATH, json=given, headers=self.author.acting)

    async def created(self) -> str:
        answer = await self.create()
        assert answer.status_code == 201, answer.text
        made: str = answer.json()["id"]
        return made

    async def add(self, template_id: str, **changes: Any) -> httpx2.Response:
        path = f"{PATH}/{template_id}/versions"
        return await self.api.post(path, json=body() | changes, headers=self.author.acting)

    async def approve(
        self, template_id: str, number: int, who: Member | None = None
    ) -> httpx2.Response:
        path = f"{PATH}/{template_id}/versions/{number}/approve"
        return await self.api.post(path, headers=(who or self.approver).acting)


@pytest.fixture
async def pair(api: httpx2.AsyncClient, host: Host, seeded: None) -> Pair:
    organization_id = uuid4()
    author = await identity.member(host, organization_id, role="compliance_officer")
    approver = await identity.member(host, organization_id, role="compliance_officer")
    return Pair(api, author, approver)


def reader(host: Host, organization_id: UUID) -> Reader:
    origin = Origin(action="test", request_id="test", correlation_id="test")
    return Reader(
        host, "notification", Scope(actor=SYSTEM, organization_id=organization_id), origin
    )


async def subjects(host: Host, organization_id: UUID, times: int) -> list[str]:
    """The subjects of mails that are rendered now."""
    read = reader(host, organization_id)
    try:
        found = await versions.approved(read, NOTE)
    finally:
        await read.close()
    assert found is not None
    facts = {"title": "News", "message": "Hello"}
    return [templates.render(found.content, "email", facts, LOCALE).subject for _ in range(times)]


async def subject(host: Host, organization_id: UUID) -> str:
    (found,) = await subjects(host, organization_id, 1)
    return found


def codes(answer: httpx2.Response) -> set[str]:
    return {one["code"] for one in answer.json()["errors"]}


@pytest.mark.rule("NOT-23")
async def test_only_the_approved_version_is_used(host: Host, pair: Pair) -> None:
    organization_id = pair.author.organization_id
    template_id = await pair.created()

    before = await subject(host, organization_id)
    approved = await pair.approve(template_id, 1)
    after = await subject(host, organization_id)
    second = await pair.add(template_id, **body("Second"))
    with_draft = await subject(host, organization_id)
    again = await pair.approve(template_id, 2)

    assert (before, after, with_draft) == ("News", "Own: News", "Own: News")
    assert await subject(host, organization_id) == "Second: News"
    assert approved.json()["versions"][0]["status"] == "approved"
    assert approved.json()["versions"][0]["approvedBy"] == str(pair.approver.user_id)
    assert (second.status_code, second.json()["latestVersion"]) == (201, 2)
    assert [one["status"] for one in again.json()["versions"]] == ["approved", "superseded"]
    repeated = await pair.approve(template_id, 2)
    assert (repeated.status_code, repeated.json()["version"]) == (200, again.json()["version"])
    assert (await pair.approve(template_id, 1)).json()["code"] == "invalid-transition"


@pytest.mark.rule("NOT-23")
async def test_nobody_approves_their_own_text(host: Host, pair: Pair) -> None:
    template_id = await pair.created()

    refused = await pair.approve(template_id, 1, pair.author)

    assert (refused.status_code, refused.json()["code"]) == (403, "same-person")
    assert await subject(host, pair.author.organization_id) == "News"


async def test_self_approval_is_caught(
    host: Host, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    template_id = await pair.created()
    plant(monkeypatch, own_templates, "refuse_author", lambda *_: None)

    answer = await pair.approve(template_id, 1, pair.author)

    assert answer.status_code != 403
    assert await subject(host, pair.author.organization_id) == "News"  # the table refuses it too


@pytest.mark.rule("NOT-22")
async def test_foreign_syntax_is_refused_with_its_place(pair: Pair) -> None:
    mail = texts()["email"] | {"body": "<b>{{nobody}}</b> {% if x %}"}
    answer = await pair.create(content={"en-ZA": texts() | {"email": mail}})

    assert (answer.status_code, answer.json()["code"]) == (422, "notification-template-syntax")
    assert codes(answer) == {"html", "undeclared", "placeholder"}
    assert {one["pointer"] for one in answer.json()["errors"]} == {"/content/en-ZA/email/body"}


async def test_an_own_template_accepts_the_platforms_facts(pair: Pair) -> None:
    missing = await pair.create(variables=VARIABLES[:1], content={"en-ZA": {"sms": {"body": "x"}}})
    differs = await pair.create(variables=[VARIABLES[0] | {"type": "date"}, VARIABLES[1]])
    extra = await pair.create(variables=[*VARIABLES, {"name": "more", "example": "x"}])
    twice = await pair.create(variables=[*VARIABLES, VARIABLES[0]])

    assert codes(missing) == {"variable_missing"}
    assert codes(differs) == {"variable_differs", "example"}
    assert codes(extra) == {"variable_required"}
    assert codes(twice) == {"variable_twice"}


async def test_a_text_that_is_too_long_is_refused(pair: Pair) -> None:
    sms = {"body": "{{message}}"}  # up to 2,000 characters
    answer = await pair.create(content={"en-ZA": texts() | {"sms": sms}, "af-ZA": {"sms": sms}})

    assert (answer.status_code, answer.json()["code"]) == (422, "notification-template-too-long")
    assert {one["pointer"] for one in answer.json()["errors"]} == {
        "/content/en-ZA/sms",
        "/content/af-ZA/sms",
    }


@pytest.mark.rule("NOT-24")
async def test_english_must_be_complete_before_approval(pair: Pair) -> None:
    given = {"en-ZA": {"email": texts()["email"]}, "zu-ZA": texts()}
    template_id = (await pair.create(content=given)).json()["id"]

    answer = await pair.approve(template_id, 1)

    assert (answer.status_code, answer.json()["code"]) == (422, "notification-language-missing")
    assert [one["pointer"] for one in answer.json()["errors"]] == [
        "/content/en-ZA/inApp",
        "/content/en-ZA/sms",
    ]


async def test_a_topic_has_one_template_of_an_organization(pair: Pair) -> None:
    answers = await asyncio.gather(*(pair.create() for _ in range(5)))

    assert sorted(one.status_code for one in answers) == [201, 409, 409, 409, 409]
    (made,) = [one.json()["id"] for one in answers if one.status_code == 201]
    refused = await pair.create()
    assert refused.json()["existing"] == {"id": made}
    security = await pair.create(topicCode="identity.invitation")
    assert (security.status_code, security.json()["rule"]) == (422, "NOT-27")
    required = await pair.create(topicCode="billing.payment_failed")
    assert (required.status_code, required.json()["rule"]) == (422, "NOT-9")
    unknown = await pair.create(topicCode="no.topic")
    assert unknown.json()["code"] == "notification-topic-unknown"


async def test_templates_are_listed_with_the_platforms(pair: Pair) -> None:
    template_id = await pair.created()

    async def listed(**query: str) -> list[dict[str, Any]]:
        answer = await pair.api.get(PATH, params=query, headers=pair.author.acting)
        assert answer.status_code == 200, answer.text
        items: list[dict[str, Any]] = answer.json()["items"]
        return items

    own = await listed(owner="organization")
    assert [(one["id"], one["approvedVersion"]) for one in own] == [(template_id, None)]
    both = await listed(topicCode=NOTE)
    assert {one["owner"] for one in both} == {"platform", "organization"}
    assert [one["id"] for one in await listed(status="draft")] == [template_id]
    assert len(await listed(language="en-ZA", status="approved", limit="200")) == len(
        templates.topics()
    )
    assert template_id in {one["id"] for one in await listed(sort="-updatedAt", limit="200")}
    platform = next(one for one in both if one["owner"] == "platform")
    shown = await pair.api.get(f"{PATH}/{platform['id']}", headers=pair.author.acting)
    assert shown.json()["versions"][0]["content"]["en-ZA"]["sms"]["body"].startswith("{{title}}")
    assert shown.json()["versions"][0]["sizes"][0]["bytes"] > 0


async def test_templates_of_others_are_not_found(
    api: httpx2.AsyncClient, host: Host, pair: Pair
) -> None:
    template_id = await pair.created()
    other = await identity.member(host, uuid4(), role="compliance_officer")
    platform = await api.get(PATH, params={"owner": "platform"}, headers=other.acting)

    for one in (template_id, platform.json()["items"][0]["id"], str(uuid4())):
        add = await api.post(f"{PATH}/{one}/versions", json=body(), headers=other.acting)
        approve = await api.post(f"{PATH}/{one}/versions/1/approve", headers=other.acting)

        assert (add.status_code, approve.status_code) == (404, 404)
    assert (await api.get(f"{PATH}/{template_id}", headers=other.acting)).status_code == 404


async def unapproved_rendered(host: Host, pair: Pair) -> tuple[int, int]:
    """Renders while versions are added and approved; odd ones stay drafts for ever."""
    organization_id, template_id = pair.author.organization_id, await pair.created()
    seen: list[str] = []
    done = asyncio.Event()

    async def render() -> None:
        while not done.is_set() or len(seen) < RENDERS:
            seen.extend(await subjects(host, organization_id, 5))

    async def publish() -> None:
        for number in range(2, 10):
            await pair.add(template_id, **body(f"draft{number}" if number % 2 else "approved"))
            if number % 2 == 0:
                assert (await pair.approve(template_id, number)).status_code == 200
        done.set()

    await asyncio.gather(publish(), render(), render())
    return len(seen), sum(one.startswith(("draft", "Own")) for one in seen)


@pytest.mark.rule("NOT-23")
async def test_renders_during_approvals_use_approved_texts(host: Host, pair: Pair) -> None:
    renders, unapproved = await unapproved_rendered(host, pair)

    print(f"renders={renders} unapproved_rendered={unapproved}")
    assert renders >= RENDERS
    assert unapproved == 0


async def test_rendering_the_newest_version_is_caught(
    host: Host, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def newest(read: Reader, template_key: str) -> Approved | None:
        statement = (
            versions.select(TemplateVersion)
            .join(Template, Template.id == TemplateVersion.template_id)
            .where(Template.template_key == template_key, readable(read, TemplateVersion))
            .order_by(TemplateVersion.shared, TemplateVersion.number.desc())
        )
        (found,) = await read.all(statement, limit=1)
        return Approved(found.template_id, found.number, content_of(found))

    plant(monkeypatch, versions, "approved", newest)

    assert (await unapproved_rendered(host, pair))[1] > 0


async def test_a_changed_platform_text_becomes_the_next_version(
    host: Host, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = contents.platform_content("billing.receipt")
    changed = content.model_copy(update={"variables": content.variables[::-1]})

    async def numbers() -> list[tuple[int, str]]:
        query = {"topicCode": "billing.receipt", "owner": "platform"}
        found = await pair.api.get(PATH, params=query, headers=pair.author.acting)
        path = f"{PATH}/{found.json()['items'][0]['id']}"
        shown = await pair.api.get(path, headers=pair.author.acting)
        return [(one["number"], one["status"]) for one in shown.json()["versions"]]

    before = await numbers()
    await seeding.seed(host, [])
    assert await numbers() == before
    plant(
        monkeypatch,
        contents,
        "platform_content",
        lambda key: changed if key == "billing.receipt" else content_for(key),
    )
    await seeding.seed(host, [])

    assert (await numbers())[:2] == [(before[0][0] + 1, "approved"), (before[0][0], "superseded")]
    monkeypatch.undo()
    await seeding.seed(host, [])


content_for = contents.platform_content
