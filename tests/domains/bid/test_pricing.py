"""Pricing workbooks over HTTP: sums, versions, files, and who may see them."""

import csv
import io
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import Silence
from tests.factories import bid as factory
from tests.factories import bid_offer as offers
from tests.factories.bid_offer import PRICE
from tests.factories.bidding import Bidding
from thenga.domains.bid.public import CashPlans
from thenga.domains.organization.public import Profiles
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money

TOTAL = {"amount": "494041.60", "currency": "ZAR"}


@pytest.fixture
def path(bidding: Bidding) -> str:
    return f"{bidding.path}/pricing-workbook"


@pytest.mark.rule("BID-26")
async def test_the_sheets_workbook_reads_the_same_in_json_and_csv(
    bidding: Bidding, path: str
) -> None:
    made = await bidding.priced()

    again = await bidding.post(path, PRICE)
    shown = (await bidding.get(path)).json()
    file = await bidding.get(path, Accept="text/csv")

    rows = list(csv.reader(io.StringIO(file.content.decode("utf-8-sig"))))
    print(f"json={shown['totals']['total']['amount']} csv={rows[-1][7]}")
    assert made["totals"] == shown["totals"]
    assert (shown["totals"]["total"], shown["totals"]["vat"]["amount"]) == (TOTAL, "64440.21")
    assert shown["items"]["1"]["amount"]["amount"] == "48624.98"
    assert (shown["vatStatus"], shown["vatPercent"]) == ("vendor", "15")
    assert rows[-1][2:] == ["Total", "", "", "", "", "494041.60", ""]
    assert (again.status_code, again.json()["code"]) == (409, "duplicate")


@pytest.mark.rule("BID-33")
async def test_a_change_is_merged_into_a_new_version(bidding: Bidding, path: str) -> None:
    made = await bidding.priced()
    change = {"items": {"3": None, "1": {"unitRate": "387.46"}}, "discountPercent": None}

    unmatched = await bidding.patch(path, change, None)
    changed = await bidding.patch(path, change, made["version"])
    stale = await bidding.patch(path, change, made["version"])
    former = (await bidding.get(f"{path}?versionNumber=1")).json()

    assert (unmatched.status_code, stale.status_code) == (428, 412)
    body = changed.json()
    assert changed.status_code == 200, changed.text
    assert (body["versionNumber"], set(body["items"])) == (2, {"1", "2", "4", "5", "6"})
    assert body["items"]["1"]["description"] == "Trench"
    assert body["totals"]["discount"]["amount"] == "0.00"
    assert body["contentSha256"] != made["contentSha256"]
    assert former["totals"] == made["totals"]


@pytest.mark.rule("BID-26")
@pytest.mark.parametrize(
    ("item", "code"),
    [
        ({"description": "x", "quantity": "1", "unitRate": "1.005"}, "bid-rate-precision"),
        ({"quantity": "1", "unitRate": "1"}, "rule-violated"),
        (
            {"description": "x", "kind": "percentage", "unitRate": "5", "percentOf": ["9"]},
            "rule-violated",
        ),
        (
            {"description": "x", "quantity": "999999999", "unitRate": "999999999999"},
            "rule-violated",
        ),
        (
            {"description": "x", "quantity": "999999999", "unitRate": "1", "cost": "999999999999"},
            "rule-violated",
        ),
    ],
)
async def test_a_price_that_cannot_be_checked_is_refused(
    bidding: Bidding, path: str, item: dict[str, Any], code: str
) -> None:
    answer = await bidding.post(path, {"items": {"1": item}})

    assert (answer.status_code, answer.json()["code"]) == (422, code)


@pytest.mark.rule("BID-27")
async def test_vat_status_is_asked_and_silence_blocks(
    bidding: Bidding, path: str, silence: Silence
) -> None:
    silence(Profiles)

    made = await bidding.priced()

    assert made["vatStatus"] == "unknown"
    assert "vat_status_unknown" in {one["code"] for one in made["findings"]}


@pytest.mark.rule("BID-34")
async def test_points_follow_the_tender_and_the_scenario(bidding: Bidding, path: str) -> None:
    price = {"items": {"1": {"description": "Works", "kind": "lump_sum", "unitRate": "4200000"}}}
    rivals = [{"label": "A", "price": "4600000.00", "goals": "6"}]
    over = {"women": {"claim8020": "4.5"}}
    claimed = {"women": {"claim8020": "4"}, "youth": {"claim8020": "16"}}

    refused = await bidding.post(path, price | {"scenario": {"ourGoals": over}})
    made = await bidding.post(path, price | {"scenario": {"ourGoals": claimed, "rivals": rivals}})

    assert (refused.status_code, refused.json()["code"]) == (422, "bid-goals-exceed-allocation")
    scores = {one["key"]: one for one in made.json()["points"]["scores"]}
    assert made.json()["points"]["system"] == "80_20"
    assert (scores["ours"]["pricePoints"], scores["ours"]["total"]) == ("76.00", "96.00")
    assert (scores["A"]["rank"], scores["ours"]["rank"]) == (2, 1)


@pytest.mark.rule("BID-4")
async def test_prices_are_for_those_who_need_to_know(bidding: Bidding, path: str) -> None:
    await bidding.priced()
    blind = await bidding.colleague("bid_manager", price=False)
    viewer = await bidding.colleague("viewer")
    stranger = await offers.bidder(bidding.host)

    answers = [await bidding.get(path, who) for who in (blind, viewer, stranger)]
    missing = await bidding.get(f"/bids/workspaces/{uuid4()}/pricing-workbook", stranger)
    shown = await bidding.get(bidding.path, blind)

    codes = [(one.status_code, one.json()["code"]) for one in answers]
    assert codes == [(403, "forbidden"), (403, "forbidden"), (404, "not-found")]
    bare = [
        {k: v for k, v in one.json().items() if k in ("type", "title", "code", "detail")}
        for one in (answers[2], missing)
    ]
    assert bare[0] == bare[1]
    events = await factory.all_told(bidding.host, bidding.owner.organization_id)
    canaries = sum("494041" in str(one) for one in (shown.text, *events))
    print(f"price_canaries={canaries}")
    assert (canaries, shown.json()["withheld"]) == (0, ["price"])


async def test_a_description_is_never_a_live_formula(bidding: Bidding, path: str) -> None:
    items = {
        key: {"description": text, "quantity": "1", "unitRate": "1.00"}
        for key, text in (("a", "=cmd|' /C calc'!A0"), ("b", "+1"), ("c", "@SUM(1)"))
    }
    await bidding.post(path, {"items": items})

    file = await bidding.get(path, Accept="text/csv")

    rows = csv.reader(io.StringIO(file.content.decode("utf-8-sig")))
    live = [cell for row in rows for cell in row if cell[:1] in ("=", "+", "@")]
    print(f"live_formulas={len(live)}")
    assert live == []


@pytest.mark.rule("BID-36")
async def test_funding_asks_for_the_cash_of_a_price(bidding: Bidding) -> None:
    await bidding.priced(offers.CASH)
    port = bidding.host.bindings.of(CashPlans)
    here = {
        "organization_id": bidding.owner.organization_id,
        "workspace_id": bidding.workspace.id,
    }

    plan = await port.describe(**here)
    later = await port.describe(**here, version=9)

    assert plan is not None and later is None
    assert (plan.need, plan.total) == (Money.of("546000.00"), Money.of("1150000.00"))


@pytest.mark.rule("BID-4")
async def test_reading_a_price_is_written_down(bidding: Bidding, path: str, host: Host) -> None:
    await bidding.priced()

    await bidding.get(path)

    async with host.engines.connection("bid", "bid_system") as connection:
        found = await connection.fetch(
            "SELECT entry FROM bid.audit_entry WHERE organization_id = $1",
            bidding.owner.organization_id,
        )
    assert sum("bid.price.read" in one["entry"] for one in found) == 1
