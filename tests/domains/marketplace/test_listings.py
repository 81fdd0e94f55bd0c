"""Listings over HTTP: written by providers, decided by moderators, seen by others."""

import asyncio
import hashlib
import json
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.conftest import Silence
from tests.domains.marketplace.stalls import Moderator, Stall, stall
from tests.factories import held
from tests.factories import identity as people
from tests.factories import marketplace as factory
from tests.factories import supplier as suppliers
from thenga.domains.identity.public import Members
from thenga.domains.marketplace.services import moderation, providers
from thenga.domains.supplier.public import SupplierChanged, Suppliers, TrustStateChanged
from thenga.kernel.process.host import Host


def live_sha(listing: dict[str, Any]) -> str:
    """The digest of what is served, as it came over the wire."""
    return hashlib.sha256(json.dumps(listing["live"]).encode()).hexdigest()


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


@pytest.mark.rule("MKT-2")
async def test_the_live_version_is_served_until_another_is_confirmed(
    mine: Stall, theirs: Stall, moderator: Moderator
) -> None:
    made = await mine.made()
    await moderator.decided(made, "publish")
    first = live_sha(await theirs.read(made["id"]))
    content = made["change"]["content"]
    changed = 0

    for number in range(1, 5):
        edited = await mine.moved(
            made["id"], content=content | {"summary": f"Culverts, laid in {number} days."}
        )
        assert edited["change"]["number"] == 2  # it replaces the version that waits
        outside = await theirs.read(made["id"])
        changed += live_sha(outside) != first
        changed += outside["change"] is not None
    print(f"Edits: live_sha_changed={changed}")
    assert changed == 0

    stale = edited["change"]["contentHash"]
    newest = await mine.moved(made["id"], content=content | {"summary": "Culverts, in a week."})
    refused = await moderator.decide(edited, "confirm")
    assert code(refused) == (409, "marketplace-version-moved")
    assert refused.json()["contentHash"] == newest["change"]["contentHash"] != stale
    other = await moderator.decide(newest, "confirm", versionNumber=1)
    assert code(other) == (409, "marketplace-version-moved")
    assert live_sha(await theirs.read(made["id"])) == first

    await moderator.decided(newest, "confirm")
    outside = await theirs.read(made["id"])
    assert outside["live"]["content"] == newest["change"]["content"]
    assert outside["live"]["number"] == 2


@pytest.mark.rule("MKT-2")
async def test_a_declined_or_cancelled_change_is_never_served(
    mine: Stall, theirs: Stall, moderator: Moderator
) -> None:
    made = await mine.made()
    live = await moderator.decided(made, "publish")
    content = live["live"]["content"]
    await mine.moved(made["id"], content=content | {"title": "Culverts of another kind"})
    again = await mine.moved(made["id"], move="cancel_change")
    assert again["change"] is None
    assert code(await mine.patch(made["id"], move="cancel_change")) == (409, "invalid-transition")
    free = await mine.made(title="Culverts of another kind", submit=False)
    assert free["status"] == "draft"

    edited = await mine.moved(made["id"], content=content | {"summary": "The best of all."})
    assert edited["change"]["number"] == 3
    declined = await moderator.decided(edited, "decline", "misleading", text="Say why.")
    assert declined["change"]["status"] == "declined"
    told = (await mine.read(made["id"]))["decision"]
    assert (told["reasonCodes"], told["text"]) == (["misleading"], "Say why.")
    assert live_sha(await theirs.read(made["id"])) == live_sha(live)
    same = await mine.moved(made["id"], content=content)
    assert same["change"] == declined["change"]  # nothing is new
    await mine.moved(made["id"], content=content | {"summary": "The best of some."})
    again = await mine.moved(made["id"], move="cancel_change")
    assert again["change"] == declined["change"]  # an appeal is about what was declined


@pytest.mark.rule("MKT-4")
@pytest.mark.parametrize("decision", ["request_changes", "reject", "decline"])
async def test_what_was_refused_stays_readable(
    mine: Stall, theirs: Stall, moderator: Moderator, host: Host, decision: str
) -> None:
    made = await mine.made()
    if decision == "decline":
        await moderator.decided(made, "publish")
        content = made["change"]["content"] | {"title": "Culverts that never crack"}
        made = await mine.moved(made["id"], content=content)
    refused = made["change"]
    await moderator.decided(made, decision, "misleading")
    another = Moderator(mine.api, await people.staff(host, "platform_curator"))

    shown = [
        (await mine.read(made["id"]))["change"],
        (await another.get(f"/{made['id']}")).json()["change"],
        *[row["change"] for row in (await mine.get()).json()["items"]],
    ]

    assert [version["content"] for version in shown] == [refused["content"]] * 3
    assert {version["status"] for version in shown} == {"declined"}
    assert refused["content"]["title"] and refused["content"]["description"]
    again = await moderator.decide(made, decision, "misleading")
    assert code(again) == (409, "marketplace-version-moved")  # it is decided once
    if decision == "decline":
        assert (await theirs.read(made["id"]))["change"] is None
    else:
        assert not await theirs.sees(made["id"])


async def test_a_listing_closed_before_any_decision_keeps_its_title(mine: Stall) -> None:
    made = await mine.made(submit=False)
    closed = await mine.moved(made["id"], move="close")
    assert closed["change"]["status"] == "cancelled"
    assert closed["change"]["content"] == made["change"]["content"]


@pytest.mark.rule("MKT-4")
async def test_a_first_review_ends_in_publication_changes_or_rejection(
    mine: Stall, moderator: Moderator
) -> None:
    made = await mine.made()
    asked = await moderator.decided(made, "request_changes", "unreadable")
    assert (asked["status"], asked["change"]["status"]) == ("changes_requested", "declined")
    unchanged = await mine.patch(made["id"], move="submit")
    assert unchanged.json()["rule"] == "MKT-2"
    content = made["change"]["content"] | {"summary": "Culverts up to 900 mm."}
    again = await mine.moved(made["id"], content=content, move="submit")
    assert (again["status"], again["change"]["number"]) == ("pending_review", 2)
    assert code(await moderator.decide(again, "confirm")) == (409, "invalid-transition")
    published = await moderator.decided(again, "publish")
    assert (published["status"], published["served"]) == ("published", True)

    other = await mine.made()
    rejected = await moderator.decided(other, "reject", "prohibited", "rights")
    assert rejected["status"] == "rejected"
    assert code(await mine.patch(other["id"], content=content)) == (409, "invalid-transition")
    names = [(name, data.get("decision")) for name, data in await mine.events()]
    assert names == [
        ("ListingModerated", "request_changes"),
        ("ListingModerated", "publish"),
        ("ListingPublished", None),
        ("ListingModerated", "reject"),
    ]
    data = (await mine.events())[-1][1]
    assert data["reasonCodes"] == ["prohibited", "rights"]
    assert data["label"] == other["change"]["content"]["title"]


@pytest.mark.rule("MKT-4")
async def test_a_decision_names_reasons_that_fit_it(mine: Stall, moderator: Moderator) -> None:
    made = await mine.made()
    for decision, codes in (
        ("publish", ["misleading"]),
        ("reject", ["in_order"]),
        ("reject", ["in_order", "rights"]),
    ):
        refused = await moderator.decide(made, decision, *codes)
        assert (refused.status_code, refused.json()["rule"]) == (422, "MKT-4"), refused.text


@pytest.mark.rule("MKT-4")
async def test_who_belongs_to_the_provider_never_moderates(
    mine: Stall, moderator: Moderator, host: Host
) -> None:
    made = await mine.made()
    insider = await people.person(host, assurance="aal2")
    await people.member(host, mine.who.organization_id, role="viewer", who=insider)
    await people.become_staff(host, insider, "platform_curator")
    refused = await Moderator(mine.api, insider).decide(made, "publish")
    assert code(refused) == (403, "marketplace-own-listing")
    theirs = await mine.api.post(
        f"/marketplace/listings/{made['id']}/moderate",
        json={
            "versionNumber": 1,
            "contentHash": made["change"]["contentHash"],
            "decision": "publish",
            "reasonCodes": ["in_order"],
        },
        headers=mine.who.acting,
    )
    assert theirs.status_code == 403


async def test_nobody_decides_while_identity_is_silent(
    mine: Stall, moderator: Moderator, silence: Silence
) -> None:
    made = await mine.made()
    silence(Members)
    refused = await moderator.decide(made, "publish")
    assert refused.status_code == 503


@pytest.mark.rule("MKT-1")
async def test_a_listing_needs_an_own_supplier_in_use(
    mine: Stall, theirs: Stall, host: Host, silence: Silence
) -> None:
    given = await factory.content(host)
    missing = await theirs.post(kind="service", content=given)
    assert code(missing) == (422, "marketplace-supplier-missing")
    draft = await mine.made(submit=False)
    assert (draft["status"], draft["served"], draft["change"]["status"]) == (
        "draft",
        False,
        "draft",
    )
    supplier = await mine.api.patch(
        f"/suppliers/{draft['supplierId']}", json={"move": "deactivate"}, headers=mine.who.acting
    )
    assert supplier.status_code == 200
    refused = await mine.patch(draft["id"], move="submit")
    assert code(refused) == (422, "marketplace-supplier-inactive")
    silence(Suppliers)
    assert (await mine.post(kind="service", content=given)).status_code == 503


@pytest.mark.rule("MKT-1")
async def test_submitted_and_published_listings_count_against_the_plan(
    theirs: Stall, moderator: Moderator, host: Host
) -> None:
    company = theirs.who.organization_id
    await held.subscribed(host, company, "starter")
    await suppliers.supplier(host, company, **suppliers.OWN, name=None)
    first = await theirs.made()
    draft = await theirs.made(submit=False)
    refused = await theirs.patch(draft["id"], move="submit")
    assert code(refused) == (402, "plan-limit-reached")
    assert (refused.json()["limit"], refused.json()["used"]) == (1, 1)
    at_once = await theirs.post(kind="service", content=await factory.content(host), submit=True)
    assert code(at_once) == (402, "plan-limit-reached")
    await moderator.decided(first, "publish")
    await theirs.moved(first["id"], move="pause")
    assert (await theirs.patch(draft["id"], move="submit")).status_code == 402
    await theirs.moved(first["id"], move="close")
    assert (await theirs.moved(draft["id"], move="submit"))["status"] == "pending_review"


@pytest.mark.rule("MKT-1")
async def test_two_submissions_at_once_cannot_both_take_the_last_place(
    theirs: Stall, host: Host
) -> None:
    company = theirs.who.organization_id
    await held.subscribed(host, company, "starter")
    await suppliers.supplier(host, company, **suppliers.OWN, name=None)
    drafts = [await theirs.made(submit=False) for _ in range(2)]

    answers = await asyncio.gather(*(theirs.patch(draft["id"], move="submit") for draft in drafts))

    assert sorted(answer.status_code for answer in answers) == [200, 402]


@pytest.mark.rule("MKT-6")
async def test_what_others_see_is_written_again_for_a_provider(
    mine: Stall, theirs: Stall, host: Host, bound: Host
) -> None:
    made = await factory.published(bound, mine.who.organization_id)
    async with host.engines.connection("marketplace", "marketplace_system") as connection:
        await connection.execute("DELETE FROM marketplace.live_listing WHERE id = $1", made.id)
    assert not await theirs.sees(str(made.id))

    work = factory.working(bound, mine.who.organization_id)
    await providers.refresh_provider(work, supplier_id=made.supplier_id)
    await work.finish()

    assert await theirs.sees(str(made.id))


async def test_references_are_the_providers_own(mine: Stall, host: Host) -> None:
    given = await factory.content(host)
    for field, value, expected in (
        ("categoryIds", [str(uuid4())], "marketplace-category-unknown"),
        ("capabilityRefs", [str(uuid4())], "marketplace-reference-unknown"),
        ("offerRef", {"type": "service", "id": str(uuid4())}, "marketplace-reference-unknown"),
    ):
        refused = await mine.post(kind="service", content=given | {field: value})
        assert code(refused) == (422, expected), refused.text
        assert refused.json()["field"] == f"/content/{field}"
    free = await mine.post(kind="service", content=given | {"pricing": {"model": "fixed"}})
    assert free.json()["rule"] == "MKT-2"


@pytest.mark.rule("MKT-6")
async def test_a_draft_before_the_event_of_supplier_hides_nothing(
    mine: Stall, theirs: Stall, moderator: Moderator, host: Host
) -> None:
    made = await mine.made()
    await moderator.decided(made, "publish")
    company, supplier_id = mine.who.organization_id, UUID(made["supplierId"])

    async def heard(status: str) -> None:
        event = SupplierChanged(
            organization_id=company, supplier_id=supplier_id, kind="own", status=status
        )
        await factory.hear(host, company, event)

    await heard("inactive")
    await mine.made(submit=False)  # Supplier answers already that it is in use
    await heard("active")
    back = await theirs.sees(made["id"])
    deactivated = await mine.api.patch(
        f"/suppliers/{supplier_id}", json={"move": "deactivate"}, headers=mine.who.acting
    )
    await mine.made(submit=False)
    await heard("inactive")

    assert (back, deactivated.status_code, await theirs.sees(made["id"])) == (True, 200, False)


async def test_a_title_is_used_once_while_its_listing_lives(mine: Stall, host: Host) -> None:
    made = await mine.made(title="Concrete culverts")
    twice = await mine.post(
        kind="service", content=await factory.content(host, title="CONCRETE culverts")
    )
    assert code(twice) == (409, "duplicate")
    assert twice.json()["existing"]["id"] == made["id"]
    other = await mine.made(submit=False)
    renamed = other["change"]["content"] | {"title": "Concrete Culverts"}
    assert (await mine.patch(other["id"], content=renamed)).status_code == 409
    await mine.moved(made["id"], move="close")
    assert (await mine.moved(other["id"], content=renamed))["status"] == "draft"


@pytest.mark.rule("MKT-6")
async def test_outsiders_see_a_listing_only_while_it_is_served(
    mine: Stall, theirs: Stall, moderator: Moderator, host: Host
) -> None:
    made = await mine.made()
    listing_id, company = made["id"], mine.who.organization_id
    assert not await theirs.sees(listing_id)
    live = await moderator.decided(made, "publish")
    outside = await theirs.read(listing_id)
    assert (outside["status"], outside["allowedMoves"]) == ("published", [])
    assert outside["live"] == live["live"]

    async def followed(**body: Any) -> bool:
        await mine.moved(listing_id, **body)
        return await theirs.sees(listing_id)

    assert not await followed(move="pause")
    assert await followed(move="resume")
    for visibility, is_seen in (("private", False), ("unlisted", True), ("public", True)):
        changed = await mine.patch(listing_id, "/visibility", visibility=visibility)
        assert (changed.json()["served"], await theirs.sees(listing_id)) == (is_seen, is_seen)
        name, data = (await mine.events())[-1]
        assert (name, data["visibility"], data["served"]) == (
            "ListingVisibilityChanged",
            visibility,
            is_seen,
        )
    supplier_id = UUID(made["supplierId"])
    for status, is_seen in (("inactive", False), ("active", True)):
        event = SupplierChanged(
            organization_id=company, supplier_id=supplier_id, kind="own", status=status
        )
        await factory.hear(host, company, event)
        assert await theirs.sees(listing_id) is is_seen
    for effects, is_seen in ((["block_rfq"], False), ([], True)):
        trust = TrustStateChanged(
            organization_id=company,
            supplier_id=supplier_id,
            state="blocked" if effects else "unrated",
            previous_state="unrated",
            score=None,
            effects=effects,
            basis="staff",
        )
        await factory.hear(host, company, trust)
        assert await theirs.sees(listing_id) is is_seen

    assert outside["servingReasons"] is None

    suspended = await moderator.decided(live, "suspend", "claim_without_source")
    assert (suspended["status"], await theirs.sees(listing_id)) == ("suspended", False)
    assert code(await mine.patch(listing_id, move="resume")) == (409, "invalid-transition")
    await moderator.decided(live, "reinstate")
    assert await theirs.sees(listing_id)
    await mine.moved(listing_id, move="close")
    assert not await theirs.sees(listing_id)
    ended = await mine.patch(listing_id, "/visibility", visibility="tenants")
    assert code(ended) == (409, "invalid-transition")


@pytest.mark.rule("MKT-6")
async def test_provider_and_staff_read_why_a_listing_is_not_served(
    mine: Stall, moderator: Moderator, host: Host
) -> None:
    made = await mine.made()
    assert (made["served"], made["servingReasons"]) == (False, ["not_published"])
    live = await moderator.decided(made, "publish")
    assert (live["served"], live["servingReasons"]) == (True, [])

    async def shown() -> list[str]:
        """The reasons, the same in each answer that has them."""
        path, supplier_id = f"/{made['id']}", made["supplierId"]
        rows = (await moderator.get(supplierId=supplier_id)).json()["items"]
        rows += (await mine.get()).json()["items"]
        rows += [await mine.read(made["id"]), (await moderator.get(path)).json()]
        assert [row["servingReasons"] for row in rows] == [rows[0]["servingReasons"]] * 4
        assert {row["served"] for row in rows} == {not rows[0]["servingReasons"]}
        moves = [move["move"] for move in rows[-1]["allowedMoves"]]
        assert "moderate" in moves  # staff are still answered as staff
        reasons: list[str] = rows[0]["servingReasons"]
        return reasons

    company, supplier_id = mine.who.organization_id, UUID(made["supplierId"])
    assert await shown() == []
    for status, reasons in (("active", []), ("inactive", ["supplier_inactive"])):
        event = SupplierChanged(
            organization_id=company, supplier_id=supplier_id, kind="own", status=status
        )
        await factory.hear(host, company, event)
        assert await shown() == reasons
    trust = TrustStateChanged(
        organization_id=company,
        supplier_id=supplier_id,
        state="blocked",
        previous_state="unrated",
        score=None,
        effects=["block_rfq"],
        basis="staff",
    )
    await factory.hear(host, company, trust)
    assert await shown() == ["supplier_inactive", "trust_blocked"]
    await mine.patch(made["id"], "/visibility", visibility="private")
    await mine.moved(made["id"], move="pause")
    assert await shown() == ["not_published", "private", "supplier_inactive", "trust_blocked"]


async def test_moderators_find_what_waits_and_no_draft(
    mine: Stall, moderator: Moderator, api: Any, host: Host
) -> None:
    draft = await mine.made(submit=False)
    first = await mine.made()
    second = await mine.made()
    other = await stall(api, host, "Sizwe Steel")
    await factory.provider(host, other.who.organization_id)
    third = await other.made()
    await moderator.decided(first, "publish")

    queue = (await moderator.get(pending="true", sort="-pendingSince")).json()["items"]
    assert [row["id"] for row in queue][:2] == [third["id"], second["id"]]
    assert draft["id"] not in [row["id"] for row in queue]
    own = (await mine.get(sort="createdAt")).json()["items"]
    assert [row["id"] for row in own] == [draft["id"], first["id"], second["id"]]
    served = (await mine.get(status="published")).json()["items"]
    assert [(row["id"], row["served"]) for row in served] == [(first["id"], True)]
    assert (await moderator.get(f"/{draft['id']}")).status_code == 404
    read = await moderator.get(f"/{second['id']}")
    assert read.json()["change"] == second["change"]
    assert [move["move"] for move in read.json()["allowedMoves"]] == ["moderate", "close"]
    async with host.engines.connection("marketplace", "marketplace_system") as connection:
        reads, lists = [
            await connection.fetchval(
                "SELECT count(*) FROM marketplace.audit_entry WHERE entry LIKE $1 "
                "AND entry LIKE $2",
                *(f'%"{action}"%', f"%{second['id']}%"),
            )
            for action in ("listing.read", "listing.listed")
        ]
    assert (reads, lists) == (1, 1)


async def test_a_confirm_of_another_hash_is_caught(
    mine: Stall, theirs: Stall, moderator: Moderator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: a moderator's hash is not compared, so an edit after the read is published."""

    made = await mine.made()
    await moderator.decided(made, "publish")
    content = made["change"]["content"]
    edited = await mine.moved(made["id"], content=content | {"summary": "Read by a moderator."})
    await mine.moved(made["id"], content=content | {"summary": "Never read by anybody."})
    monkeypatch.setattr(moderation, "_is_named", lambda version, given: True)
    await moderator.decided(edited, "confirm")
    outside = await theirs.read(made["id"])
    assert outside["live"]["contentHash"] != edited["change"]["contentHash"]
