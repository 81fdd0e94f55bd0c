"""Facts: what is said side by side, what counts, what is cited, confirmed and grows old."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from tests.domains.organization.companies import Company, ahead, company
from tests.factories import identity as people
from thenga.domains.organization import public, settings
from thenga.domains.organization.services.facts import _choosing, _settling, fact_types
from thenga.domains.organization.services.reference_data import catalogues
from thenga.domains.organization.tables import FactConflict
from thenga.kernel.process.host import Host


@pytest.fixture
async def mokoena(api: httpx2.AsyncClient, host: Host, seeded: None) -> Company:
    return await company(api, host)


async def conflict_steps(mokoena: Company) -> list[str]:
    """What is wrong after a customer and a register said different things; nothing, if right."""
    await mokoena.patch({"vatNumber": "4220119988"})
    stated = await mokoena.fact("vatNumber")
    await mokoena.imported("vatNumber", "4800112269", "cipc_register")
    torn = await mokoena.fact("vatNumber")
    other = next(s for s in torn["statements"] if s["kind"] == "imported")
    resolved = await mokoena.post(
        "/facts/vatNumber/resolve",
        {"statementId": other["id"], "reason": "Read on the certificate"},
        **{"If-Match": f'"{torn["version"]}"'},
    )
    after = await mokoena.fact("vatNumber")
    steps = [change[1:] for change in await mokoena.changes() if change[0] == "vatNumber"]
    wanted = {
        "stated": (stated["conflictStatus"], stated["value"]) == ("none", "4220119988"),
        "torn": (torn["conflictStatus"], torn["value"]) == ("conflicted", "4220119988"),
        "two": len([s for s in torn["statements"] if s["withdrawnAt"] is None]) == 2,
        "resolved": (resolved.status_code, after["conflictStatus"]) == (200, "resolved"),
        "winner": after["value"] == "4800112269" and after["provenance"]["kind"] == "imported",
        "loser": "4220119988" in [s["value"] for s in after["statements"]],
        "events": steps == [("stated", "none"), ("conflict", "conflicted"), ("resolved",) * 2],
    }
    return [name for name, right in wanted.items() if not right]


@pytest.mark.rule("ORG-4")
async def test_two_statements_conflict_and_a_person_resolves_them(mokoena: Company):
    faults = await conflict_steps(mokoena)

    print(f"\nconflict_steps=3 faults={len(faults)}")
    assert faults == []


@pytest.mark.rule("ORG-4")
async def test_planted_import_over_a_customer_value_is_found(
    mokoena: Company, monkeypatch: pytest.MonkeyPatch
):
    def newest(said: Any, **_: Any) -> _choosing.Chosen:
        return _choosing.Chosen(max(said, key=lambda one: one.at), FactConflict.NONE)

    monkeypatch.setattr(_settling, "choose", newest)

    assert "torn" in await conflict_steps(mokoena)


@pytest.mark.rule("ORG-4")
async def test_resolving_needs_the_version_that_was_read(mokoena: Company):
    await mokoena.patch({"vatNumber": "4220119988"})
    await mokoena.imported("vatNumber", "4800112269", "csd_report")
    torn = await mokoena.fact("vatNumber")
    body = {"statementId": torn["statements"][0]["id"], "reason": "known"}

    blind = await mokoena.post("/facts/vatNumber/resolve", body)
    stale = await mokoena.post("/facts/vatNumber/resolve", body, **{"If-Match": '"1"'})
    right = await mokoena.post(
        "/facts/vatNumber/resolve", body, **{"If-Match": f'"{torn["version"]}"'}
    )
    again = await mokoena.post(
        "/facts/vatNumber/resolve", body, **{"If-Match": f'"{right.json()["version"]}"'}
    )
    calm = await mokoena.post("/facts/website/resolve", body, **{"If-Match": '"1"'})

    assert (blind.status_code, stale.status_code) == (428, 412)
    assert stale.json()["currentVersion"] == torn["version"]
    assert (right.status_code, again.status_code) == (200, 200)
    assert again.json()["version"] == right.json()["version"]
    assert calm.status_code == 404


@pytest.mark.rule("ORG-4")
async def test_a_decision_stands_until_somebody_says_something_new(mokoena: Company):
    await mokoena.patch({"vatNumber": "4220119988"})
    await mokoena.imported("vatNumber", "4800112269", "csd_report")
    torn = await mokoena.fact("vatNumber")
    own = next(s for s in torn["statements"] if s["kind"] == "customer_supplied")
    await mokoena.post(
        "/facts/vatNumber/resolve",
        {"statementId": own["id"], "reason": "ours is right"},
        **{"If-Match": f'"{torn["version"]}"'},
    )

    await mokoena.imported("vatNumber", "4800112269", "csd_report")
    same = await mokoena.fact("vatNumber")
    await mokoena.imported("vatNumber", "4123456786", "cipc_register")
    new = await mokoena.fact("vatNumber")

    assert (same["conflictStatus"], same["value"]) == ("resolved", "4220119988")
    assert (new["conflictStatus"], new["value"]) == ("conflicted", "4220119988")
    assert new["statementCount"] == 3


@pytest.mark.rule("ORG-4")
async def test_spelling_variants_do_not_conflict_but_typos_do(mokoena: Company):
    await mokoena.patch({"tradingName": "Mokoena Civils (Pty) Ltd"})
    await mokoena.imported("tradingName", "MOKOENA CIVILS PROPRIETARY LIMITED", "csd_report")
    same = await mokoena.fact("tradingName")
    await mokoena.imported("tradingName", "Mokoena Civil (Pty) Ltd", "verified_document")
    other = await mokoena.fact("tradingName")

    assert (same["conflictStatus"], same["value"]) == ("none", "Mokoena Civils (Pty) Ltd")
    assert [one["kind"] for one in same["alsoStatedBy"]] == ["imported"]
    assert (other["conflictStatus"], other["value"]) == ("conflicted", "Mokoena Civils (Pty) Ltd")


@pytest.mark.rule("ORG-4")
async def test_the_register_wins_by_rank_where_the_catalogue_lets_it(mokoena: Company):
    await mokoena.patch({"registrationDate": "2012-03-01"})
    await mokoena.imported("registrationDate", "2012-03-05", "cipc_register")
    won = await mokoena.fact("registrationDate")
    await mokoena.imported("registrationDate", "2012-03-09", "import")
    still = await mokoena.fact("registrationDate")

    assert (won["value"], won["conflictStatus"]) == ("2012-03-05", "resolved")
    assert [s["value"] for s in won["statements"]] == ["2012-03-01", "2012-03-05"]
    assert (still["value"], still["statementCount"]) == ("2012-03-05", 3)


@pytest.mark.rule("ORG-3")
async def test_import_counts_only_without_a_stated_value(
    mokoena: Company,
):
    await mokoena.imported("foundedYear", 2009, "import")
    alone = await mokoena.fact("foundedYear")
    await mokoena.patch({"foundedYear": 2009})
    both = await mokoena.fact("foundedYear")
    withdrawn = await mokoena.patch({"foundedYear": None})
    left = await mokoena.fact("foundedYear")
    gone = await mokoena.post(
        "/facts/foundedYear/withdraw", {"statementId": left["statements"][-1]["id"]}
    )
    again = await mokoena.post(
        "/facts/foundedYear/withdraw", {"statementId": left["statements"][-1]["id"]}
    )

    assert (alone["value"], alone["provenance"]["kind"]) == (2009, "imported")
    assert both["provenance"]["kind"] == "customer_supplied"
    assert withdrawn.json()["profile"]["foundedYear"]["provenance"]["kind"] == "imported"
    assert (gone.status_code, gone.json()["value"]) == (200, None)
    assert again.json() == gone.json()
    assert "foundedYear" not in (await mokoena.get()).json()["profile"]


@pytest.mark.rule("ORG-7")
async def test_stale_citation_says_so_and_stays_readable(mokoena: Company, app: Any):
    for people_employed in (12, 14, 17):
        await mokoena.patch({"employeeCount": people_employed})
    profiles = app.state.shared.host.bindings.of(public.Profiles)

    refs = [
        public.Ref(type="fact", id=f"{mokoena.id}:employeeCount", version=number)
        for number in (1, 3, 9)
    ]
    first, last, never = await profiles.resolve(refs=refs)
    cited = await mokoena.get("/facts/employeeCount/versions/1")
    await mokoena.patch({"employeeCount": 12})
    (back,) = await profiles.resolve(refs=refs[:1])

    assert (first.state, first.current_version) == ("stale", 3)
    assert first.changed_fields == ["employeeCount"]
    assert (last.state, never.state) == ("live", "forbidden")
    assert (cited.json()["value"], cited.json()["version"]) == (12, 1)
    assert (back.state, back.current_version) == ("live", 4)
    assert (await mokoena.get("/facts/employeeCount/versions/9")).status_code == 404
    print(f"\ncitation_state={first.state} current={first.current_version}")


@pytest.mark.rule("ORG-8")
async def test_confirming_makes_a_fact_fresh_and_no_new_version(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    place = await company(api, host, mode="sandbox")
    await place.patch({"employeeCount": 12})
    before = await place.fact("employeeCount")
    await place.post("/clock", {"forwardDays": 366})
    await ahead(place, timedelta(days=366))
    stale = await place.fact("employeeCount")
    listed = await place.get("/facts?stale=true")

    confirmed = await place.post("/facts/confirm", {"factKeys": ["employeeCount", "legalName"]})
    after = await place.fact("employeeCount")
    empty = await place.post("/facts/confirm", {"factKeys": ["lei"]})

    assert (before["stale"], stale["stale"], after["stale"]) == (False, True, False)
    assert "employeeCount" in [one["factKey"] for one in listed.json()["items"]]
    assert confirmed.status_code == 200
    assert after["version"] == before["version"] and after["confirmedAt"] is not None
    assert (empty.status_code, empty.json()["rule"]) == (422, "ORG-8")
    assert ("employeeCount", "confirmed", "none") in await place.changes()


@pytest.mark.rule("ORG-11")
async def test_invalid_numbers_are_refused_and_odd_ones_warned(
    mokoena: Company,
):
    wrong = await mokoena.patch({"vatNumber": "5220119988"})
    odd = await mokoena.patch({"vatNumber": "4220119987"})
    apart = await mokoena.patch({"payeNumber": "7123456789", "uifNumber": "U123456780"})
    form = await mokoena.patch({"registrationNumber": "2010/012345/23"})
    known = await mokoena.patch({"registrationNumber": "K2012/123456/07"})
    turned = await mokoena.patch({"legalForm": "close_corporation"})

    assert (wrong.status_code, wrong.json()["reason"]) == (422, "prefix")
    assert wrong.json()["errors"][0]["pointer"] == "/vatNumber"
    assert odd.json()["profile"]["vatNumber"]["warnings"][0]["code"] == "check_digit"
    assert apart.json()["code"] == "organization-identifier-inconsistent"
    assert form.json()["code"] == "organization-identifier-inconsistent"
    assert known.json()["profile"]["registrationNumber"]["value"] == "2012/123456/07"
    assert turned.json()["code"] == "organization-identifier-inconsistent"


@pytest.mark.rule("ORG-14")
async def test_tax_numbers_are_masked_in_every_view(mokoena: Company):
    changed = await mokoena.patch({"incomeTaxNumber": "0001339050"})
    detail = await mokoena.fact("incomeTaxNumber")
    cited = await mokoena.get("/facts/incomeTaxNumber/versions/1")
    listed = await mokoena.get("/facts?group=tax")

    answers = [changed.text, str(detail), cited.text, listed.text]
    assert all("0001339050" not in text and "******9050" in text for text in answers)


@pytest.mark.rule("ORG-17")
async def test_ownership_shares_need_a_basis_and_a_permission(mokoena: Company, host: Host):
    keeper = await people.member(host, mokoena.id, role="contributor")
    share = {"value": "51.00", "basis": "consent"}

    without = await mokoena.patch({"blackOwnedPercent": {"value": "51.00"}})
    bare = await mokoena.patch({"blackOwnedPercent": "51.00"})
    stated = await mokoena.patch({"blackOwnedPercent": share})
    mokoena.owner = keeper
    refused = await mokoena.patch({"blackOwnedPercent": share | {"value": "52.00"}})
    allowed = await mokoena.patch({"employeeCount": 4})

    assert (without.status_code, bare.status_code) == (422, 422)
    assert stated.json()["profile"]["blackOwnedPercent"]["value"] == "51.00"
    assert (refused.status_code, refused.json()["action"]) == (
        403,
        "organization:ownership:update",
    )
    assert allowed.status_code == 200


async def test_facts_are_listed_by_group_and_state_page_by_page(mokoena: Company):
    await mokoena.patch({"employeeCount": 3, "vatNumber": "4220119988"})
    await mokoena.imported("vatNumber", "4800112269", "csd_report")

    size = await mokoena.get("/facts?group=size")
    torn = await mokoena.get("/facts?conflictStatus=conflicted")
    plain = await mokoena.get("/facts?verificationStatus=unverified&limit=3")
    rest = await mokoena.get(
        f"/facts?verificationStatus=unverified&limit=3&cursor={plain.json()['nextCursor']}"
    )

    assert [one["factKey"] for one in size.json()["items"]] == ["employeeCount"]
    assert [one["factKey"] for one in torn.json()["items"]] == ["vatNumber"]
    assert len(plain.json()["items"]) == 3
    assert not {str(one) for one in plain.json()["items"]} & {
        str(one) for one in rest.json()["items"]
    }
    assert (await mokoena.get("/facts/notAFact")).status_code == 404


async def test_the_catalogue_lists_what_can_be_said(api: httpx2.AsyncClient, mokoena: Company):
    whole = await api.get("/organization-catalogues/facts?limit=200", headers=mokoena.owner.headers)
    secret = await api.get(
        "/organization-catalogues/facts?sensitivity=secret", headers=mokoena.owner.headers
    )

    keys = {one["key"]: one for one in whole.json()["items"]}
    assert len(keys) == 34
    assert keys["registrationNumber"]["weight"] == 5
    assert "sole_proprietor" not in keys["registrationNumber"]["legalForms"]
    assert [one["key"] for one in secret.json()["items"]] == ["bankAccount"]


async def test_parallel_changes_lose_no_value(mokoena: Company):
    counts = range(20, 30)
    answers = await asyncio.gather(*(mokoena.patch({"employeeCount": n}) for n in counts))

    detail = await mokoena.fact("employeeCount")
    assert {answer.status_code for answer in answers} == {200}
    assert {one["value"] for one in detail["statements"]} == set(counts)
    assert len([one for one in detail["statements"] if one["withdrawnAt"] is None]) == 1
    assert detail["version"] == len(counts)


def test_every_key_of_the_catalogue_has_a_type():
    assert set(catalogues.FACTS) == set(fact_types.TYPES)
    assert settings.AUTO_RESOLVE.default <= set(catalogues.FACTS)
