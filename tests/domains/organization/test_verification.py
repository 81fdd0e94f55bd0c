"""Checks of facts: by others only, bound to a version, over after a while, one holder a number."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from tests.domains.organization.companies import Company, ahead, company, count, sweep
from tests.factories import identity as people
from thenga.domains.organization.jobs import lapse_check
from thenga.domains.organization.services.facts import _checking, member_refs
from thenga.kernel.process.host import Host

CHECK = {"outcome": "verified", "method": "registry", "source": {"register": "cipc_register"}}


@pytest.fixture
async def mokoena(api: httpx2.AsyncClient, host: Host, seeded: None) -> Company:
    return await company(api, host)


@pytest.fixture
async def curator(host: Host, seeded: None) -> people.Person:
    return await people.staff(host, "platform_curator")


async def check(place: Company, curator: people.Person, key: str, **more: Any) -> httpx2.Response:
    return await place.post(f"/facts/{key}/verify", CHECK | more, who=curator)


@pytest.mark.rule("ORG-6")
async def test_check_by_staff_ends_with_the_next_change(mokoena: Company, curator: people.Person):
    await mokoena.patch({"employeeCount": 12})
    asked = await mokoena.post("/facts/employeeCount/request-verification")
    again = await mokoena.post("/facts/employeeCount/request-verification")
    checked = await check(mokoena, curator, "employeeCount", method="document")
    verified = await mokoena.fact("employeeCount")
    changed = await mokoena.patch({"employeeCount": 13})
    after = await mokoena.fact("employeeCount")

    assert asked.json()["verificationStatus"] == "pending"
    assert again.json()["version"] == asked.json()["version"]
    assert checked.status_code == 200, checked.text
    assert (verified["verificationStatus"], verified["provenance"]["kind"]) == ("verified",) * 2
    assert [one["kind"] for one in verified["alsoStatedBy"]] == ["customer_supplied"]
    assert verified["version"] == 3
    assert changed.json()["profile"]["employeeCount"]["verificationStatus"] == "unverified"
    assert (after["verifications"][0]["outcome"], after["value"]) == ("verified", 13)
    assert after["verifications"][0]["endedAt"] is not None
    requests = await mokoena.told("VerificationRequested")
    assert [one["subjectOf"]["factKey"] for one in requests] == ["employeeCount"]
    changes = [one[1] for one in await mokoena.changes() if one[0] == "employeeCount"]
    assert changes == ["stated", "verified", "stated"]


@pytest.mark.rule("ORG-6")
async def test_nobody_checks_their_own_words_or_their_own_company(
    mokoena: Company, curator: people.Person, host: Host
):
    await mokoena.patch({"employeeCount": 12})
    by_owner = await mokoena.post("/facts/employeeCount/verify", CHECK)
    # Staff who belong to the company: Identity tells Organization so.
    work = await mokoena.work()
    await member_refs.follow_membership(
        work,
        membership_id=curator.session_id,
        user_id=curator.user_id,
        status="active",
        owner=False,
        sequence=1,
    )
    await work.finish()
    as_member = await check(mokoena, curator, "employeeCount")
    author = await people.person(host, assurance="aal2")
    joined = await people.member(host, mokoena.id, role="owner", who=author)
    before = mokoena.owner
    mokoena.owner = joined
    await mokoena.patch({"employeeCount": 13})
    mokoena.owner = before
    await people.become_staff(host, author, "platform_curator")
    as_author = await check(mokoena, author, "employeeCount")

    assert (by_owner.status_code, by_owner.json()["code"]) == (403, "forbidden")
    code = "organization-self-verification"
    assert (as_member.status_code, as_member.json()["code"]) == (403, code)
    assert (as_author.status_code, as_author.json()["code"]) == (403, code)


@pytest.mark.rule("ORG-6")
async def test_a_check_by_the_author_would_be_found(
    mokoena: Company, host: Host, monkeypatch: pytest.MonkeyPatch
):
    async def anybody(*_: Any) -> None:
        return None

    monkeypatch.setattr(_checking, "_only_others", anybody)
    author = await people.person(host, assurance="aal2")
    mokoena.owner = await people.member(host, mokoena.id, role="owner", who=author)
    await mokoena.patch({"employeeCount": 13})
    await people.become_staff(host, author, "platform_curator")

    assert (await check(mokoena, author, "employeeCount")).status_code == 200


@pytest.mark.rule("ORG-6")
async def test_failed_check_must_be_requested_again(mokoena: Company, curator: people.Person):
    await mokoena.patch({"employeeCount": 12})
    silent = await check(mokoena, curator, "employeeCount", outcome="inconclusive")
    failed = await check(mokoena, curator, "employeeCount", outcome="failed", value=9)
    refused = await check(mokoena, curator, "employeeCount")
    asked = await mokoena.post("/facts/employeeCount/request-verification")
    verified = await check(mokoena, curator, "employeeCount")
    repeated = await check(mokoena, curator, "employeeCount")
    empty = await check(mokoena, curator, "lei")
    late = await check(mokoena, curator, "legalName", validUntil="2199-01-01T00:00:00Z")

    states = [a.json()["verificationStatus"] for a in (silent, failed, asked, verified)]
    assert states == ["inconclusive", "failed", "pending", "verified"]
    assert (refused.status_code, refused.json()["allowed"]) == (409, ["request"])
    assert repeated.json()["version"] == verified.json()["version"]
    assert (empty.status_code, late.status_code) == (422, 422)
    values = [v["foundValue"] for v in (await mokoena.fact("employeeCount"))["verifications"]]
    assert values == [12, 9, None]


@pytest.mark.rule("ORG-3")
async def test_a_check_of_another_value_stands_beside_the_customers(
    mokoena: Company, curator: people.Person
):
    await mokoena.patch({"employeeCount": 12})
    found = await check(mokoena, curator, "employeeCount", method="manual", value=9)
    torn = await mokoena.fact("employeeCount")
    resolved = await mokoena.post(
        "/facts/employeeCount/resolve",
        {"statementId": torn["verifications"][0]["id"], "reason": "They counted"},
        **{"If-Match": f'"{torn["version"]}"'},
    )

    assert (found.json()["value"], found.json()["conflictStatus"]) == (12, "conflicted")
    assert found.json()["verificationStatus"] == "failed"
    told = resolved.json()
    assert (told["value"], told["verificationStatus"], told["conflictStatus"]) == (
        *(9, "verified"),
        "resolved",
    )


@pytest.mark.rule("ORG-6")
async def test_a_check_expires_by_itself_and_is_told_once(
    api: httpx2.AsyncClient, host: Host, curator: people.Person
):
    place = await company(api, host, mode="sandbox")
    await place.patch({"employeeCount": 12})
    await check(place, curator, "employeeCount")
    valid = await place.fact("employeeCount")

    await ahead(place, timedelta(days=179))
    held = await place.fact("employeeCount")
    await ahead(place, timedelta(days=180, minutes=1), sequence=2)
    over = await place.fact("employeeCount")
    listed = await place.get("/facts?verificationStatus=expired")
    await sweep(host, lapse_check)
    (event,) = await place.told("FactVerificationExpired")
    await sweep(host, lapse_check)
    lapsed = await place.fact("employeeCount")

    assert (valid["verificationStatus"], held["verificationStatus"]) == ("verified",) * 2
    assert (over["verificationStatus"], over["value"]) == ("expired", 12)
    assert [one["factKey"] for one in listed.json()["items"]] == ["employeeCount"]
    assert event["subjectOf"]["factKey"] == "employeeCount"
    assert (lapsed["verificationStatus"], lapsed["provenance"]["kind"]) == (
        "expired",
        "customer_supplied",
    )
    assert len(await place.told("FactVerificationExpired")) == 1


@pytest.mark.rule("ORG-33")
async def test_number_is_verified_for_one_company_without_naming_it(
    api: httpx2.AsyncClient, host: Host, curator: people.Person
):
    places = [await company(api, host) for _ in range(2)]
    number = {"registrationNumber": "2012/654321/07"}
    stated = [await place.patch(number) for place in places]

    answers = await asyncio.gather(
        *(check(place, curator, "registrationNumber") for place in places)
    )
    outcomes = sorted(answer.json()["verification"]["outcome"] for answer in answers)
    details = [await place.get("/facts/registrationNumber") for place in places]

    assert [one.status_code for one in stated] == [200, 200]
    assert outcomes == ["inconclusive", "verified"]
    assert sorted(answer.json()["heldElsewhere"] for answer in answers) == [False, True]
    assert all("heldElsewhere" not in one.text for one in details)
    for place, other in (places, places[::-1]):
        shown = (await place.get("/facts/registrationNumber")).text
        assert str(other.id) not in shown
    print(f"\nverified_holders={outcomes.count('verified')} inconclusive=1")


@pytest.mark.rule("ORG-33")
async def test_the_number_is_free_again_when_its_holder_changes_it(
    api: httpx2.AsyncClient, host: Host, curator: people.Person
):
    first, second = [await company(api, host) for _ in range(2)]
    for place in (first, second):
        await place.patch({"csdNumber": "MAAA0765432"})
    await check(first, curator, "csdNumber")
    refused = await check(second, curator, "csdNumber")
    await first.patch({"csdNumber": "MAAA0765433"})
    await second.post("/facts/csdNumber/request-verification")
    taken = await check(second, curator, "csdNumber")

    assert refused.json()["verificationStatus"] == "inconclusive"
    assert taken.json()["verificationStatus"] == "verified"


async def test_the_card_shows_what_was_checked(
    mokoena: Company, curator: people.Person, host: Host
):
    await mokoena.patch({"registrationNumber": "2013/000777/07"})
    await check(mokoena, curator, "registrationNumber")

    shown = "SELECT count(*) FROM organization.organization_card WHERE organization_id = $1 "
    verified = 'AND verified_facts @> \'[{"factKey": "registrationNumber"}]\''
    assert await count(host, shown + verified, mokoena.id) == 1
    await mokoena.patch({"registrationNumber": "2013/000778/07"})
    assert await count(host, shown + verified, mokoena.id) == 0
