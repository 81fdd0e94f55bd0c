"""Matches through HTTP: who may meet a need or the gap of a tender, and what nobody learns."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.canaries import sightings
from tests.conftest import Silence
from tests.domains.marketplace.matching import (
    CIDB,
    CLAIM,
    GRADE,
    TAX,
    Offer,
    compute,
    computed,
    need,
    read,
    tender_with_gap,
)
from tests.domains.organization.offering import Folder
from tests.domains.supplier.desks import Desk
from tests.factories import marketplace_search as factory
from tests.factories import opportunity_board as tenders
from tests.factories import supplier as suppliers
from tests.factories.compliance_readiness import COMPANY, Prover
from thenga.domains.compliance.public import Readiness
from thenga.domains.marketplace.services.matching import matches, requirements
from thenga.domains.opportunity.public import Tenders
from thenga.domains.opportunity.tables import TenderOpportunity
from thenga.domains.supplier.public import Suppliers
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day


@pytest.mark.rule("MKT-23")
async def test_a_verified_partner_in_the_province_scores_89_5(
    buyer: Desk, category: str, offer: Offer
) -> None:
    made = await offer()

    match = await computed(buyer, need=need(category))

    (candidate,) = match["candidates"]
    print(f"\nmatch_score={candidate['rank']['score']}")
    assert (candidate["listingId"], candidate["rank"]["score"]) == (made, "89.5")
    points = [Decimal(factor["points"]) for factor in candidate["rank"]["factors"]]
    assert points == [40, 30, 12, Decimal("7.5")]
    assert candidate["requirements"] == [{"ref": "0", "state": "met"}]
    assert candidate["rank"]["factors"][-1]["why"] == "Trust is unknown."
    assert (match["stale"], match["staleReasons"], match["excluded"]) == (False, [], [])


@pytest.mark.rule("MKT-23")
async def test_a_hard_requirement_excludes_and_unknown_is_marked(
    buyer: Desk, builder: Desk, rival: Desk, category: str, offer: Offer
) -> None:
    await offer(grade="5GB")
    unproven = await offer(rival, grade=None)

    hard = await computed(buyer, need=need(category))
    soft = await computed(buyer, need=need(category, requirements=[GRADE | {"gate": "soft"}]))

    (candidate,) = hard["candidates"]
    assert candidate["listingId"] == unproven
    assert candidate["requirements"] == [{"ref": "0", "state": "unknown"}]
    assert hard["excluded"] == [{"reason": "cidb_grade", "listings": 1}]
    states = [each["requirements"][0]["state"] for each in soft["candidates"]]
    assert (sorted(states), soft["excluded"]) == (["not_met", "unknown"], [])


@pytest.mark.rule("MKT-23")
async def test_an_emerging_enterprise_may_be_one_grade_lower(
    host: Host, buyer: Desk, category: str, offer: Offer
) -> None:
    await offer(grade="5GB PE")
    states = []
    for allowed in (True, False):
        tender = await tenders.shared_tender(host)
        asked = CIDB | {"peAllowed": allowed}
        await tenders.requirement(host, tender, asked, cure="partner", gate="soft")
        gap = {"tenderOpportunityId": str(tender.id), "categoryIds": [category]}
        grade = GRADE["cidb"] | {"peAllowed": allowed}
        stated = need(category, requirements=[GRADE | {"gate": "soft", "cidb": grade}])
        for body in ({"fromTender": gap}, {"need": stated}):
            (candidate,) = (await computed(buyer, **body))["candidates"]
            states.append(candidate["requirements"][0]["state"])

    assert states == ["met", "met", "not_met", "not_met"]


@pytest.mark.rule("MKT-23")
async def test_who_takes_no_quote_requests_is_no_candidate(
    bound: Host, builder: Desk, buyer: Desk, category: str, offer: Offer
) -> None:
    await offer()
    supplier_id = await factory.own_supplier(bound, builder.who.organization_id)
    changed = await builder.patch(str(supplier_id), acceptsQuoteRequests=False)
    assert changed.status_code == 200, changed.text

    match = await computed(buyer, need=need(category))

    assert match["candidates"] == []
    assert match["excluded"] == [{"reason": "no_quote_requests", "listings": 1}]


@pytest.mark.rule("MKT-22")
async def test_why_nobody_is_judged_by_local_content(
    host: Host, buyer: Desk, category: str
) -> None:
    tender = await tenders.shared_tender(host)
    local = {"kind": "local_content", "minPercent": "60", "product": "Steel"}
    await tenders.requirement(host, tender, local, cure="none")
    await tenders.requirement(host, tender, CIDB, cure="partner", ordinal=2)
    gap = {"tenderOpportunityId": str(tender.id), "categoryIds": [category]}

    match = await computed(buyer, fromTender=gap)

    whys = {each["kind"]: each["why"] for each in match["requirements"]}
    assert whys["local_content"] == "It depends on where the goods are made. Ask your suppliers."


@pytest.mark.rule("MKT-23")
async def test_a_planted_match_that_excludes_nobody_is_found(
    buyer: Desk,
    builder: Desk,
    rival: Desk,
    category: str,
    offer: Offer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(requirements, "exclusion", lambda *_: None)

    with pytest.raises(ValueError, match="too many values"):
        await test_a_hard_requirement_excludes_and_unknown_is_marked(
            buyer, builder, rival, category, offer
        )


@pytest.mark.rule("MKT-23")
async def test_a_claim_in_the_parent_category_scores_less(
    host: Host, buyer: Desk, category: str, offer: Offer
) -> None:
    below = str((await factory.category(host, "Roofing", parentId=category)).id)
    parent = await offer(grade=None, areas={"national": True})
    inside = await offer(grade=None, category_id=below, areas={"national": True})

    match = await computed(buyer, need=need(below))

    scores = {each["listingId"]: Decimal(each["rank"]["score"]) for each in match["candidates"]}
    # 40 x 0.4 + 30 x 0.3 + 15 x 0.6 + 15 x 0.5, and 0.6 of the first in the parent category.
    assert scores == {inside: Decimal("41.5"), parent: Decimal("35.1")}


@pytest.mark.rule("MKT-23")
async def test_a_place_is_met_by_the_areas_of_the_listing(
    buyer: Desk, category: str, offer: Offer
) -> None:
    made = await offer(areas={"municipalities": ["EKU"]})
    await offer(grade=None, areas={"provinces": ["KZN"]})
    place = {"label": "Site", "area": {"municipality": "EKU"}}

    match = await computed(buyer, need=need(category, area=None, requirements=[place]))
    nearby = await computed(buyer, need=need(category, area={"municipality": "TSH"}))

    assert [each["listingId"] for each in match["candidates"]] == [made]
    assert match["excluded"] == [{"reason": "place", "listings": 1}]
    assert nearby["candidates"] == []


@pytest.mark.rule("MKT-23")
async def test_a_classification_is_met_by_a_verified_capability(
    buyer: Desk, category: str, offer: Offer
) -> None:
    await offer()
    asked = [
        {"label": code, "classification": {"scheme": "cidb", "code": code}, "gate": gate}
        for code, gate in (("GB", "hard"), ("CE", "soft"))
    ]

    match = await computed(buyer, need=need(category, requirements=asked))

    (candidate,) = match["candidates"]
    assert [each["state"] for each in candidate["requirements"]] == ["met", "unknown"]


@pytest.mark.rule("MKT-22")
async def test_the_gap_of_a_tender_has_only_what_a_partner_cures(
    host: Host, buyer: Desk, category: str, offer: Offer
) -> None:
    made = await offer()
    tender = await tender_with_gap(host)

    match = await computed(
        buyer, fromTender={"tenderOpportunityId": str(tender.id), "categoryIds": [category]}
    )

    stated = {each["kind"]: (each["matchable"], each["why"]) for each in match["requirements"]}
    assert stated == {
        "cidb_grade": (
            True,
            "A partner can cure it as a member of your joint venture. The grade of a "
            "subcontractor does not count.",
        ),
        "document": (False, "Renew it yourself."),
    }
    (candidate,) = match["candidates"]
    assert (candidate["listingId"], len(candidate["requirements"])) == (made, 1)
    assert candidate["requirements"][0]["state"] == "met"
    assert match["requirementSetVersion"] is not None


@pytest.mark.rule("MKT-22")
async def test_categories_of_the_works_are_taken_where_none_is_named(
    host: Host, buyer: Desk, offer: Offer
) -> None:
    works = str((await factory.category(host, "Steel works", cidbClasses=["SF"])).id)
    made = await offer(category_id=works)
    tender = await tenders.shared_tender(host)
    await tenders.requirement(host, tender, CIDB | {"class": "SF"}, cure="partner", gate="soft")

    match = await computed(buyer, fromTender={"tenderOpportunityId": str(tender.id)})

    assert made in [each["listingId"] for each in match["candidates"]]


@pytest.mark.rule("MKT-22")
async def test_a_gap_without_a_category_is_refused(host: Host, buyer: Desk, offer: Offer) -> None:
    """Otherwise the best proven listings of any trade would be judged."""
    await offer()
    crane = {"kind": "equipment", "text": "Mobile crane, 50 t"}
    for criterion in (crane, CIDB | {"class": "SQ"}):  # no category names SQ
        tender = await tenders.shared_tender(host)
        await tenders.requirement(host, tender, criterion, cure="partner")

        answer = await compute(buyer, fromTender={"tenderOpportunityId": str(tender.id)})

        assert answer.status_code == 422, answer.text
        assert answer.json()["field"] == "/fromTender/categoryIds"


@pytest.mark.rule("MKT-22")
async def test_a_licence_that_ends_before_closing_is_in_the_gap(
    host: Host, buyer: Desk, category: str
) -> None:
    """A tender is judged on its closing day in South Africa, not today."""
    licence = TAX | {"requirementCode": "sector_licence"}
    found = []
    for days in (23, 24):  # the licence ends on the 23rd day
        tender = await tenders.shared_tender(host, closes_in=timedelta(days=days))
        asked = {"code": "sector_licence", "cure": "partner"}
        await tenders.requirement(host, tender, licence, **asked)
        await tenders.requirement(host, tender, CIDB, cure="partner", ordinal=2)
        found.append(tender)
    assert found[0].closing_at is not None
    rows = Prover(host, buyer.who.organization_id)
    work = rows.work()
    own = await rows._requirement(work, "sector_licence", [COMPANY])
    ends = local_day(found[0].closing_at)
    await rows.prove(work, own.id, "sector_licence", ends=ends)
    await work.finish()

    gaps = []
    for tender in found:
        gap = {"tenderOpportunityId": str(tender.id), "categoryIds": [category]}
        match = await computed(buyer, fromTender=gap)
        gaps.append([each["kind"] for each in match["requirements"]])

    assert gaps == [["cidb_grade"], ["document", "cidb_grade"]]


@pytest.mark.rule("MKT-23")
async def test_a_grade_that_ends_before_closing_is_unknown(
    host: Host, buyer: Desk, category: str, offer: Offer
) -> None:
    tender = await tender_with_gap(host)
    assert tender.closing_at is not None
    await offer(until=tender.closing_at - timedelta(hours=12))
    gap = {"tenderOpportunityId": str(tender.id), "categoryIds": [category]}

    (then,) = (await computed(buyer, fromTender=gap))["candidates"]
    (now,) = (await computed(buyer, need=need(category)))["candidates"]

    states = [each["requirements"][0]["state"] for each in (then, now)]
    assert states == ["unknown", "met"]


@pytest.mark.rule("MKT-22")
async def test_own_papers_alone_are_nothing_to_match(host: Host, buyer: Desk) -> None:
    tender = await tenders.shared_tender(host)
    await tenders.requirement(host, tender, TAX, code="tax_status", cure="renew")

    answer = await compute(buyer, fromTender={"tenderOpportunityId": str(tender.id)})

    assert (answer.status_code, answer.json()["code"]) == (422, "marketplace-nothing-matchable")
    (told,) = answer.json()["requirements"]
    assert (told["kind"], told["why"]) == ("document", "Renew it yourself.")


@pytest.mark.rule("MKT-22")
async def test_named_requirements_are_taken_as_they_are(
    host: Host, buyer: Desk, category: str
) -> None:
    tender = await tenders.shared_tender(host)
    grade = await tenders.requirement(host, tender, CIDB, cure="partner", gate="hard")
    await tenders.requirement(host, tender, TAX, code="tax_status", cure="renew", ordinal=2)
    gap = {"tenderOpportunityId": str(tender.id), "categoryIds": [category]}

    named = await computed(buyer, fromTender=gap | {"requirementIds": [str(grade.id)]})
    unknown = await compute(buyer, fromTender=gap | {"requirementIds": [str(uuid4())]})

    assert [each["ref"] for each in named["requirements"]] == [str(grade.id)]
    assert (unknown.status_code, unknown.json()["rule"]) == (422, "MKT-22")


async def test_a_match_is_stale_once_its_tender_or_a_listing_moved(
    host: Host, bound: Host, builder: Desk, buyer: Desk, category: str, offer: Offer
) -> None:
    made = await offer()
    tender = await tender_with_gap(host)
    gap = {"tenderOpportunityId": str(tender.id), "categoryIds": [category]}
    match = await computed(buyer, fromTender=gap)
    before = (await read(buyer, match["id"])).json()

    await tenders.requirement(host, tender, CIDB | {"minGrade": 7}, cure="partner", ordinal=3)
    work = tenders.working(host, OPERATOR)
    changed = await work.lock(TenderOpportunity, tender.id)
    changed.requirement_set_version += 1
    await work.save(changed)
    await work.finish()
    moved = (await read(buyer, match["id"])).json()
    await factory.remove_from_sight(host, builder.who.organization_id, UUID(made))
    gone = (await read(buyer, match["id"])).json()

    assert (before["stale"], moved["stale"]) == (False, True)
    assert moved["staleReasons"] == ["requirements_changed"]
    assert gone["staleReasons"] == ["requirements_changed", "listing_changed"]
    assert gone["candidates"] == match["candidates"]


async def test_silence_refuses_a_tender_and_leaves_states_unknown(
    host: Host, buyer: Desk, category: str, offer: Offer, silence: Silence
) -> None:
    await offer()
    tender = await tender_with_gap(host)
    gap = {"tenderOpportunityId": str(tender.id), "categoryIds": [category]}
    match = await computed(buyer, fromTender=gap)
    silence(Suppliers)

    unknown = await computed(buyer, need=need(category))
    silence(Readiness)
    unready = await compute(buyer, fromTender=gap)
    silence(Tenders)
    silent = await compute(buyer, fromTender=gap)
    shown = (await read(buyer, match["id"])).json()

    states = [each["requirements"][0]["state"] for each in unknown["candidates"]]
    assert states == ["unknown"]
    assert (unready.status_code, silent.status_code) == (503, 503)
    assert (shown["stale"], shown["staleReasons"]) == (None, [])


@pytest.mark.rule("MKT-24")
async def test_nobody_else_learns_of_a_match(
    host: Host, builder: Desk, rival: Desk, buyer: Desk, category: str, offer: Offer
) -> None:
    """No text of the tender and no rival reaches a provider, in answers, events or other rows."""
    canary, secret = f"Zebra{uuid4().hex}", f"Quagga{uuid4().hex}"
    made = [await offer(), await offer(rival)]
    tender = await tender_with_gap(host, title=f"Hall {canary}", description=canary)
    gap = {"tenderOpportunityId": str(tender.id), "categoryIds": [category]}
    before = [await published(desk) for desk in (builder, rival)]

    match = await computed(buyer, fromTender=gap)
    stated = await computed(buyer, need=need(category, text=secret))

    answers = []
    for desk in (builder, rival):
        for match_id in (match["id"], stated["id"]):
            assert (await read(desk, match_id)).status_code == 404
        listed = await desk.api.get("/marketplace/matches", headers=desk.who.acting)
        assert listed.json()["items"] == []
        found = await desk.api.get(
            "/marketplace/search", params={"categoryId": category}, headers=desk.who.acting
        )
        answers.append(found.text)
    rows = await sightings(host.settings, ["marketplace", "supplier", "notification"], canary)
    own = await sightings(host.settings, ["marketplace", "supplier", "notification"], secret)
    tender_canaries = sum(canary in text or secret in text for text in answers) + len(rows)
    rival_canaries = sum(str(buyer.who.organization_id) in text for text in answers)
    print(f"\ntender_canaries={tender_canaries} rival_canaries={rival_canaries}")
    assert (tender_canaries, rival_canaries) == (0, 0)
    assert set(own) <= {"marketplace.match", "marketplace.idempotency", "marketplace.audit_entry"}
    assert [await published(desk) for desk in (builder, rival)] == before
    assert sorted(each["listingId"] for each in match["candidates"]) == sorted(made)


async def published(desk: Desk) -> int:
    """How many events Marketplace has published to a company."""
    async with desk.host.engines.connection("marketplace", "marketplace_system") as connection:
        found = await connection.fetchval(
            "SELECT count(*) FROM marketplace.outbox WHERE organization_id = $1",
            desk.who.organization_id,
        )
    return int(found)


@pytest.mark.rule("MKT-24")
async def test_own_listings_are_no_candidates(builder: Desk, category: str, offer: Offer) -> None:
    await offer()

    match = await computed(builder, need=need(category))

    assert (match["candidates"], match["excluded"]) == ([], [])


async def test_matches_are_listed_by_tender(host: Host, buyer: Desk, category: str) -> None:
    tender = await tender_with_gap(host)
    gap = {"tenderOpportunityId": str(tender.id), "categoryIds": [category]}
    first = await computed(buyer, need=need(category))
    second = await computed(buyer, fromTender=gap)

    async def listed(**query: Any) -> list[str]:
        answer = await buyer.api.get("/marketplace/matches", params=query, headers=buyer.who.acting)
        assert answer.status_code == 200, answer.text
        return [item["id"] for item in answer.json()["items"]]

    assert await listed() == [second["id"], first["id"]]
    assert await listed(tenderOpportunityId=str(tender.id)) == [second["id"]]


async def test_what_cannot_be_matched_is_refused(buyer: Desk, category: str) -> None:
    gap = {"tenderOpportunityId": str(uuid4())}
    refused = {
        "rule-violated": {},
        "marketplace-tender-unknown": {"fromTender": gap},
        "marketplace-category-unknown": {"need": need(str(uuid4()))},
        "marketplace-place-unknown": {"need": need(category, area={"municipality": "XYZ"})},
    }

    for code, body in refused.items():
        answer = await compute(buyer, **body)
        assert (answer.status_code, answer.json()["code"]) == (422, code), answer.text
    both = await compute(buyer, need=need(category), fromTender=gap)
    doubled = await compute(
        buyer, need=need(category, requirements=[GRADE | {"area": {"province": "GP"}}])
    )
    assert (both.json()["rule"], doubled.json()["rule"]) == ("MKT-22", "MKT-23")


@pytest.mark.rule("MKT-23")
async def test_a_verification_that_ended_no_longer_counts(
    bound: Host, api: httpx2.AsyncClient, builder: Desk, buyer: Desk, category: str
) -> None:
    owner = builder.who.organization_id
    supplier_id = await factory.own_supplier(bound, owner)
    claim = await Folder(api, builder.who, "capabilities").made(**CLAIM)
    named = {"title": "Halls", "categoryIds": [category], "organizationCapabilityId": claim["id"]}
    await builder.made(f"/{supplier_id}/capabilities", **named)
    ended = bound.now() - timedelta(minutes=1)
    event = suppliers.verified(owner, UUID(claim["id"]), verified_until=ended)
    await suppliers.hear(bound, owner, event, sequence=1000)
    await factory.listing(bound, owner, [UUID(category)])

    (candidate,) = (await computed(buyer, need=need(category)))["candidates"]

    assert candidate["requirements"] == [{"ref": "0", "state": "unknown"}]
    assert candidate["rank"]["factors"][0]["points"] == "16.0000"  # claimed


def test_at_most_200_candidates_are_judged_and_50_kept() -> None:
    assert (matches.JUDGED, matches.SHOWN) == (200, 50)


@pytest.mark.rule("MKT-23")
async def test_proof_counts_where_its_codes_belong(host: Host, buyer: Desk, offer: Offer) -> None:
    """A verified grade in building proves building, whatever the supplier writes beside it."""
    halls = str((await factory.category(host, "Halls", cidbClasses=["GB"])).id)
    cleaning = str((await factory.category(host, "Cleaning", unspscPrefixes=["7611"])).id)
    for category_id in (halls, cleaning):
        await offer(grade="3GB", named=[category_id], category_id=category_id)

    points = {}
    for category_id in (halls, cleaning):
        match = await computed(buyer, need=need(category_id, requirements=[]))
        (candidate,) = match["candidates"]
        points[category_id] = candidate["rank"]["factors"][0]["why"]

    assert points == {
        halls: "The best capability in the category is verified.",
        cleaning: "The best capability in the category is claimed.",
    }
