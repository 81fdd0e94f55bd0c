"""Tenders through HTTP: captured, published, found, amended; who sees and who may change what."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import httpx2
import pytest
from tests.conftest import Opening, Time
from tests.factories import identity as people

from thenga.domains.opportunity.services.amendments import comparing
from thenga.domains.opportunity.services.notices import deadlines
from thenga.domains.opportunity.settings import Materiality
from thenga.domains.opportunity.tables import Deadline
from thenga.kernel.host import Host

CLOSING = "2026-12-23T09:00:00Z"
TENDER = {
    "tenderNumber": "SCM 045/2026",
    "title": "Construction of a community hall in Nositha: 5GB",
    "description": "Building work with Sanitaton for the hall.",
    "buyer": {"name": "Umzimkhulu Municipality", "sphere": "municipal", "regime": "mfma"},
    "closingAt": CLOSING,
    "mainCategory": "works",
    "provinces": ["KZN"],
    "classifications": [{"scheme": "UNSPSC", "code": "72141100"}],
}


async def captured(api: httpx2.AsyncClient, who: Any, **given: Any) -> dict[str, Any]:
    answer = await api.post("/opportunities", json=TENDER | given, headers=who.headers)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def published(
    api: httpx2.AsyncClient, who: Any, visibility: str = "private", **given: Any
) -> dict[str, Any]:
    made = await captured(api, who, **given)
    answer = await api.post(
        f"/opportunities/{made['id']}/publish", json={"visibility": visibility}, headers=who.headers
    )
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def amended(api: httpx2.AsyncClient, who: Any, tender: dict[str, Any], **fields: Any) -> Any:
    path = f"/opportunities/{tender['id']}"
    now = (await api.get(path, headers=who.headers)).json()
    match = {"If-Match": f'"{now["version"]}"'}
    answer = await api.patch(path, json=fields, headers=who.headers | match)
    assert answer.status_code == 200, answer.text
    listed = await api.get(f"{path}/amendments", headers=who.headers)
    return listed.json()["items"][0]


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


async def test_a_capture_is_its_keepers_alone_until_it_is_shared(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
) -> None:
    other = await people.member(host, uuid4(), role="owner")
    made = await published(api, owner, tenderNumber="CANARY 1/2026")
    path = f"/opportunities/{made['id']}"

    hidden = await api.get(path, headers=other.headers)
    missing = await api.get(f"/opportunities/{uuid4()}", headers=other.headers)
    found = await api.get("/opportunities?tenderNumber=CANARY%201", headers=other.headers)
    mine = await api.get("/opportunities?tenderNumber=CANARY%201", headers=owner.headers)
    shared = await api.post(f"{path}/publish", json={"visibility": "shared"}, headers=owner.headers)

    assert hidden.status_code == missing.status_code == 404
    assert [one["id"] for one in mine.json()["items"]] == [made["id"]]
    assert shared.json()["visibility"] == "private"
    canaries = sum(one["id"] == made["id"] for one in found.json()["items"])
    print(f"canaries={canaries}")
    assert canaries == 0


async def test_nobody_but_the_keeper_changes_a_shared_tender(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, opening: Opening
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
    work = opening.work(owner.organization_id, domain="opportunity")
    row = deadlines._made(
        type("T", (), {"id": made["id"], "shared": True, "organization_id": owner.organization_id}),
        owner.organization_id,
        kind="own",
        label="x",
        due_at=datetime.now(UTC),
        basis="captured",
    )
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await work.add(row)
    await work.close()
    assert isinstance(row, Deadline)


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


async def test_a_tender_closes_at_its_instant_before_any_sweep(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, clock: Time
) -> None:
    staff = await people.staff(host, "platform_operator")
    number = f"CL {uuid4().hex[:6]}"
    soon = clock.now().replace(microsecond=0) + timedelta(minutes=5)
    made = await published(
        api, staff, "shared", tenderNumber=number, closingAt=soon.isoformat().replace("+00:00", "Z")
    )
    seen = []
    for delta in (-timedelta(milliseconds=1), timedelta(0), timedelta(milliseconds=1)):
        clock.set(soon + delta)
        one = await api.get(f"/opportunities/{made['id']}", headers=owner.headers)
        assert one.status_code == 200, one.text
        listed = await api.get(f"/opportunities?tenderNumber={number}", headers=owner.headers)
        seen.append((one.json()["status"], len(listed.json()["items"])))

    print(f"boundary={seen}")
    assert seen == [("open", 1), ("closed", 0), ("closed", 0)]


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
    assert moved.json()["attendance"] is None
    assert after.json()["attendance"]["startsAt"] == "2026-12-10T09:00:00Z"
    assert after.json()["movedFrom"] == ["2026-12-10T09:00:00Z"]
    assert late.status_code == 422
    assert late.json()["type"].endswith("opportunity-briefing-after-closing")


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        ({"title": "Upgrade of Nositha: 5GB"}, {"title": "Upgrade of Nositha: 6GB"}, "material"),
        ({"title": "Supply of Sanitaton works"}, {"title": "Supply of Sanitation works"}, "minor"),
        ({"value": {"amount": "100.00", "currency": "ZAR"}},
         {"value": {"amount": "111.00", "currency": "ZAR"}}, "material"),
        ({"value": {"amount": "100.00", "currency": "ZAR"}},
         {"value": {"amount": "110.00", "currency": "ZAR"}}, "minor"),
        ({"provinces": ["KZN"]}, {"provinces": ["EC"]}, "material"),
    ],
)  # fmt: skip
def test_vectors_of_materiality(old: Any, new: Any, level: str) -> None:
    assert comparing.level_of(comparing.compare(old, new, Materiality())) == level
