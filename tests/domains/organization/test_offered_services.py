"""Services and products: what a company offers, and how buyers find it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.domains.organization.offering import Folder, told
from tests.factories import identity as people
from thenga.domains.organization.services.reference_data import classifications
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

COLLECTIONS = ["services", "products"]
UNSPSC = {"scheme": "unspsc", "code": "12151405"}


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture(params=COLLECTIONS)
async def offers(
    request: pytest.FixtureRequest, api: httpx2.AsyncClient, owner: people.Member
) -> Folder:
    return Folder(api, owner, request.param)


async def test_an_offer_is_recorded_and_read_again(offers: Folder):
    made = await offers.made(
        name="Road resealing",
        description="Up to 5 km a week",
        classifications=[UNSPSC, {"scheme": "cidb", "code": "CE"}],
        areas={"provinces": ["GP", "NW"]},
        unit="m2",
        leadTimeDays=14,
        priceFrom={"amount": "185.50", "currency": "ZAR"},
        evidenceRefs=[{"domain": "compliance", "type": "document", "id": str(uuid4())}],
    )
    read = await offers.get(f"/{made['id']}")

    assert read.json() == made
    assert made["priceFrom"] == {"amount": "185.50", "currency": "ZAR"}
    statuses = [one["codeStatus"] for one in made["classifications"]]
    assert statuses == ["catalogue_not_loaded", "known"]
    assert made["areas"] == {"national": False, "provinces": ["GP", "NW"], "municipalities": []}
    assert made["fieldProvenance"]["priceFrom"]["version"] == 1


async def test_service_name_is_unique_until_discontinued(offers: Folder):
    first = await offers.made(name="Grass cutting", areas={"national": True})
    twice = await offers.add(name="GRASS CUTTING")
    await offers.post(f"{first['id']}/activate")
    await offers.post(f"{first['id']}/discontinue")

    again = await offers.add(name="Grass Cutting")

    assert (twice.status_code, twice.json()["code"]) == (409, "duplicate")
    assert again.status_code == 201


@pytest.mark.rule("ORG-19")
async def test_service_needs_classification_and_area_to_activate(offers: Folder):
    made = await offers.made(name="Something")
    refused = await offers.post(f"{made['id']}/activate")
    await offers.patch(made["id"], areas={"municipalities": ["JHB"]})
    activated = await offers.post(f"{made['id']}/activate")

    assert made["allowedMoves"][0]["possible"] is False
    assert (refused.status_code, refused.json()["rule"]) == (422, "ORG-19")
    assert (activated.status_code, activated.json()["status"]) == (200, "active")


@pytest.mark.rule("ORG-19")
@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("12151405", True),
        ("12151400", True),
        ("12150000", True),
        ("12000000", True),
        ("12151500", False),
        ("13000000", False),
    ],
)
async def test_pairs_of_zeros_find_all_below(offers: Folder, asked: str, found: bool):
    made = await offers.made(name="Fertiliser", classifications=[UNSPSC])
    await offers.made(name="Other", classifications=[{"scheme": "internal", "code": asked}])

    assert await offers.ids(scheme="unspsc", code=asked) == [made["id"]] * found


@pytest.mark.rule("ORG-19")
@pytest.mark.parametrize(
    ("scheme", "code"),
    [("unspsc", "1215140"), ("unspsc", "ABCDEFGH"), ("cidb", "ZZ"), ("cpv", "45233222")],
)
async def test_a_code_that_its_scheme_cannot_have_is_refused(
    offers: Folder, scheme: str, code: str
):
    given = [UNSPSC, {"scheme": scheme, "code": code}]

    answer = await offers.add(name="Wrong", classifications=given)

    assert (answer.status_code, answer.json()["code"]) == (
        422,
        "organization-classification-invalid",
    )
    assert answer.json()["errors"][0]["pointer"] == "/classifications/1/code"


@pytest.fixture
async def cpv(host: Host, seeded: None, tmp_path: Path) -> AsyncIterator[None]:
    """A catalogue of one code, taken away again: other tests know the scheme as not loaded."""
    file = tmp_path / "cpv.csv"
    file.write_text("scheme,code,title,parent\ncpv,45233222-1,Paving works,45233000-9\n")
    origin = Origin("test", "test", "test")
    work = Work(host, "organization", Scope(actor=SYSTEM), origin, login="organization_system")
    await classifications.load(work, file)
    await work.finish()
    yield
    async with host.engines.connection("organization", "organization_system") as connection:
        await connection.execute("DELETE FROM organization.classification_code WHERE scheme='cpv'")


@pytest.mark.rule("ORG-19")
async def test_a_loaded_catalogue_knows_its_codes_and_no_others(offers: Folder, cpv: None):
    known = await offers.made(
        name="Paving", classifications=[{"scheme": "cpv", "code": "45233222-1"}]
    )
    unknown = await offers.add(
        name="Other", classifications=[{"scheme": "cpv", "code": "45233223-8"}]
    )

    assert known["classifications"][0]["codeStatus"] == "known"
    assert unknown.json()["code"] == "organization-classification-invalid"


async def test_filters_find_offers_by_state_and_province(offers: Folder):
    everywhere = await offers.made(name="A", areas={"national": True})
    gauteng = await offers.made(name="B", areas={"provinces": ["GP"]})
    cape = await offers.made(name="C", areas={"provinces": ["WC"]})
    await offers.post(f"{cape['id']}/activate")

    assert await offers.ids(province="GP", sort="name") == [everywhere["id"], gauteng["id"]]
    assert await offers.ids(status="active") == [cape["id"]]
    assert await offers.ids(scheme="cidb") == []


async def test_each_change_leaves_a_version_and_one_event(
    offers: Folder, host: Host, owner: people.Member
):
    made = await offers.made(name="Carting", areas={"national": True})
    price = {"amount": "10.00", "currency": "ZAR"}
    await offers.patch(made["id"], priceFrom=price, unit="t")
    await offers.patch(made["id"], unit="t")
    for verb in ("activate", "activate", "discontinue"):
        await offers.post(f"{made['id']}/{verb}")
    await offers.delete(made["id"])

    versions = (await offers.get(f"/{made['id']}/versions", sort="version")).json()["items"]
    events = [one["data"] for one in await told(host, owner.organization_id)]

    assert [v["changedFields"] for v in versions[1:]] == [
        ["unit", "priceFrom"],
        ["status"],
        ["status"],
        ["archivedAt"],
    ]
    assert versions[1]["snapshot"]["priceFrom"] == price
    assert [(e["change"], e["recordVersion"], e["status"]) for e in events] == [
        ("added", 1, "draft"),
        ("updated", 2, "draft"),
        ("activate", 3, "active"),
        ("discontinue", 4, "discontinued"),
        ("archived", 5, "discontinued"),
    ]
    assert {e["recordType"] for e in events} == {offers.path.rsplit("/", 1)[1][:-1]}
    assert (await offers.get(f"/{made['id']}/versions/1")).json() == versions[0]


@pytest.mark.parametrize(
    ("gtin", "status"),
    [("6001087000598", 201), ("6 001087 000598", 201), ("6001087000599", 422), ("60010870", 422)],
)
async def test_the_check_digit_of_an_article_number_is_checked(
    api: httpx2.AsyncClient, owner: people.Member, gtin: str, status: int
):
    products = Folder(api, owner, "products")

    answer = await products.add(
        name="Cement", brand="PPC", gtin=gtin, countryOfOrigin="ZA", localContentPercent="87.5"
    )

    told: dict[str, Any] = answer.json()
    assert answer.status_code == status
    assert told.get("gtin", "6001087000598") == "6001087000598"
    assert status == 422 or await products.ids(brand="PPC") == [told["id"]]


async def test_the_catalogue_is_searched_by_word_code_and_scheme(
    api: httpx2.AsyncClient, owner: people.Member
):
    async def codes(**query: str) -> list[str]:
        path = "/organization-catalogues/classifications"
        answer = await api.get(path, params=query, headers=owner.headers)
        return [one["code"] for one in answer.json()["items"]]

    assert len(await codes(scheme="cidb")) == 20
    assert await codes(scheme="cidb", q="electrical") == ["EB", "EP"]
    assert await codes(scheme="cidb", q="road marking") == ["SK"]
    assert await codes(scheme="cidb", q="sq") == ["SQ"]
    assert await codes(scheme="unspsc") == []
