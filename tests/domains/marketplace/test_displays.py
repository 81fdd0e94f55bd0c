"""Records of what people were shown, each item and signal with its source (MKT-34)."""

from typing import Any

import asyncpg
import httpx2
import pytest

from tests.domains.marketplace.requesting import Desk, desk
from tests.factories import marketplace_requests as factory
from thenga.kernel.process.host import Host

PATH = "/marketplace/recommendation-displays"


@pytest.fixture
async def mine(api: httpx2.AsyncClient, host: Host, seeded: None) -> Desk:
    return await desk(api, host, "Dlamini Civils")


def shown(**item: Any) -> dict[str, Any]:
    """The body with another first item."""
    first = {**factory.SHOWN["items"][0], **item}
    return factory.SHOWN | {"items": [first]}


async def test_what_was_shown_is_recorded(mine: Desk, api: httpx2.AsyncClient, host: Host) -> None:
    made = await mine.post(PATH, factory.SHOWN)
    assert made.status_code == 201, made.text
    read = await mine.get(f"{PATH}/{made.json()['id']}")
    other = await desk(api, host, "Mokoena Plant Hire")

    assert read.json() == made.json()
    item = read.json()["items"][0]
    assert (item["position"], item["sponsored"]) == (1, False)
    assert read.json()["shownTo"] == str(mine.who.user_id)
    assert (await other.get(f"{PATH}/{made.json()['id']}")).status_code == 404
    ((name, data),) = await mine.events()
    assert (name, data["surface"], data["items"][0]["sourceRef"]) == (
        "RecommendationDisplayed",
        "search",
        item["sourceRef"],
    )
    assert "reasonCodes" not in data["items"][0]


@pytest.mark.rule("MKT-34")
async def test_an_item_without_source_is_refused(mine: Desk) -> None:
    refused = await mine.post(PATH, shown(sourceRef=None))

    assert (refused.status_code, refused.json()["code"]) == (422, "marketplace-source-missing")
    assert refused.json()["errors"][0]["pointer"] == "/items/0/sourceRef"
    assert await mine.events() == []


@pytest.mark.rule("MKT-34")
async def test_a_signal_without_source_is_refused(mine: Desk) -> None:
    signal = {"code": "cidb_status", "value": "Active, 6GB"}

    refused = await mine.post(PATH, factory.SHOWN | {"signals": [signal]})

    assert (refused.status_code, refused.json()["code"]) == (
        422,
        "marketplace-signal-without-source",
    )
    assert refused.json()["errors"][0]["pointer"] == "/signals/0/source"


async def test_an_item_is_a_listing_or_a_product(mine: Desk) -> None:
    product = {"domain": "funding", "type": "product", "id": factory.LISTED["id"]}

    both = await mine.post(PATH, shown(productRef=product))
    neither = await mine.post(PATH, shown(listingId=None))
    one = await mine.post(PATH, shown(listingId=None, productRef=product))

    assert [both.status_code, neither.status_code, one.status_code] == [422, 422, 201]
    assert both.json()["rule"] == neither.json()["rule"] == "MKT-34"


async def test_whether_it_was_paid_for_is_not_the_clients_word(mine: Desk) -> None:
    refused = await mine.post(PATH, shown(sponsored=True))

    assert (refused.status_code, refused.json()["code"]) == (422, "validation-failed")


async def test_a_record_is_never_changed(mine: Desk, host: Host) -> None:
    made = await factory.display(host, mine.organization_id)
    work = factory.working(host, mine.organization_id)

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await work.run(
            "UPDATE marketplace.recommendation_display SET surface = 'bid' WHERE id = $1", made.id
        )
    await work.close()
