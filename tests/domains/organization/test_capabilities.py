"""Capabilities: claims, and who checks them."""

from datetime import date, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.domains.organization.offering import (
    Folder,
    tell,
    told,
)
from tests.domains.organization.proving import (
    CLAIM,
    FOUND,
    GRADING,
    check,
    is_live,
    proven,
    reference,
    verified,
)
from tests.factories import identity as people
from tests.factories import organization
from tests.planting import plant
from tests.settling import Settle
from thenga.domains.organization.services.reference_data import cidb
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture
async def curator(host: Host, seeded: None) -> people.Person:
    return await people.staff(host, "platform_curator")


@pytest.fixture
async def claims(api: httpx2.AsyncClient, owner: people.Member) -> Folder:
    return Folder(api, owner, "capabilities")


@pytest.mark.rule("ORG-20")
def test_a_grade_allows_tenders_up_to_the_limit_of_its_time():
    vectors = [
        ("5GB", date(2026, 11, 1), "10000000.00"),
        ("9CE", date(2026, 11, 1), None),
        ("5GB", date(2019, 10, 4), "6500000.00"),
        ("5GB", date(2019, 10, 5), "10000000.00"),
        ("6ce pe", date(2026, 11, 1), "20000000.00"),
        ("1SQ", date(2026, 11, 1), "500000.00"),
    ]

    failed = [v for v in vectors if limit_of(v[0], v[1]) != v[2]]

    print(f"cidb_vectors={len(vectors)} failed={len(failed)}")
    assert failed == []


def limit_of(designation: str, on: date) -> str | None:
    most = cidb.max_tender_value(cidb.parse_cidb(designation), on)
    return None if most is None else most.amount


@pytest.mark.rule("ORG-20")
def test_a_planted_table_without_its_dates_is_found(monkeypatch: pytest.MonkeyPatch):
    plant(monkeypatch, cidb, "_LIMITS", cidb._LIMITS[1:])

    assert limit_of("5GB", date(2019, 10, 4)) != "6500000.00"


@pytest.mark.rule("ORG-20")
@pytest.mark.parametrize("designation", ["0GB", "10GB", "5SP", "5XX", "GB", "5GB PEE"])
async def test_what_the_register_does_not_write_is_refused(claims: Folder, designation: str):
    answer = await claims.add(**CLAIM, cidb={"designation": designation})

    assert (answer.status_code, answer.json()["code"]) == (422, "organization-cidb-invalid")


async def test_a_claim_shows_its_grade_its_limit_and_where_it_stands(claims: Folder):
    bare = await claims.made(**CLAIM)
    made = await claims.made(
        **CLAIM,
        cidb=GRADING | {"designation": "5gb"},
        capacity={"quantity": 4, "unit": "clinics", "period": "year"},
        areas={"provinces": ["LP"], "municipalities": ["LIM354"]},
        evidenceRefs=[reference(uuid4())],
    )
    read = await claims.get(f"/{made['id']}")

    assert read.json() == made
    assert (bare["verificationStatus"], made["verificationStatus"]) == (
        "claimed",
        "evidence_attached",
    )
    assert made["cidb"] == GRADING
    assert made["cidbMaxTenderValue"] == {"amount": "10000000.00", "currency": "ZAR"}
    assert made["evidenceState"][0]["state"] == "unknown"
    assert [m["move"] for m in made["allowedMoves"]] == ["withdraw", "request_review"]
    assert await claims.ids(cidbClass="GB") == [made["id"]]
    assert await claims.ids(verificationStatus="claimed") == [bare["id"]]
    assert len(await claims.ids(scheme="cidb", code="GB")) == 2


@pytest.mark.rule("ORG-6")
async def test_only_others_verify_and_a_change_is_to_be_verified_again(
    host: Host, settle: Settle, claims: Folder, owner: people.Member, curator: people.Person
):
    capability_id, _ = await proven(host, settle, claims, curator)
    await organization.member_ref(host, owner.organization_id, curator.user_id)

    async def patch(who: people.Person, **body: Any) -> httpx2.Response:
        one = f"{claims.path}/{capability_id}"
        return await claims.api.patch(one, json=body, headers=who.headers)

    other = await people.staff(host, "platform_curator")
    by_member = await patch(owner, verification=FOUND)
    by_curator_inside = await patch(curator, verification=FOUND)
    mixed = await patch(other, title="Mine", verification=FOUND)
    only_fields = await patch(other, title="Mine")
    changed = await patch(owner, title="Building of schools")
    too_early = await patch(other, verification=FOUND)
    asked = await patch(owner, requestReview=True)
    again = await patch(other, verification=FOUND | {"outcome": "failed"})

    assert (by_member.status_code, by_member.json()["code"]) == (
        403,
        "organization-field-forbidden",
    )
    assert by_member.json()["errors"][0]["pointer"] == "/verification"
    assert by_curator_inside.json()["code"] == "organization-self-verification"
    assert [a.json()["errors"][0]["pointer"] for a in (mixed, only_fields)] == ["/title", "/title"]
    assert (changed.json()["verificationStatus"], changed.json()["verifiedUntil"]) == (
        "evidence_attached",
        None,
    )
    assert changed.json()["verifications"][0]["endedAt"] is not None
    assert (too_early.status_code, too_early.json()["code"]) == (409, "invalid-transition")
    assert asked.json()["verificationStatus"] == "under_review"
    assert (again.status_code, again.json()["verificationStatus"]) == (200, "rejected")


@pytest.mark.rule("ORG-21")
async def test_grading_is_verified_until_its_earliest_expiry(
    host: Host, settle: Settle, claims: Folder, owner: people.Member, curator: people.Person
):
    evidence_id = new_id()
    until = local_day(host.now()) + timedelta(days=90)
    graded = {"designation": "5GB"}
    made = await claims.made(**CLAIM, cidb=graded, evidenceRefs=[reference(evidence_id)])
    told_until = verified(owner, evidence_id, new_id(), until)
    await tell(host, told_until, owner.organization_id)
    await settle(lambda: is_live(claims, made["id"]))
    await claims.post(f"{made['id']}/request-review")

    incomplete = await check(claims, curator, made["id"])
    await claims.patch(made["id"], cidb=GRADING, requestReview=True)
    await claims.post(f"{made['id']}/request-review")
    complete = await check(claims, curator, made["id"])

    assert (incomplete.status_code, incomplete.json()["rule"]) == (422, "ORG-21")
    last = complete.json()["verifiedUntil"]
    assert last == f"{until}T22:00:00Z"


async def test_taking_away_the_evidence_leaves_a_bare_claim(claims: Folder):
    made = await claims.made(**CLAIM, evidenceRefs=[reference(uuid4())])

    bare = await claims.patch(made["id"], evidenceRefs=[])
    again = await claims.patch(made["id"], evidenceRefs=[reference(uuid4())])

    assert bare.json()["verificationStatus"] == "claimed"
    assert again.json()["verificationStatus"] == "evidence_attached"


async def test_a_withdrawn_claim_is_reviewed_no_more(claims: Folder):
    made = await claims.made(**CLAIM, evidenceRefs=[reference(uuid4())])

    answers = [await claims.post(f"{made['id']}/withdraw") for _ in range(2)]
    reviewed = await claims.post(f"{made['id']}/request-review")

    assert [a.json()["status"] for a in answers] == ["withdrawn", "withdrawn"]
    assert (reviewed.status_code, reviewed.json()["code"]) == (409, "conflict")


@pytest.mark.rule("ORG-7")
async def test_a_version_holds_what_was_claimed_and_not_what_was_found(
    host: Host, settle: Settle, claims: Folder, owner: people.Member, curator: people.Person
):
    capability_id, _ = await proven(host, settle, claims, curator)
    versions = (await claims.get(f"/{capability_id}/versions")).json()["items"]
    first = await claims.get(f"/{capability_id}/versions/1")
    events = [one["data"] for one in await told(host, owner.organization_id)]

    assert versions == [first.json()]
    assert "verificationStatus" not in versions[0]["snapshot"]
    assert versions[0]["snapshot"]["cidb"] == GRADING
    assert (events[-1]["verificationStatus"], events[-1]["cidbDesignation"]) == ("verified", "5GB")
    assert events[1]["changedFields"] == ["verificationStatus"]
    assert (await claims.delete(capability_id)).status_code == 204
