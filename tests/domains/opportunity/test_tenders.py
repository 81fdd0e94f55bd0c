"""Tenders through HTTP: captured, published, found, amended; who sees and who may change what."""

import re
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from tests.conftest import Time
from tests.domains.opportunity.tendering import (
    CLOSING,
    NOW,
    TENDER,
    amended,
    published,
    told,
)
from tests.factories import identity as people
from tests.planting import plant

from thenga.domains.opportunity.services.amendments import comparing
from thenga.domains.opportunity.settings import Materiality
from thenga.kernel.process.host import Host


@pytest.fixture
async def owner(host: Host, seeded: None, clock: Time) -> people.Member:
    clock.set(NOW)
    return await people.member(host, uuid4(), role="owner")


async def test_nobody_but_the_keeper_changes_a_shared_tender(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
) -> None:
    staff = await people.staff(host, "platform_operator")
    made = await published(api, staff, "shared", tenderNumber=f"SH {uuid4().hex[:6]}")
    path = f"/opportunities/{made['id']}"

    refused = await api.patch(
        path, json={"closingAt": "2026-12-24T09:00:00Z"}, headers=owner.headers
    )
    own = await api.post(
        f"{path}/deadlines",
        json={"kind": "clarification", "rule": {"before": "closing", "workingDays": 5}},
        headers=owner.headers,
    )
    seen = await api.get(path, headers=staff.headers)

    assert refused.status_code == 403
    assert refused.json()["type"].endswith("opportunity-not-keeper")
    assert own.status_code == 201, own.text
    # Wednesday 23 December less five working days; the 16th is a holiday (OPP-28).
    assert own.json()["dueAt"] == "2026-12-14T22:00:00Z"
    assert own.json()["own"] is True
    assert [one["kind"] for one in seen.json()["deadlines"]] == ["closing"]


async def test_what_is_known_already_is_answered_with_200(
    api: httpx2.AsyncClient, owner: people.Member
) -> None:
    tender = await published(api, owner)
    path = f"/opportunities/{tender['id']}"
    due = {"kind": "own", "label": "Pricing", "dueAt": "2026-12-01T09:00:00Z"}
    paper = {"title": "Notice", "url": "https://example.test/notice.pdf", "fetch": False}

    deadlines_set = [
        await api.post(f"{path}/deadlines", json=due | change, headers=owner.headers)
        for change in ({}, {"dueAt": "2026-12-02T09:00:00Z"})
    ]
    added = [
        await api.post(f"{path}/documents", json=paper, headers=owner.headers) for _ in range(2)
    ]

    for first, second in (deadlines_set, added):
        assert (first.status_code, second.status_code) == (201, 200), second.text
        assert first.json()["id"] == second.json()["id"]
        assert ("location" in first.headers, "location" in second.headers) == (True, False)
    assert deadlines_set[1].json()["dueAt"] == "2026-12-02T09:00:00Z"


async def test_an_uploaded_document_waits_for_its_scan(
    api: httpx2.AsyncClient, owner: people.Member
) -> None:
    tender = await published(api, owner)
    path = f"/opportunities/{tender['id']}/documents"
    added = await api.post(path, json={"title": "Bill.txt"}, headers=owner.headers)
    one = f"{path}/{added.json()['id']}"

    stored = await api.put(f"{one}/content", content=b"Item 1: bricks.", headers=owner.headers)
    shown = await api.get(one, headers=owner.headers)
    early = await api.get(f"{one}/content", headers=owner.headers)

    assert stored.status_code == 200, stored.text
    assert shown.json()["scanState"] == "pending"
    assert (early.status_code, early.json()["code"]) == (409, "opportunity-document-unavailable")


async def test_levels_and_numbers_of_amendments(
    api: httpx2.AsyncClient, owner: people.Member
) -> None:
    tender = await published(api, owner)

    blind = await api.patch(
        f"/opportunities/{tender['id']}", json={"title": "x"}, headers=owner.headers
    )
    typo = await amended(
        api, owner, tender, description=TENDER["description"].replace("taton", "tation")
    )  # type: ignore[attr-defined]
    grade = await amended(api, owner, tender, title=TENDER["title"].replace("5GB", "6GB"))  # type: ignore[attr-defined]
    later = await amended(api, owner, tender, closingAt="2026-12-24T09:00:00Z")
    earlier = await amended(api, owner, tender, closingAt="2026-12-22T09:00:00Z")

    assert blind.status_code == 428
    levels = [one["level"] for one in (typo, grade, later, earlier)]
    numbers = [one["number"] for one in (typo, grade, later, earlier)]
    print(f"levels={levels} numbers={numbers}")
    assert levels == ["minor", "material", "material", "critical"]
    assert numbers == [1, 2, 3, 4]
    assert typo["material"] is False


async def test_a_moved_briefing_keeps_attendance_of_its_old_date(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
) -> None:
    staff = await people.staff(host, "platform_operator")
    made = await published(api, staff, "shared", tenderNumber=f"BR {uuid4().hex[:6]}")
    path = f"/opportunities/{made['id']}/briefings"
    added = await api.post(
        path,
        json={"startsAt": "2026-12-10T09:00:00Z", "compulsory": True, "venue": "Town hall"},
        headers=staff.headers,
    )
    assert added.status_code == 201, added.text
    one = f"{path}/{added.json()['id']}"

    mine = await api.patch(one, json={"attendance": {"state": "registered"}}, headers=owner.headers)
    foreign = await api.patch(one, json={"venue": "Elsewhere"}, headers=owner.headers)
    moved = await api.patch(one, json={"startsAt": "2026-12-11T09:00:00Z"}, headers=staff.headers)
    after = await api.get(one, headers=owner.headers)
    late = await api.post(
        path, json={"startsAt": "2026-12-24T09:00:00Z", "compulsory": True}, headers=staff.headers
    )

    assert mine.json()["attendance"]["state"] == "registered"
    assert foreign.status_code == 403
    assert moved.json()["version"] > added.json()["version"]
    events = await told(host, made["id"], "BriefingScheduled")
    assert [one["data"]["startsAt"] for one in events] == [
        "2026-12-10T09:00:00Z",
        "2026-12-11T09:00:00Z",
    ]
    assert events[1]["sequence"] > events[0]["sequence"]
    assert moved.json()["attendance"] is None
    assert after.json()["attendance"]["startsAt"] == "2026-12-10T09:00:00Z"
    assert after.json()["movedFrom"] == ["2026-12-10T09:00:00Z"]
    assert late.status_code == 422
    assert late.json()["type"].endswith("opportunity-briefing-after-closing")


RAND, SEWER = {"currency": "ZAR"}, "Upgrade of the sewer system of the clinic at Nositha:"
LEVELS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"title": f"{SEWER} 5GB"}, {"title": f"{SEWER} 6GB"}, "material"),
    ({"title": "Supply of Sanitaton works"}, {"title": "Supply of Sanitation works"}, "minor"),
    ({"value": RAND | {"amount": "100.00"}}, {"value": RAND | {"amount": "111.00"}}, "material"),
    ({"value": RAND | {"amount": "100.00"}}, {"value": RAND | {"amount": "110.00"}}, "minor"),
    ({"provinces": ["KZN"]}, {"provinces": ["EC"]}, "material"),
    ({"closingAt": CLOSING}, {"closingAt": "2026-12-24T09:00:00Z"}, "material"),
    ({"closingAt": CLOSING}, {"closingAt": "2026-12-22T09:00:00Z"}, "critical"),
]


def mislevelled() -> list[int]:
    """The places of the changes that are taken too lightly or too seriously."""
    made = [comparing.level_of(comparing.compare(a, b, Materiality())) for a, b, _ in LEVELS]
    return [place for place, level in enumerate(made) if level != LEVELS[place][2]]


@pytest.mark.rule("OPP-44")
def test_vectors_of_materiality() -> None:
    assert mislevelled() == []


@pytest.mark.parametrize(
    ("name", "bug", "wrong"),
    [
        ("_NUMBERS", re.compile("(?!)"), [0]),
        ("_closing", lambda *_: "material", [6]),
        ("_value", lambda *_: "minor", [2]),
    ],
)
def test_a_planted_level_is_found(
    monkeypatch: pytest.MonkeyPatch, name: str, bug: Any, wrong: list[int]
) -> None:
    plant(monkeypatch, comparing, name, bug)

    assert mislevelled() == wrong
