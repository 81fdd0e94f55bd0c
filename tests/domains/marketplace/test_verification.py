"""What verifies a listing: asked of its owners on each read, stored nowhere (MKT-19)."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from httpx2 import AsyncClient
from pydantic import BaseModel

from tests.conftest import Silence
from tests.domains.marketplace.stalls import Moderator, Stall
from tests.domains.organization.offering import Folder
from tests.factories import supplier as suppliers
from tests.planting import plant
from thenga.domains.marketplace.manifest import DOMAIN
from thenga.domains.marketplace.services import verification
from thenga.domains.marketplace.values.listing_content import ListingContent
from thenga.domains.marketplace.values.verification import Badge
from thenga.domains.organization.public import Profiles
from thenga.domains.supplier.public import Suppliers
from thenga.domains.supplier.services.suppliers import own_supplier
from thenga.kernel.db.rows import rows
from thenga.kernel.http.bodies import Body
from thenga.kernel.process.host import Host

GB = [{"scheme": "cidb", "code": "GB"}]


async def published(
    mine: Stall, moderator: Moderator, host: Host, **said: Any
) -> tuple[dict[str, Any], Any]:
    """A served listing, and a capability of its supplier in its category."""
    made = await mine.made(**said)
    listing = await moderator.decided(made, "publish")
    row = suppliers.working(host, mine.who.organization_id)
    supplier = await own_supplier(row)
    await row.close()
    assert supplier is not None
    category = listing["live"]["content"]["categoryIds"]
    return listing, await suppliers.capability(host, supplier, categoryIds=category)


async def shown(stall: Stall, listing: dict[str, Any]) -> dict[str, Any]:
    answer = await stall.get(f"/{listing['id']}/verification-display")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["verification"]
    return found


@pytest.mark.rule("MKT-19")
async def test_badges_say_what_their_owners_say_now(
    mine: Stall, theirs: Stall, moderator: Moderator, host: Host
) -> None:
    listing, capability = await published(mine, moderator, host)
    (badge,) = (await shown(theirs, listing))["badges"]
    assert (badge["state"], badge["whatWasChecked"]) == ("self_declared", capability.title)
    assert badge["source"] == {
        "domain": "supplier",
        "type": "capability",
        "id": str(capability.id),
        "version": None,
    }
    supplier = await theirs.api.get(
        f"/suppliers/{listing['supplierId']}", headers=theirs.who.acting
    )
    assert supplier.json()["capabilities"][0]["id"] == badge["source"]["id"]

    withdrawn = await mine.api.post(
        f"/suppliers/{listing['supplierId']}/capabilities",
        json=suppliers.PIPES | {"categoryIds": badge_categories(listing), "withdrawn": True},
        headers=mine.who.acting,
    )
    assert withdrawn.status_code == 200, withdrawn.text
    assert (await shown(theirs, listing))["badges"] == []


def badge_categories(listing: dict[str, Any]) -> list[str]:
    found: list[str] = listing["live"]["content"]["categoryIds"]
    return found


@pytest.mark.rule("MKT-19")
async def test_a_verified_badge_names_what_was_verified(
    mine: Stall, theirs: Stall, moderator: Moderator, host: Host, bound: Host, api: AsyncClient
) -> None:
    """A supplier writes another grade beside the one that Organization verified."""
    listing, stated = await published(mine, moderator, host)
    claim = await Folder(api, mine.who, "capabilities").made(title="Building", classifications=GB)
    boast = {"title": "General building up to 9GB", "categoryIds": badge_categories(listing)}
    declared = await mine.api.post(
        f"/suppliers/{listing['supplierId']}/capabilities",
        json=boast | {"organizationCapabilityId": claim["id"]},
        headers=mine.who.acting,
    )
    assert declared.status_code == 201, declared.text
    owner = mine.who.organization_id
    for sequence, grade in enumerate(("3GB", None), 1000):
        proven = suppliers.verified(owner, UUID(claim["id"]), cidb_designation=grade)
        await suppliers.hear(bound, owner, proven, sequence=sequence)
        badges = (await shown(theirs, listing))["badges"]
        found = {badge["state"]: badge["whatWasChecked"] for badge in badges}
        assert found == {
            "self_declared": stated.title,
            "verified": f"CIDB {grade or 'GB'}",
        }


@pytest.mark.rule("MKT-19")
async def test_a_silent_owner_is_unknown(
    mine: Stall, theirs: Stall, moderator: Moderator, host: Host, silence: Silence
) -> None:
    listing, _ = await published(mine, moderator, host)
    trust = (await shown(theirs, listing))["trust"]
    assert (trust["state"], trust["asOf"]) == ("unknown", None)
    silence(Suppliers)
    found = await shown(theirs, listing)
    assert found["badges"] == []
    assert [(source["domain"], source["state"]) for source in found["sources"]] == [
        ("organization", "answered"),
        ("supplier", "unknown"),
    ]
    silence(Profiles)
    found = await shown(theirs, listing)
    assert [source["asOf"] for source in found["sources"]] == [None, None]


@pytest.mark.rule("MKT-19")
async def test_a_planted_store_of_badges_is_caught(
    mine: Stall,
    theirs: Stall,
    moderator: Moderator,
    host: Host,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Planted: badges are kept, so one that was withdrawn is still shown."""
    kept: dict[UUID, Any] = {}
    asked = verification.displays_of

    async def remembering(read: Any, listings: Any) -> Any:
        if not kept:
            kept.update(await asked(read, listings))
        return kept

    plant(monkeypatch, verification, "displays_of", remembering)
    with pytest.raises(AssertionError):
        await test_badges_say_what_their_owners_say_now(mine, theirs, moderator, host)


@pytest.mark.rule("MKT-19")
def test_no_row_and_no_request_has_a_badge() -> None:
    kept = [row.__table__.fullname for row in rows() if row.__table__.schema == "marketplace"]
    assert "marketplace.live_listing" in kept
    columns = {
        column.name
        for row in rows()
        if row.__table__.schema == "marketplace"
        for column in row.__table__.columns
    }
    assert not {name for name in columns if "badge" in name or "verif" in name}
    bodies: list[type[BaseModel]] = [
        kind for kind in Body.__subclasses__() if f".{DOMAIN.name}." in kind.__module__
    ]
    assert bodies
    for kind in [*bodies, ListingContent]:
        assert not [name for name in kind.model_fields if "badge" in name or "verif" in name]


@pytest.mark.parametrize(
    ("fact_key", "label"),
    [
        ("registrationNumber", "Registration number"),
        ("cidbCrsNumber", "CIDB contractor registration number"),
        ("vatNumber", "VAT number"),
        ("blackOwnedPercent", "Black owned percent"),
    ],
)
def test_a_fact_has_a_plain_label(fact_key: str, label: str) -> None:
    assert verification._label(fact_key) == label


@pytest.mark.parametrize(
    ("days", "state"), [(None, "verified"), (31, "verified"), (29, "expiring"), (-1, "expired")]
)
async def test_a_verification_expires(host: Host, days: int | None, state: str) -> None:
    now = host.now()
    until = None if days is None else now + timedelta(days=days)
    assert verification._valid(until, now) == state
    assert state in str(Badge.model_fields["state"].annotation)
