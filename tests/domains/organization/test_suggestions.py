"""Suggestions: a machine brings them, a person decides, and nothing else reads them."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.domains.organization.companies import Company, ahead, company, sweep
from tests.planting import plant
from thenga.domains.organization import public
from thenga.domains.organization.jobs import expire_suggestion
from thenga.domains.organization.services.facts import suggestions
from thenga.domains.organization.services.facts.suggestions import PersonRequired
from thenga.kernel.access.actors import Actor, ActorKind
from thenga.kernel.process.host import Host

MACHINE = {"name": "profile-reader", "version": "3.1"}
SOURCE = {"reference": "document 7", "page": 2, "excerpt": "employs 17 people"}


@pytest.fixture
async def mokoena(api: httpx2.AsyncClient, host: Host, seeded: None) -> Company:
    return await company(api, host)


def body(value: Any, key: str = "employeeCount", **more: Any) -> dict[str, Any]:
    made = {
        "target": {"factKey": key},
        "proposedValue": value,
        "confidence": 0.8,
        "sources": [SOURCE],
        "producedBy": MACHINE,
    }
    return made | more


async def proposed(place: Company, value: Any, **more: Any) -> httpx2.Response:
    return await place.post("/fact-suggestions", body(value, **more))


async def by_port(app: Any, place: Company, value: Any, key: str) -> public.Suggested:
    """As another domain suggests."""
    port = app.state.shared.host.bindings.of(public.Suggestions)
    suggested: public.Suggested = await port.propose(
        organization_id=place.id,
        key=key,
        fact_key="employeeCount",
        value=value,
        confidence=0.8,
        sources=[public.SuggestionSource(reference="document 7")],
        produced_by=public.Producer(name="profile-reader", version="3.1"),
    )
    return suggested


@pytest.mark.rule("ORG-5")
async def test_a_machine_suggests_and_only_a_person_makes_a_fact_of_it(mokoena: Company, app: Any):
    await mokoena.patch({"employeeCount": 12})
    made = await by_port(app, mokoena, 17, "first")
    waiting = await mokoena.fact("employeeCount")
    path = f"/fact-suggestions/{made.suggestion_id}"

    work = await mokoena.work(Actor(ActorKind.API_KEY, uuid4()))
    with pytest.raises(PersonRequired) as by_key:
        await suggestions.accept_suggestion(work, made.suggestion_id)
    await work.close()
    accepted = await mokoena.post(f"{path}/accept", {})
    after = await mokoena.fact("employeeCount")
    told = await mokoena.told("ProfileFactChanged", "SuggestionDecided")
    again = await mokoena.post(f"{path}/accept", {})
    late = await by_port(app, mokoena, 21, "second")
    await mokoena.patch({"employeeCount": 19})
    stale = await mokoena.post(f"/fact-suggestions/{late.suggestion_id}/accept", {})

    assert (waiting["value"], waiting["version"], waiting["pendingSuggestions"]) == (12, 1, 1)
    assert (by_key.value.status, by_key.value.code) == (403, "organization-person-required")
    assert (accepted.status_code, accepted.json()["status"]) == (200, "accepted")
    assert (after["value"], after["version"]) == (17, 2)
    assert after["provenance"]["kind"] == "customer_supplied"
    assert after["provenance"]["source"]["id"] == str(made.suggestion_id)
    assert again.json() == accepted.json()
    assert len(told) == 3  # stated, stated by accepting, decided
    assert (stale.status_code, stale.json()["code"]) == (409, "organization-suggestion-stale")
    decisions = [one["decision"] for one in await mokoena.told("SuggestionDecided")]
    assert decisions == ["accepted", "superseded"]
    print(f"\nsuggestion_decisions={decisions}")


@pytest.mark.rule("ORG-5")
async def test_a_machine_that_may_accept_would_be_found(
    mokoena: Company, monkeypatch: pytest.MonkeyPatch
):
    plant(monkeypatch, suggestions, "_only_people", lambda work: None)
    made = (await proposed(mokoena, 17)).json()

    work = await mokoena.work(Actor(ActorKind.API_KEY, uuid4()))
    accepted = await suggestions.accept_suggestion(work, made["id"])
    await work.close()

    assert accepted.status == "accepted"


@pytest.mark.rule("ORG-1")
async def test_fifty_accepts_at_once_make_one_statement_and_one_event(mokoena: Company):
    made = (await proposed(mokoena, 17)).json()
    path = f"/fact-suggestions/{made['id']}/accept"

    answers = await asyncio.gather(*(mokoena.post(path, {}) for _ in range(50)))

    detail = await mokoena.fact("employeeCount")
    told = [one for one in await mokoena.changes() if one[0] == "employeeCount"]
    assert {answer.status_code for answer in answers} == {200}
    assert (len(detail["statements"]), len(told)) == (1, 1)
    print(f"\naccepts=50 statements={len(detail['statements'])} events={len(told)}")


@pytest.mark.rule("ORG-5")
async def test_an_accept_that_races_a_change_loses_no_value(mokoena: Company):
    outcomes = set()
    for number in range(100, 106):
        made = (await proposed(mokoena, number)).json()
        accepted, stated = await asyncio.gather(
            mokoena.post(f"/fact-suggestions/{made['id']}/accept", {}),
            mokoena.patch({"employeeCount": number + 1000}),
        )
        detail = await mokoena.fact("employeeCount")
        said = {one["value"] for one in detail["statements"]}
        assert stated.status_code == 200
        assert detail["value"] == number + 1000
        assert (number in said) == (accepted.status_code == 200)
        assert accepted.status_code in (200, 409)
        outcomes.add(accepted.status_code)
    print(f"\nraces=6 outcomes={sorted(outcomes)} lost=0")


@pytest.mark.rule("ORG-5")
async def test_equal_suggestions_are_one_with_the_sources_of_both(mokoena: Company):
    first = await proposed(mokoena, 17)
    second = await proposed(mokoena, 17, sources=[{"reference": "document 8"}], confidence=0.95)
    other = await proposed(mokoena, 18)
    listed = await mokoena.get("/fact-suggestions?status=pending")

    assert (first.status_code, second.status_code, other.status_code) == (201, 200, 201)
    assert second.json()["id"] == first.json()["id"]
    assert [one["reference"] for one in second.json()["sources"]] == ["document 7", "document 8"]
    assert [one["confidence"] for one in listed.json()["items"]] == [0.95, 0.8]
    assert len(await mokoena.told("OrganizationFactSuggested")) == 2


async def test_a_person_may_correct_or_reject_a_suggestion(mokoena: Company):
    wrong = (await proposed(mokoena, "not a number")).json()
    edit = (await proposed(mokoena, 17)).json()
    unclear = (await proposed(mokoena, "4220119988", key="vatNumber")).json()
    bare = await mokoena.post("/fact-suggestions", body(17) | {"sources": []})
    secret = await proposed(mokoena, {}, key="bankAccount")

    edited = await mokoena.post(f"/fact-suggestions/{edit['id']}/accept", {"value": 16})
    rejected = await mokoena.post(
        f"/fact-suggestions/{unclear['id']}/reject", {"reasonCode": "wrong", "text": "not ours"}
    )
    after = await mokoena.post(f"/fact-suggestions/{unclear['id']}/accept", {})
    read = await mokoena.get(f"/fact-suggestions/{edit['id']}")

    assert wrong["code"] == "organization-fact-value-invalid"
    assert (edited.json()["status"], edited.json()["decidedValue"]) == ("edited_and_accepted", 16)
    assert (edited.json()["proposedValue"], read.json()) == (17, edited.json())
    assert rejected.json()["decisionReason"] == {"code": "wrong", "text": "not ours"}
    assert (after.status_code, after.json()["from"]) == (409, "rejected")
    assert (bare.status_code, secret.status_code) == (422, 422)
    assert (await mokoena.fact("vatNumber"))["value"] is None


async def test_a_suggestion_expires_when_nobody_decides(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    place = await company(api, host, mode="sandbox")
    made = (await proposed(place, 17)).json()
    await ahead(place, timedelta(days=61))

    read = await place.get(f"/fact-suggestions/{made['id']}")
    late = await place.post(f"/fact-suggestions/{made['id']}/accept", {})
    await sweep(host, expire_suggestion)
    (event,) = await place.told("SuggestionDecided")

    assert read.json()["status"] == "expired"
    assert (late.status_code, late.json()["from"]) == (409, "expired")
    assert event["decision"] == "expired"


# ORG-1 as the database's own catalogue shows it: every column that can hold a value, by its store.
_VALUES = """
    SELECT c.relname::text AS store, a.attname::text AS column
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'organization' AND a.attnum > 0 AND NOT a.attisdropped
      AND c.relname IN ('customer_statement', 'imported_statement', 'verification',
                        'fact_suggestion', 'fact', 'fact_version')
      AND a.attname ~ '(^|_)(value|sealed)$'
"""
_STORES = {"customer_statement", "imported_statement", "verification", "fact_suggestion"}


async def held_columns(host: Host) -> set[tuple[str, str]]:
    async with host.engines.connection("organization", "organization_system") as connection:
        return {(row["store"], row["column"]) for row in await connection.fetch(_VALUES)}


def shared_columns(held: set[tuple[str, str]]) -> list[str]:
    """Columns of values that two origins share, or that stand where none belongs."""
    holders: dict[str, set[str]] = {}
    for store, column in held:
        holders.setdefault(column, set()).add(store)
    return [
        f"{column}: {sorted(stores)}"
        for column, stores in holders.items()
        if len(stores) > 1 or not stores <= _STORES
    ]


@pytest.mark.rule("ORG-1")
async def test_no_two_origins_share_a_column(host: Host, seeded: None):
    held = await held_columns(host)
    shared = shared_columns(held)

    print(f"\nshared_columns={len(shared)}")
    assert shared == []
    assert {store for store, _ in held} == _STORES


async def test_a_value_in_the_pointer_would_be_found(host: Host, seeded: None):
    held = await held_columns(host)

    assert shared_columns(held | {("fact", "value")}) == ["value: ['customer_statement', 'fact']"]
