"""The profile: what applies to a company, decided in three values and never guessed."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import Time
from tests.factories import compliance as factory
from tests.factories import facts
from tests.factories import identity as people
from tests.factories import organization as companies
from tests.factories.compliance_documents import DOCUMENTS, Office
from tests.factories.identity import Member
from tests.planting import plant
from tests.settling import with_letters
from thenga.domains.compliance import tables
from thenga.domains.compliance.api import organizations
from thenga.domains.compliance.services import requirements, summaries
from thenga.domains.compliance.values import conditions
from thenga.domains.compliance.values.conditions import Known, evaluate
from thenga.domains.compliance.values.confidence import confidence
from thenga.domains.organization.provider import LocalProfiles
from thenga.kernel.db.rows import Row
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.ports.binding import Bindings
from thenga.kernel.process.host import Host

REQUIREMENTS = "/compliance/requirements"
BODY = {"spheres": ["national"], "answers": {"does_construction": False}}


@pytest.fixture
async def firm(api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time) -> Office:
    founder = await people.person(host)
    made = await companies.organization(host, founder.user_id)
    return Office(api, with_letters(host), clock, made.id)


async def create(firm: Office, who: Member, **more: Any) -> httpx2.Response:
    path = f"/organizations/{firm.organization_id}/compliance-profile"
    return await firm.api.post(path, json=BODY | more, headers=who.acting)


async def applies(firm: Office, who: Member) -> dict[str, str]:
    """Whether each requirement of the catalogue applies."""
    query = {"organizationId": str(firm.organization_id), "limit": "200", "origin": "catalogue"}
    answer = await firm.api.get(REQUIREMENTS, params=query, headers=who.acting)
    assert answer.status_code == 200, answer.text
    return {one["definitionCode"]: one["applicability"] for one in answer.json()["items"]}


@pytest.mark.rule("CMP-1", "CMP-4")
async def test_a_profile_is_created_once_and_says_what_applies(host: Host, firm: Office) -> None:
    officer = await firm.member()
    await facts.stated(host, firm.organization_id, officer.user_id, employeeCount=0)

    made, again = await create(firm, officer), await create(firm, officer)

    assert made.status_code == 201, made.text
    profile = made.json()
    assert made.headers["location"] == f"/v1/compliance/profiles/{profile['id']}"
    assert (again.status_code, again.json()["code"]) == (409, "duplicate")
    assert again.json()["existing"] == {"id": profile["id"]}
    assert len(await firm.events("ComplianceProfileCreated")) == 1
    found = await applies(firm, officer)
    assert found["company_registration"] == "applicable"
    assert found["coida_good_standing"] == "not_applicable"
    assert found["municipal_account"] == "not_applicable"
    assert found["vat_registration"] == "undetermined"
    assert found["sector_licence"] == "undetermined"
    asked = {(one["kind"], one["code"]) for one in profile["questions"]}
    assert ("fact", "vatRegistered") in asked
    assert ("answer", "does_security_work") in asked
    assert ("answer", "does_construction") not in asked


@pytest.mark.rule("CMP-4")
async def test_silence_leaves_questions_open_until_the_job_fills_them(
    firm: Office, monkeypatch: pytest.MonkeyPatch, clock: Time
) -> None:
    officer = await firm.member()

    async def silent(*_: object, **__: object) -> None:
        raise DependencyUnavailable(dependency="organization.profiles")

    with monkeypatch.context() as outage:
        outage.setattr(LocalProfiles, "describe", silent)
        made = await create(firm, officer)
        before = await applies(firm, officer)
        await firm.settle()
        assert before == await applies(firm, officer)
    clock.move(timedelta(minutes=2))
    await firm.settle()

    after = await applies(firm, officer)
    assert made.status_code == 201
    assert before["company_registration"] == "undetermined"
    assert before["csd_registration"] == "applicable"  # asks for no fact
    assert after["company_registration"] == "applicable"


@pytest.mark.rule("CMP-4")
async def test_a_company_without_a_profile_asks_nobody(host: Host, seeded: None) -> None:
    """A fact that changes costs a company nothing that does not use Compliance."""
    work = factory.working(replace(host, bindings=Bindings()), uuid4())

    await requirements.refresh_profile(work)  # would fail: nothing is bound to a port

    await work.close()


@pytest.mark.rule("CMP-4")
async def test_a_changed_answer_decides_again_and_tells_once(firm: Office) -> None:
    officer = await firm.member()
    profile = (await create(firm, officer)).json()
    path = f"/compliance/profiles/{profile['id']}"
    told = len(await firm.events("RequirementChanged"))

    for _ in range(2):
        body = {"spheres": ["national", "municipal"], "answers": {"does_construction": True}}
        changed = await firm.api.patch(path, json=body, headers=officer.acting)
    refused = await firm.api.patch(
        path, json={"answers": {"is_a_giraffe": True}}, headers=officer.acting
    )

    assert changed.json()["answers"] == {"does_construction": True}
    found = await applies(firm, officer)
    assert (found["cidb_registration"], found["municipal_account"]) == ("applicable", "applicable")
    events = await firm.events("RequirementChanged")
    assert sorted(one["code"] for one in events[told:]) == [
        "cidb_registration",
        "municipal_account",
    ]
    assert len(await firm.events("ComplianceProfileChanged")) == 1
    assert (refused.status_code, refused.json()["rule"]) == (422, "question-unknown")


async def told_apart(firm: Office) -> list[str]:
    """The ways to name an organization that answer a foreign one other than a missing one."""
    officer = await firm.member()
    await create(firm, officer)
    paper = (await firm.add(officer)).json()["id"]
    mine = await people.member(firm.host, uuid4(), role="compliance_officer")
    foreign, missing = str(firm.organization_id), str(uuid4())

    async def in_path(name: str) -> httpx2.Response:
        path = f"/organizations/{name}/compliance-profile"
        return await firm.api.post(path, json=BODY, headers=mine.acting)

    async def in_query(name: str) -> httpx2.Response:
        return await firm.api.get(
            REQUIREMENTS, params={"organizationId": name}, headers=mine.acting
        )

    async def in_body(name: str) -> httpx2.Response:
        body = {"organizationId": name, "title": "A visit to the site"}
        return await firm.api.post(REQUIREMENTS, json=body, headers=mine.acting)

    async def in_za(name: str) -> httpx2.Response:
        return await firm.api.get(f"/compliance/za/{name}", headers=mine.acting)

    async def in_header(name: str) -> httpx2.Response:
        headers = mine.headers | {"X-Organization-Id": name}
        return await firm.api.get(REQUIREMENTS, params={"organizationId": name}, headers=headers)

    async def in_ticket(name: str) -> httpx2.Response:
        document = paper if name == foreign else name
        path = f"{DOCUMENTS}/{document}/download-links"
        return await firm.api.post(path, json={}, headers=mine.acting)

    ways: list[Callable[[str], Awaitable[httpx2.Response]]] = [
        in_path, in_query, in_body, in_za, in_header, in_ticket,
    ]  # fmt: skip
    apart = []
    for way in ways:
        answers = [_told(await way(name), name) for name in (foreign, missing)]
        if answers[0] != answers[1] or answers[0][0] != 404:
            apart.append(way.__name__)
    print(f"ways={len(ways)} told_apart={len(apart)}")
    return apart


@pytest.mark.rule("CMP-1")
async def test_a_foreign_organization_is_answered_as_a_missing_one(firm: Office) -> None:
    assert await told_apart(firm) == []


async def test_a_planted_organization_that_nobody_checks_is_found(
    firm: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, organizations, "check_acting", lambda *_: None)

    assert await told_apart(firm) == ["in_query", "in_body"]  # the gate holds the paths


def _told(answer: httpx2.Response, name: str) -> tuple[int, str]:
    """Status and body without what each request has of its own."""
    body = answer.json()
    for own in ("requestId", "instance", "traceId", "decisionId"):
        body.pop(own, None)
    return answer.status_code, json.dumps(body, sort_keys=True).replace(name, "")


@pytest.mark.rule("CMP-2")
def test_no_column_holds_what_organization_keeps() -> None:
    kept = ("legal_name", "trading_name", "registration", "vat", "tax_number", "id_number")
    kept += ("surname", "given_name", "street", "city", "postal", "email", "phone", "csd_number")
    rows = [one for one in vars(tables).values() if isinstance(one, type) and issubclass(one, Row)]
    found = [
        f"{row.__table__}.{column.name}"
        for row in rows
        for column in row.__table__.c
        if any(part in column.name for part in kept)
    ]
    print(f"identity_columns={len(found)}")
    assert found == []


VALUES = st.sampled_from([True, False, None])


def _leaf(value: bool | None) -> dict[str, Any]:
    return {"answer": {True: "yes", False: "no", None: "unknown"}[value], "is": True}


CONDITIONS = st.recursive(
    VALUES.map(_leaf),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"all": parts}),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"any": parts}),
        inner.map(lambda part: {"not": part}),
    ),
    max_leaves=6,
)


def _possible(condition: dict[str, Any], unknown: bool) -> bool:
    """The condition in two values, with everything unknown set to one of them."""
    if "all" in condition:
        return all(_possible(part, unknown) for part in condition["all"])
    if "any" in condition:
        return any(_possible(part, unknown) for part in condition["any"])
    if "not" in condition:
        return not _possible(condition["not"], not unknown)
    return {"yes": True, "no": False, "unknown": unknown}[condition["answer"]]


@pytest.mark.rule("CMP-4")
@settings(max_examples=300, deadline=None)
@given(CONDITIONS)
def test_unknown_is_what_could_be_either(condition: dict[str, Any]) -> None:
    """With each unknown at its best and at its worst: equal ends decide, unequal ones do not."""
    worst, best = _possible(condition, False), _possible(condition, True)

    found = evaluate(condition, Known(answers={"yes": True, "no": False}))

    assert found == (worst if worst == best else None)


@pytest.mark.rule("CMP-4")
def test_a_condition_that_guesses_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, conditions, "_every", lambda outcomes: all(outcomes))

    unknown = {"all": [_leaf(True), _leaf(None)]}

    assert evaluate(unknown, Known(answers={"yes": True})) is False  # the planted guess
    monkeypatch.undo()
    assert evaluate(unknown, Known(answers={"yes": True})) is None


@pytest.mark.rule("CMP-40")
async def test_the_summary_names_every_register_and_the_law(firm: Office) -> None:
    officer = await firm.member()
    await create(firm, officer)

    answer = await firm.api.get(f"/compliance/za/{firm.organization_id}", headers=officer.acting)

    assert answer.status_code == 200, answer.text
    items = {one["code"]: one for one in answer.json()["items"]}
    assert list(items) == list(summaries.ITEMS)
    assert items["csd"]["state"] == "missing"
    assert (items["csd"]["confidence"], items["csd"]["source"]) == (None, None)
    assert {one["key"] for one in answer.json()["frame"]} >= {"law.public_procurement_act"}
    days = [confidence("registry", age_days=age, recheck_days=7) for age in (7, 8, 15)]
    print(f"confidence={','.join(map(str, days))}")
    assert [str(one) for one in days] == ["0.95", "0.48", "0.24"]


@pytest.mark.rule("CMP-1")
async def test_two_profiles_at_once_are_one(firm: Office) -> None:
    officer = await firm.member()

    answers = await asyncio.gather(*(create(firm, officer) for _ in range(3)))

    assert sorted(one.status_code for one in answers) == [201, 409, 409]


@pytest.mark.rule("CMP-28")
async def test_the_profile_counts_its_requirements(firm: Office) -> None:
    officer = await firm.member()
    made = (await create(firm, officer)).json()

    answer = await firm.api.get(f"/compliance/profiles/{made['id']}", headers=officer.acting)

    assert answer.status_code == 200, answer.text
    assert sum(answer.json()["counts"].values()) == len(await applies(firm, officer))
    assert answer.json()["counts"]["met"] == 0
