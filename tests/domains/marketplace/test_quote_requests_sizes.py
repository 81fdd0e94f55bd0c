"""How much of quote requests is read: contents only where they are shown, and none without bound.

Decoded columns are counted, since a large content keeps the whole process busy while it is read.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from tests.domains.marketplace.requesting import PATH, Market, market
from tests.factories import marketplace_requests as factory
from thenga.domains.marketplace.tables.quote_requests import QuoteRecipient, QuoteRequest
from thenga.domains.marketplace.values.quote_contents import MOST_BYTES
from thenga.kernel.db.rows import Row
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id


@pytest.fixture
async def there(api: httpx2.AsyncClient, host: Host, seeded: None) -> Market:
    return await market(api, host)


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the documents that rows of quote requests decode, by row and column."""
    found: Counter[str] = Counter()

    def counting(name: str, read: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def count(value: Any) -> Any:
            found[name] += 1
            return read(value)

        return count

    rows: tuple[type[Row], ...] = (QuoteRequest, QuoteRecipient)
    for row in rows:
        readers = [
            (name, counting(f"{row.__name__}.{name}", read)) for name, read in row.__readers__
        ]
        monkeypatch.setattr(row, "__readers__", tuple(readers))
    return found


def large(lines: int, references: int) -> list[dict[str, Any]]:
    return [
        {
            "key": str(number),
            "description": "Concrete pipe",
            "unit": "each",
            "quantity": "1",
            "specificationRefs": [
                {"domain": "opportunity", "type": "requirement", "id": str(new_id())}
                for _ in range(references)
            ],
        }
        for number in range(lines)
    ]


async def test_lists_decode_no_documents(there: Market, decoded: Counter[str]) -> None:
    sent = [await there.customer.asked(*there.ids) for _ in range(3)]
    decoded.clear()

    mine = (await there.customer.get(PATH)).json()["items"]
    theirs = (await there.first.get(PATH, side="provider")).json()["items"]

    assert decoded == {}
    assert {item["id"] for item in mine} == {each["id"] for each in sent}
    assert {item["id"] for item in theirs} == {each["id"] for each in sent}
    assert {item["title"] for item in [*mine, *theirs]} == {factory.ASKED["title"]}


async def test_lists_page_without_documents(there: Market) -> None:
    sent = [await there.customer.asked(there.ids[0]) for _ in range(3)]

    for desk, side in ((there.customer, "customer"), (there.first, "provider")):
        first = (await desk.get(PATH, side=side, limit=2)).json()
        answer = await desk.get(PATH, side=side, limit=2, cursor=first["nextCursor"])
        items = [*first["items"], *answer.json()["items"]]
        assert [item["id"] for item in items] == [each["id"] for each in reversed(sent)]


async def test_a_request_decodes_its_content_once(there: Market, decoded: Counter[str]) -> None:
    sent = await there.customer.asked(*there.ids)
    decoded.clear()

    await there.customer.read(sent["id"])
    mine = dict(decoded)
    decoded.clear()
    await there.first.read(sent["id"])

    assert mine["QuoteRequest.lines"] == 1
    assert "QuoteRecipient.content" not in mine
    assert decoded == {"QuoteRecipient.content": 1}


async def test_a_status_step_decodes_no_copies(there: Market, decoded: Counter[str]) -> None:
    sent = await there.customer.asked(*there.ids)
    decoded.clear()

    answer = await there.customer.change(sent["id"], move="cancel")

    assert answer.status_code == 200, answer.text
    assert decoded["QuoteRecipient.content"] == 0
    theirs = await there.first.read(sent["id"])
    assert (theirs["status"], theirs["lines"]) == ("cancelled", sent["lines"])
    (_, data) = (await there.first.events())[-1]
    assert data["label"] == factory.ASKED["title"]


@pytest.mark.rule("MKT-26")
async def test_a_content_has_a_largest_size(there: Market) -> None:
    refused = await there.customer.ask(there.ids[0], lines=large(500, 20), send=True)
    draft = (await there.customer.ask(there.ids[0], lines=large(400, 1))).json()
    grown = await there.customer.change(draft["id"], lines=large(100, 20))

    for answer in (refused, grown):
        assert answer.status_code == 422, answer.text
        assert f"{MOST_BYTES // 1024} KB" in answer.json()["detail"]
    kept = await there.customer.read(draft["id"])
    assert (len(kept["lines"]), kept["version"]) == (400, draft["version"])
    assert len((await there.customer.get(PATH)).json()["items"]) == 1
