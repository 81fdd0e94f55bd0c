"""Search through HTTP: what is found, in which order, and what nobody may find."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from sqlalchemy import func, select

from tests.conftest import Silence
from tests.domains.supplier.desks import Desk
from tests.factories import marketplace_search as factory
from thenga.domains.marketplace.services.search import entries, queries, ranking
from thenga.domains.marketplace.tables.categories import Category
from thenga.domains.marketplace.tables.listings import ListingKind
from thenga.domains.marketplace.tables.search import SearchEntry
from thenga.domains.marketplace.values.category_names import CategoryNames
from thenga.domains.organization.provider import LocalProfiles
from thenga.domains.organization.public import Profiles
from thenga.domains.supplier.provider import LocalSuppliers
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.process.host import Host

List = Callable[..., Awaitable[str]]


@pytest.fixture
async def category(host: Host, seeded: None) -> str:
    """A category that no other test uses."""
    return str((await factory.category(host)).id)


@pytest.fixture
def list_(bound: Host, builder: Desk, category: str) -> List:
    """Publish a listing of the builder in the category."""

    async def published(desk: Desk = builder, category_id: str = category, **given: Any) -> str:
        owner = desk.who.organization_id
        made = await factory.listing(bound, owner, [UUID(category_id)], **given)
        await factory.reindex(bound, owner, made.id)
        return str(made.id)

    return published


async def searched(buyer: Desk, **query: Any) -> httpx2.Response:
    return await buyer.api.get("/marketplace/search", params=query, headers=buyer.who.acting)


async def page(buyer: Desk, **query: Any) -> dict[str, Any]:
    answer = await searched(buyer, **query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def ids(buyer: Desk, **query: Any) -> list[str]:
    return [item["listing"]["id"] for item in (await page(buyer, **query))["items"]]


def factor(item: dict[str, Any], key: str) -> dict[str, Any]:
    (found,) = [each for each in item["rank"]["factors"] if each["key"] == key]
    return found


@pytest.mark.rule("MKT-12")
async def test_a_listing_is_found_by_its_words_and_its_provider(
    buyer: Desk, category: str, list_: List
) -> None:
    made = await list_(description="We restore façades of heritage buildings.")

    for q in ("community hall", "brickwork", "plant", "facades", '"heritage buildings"', "Ndlovu"):
        assert await ids(buyer, q=q, categoryId=category) == [made], q
    assert await ids(buyer, q="catering", categoryId=category) == []
    (item,) = (await page(buyer, q="clinics", categoryId=category))["items"]
    assert item["listing"]["title"] == factory.HALLS["title"]
    assert item["listing"]["providerName"] == "Ndlovu Builders"
    assert item["sponsored"] is None


@pytest.mark.rule("MKT-12")
async def test_a_listing_is_found_in_its_category_and_the_one_above(
    host: Host, buyer: Desk, category: str, list_: List
) -> None:
    below = str((await factory.category(host, "Plastering", parentId=category)).id)
    aside = str((await factory.category(host, "Plumbing", parentId=category)).id)
    made = await list_(category_id=below)

    assert await ids(buyer, categoryId=category) == [made]
    assert await ids(buyer, categoryId=below) == [made]
    assert await ids(buyer, categoryId=aside) == []
    assert await ids(buyer, q="plastering", categoryId=category) == [made]


@pytest.mark.rule("MKT-12")
async def test_a_municipality_finds_what_applies_there(
    buyer: Desk, category: str, list_: List
) -> None:
    names = {
        await list_(areas={"municipalities": ["EKU"]}): "EKU",
        await list_(areas={"provinces": ["GP"]}): "GP",
        await list_(areas={"national": True}): "ZA",
        await list_(areas={"municipalities": ["TSH"]}): "TSH",
        await list_(areas={"provinces": ["KZN"]}): "KZN",
    }

    async def found(**query: Any) -> set[str]:
        return {names[id_] for id_ in await ids(buyer, categoryId=category, **query)}

    assert await found(municipality="EKU") == {"EKU", "GP", "ZA"}
    assert await found(province="GP") == {"EKU", "GP", "ZA", "TSH"}
    assert await found(province="GP", municipality="EKU") == {"EKU", "GP", "ZA"}
    ranked = await page(buyer, categoryId=category, q="clinics", municipality="EKU")
    order = [names[item["listing"]["id"]] for item in ranked["items"]]
    values = [Decimal(factor(item, "place")["value"]) for item in ranked["items"]]
    assert order == ["EKU", "GP", "ZA"]
    assert values == [1, Decimal("0.8"), Decimal("0.6")]
    for query in ({"municipality": "XYZ"}, {"province": "KZN", "municipality": "EKU"}):
        refused = await searched(buyer, **query)
        assert refused.json()["code"] == "marketplace-place-unknown"


async def test_a_kind_finds_its_listings(buyer: Desk, category: str, list_: List) -> None:
    service, product = await list_(), await list_(kind=ListingKind.PRODUCT)

    assert await ids(buyer, categoryId=category, kind="product") == [product]
    assert await ids(buyer, categoryId=category, kind="service") == [service]


@pytest.mark.rule("MKT-14")
async def test_every_answer_has_the_score_with_its_factors(
    host: Host, buyer: Desk, category: str, list_: List
) -> None:
    at = factory.working(host).now - timedelta(days=95)
    await list_(confirmed_at=at)
    for number in range(12):
        await list_(title=f"Clinics {'clinics ' * number}", confirmed_at=at)

    found = await page(buyer, q="clinics", categoryId=category, province="GP")

    assert found["ranking"]["weights"] == ranking.WEIGHTS
    scores = [Decimal(item["rank"]["score"]) for item in found["items"]]
    off = 0
    for item in found["items"]:
        points = [Decimal(each["points"]) for each in item["rank"]["factors"]]
        off += abs(sum(points) - Decimal(item["rank"]["score"])) > Decimal("0.05")
    print(f"\nitems={len(scores)} sum_off={off}")
    assert (len(scores), off) == (13, 0)
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) > 1
    (first, *_) = found["items"]
    assert Decimal(factor(first, "fresh")["value"]) == Decimal("0.806")
    assert Decimal(factor(first, "trust")["value"]) == Decimal("0.5")
    assert Decimal(factor(first, "place")["value"]) == Decimal("0.8")


@pytest.mark.rule("MKT-14")
async def test_a_planted_price_in_the_order_is_found(
    host: Host, buyer: Desk, category: str, list_: List, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Money or a rating among the weights shifts the figures that the rule states."""
    planted = ranking.WEIGHTS | {"price": 10}
    monkeypatch.setattr(ranking, "WEIGHTS", planted)
    await list_()

    with pytest.raises(AssertionError):
        found = await page(buyer, q="clinics", categoryId=category)
        assert sum(found["ranking"]["weights"].values()) == 100


@pytest.mark.rule("MKT-13")
async def test_pages_have_no_gap_and_no_repeat(
    host: Host, buyer: Desk, category: str, list_: List
) -> None:
    at = factory.working(host).now - timedelta(days=9)
    made = {await list_(confirmed_at=at) for _ in range(4)} | {await list_() for _ in range(3)}

    for query in ({}, {"q": "clinics"}, {"q": "clinics", "sort": "relevance"}):
        walked: list[str] = []
        given: dict[str, Any] = {"categoryId": category, "limit": 2} | query
        found = await page(buyer, **given)
        while True:
            walked += [item["listing"]["id"] for item in found["items"]]
            if found["nextCursor"] is None:
                break
            found = await page(buyer, **given, cursor=found["nextCursor"])
        assert (len(walked), set(walked)) == (7, made)
        assert found["total"] == {"value": 7, "exact": True}


@pytest.mark.rule("MKT-13")
async def test_too_many_hits_are_refused_with_words_and_walked_without(
    buyer: Desk, category: str, list_: List, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [await list_() for _ in range(4)]
    monkeypatch.setattr(queries, "MOST", 3)

    refused = await searched(buyer, q="clinics", categoryId=category)
    first = await page(buyer, categoryId=category, limit=2)
    second = await page(buyer, categoryId=category, limit=2, cursor=first["nextCursor"])

    assert (refused.status_code, refused.json()["code"]) == (422, "search-too-broad")
    assert refused.json()["filters"] == ["province", "municipality", "kind"]
    assert first["total"] == {"value": 3, "exact": False}
    walked = [item["listing"]["id"] for item in (*first["items"], *second["items"])]
    assert (sorted(walked), second["nextCursor"]) == (sorted(made), None)


@pytest.mark.rule("MKT-12")
@pytest.mark.parametrize("visibility", ["unlisted", "private"])
async def test_only_what_tenants_may_find_has_an_entry(
    buyer: Desk, category: str, list_: List, visibility: str
) -> None:
    await list_(visibility=factory.Visibility(visibility))

    assert await ids(buyer, categoryId=category) == []


@pytest.mark.rule("MKT-12")
async def test_a_listing_that_is_no_longer_served_leaves_the_search(
    host: Host, builder: Desk, buyer: Desk, category: str
) -> None:
    owner = builder.who.organization_id
    made = await factory.listing(host, owner, [UUID(category)])
    before = await ids(buyer, categoryId=category)

    await factory.remove_from_sight(host, owner, made.id)

    assert (before, await ids(buyer, categoryId=category)) == ([str(made.id)], [])
    read = factory.working(host)
    left = await read.value(select(func.count()).where(SearchEntry.id == made.id))
    await read.close()
    assert left == 0


@pytest.mark.rule("MKT-19")
async def test_verification_is_asked_once_a_page(
    buyer: Desk,
    rival: Desk,
    category: str,
    list_: List,
    silence: Silence,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for desk in (None, rival):
        for _ in range(3):
            await list_(**({} if desk is None else {"desk": desk}))
    asked: list[str] = []
    cards, describe = LocalProfiles.cards, LocalSuppliers.describe

    async def counted_cards(self: Any, **given: Any) -> Any:
        asked.append("organization")
        return await cards(self, **given)

    async def counted_suppliers(self: Any, **given: Any) -> Any:
        asked.append("supplier")
        return await describe(self, **given)

    monkeypatch.setattr(LocalProfiles, "cards", counted_cards)
    monkeypatch.setattr(LocalSuppliers, "describe", counted_suppliers)
    answered = (await page(buyer, categoryId=category))["items"]
    silence(Profiles)
    silent = (await page(buyer, categoryId=category))["items"]

    def states(item: dict[str, Any]) -> dict[str, str]:
        return {source["domain"]: source["state"] for source in item["verification"]["sources"]}

    print(f"\nlistings={len(answered)} calls_per_owner={len(asked[:2]) // 2}")
    assert (len(answered), sorted(asked[:2])) == (6, ["organization", "supplier"])
    assert states(answered[0]) == {"organization": "answered", "supplier": "answered"}
    assert states(silent[0]) == {"organization": "unknown", "supplier": "answered"}
    assert [item["listing"] for item in silent] == [item["listing"] for item in answered]
    assert silent[0]["verification"]["trust"]["state"] == "unknown"


@pytest.mark.rule("MKT-6")
@pytest.mark.parametrize("visibility", ["unlisted", "private"])
async def test_a_listing_hidden_while_its_owners_answer_stays_hidden(
    host: Host,
    bound: Host,
    builder: Desk,
    buyer: Desk,
    category: str,
    list_: List,
    monkeypatch: pytest.MonkeyPatch,
    visibility: str,
) -> None:
    made = await list_()
    cards = LocalProfiles.cards
    answers = []

    async def hiding(self: Any, **given: Any) -> Any:
        path = f"/marketplace/listings/{made}/visibility"
        sent = {"visibility": visibility}
        answers.append(await builder.api.patch(path, json=sent, headers=builder.who.acting))
        return await cards(self, **given)

    before = await ids(buyer, categoryId=category)
    monkeypatch.setattr(LocalProfiles, "cards", hiding)
    await factory.reindex(bound, builder.who.organization_id, UUID(made))
    monkeypatch.setattr(LocalProfiles, "cards", cards)

    assert [answer.status_code for answer in answers] == [200]
    found = await page(buyer, categoryId=category)
    assert (before, found["items"], found["total"]["value"]) == ([made], [], 0)


@pytest.mark.rule("MKT-6")
async def test_an_entry_that_was_left_behind_shows_nothing(
    host: Host, buyer: Desk, category: str, list_: List
) -> None:
    made = await list_()
    before = await factory.match(host, buyer.who.organization_id, categoryIds=[category])
    async with host.engines.connection("marketplace", "marketplace_system") as connection:
        await connection.execute(
            "UPDATE marketplace.live_listing SET visibility = 'unlisted' WHERE id = $1", UUID(made)
        )

    after = await factory.match(host, buyer.who.organization_id, categoryIds=[category])

    assert [str(candidate.listing_id) for candidate in before.candidates] == [made]
    assert after.candidates == []
    assert await ids(buyer, categoryId=category) == []


VIEWERS = ("viewer", "customer", "relation", "preferred", "seen", "user_id", "badge")


@pytest.mark.rule("MKT-12")
async def test_an_entry_has_nothing_about_the_viewer(
    buyer: Desk, rival: Desk, category: str, list_: List
) -> None:
    await list_()
    await list_(desk=rival)

    answers = [await page(desk, q="clinics", categoryId=category) for desk in (buyer, rival)]

    shown = [[(each["listing"], each["rank"]) for each in found["items"]] for found in answers]
    assert shown[0] == shown[1]
    assert viewer_columns(set(SearchEntry.__columns__)) == set()
    print("\nstored_badges=0 viewer_columns=0")


def viewer_columns(columns: set[str]) -> set[str]:
    return {name for name in columns if any(part in name for part in VIEWERS)}


def test_planted_viewer_data_in_the_entry_is_found() -> None:
    assert viewer_columns({*SearchEntry.__columns__, "preferred_by"}) == {"preferred_by"}


async def test_hostile_words_find_nothing_and_break_nothing(buyer: Desk, category: str) -> None:
    for q in ("':*&|!", "a & b | !", '"' * 60, "\\\\", "🏗️🏗️", "%' OR 1=1 --", "(" * 100):
        answer = await searched(buyer, q=q, categoryId=category)
        assert answer.status_code == 200, (q, answer.text)
    assert (await searched(buyer, q="x")).status_code == 422
    assert (await ids(buyer, categoryId=str(uuid4()))) == []


@pytest.mark.rule("MKT-14")
def test_the_level_of_a_provider_counts_what_owners_verified() -> None:
    here, elsewhere = uuid4(), uuid4()

    def category(**codes: list[str]) -> Category:
        given = {"unspsc_prefixes": list[str](), "cidb_classes": list[str]()} | codes
        return Category(
            id=here,
            organization_id=OPERATOR,
            code="halls",
            names=CategoryNames(en="Halls"),
            **given,
        )

    def level(*, registered: bool, proven: list[UUID] | None, **codes: list[str]) -> int:
        fact = {"fact_key": entries.REGISTRATION, "checked_at": "2026-11-01T00:00:00Z"}
        card = entries.Card.model_validate(
            {
                "organization_id": here,
                "display_name": "Ndlovu Builders",
                "legal_form": None,
                "registration_number": None,
                "provinces": [],
                "status": "active",
                "verified_facts": [fact] if registered else [],
                "as_of_version": 1,
            }
        )
        verification = {
            "verification_status": "verified",
            "verified_until": None,
            "classifications": [{"scheme": "unspsc", "code": "72121400"}],
            "cidb_designation": "3GB",
        }
        capability = {
            "id": here,
            "title": "Halls",
            "category_ids": proven,
            "organization_capability_id": here,
            "verification": verification,
        }
        supplier = entries.SupplierCard.model_validate(
            {
                "supplier_id": here,
                "kind": "own",
                "organization_id": here,
                "name": None,
                "status": "active",
                "accepts_quote_requests": True,
                "capabilities": [] if proven is None else [capability],
                "as_of": "2026-11-19T00:00:00Z",
            }
        )
        return entries.level_of(card, supplier, [category(**codes)])

    assert level(registered=False, proven=[here]) == 0
    assert level(registered=True, proven=None) == 1
    assert level(registered=True, proven=[elsewhere]) == 2
    assert level(registered=True, proven=[here]) == 3
    assert level(registered=True, proven=[here], cidb_classes=["GB", "CE"]) == 3
    assert level(registered=True, proven=[here], unspsc_prefixes=["7212"]) == 3
    assert level(registered=True, proven=[here], cidb_classes=["SF"]) == 2
    assert level(registered=True, proven=[here], unspsc_prefixes=["7611"]) == 2
    assert entries.level_of(None, None, [category()]) == 0
