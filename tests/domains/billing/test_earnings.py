"""Revenue: earned by days at the end of each month, and given back in the right part."""

from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from dateutil.relativedelta import relativedelta
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Time
from tests.factories import billing, documents, paying
from tests.factories import identity as people
from thenga.domains.billing.services.dunning import invoice_clock
from thenga.domains.billing.services.invoicing.revenue_recognition import earned_before
from thenga.domains.billing.services.pricing.periods import Period
from thenga.domains.billing.services.subscriptions import pauses
from thenga.domains.billing.tables import Book, Invoice, LineKind, Subscription
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day, local_midnight
from thenga.kernel.values.money import Money

BEGINNINGS = st.dates(min_value=date(2026, 1, 1), max_value=date(2031, 12, 31))


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


def first_of_month(host: Host, months: int) -> date:
    return local_day(host.now()).replace(day=1) + relativedelta(months=months)


def until(host: Host, day: date) -> timedelta:
    """How far ahead two in the morning of that day is."""
    return local_midnight(day) + timedelta(hours=2) - host.now()


async def earn(host: Host, invoice: Invoice, day: date) -> None:
    work = billing.working(host, invoice.organization_id, ahead=until(host, day))
    await invoice_clock.run_due_invoice_steps(work, invoice.id)
    await work.finish()


async def earned(api: httpx2.AsyncClient, owner: people.Member, invoice: Invoice) -> list[str]:
    headers = owner.headers | {"X-Organization-Id": str(owner.organization_id)}
    answer = await api.get(
        f"/billing/ledger/entries?source={invoice.id}&sort=createdAt", headers=headers
    )
    return [
        line["amount"]["amount"]
        for one in answer.json()["items"]
        if one["kind"] == "earning"
        for line in one["lines"]
        if line["account"] == "deferred_revenue"
    ]


async def over_two_months(host: Host, organization_id: UUID) -> Invoice:
    """1 499.00 for 30 days, 17 of them in this month and 13 in the next."""
    first = first_of_month(host, 1)
    period = Period(first - timedelta(days=17), first + timedelta(days=13))
    line = documents.line("1499.00", service=period)
    return await documents.issued(host, organization_id, line, paid=True, book=Book.SANDBOX)


@pytest.mark.rule("BIL-47")
async def test_a_month_over_two_calendar_months_is_earned_in_two_parts(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    invoice = await over_two_months(host, owner.organization_id)

    await earn(host, invoice, first_of_month(host, 1))
    await earn(host, invoice, first_of_month(host, 1))
    once = await earned(api, owner, invoice)
    await earn(host, invoice, first_of_month(host, 2))

    twice = await earned(api, owner, invoice)
    print(f"earned={' + '.join(twice)}")
    assert once == ["738.64"]
    assert twice == ["738.64", "564.84"]
    after = await documents.get(host, Invoice, owner.organization_id, invoice.id)
    assert after.next_check_at is None


@pytest.mark.rule("BIL-47")
async def test_months_that_were_missed_are_booked_one_by_one(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    invoice = await over_two_months(host, owner.organization_id)

    await earn(host, invoice, first_of_month(host, 5))

    assert await earned(api, owner, invoice) == ["738.64", "564.84"]


@pytest.mark.rule("BIL-47")
async def test_credit_reduces_unearned_revenue_first(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    invoice = await over_two_months(host, owner.organization_id)
    first = first_of_month(host, 1)
    await earn(host, invoice, first)
    ahead = until(host, first)

    # The 13 days left are given back with their days, then a part of what was earned.
    await documents.credited(host, invoice, "649.57", cut_span_at=first, ahead=ahead)
    await documents.credited(host, invoice, "100.00", ahead=ahead)

    headers = owner.headers | {"X-Organization-Id": str(owner.organization_id)}
    until_then = first + timedelta(days=1)
    balance = await api.get(f"/billing/ledger/trial-balance?to={until_then}", headers=headers)
    by_name = {one["account"]: one["balance"]["amount"] for one in balance.json()["accounts"]}
    await earn(host, invoice, first_of_month(host, 3))
    assert by_name["deferred_revenue"] == "0.00"
    assert by_name["revenue"] == "-651.68"
    assert await earned(api, owner, invoice) == ["738.64"]


@pytest.mark.rule("BIL-13")
@pytest.mark.rule("BIL-47")
async def test_days_that_wait_in_a_pause_are_earned_once_they_go_on(
    host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, datetime(2026, 11, 14, 8, tzinfo=UTC))
    bought = await payer.buy("professional")
    (invoice,) = await payer.rows("SELECT id FROM billing.invoice WHERE organization_id = $1")

    async def act(day: date, verb: Callable[..., Awaitable[Any]], **given: Any) -> None:
        clock.set(local_midnight(day) + timedelta(hours=10))
        work = payer.work()
        await verb(work, await work.lock(Subscription, bought.id), **given)
        await work.finish()

    async def earn_on(day: date) -> int:
        clock.set(local_midnight(day) + timedelta(hours=1))
        work = payer.work()
        await invoice_clock.run_due_invoice_steps(work, invoice["id"])
        await work.finish()
        (row,) = await payer.rows(
            "SELECT sum(-amount_minor)::bigint AS minor FROM billing.journal_line "
            "WHERE organization_id = $1 AND account = 'revenue'"
        )
        return int(row["minor"] or 0)

    await act(date(2026, 11, 24), pauses.pause_subscription, resume_on=None)
    earned = [await earn_on(date(2026, 12, 1)), await earn_on(date(2027, 1, 1))]
    await act(date(2027, 1, 10), pauses.resume_subscription, on=date(2027, 1, 10))
    earned.append(await earn_on(date(2027, 2, 1)))

    print(f"earned={earned}")
    assert earned == [47794, 47794, 130348]  # 11 days, none while paused, 19 after the resume


async def test_usage_of_the_past_is_earned_at_the_next_end_of_a_month(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    past = Period(date(2026, 1, 14), date(2026, 2, 14))
    line = documents.line("55.50", kind=LineKind.USAGE, service=past)
    invoice = await documents.issued(host, owner.organization_id, line, book=Book.SANDBOX)

    await earn(host, invoice, first_of_month(host, 1))

    assert await earned(api, owner, invoice) == ["48.26"]


@pytest.mark.rule("BIL-47")
@given(
    net=st.integers(min_value=0, max_value=10**9),
    start=BEGINNINGS,
    lengths=st.lists(st.tuples(st.integers(0, 90), st.integers(1, 366)), min_size=1, max_size=4),
)
def test_the_months_of_a_line_only_grow_and_add_up_to_its_net(
    net: int, start: date, lengths: list[tuple[int, int]]
) -> None:
    spans, day = [], start
    for gap, days in lengths:  # what was given back lies between
        spans.append(Period(day + timedelta(gap), day + timedelta(gap + days)))
        day = spans[-1].end
    whole = Money(net, "ZAR")
    months = [start.replace(day=1) + relativedelta(months=n) for n in range(62)]
    known = [earned_before(month, whole, spans).minor for month in months]
    assert known[0] == 0
    assert known == sorted(known)
    assert known[-1] == net
