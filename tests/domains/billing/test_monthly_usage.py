"""Usage of a plan that is paid by the year is billed by the month."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.conftest import Time
from tests.factories import billing, held, paying
from tests.factories.held import RUNS
from tests.factories.paying import Payer
from tests.planting import plant
from thenga.domains.billing.services.pricing import periods
from thenga.domains.billing.services.usage import charges, recording
from thenga.domains.billing.tables import Account, Interval, PlanKind
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_midnight

BOUGHT = datetime(2027, 1, 31, 8, tzinfo=UTC)
FEBRUARY, MARCH, APRIL = (date(2027, 2, 28), date(2027, 3, 31), date(2027, 4, 30))


async def by_the_year(host: Host, clock: Time) -> Payer:
    """A payer of a yearly plan; so large an invoice names an address."""
    bill_to = billing.BILL_TO | {"address": {"line1": "1 Long Street", "city": "Cape Town"}}
    payer = await paying.payer(host, clock, BOUGHT, bill_to=bill_to)
    await payer.buy("professional", Interval.YEAR)
    return payer


async def use(payer: Payer, at: datetime, quantity: int, key: str) -> None:
    """Usage on a day, once time has come there."""
    await payer.at(at)
    work = payer.work()
    await recording.record_usage(work, [recording.UsageEntry(RUNS, key, quantity, work.now)])
    await work.finish()


async def invoices(payer: Payer) -> list[tuple[str, int, str]]:
    found = await payer.rows(
        "SELECT purpose, gross_minor, status FROM billing.invoice "
        "WHERE organization_id = $1 ORDER BY created_at, id"
    )
    return [tuple(one) for one in found]


async def lines(payer: Payer) -> list[tuple[Any, ...]]:
    found = await payer.rows(
        "SELECT kind, quantity, gross_minor, service_from FROM billing.invoice_line "
        "WHERE organization_id = $1 AND kind <> 'recurring' ORDER BY service_from, quantity"
    )
    return [tuple(one) for one in found]


@pytest.mark.rule("BIL-23")
async def test_a_yearly_plan_pays_for_usage_each_month(host: Host, seeded: None, clock: Time):
    """37 x 1.50 at once; 10 and 5 units are too little for an invoice alone and go together."""
    payer = await by_the_year(host, clock)

    await use(payer, BOUGHT + timedelta(days=3), 537, "first")
    await payer.at(local_midnight(FEBRUARY) - timedelta(seconds=1))
    before = len(payer.charged)
    await payer.at(local_midnight(FEBRUARY))
    charged = [one.amount.amount for one in payer.charged[before:]]
    await use(payer, local_midnight(FEBRUARY) + timedelta(days=2), 510, "second")
    await payer.at(local_midnight(MARCH))
    waiting = len(await invoices(payer))
    await use(payer, local_midnight(MARCH) + timedelta(days=2), 505, "third")
    await payer.at(local_midnight(date(2027, 6, 1)))

    made = await invoices(payer)
    print(f"year={made[0][1]} usage={[one[1] for one in made[1:]]} lines={await lines(payer)}")
    assert before == 1
    assert charged == ["55.50"]
    assert (waiting, [one[1:] for one in made[1:]]) == (2, [(5550, "paid"), (2250, "paid")])
    assert {one[0] for one in made[1:]} == {"usage"}
    assert await lines(payer) == [
        ("usage", 37, 5550, BOUGHT.date()),
        ("usage", 10, 1500, FEBRUARY),
        ("usage", 5, 750, MARCH),
    ]


@pytest.mark.rule("BIL-23")
async def test_what_came_late_is_on_the_next_months_invoice(host: Host, seeded: None, clock: Time):
    payer = await by_the_year(host, clock)
    await use(payer, BOUGHT + timedelta(days=3), 537, "first")
    await payer.at(local_midnight(FEBRUARY) + timedelta(days=1))

    work = payer.work()
    late = recording.UsageEntry(RUNS, "late", 20, local_midnight(FEBRUARY) - timedelta(hours=1))
    said = await recording.record_usage(work, [late])
    await work.finish()
    soon = len(await invoices(payer))
    await payer.at(local_midnight(MARCH))

    assert said.items[0].late
    assert soon == 2
    assert [one[1] for one in await invoices(payer)][1:] == [5550, 3000]
    assert ("late_usage", 20, 3000, BOUGHT.date()) in await lines(payer)


@pytest.mark.rule("BIL-23")
async def test_an_add_on_that_renews_takes_nothing_of_a_running_month(
    host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, BOUGHT)
    await payer.buy("professional")
    added = await held.subscribed(
        host, payer.organization_id, "ai-boost", kind=PlanKind.ADDON, anchor=date(2027, 2, 10)
    )
    await use(payer, BOUGHT + timedelta(days=3), 1537, "first")

    month = periods.usage_month(date(2027, 1, 10), date(2027, 2, 5))
    work = payer.work()
    taken = await charges.usage_lines(work, added, month)
    await work.close()

    assert taken == []


async def test_planted_forgotten_month_parks_the_account(
    host: Host, seeded: None, clock: Time, monkeypatch: pytest.MonkeyPatch
):
    async def forgets(*_: object) -> None: ...

    payer = await by_the_year(host, clock)
    await use(payer, BOUGHT + timedelta(days=3), 537, "first")
    plant(monkeypatch, charges, "mark_billed", forgets)

    await payer.at(local_midnight(MARCH))

    found: list[UUID] = [row["id"] for row in await payer.rows(_LINES)]
    account = await payer.read(Account, payer.account.id)
    assert len(found) == 1
    assert (account.parked or {})["reason"] == "invariant_broken"


_LINES = "SELECT id FROM billing.invoice_line WHERE organization_id = $1 AND kind = 'usage'"
