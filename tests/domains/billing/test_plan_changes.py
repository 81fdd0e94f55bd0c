"""Changes of plan: by day and to the cent."""

from typing import Any

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.billing.changing import (
    change,
    covered_twice,
    credit,
    documents,
    figures,
    journal_sum,
    numbers,
    paid_change,
    preview,
    rand,
)
from tests.factories import billing
from tests.factories.subscriptions import Customer, customer
from tests.planting import plant
from thenga.domains.billing.services.metering import totals
from thenga.domains.billing.services.pricing import proration
from thenga.kernel.process.host import Host


@pytest.fixture
async def buyer(host: Host, api: httpx2.AsyncClient, clock: Time, seeded: None) -> Customer:
    return await customer(host, api, clock, "2026-11-14 10:00")


@pytest.mark.rule("BIL-10")
async def test_up_and_up_again_is_credited_and_charged_by_day(buyer: Customer):
    """Vectors a and b."""
    held = await buyer.buy()

    await buyer.at("2026-11-24 10:00")
    first = await paid_change(buyer, held, planCode="professional")
    await buyer.at("2026-12-04 10:00")
    second = await paid_change(buyer, held, planCode="enterprise")

    now = await buyer.read(held["id"])
    issued = await documents(buyer)
    print(f"a={figures(first)} b={figures(second)} documents={issued} ", end="")
    print(f"numbers={await numbers(buyer)} ", end="")
    print(f"journal={await journal_sum(buyer)} twice={await covered_twice(buyer)}")
    assert figures(first) == ["332.67", "43.39", "999.33", "130.35", "666.66", "0.00"]
    assert figures(second)[0::2] == ["499.67", "1666.33", "1166.66"]
    assert (first["days"], second["days"]["left"]) == ({"left": 20, "full": 30}, 10)
    assert issued == [
        *(("TI", 49900, 6509), ("CN", 33267, 4339), ("TI", 99933, 13035)),
        *(("CN", 49967, 6517), ("TI", 166633, 21735)),
    ]
    given = [number[-7:] for number in await numbers(buyer)]
    assert given == ["0000001", "0000002", "0000001", "0000002", "0000003"]
    assert (now["planCode"], now["pendingChange"]) == ("enterprise", None)
    assert (now["currentPeriod"]["start"], now["currentPeriod"]["end"]) == (
        *("2026-11-14", "2026-12-14"),
    )
    assert (await journal_sum(buyer), await covered_twice(buyer)) == (0, 0)
    assert await credit(buyer) == "0.00"


@pytest.mark.rule("BIL-10")
async def test_down_at_once_keeps_the_rest_as_credit(
    host: Host, api: httpx2.AsyncClient, clock: Time, seeded: None
):
    """Vector c: nothing is due, so it is made at once."""
    buyer = await customer(host, api, clock, "2027-01-31 10:00")
    held = await buyer.buy("professional")

    await buyer.at("2027-02-15 10:00")
    shown = await paid_change(buyer, held, planCode="starter", effective="now")

    now = await buyer.read(held["id"])
    print(f"c={figures(shown)} credit={await credit(buyer)}")
    assert figures(shown)[0::2] == ["695.96", "231.68", "0.00"]
    assert shown["keptAsCredit"] == rand("464.28")
    assert shown["days"] == {"left": 13, "full": 28}
    assert (now["planCode"], now["pendingChange"]) == ("starter", None)
    assert (await credit(buyer), await journal_sum(buyer)) == ("464.28", 0)
    assert await covered_twice(buyer) == 0


@pytest.mark.rule("BIL-10")
async def test_a_year_is_changed_by_its_own_days(
    host: Host, api: httpx2.AsyncClient, clock: Time, seeded: None
):
    """Vector d, over a leap day."""
    buyer = await customer(host, api, clock, "2027-03-01 10:00")
    held = await buyer.buy("starter", "year")

    await buyer.at("2027-09-10 10:00")
    shown = await paid_change(buyer, held, planCode="professional")

    print(f"d={figures(shown)} days={shown['days']}")
    assert figures(shown)[0::2] == ["2358.66", "7085.44", "4726.78"]
    assert shown["days"] == {"left": 173, "full": 366}
    assert (await buyer.read(held["id"]))["planCode"] == "professional"
    assert (await journal_sum(buyer), await credit(buyer)) == (0, "0.00")


@pytest.mark.rule("BIL-10")
async def test_money_that_waits_for_its_document_is_nobodys_credit(buyer: Customer):
    """The numbering job comes a moment later; a change in between costs the same."""
    bought = await buyer.start()
    await buyer.hear(bought["payment"]["id"])

    first = await preview(buyer, bought, planCode="professional")
    asked = (await change(buyer, bought, planCode="professional")).json()
    await buyer.hear(asked["pendingChange"]["paymentId"])
    second = await preview(buyer, bought, planCode="enterprise")
    await buyer.number()

    print(f"due={first['amountDue']['amount']} then={second['amountDue']['amount']}")
    assert first["amountDue"] == rand("1000.00")
    assert second["amountDue"] == rand("3500.00")
    assert await credit(buyer) == "0.00"
    assert await preview(buyer, bought, planCode="enterprise") == second


@pytest.mark.rule("BIL-12")
async def test_another_interval_begins_today_with_a_full_period(buyer: Customer):
    held = await buyer.buy()

    await buyer.at("2026-11-24 10:00")
    shown = await paid_change(buyer, held, planCode="starter", interval="year")

    now = await buyer.read(held["id"])
    print(f"figures={figures(shown)} next={now['currentPeriod']['end']}")
    assert figures(shown)[0::2] == ["332.67", "4990.00", "4657.33"]
    assert (now["interval"], now["anchorDate"]) == ("year", "2026-11-24")
    assert now["currentPeriod"]["end"] == "2027-11-24"
    assert await covered_twice(buyer) == 0
    later = await change(buyer, held, planCode="starter", interval="month", effective="period_end")
    assert (later.status_code, later.json()["rule"]) == (422, "interval-now")


async def test_a_preview_shows_what_is_won_and_changes_nothing(buyer: Customer):
    held = await buyer.buy()
    before = await buyer.read(held["id"])

    shown = await preview(buyer, held, planCode="professional")

    won = [one["key"] for one in shown["comparedTo"]["entitlements"] if one["change"] == "gained"]
    assert "analytics.briefings" in won
    assert (shown["direction"], shown["effective"]) == ("up", "now")
    assert shown["overLimits"] == []
    assert await buyer.read(held["id"]) == before


async def test_planted_change_counting_today_for_the_old_plan_is_found(
    buyer: Customer, monkeypatch: pytest.MonkeyPatch
):
    right = proration.prorate

    def a_day_less(gross: Any, days: int, of_days: int) -> Any:
        return right(gross, days - 1, of_days)

    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")
    plant(monkeypatch, proration, "prorate", a_day_less)

    shown = await preview(buyer, held, planCode="professional")

    assert figures(shown)[0] != "332.67"


@pytest.mark.rule("BIL-24")
async def test_a_preview_names_what_is_held_beyond_the_new_limits(buyer: Customer):
    held = await buyer.buy("professional")
    work = billing.working(buyer.host, buyer.id)
    await totals.set_gauge(work, "identity.seats", 8, counted_at=work.now)
    await work.finish()

    down = await preview(buyer, held, planCode="starter")
    up = await preview(buyer, held, planCode="enterprise")

    assert down["overLimits"] == [{"key": "identity.seats", "held": 8, "limit": 3}]
    assert (down["effective"], up["overLimits"]) == ("period_end", [])
