"""Money by days: VAT, proration, earning, overage; to the cent."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thenga.domains.billing.services.invoicing.billed_periods import BilledLine
from thenga.domains.billing.services.invoicing.unused_time import UnusedTime
from thenga.domains.billing.services.pricing import overage, proration
from thenga.domains.billing.services.pricing import vat as tax
from thenga.domains.billing.services.pricing.periods import Period
from thenga.domains.billing.services.pricing.proration import RunningLine
from thenga.kernel.values.money import Money

VAT = Decimal(15)
INVOICE = UUID("019a0000-0000-7000-8000-000000000001")
STARTER, PROFESSIONAL, ENTERPRISE = Money.of("499.00"), Money.of("1499.00"), Money.of("4999.00")
NOVEMBER = Period(date(2026, 11, 14), date(2026, 12, 14))
AMOUNTS = st.integers(0, 10**12).map(lambda minor: Money(minor, "ZAR"))
RATES = st.decimals(0, 30, places=1)


# --- VAT ------------------------------------------------------------------------------------------


@pytest.mark.rule("BIL-5")
@pytest.mark.parametrize(
    ("gross", "rate", "vat", "net"),
    [
        ("499.00", "15", "65.09", "433.91"),
        ("1499.00", "15", "195.52", "1303.48"),
        ("4999.00", "15", "652.04", "4346.96"),
        ("14990.00", "15", "1955.22", "13034.78"),
        ("115000.00", "15", "15000.00", "100000.00"),
        ("499.00", "15.5", "66.97", "432.03"),
    ],
)
def test_vat_is_inside_the_gross_price(gross: str, rate: str, vat: str, net: str):
    taxed = tax.split_vat(Money.of(gross), Decimal(rate))

    print(f"gross={gross} rate={rate} vat={taxed.vat.amount} net={taxed.net.amount}")
    assert (taxed.vat.amount, taxed.net.amount) == (vat, net)


def test_a_seller_without_a_vat_number_charges_none():
    assert tax.split_vat(STARTER, None) == tax.Taxed(STARTER, STARTER, Money.of("0"))


def test_a_planted_vat_line_by_line_would_be_found():
    lines = [Money.of("0.10")] * 3

    by_line = sum((tax.split_vat(line, VAT).vat.minor for line in lines), 0)

    assert (by_line, tax.split_vat(Money.of("0.30"), VAT).vat.minor) == (3, 4)


@pytest.mark.rule("BIL-27")
def test_credit_notes_give_back_exactly_the_vat_that_was_charged():
    parts, before, given_back = ["499.67", "499.67", "499.66"], Money.of("0"), []
    for part in parts:
        note = tax.split_credit_vat(Money.of(part), before=before, rate_pct=VAT)
        before += note.gross
        given_back.append(note.vat.amount)

    print(f"credited=1499.00 in={','.join(parts)} vat={','.join(given_back)}")
    assert given_back == ["65.17", "65.18", "65.17"]


@given(parts=st.lists(AMOUNTS, min_size=1, max_size=12), rate=RATES)
def test_the_vat_of_all_parts_is_the_vat_of_the_whole(parts, rate):
    before = total = Money(0, "ZAR")
    for part in parts:
        total += tax.split_credit_vat(part, before=before, rate_pct=rate).vat
        before += part

    assert total == tax.split_vat(before, rate).vat


@given(gross=AMOUNTS, rate=RATES)
def test_net_and_vat_are_the_gross(gross, rate):
    taxed = tax.split_vat(gross, rate)

    assert taxed.net + taxed.vat == gross
    assert 0 <= taxed.vat.minor <= gross.minor


# --- changes in the middle of a period ------------------------------------------------------------


def line(gross: Money, span: Period = NOVEMBER) -> RunningLine:
    return RunningLine(gross, span)


def rest(running: RunningLine, period: Period, day: date) -> UnusedTime:
    line_ = BilledLine(INVOICE, INVOICE, running.gross, running.span)
    return UnusedTime(Period(day, period.end), period.days, line_)


A_DAY = date(2026, 11, 24)
FEBRUARY = Period(date(2027, 1, 31), date(2027, 2, 28))
A_YEAR = Period(date(2027, 3, 1), date(2028, 3, 1))
CHANGES = {
    "a": (line(STARTER), PROFESSIONAL, NOVEMBER, A_DAY, ("332.67", "999.33", "666.66")),
    "b": (
        *(line(Money.of("999.33"), Period(A_DAY, NOVEMBER.end)), ENTERPRISE, NOVEMBER),
        *(date(2026, 12, 4), ("499.67", "1666.33", "1166.66")),
    ),
    "c": (
        *(line(PROFESSIONAL, FEBRUARY), STARTER, FEBRUARY, date(2027, 2, 15)),
        ("695.96", "231.68", "-464.28"),
    ),
    "d": (
        *(line(Money.of("4990.00"), A_YEAR), Money.of("14990.00"), A_YEAR, date(2027, 9, 10)),
        ("2358.66", "7085.44", "4726.78"),
    ),
}


@pytest.mark.rule("BIL-10")
@pytest.mark.parametrize("case", CHANGES)
def test_a_change_is_prorated_by_local_day(case: str):
    running, price, period, day, expected = CHANGES[case]

    left = rest(running, period, day)
    credit, charge = left.credit("ZAR"), left.charge(price)

    due = (charge - credit).amount
    days = f"D={left.full_days} R={left.left.days}"
    print(f"{case}) {days} credit={credit.amount} charge={charge.amount} due={due}")
    assert (credit.amount, charge.amount, due) == expected


@pytest.mark.rule("BIL-10")
def test_the_vat_of_a_change_is_that_of_its_two_documents():
    left = rest(line(STARTER), NOVEMBER, A_DAY)

    documents = (left.credit("ZAR"), left.charge(PROFESSIONAL))

    vats = tuple(tax.split_vat(gross, VAT).vat.amount for gross in documents)
    assert vats == ("43.39", "130.35")


@pytest.mark.rule("BIL-8")
def test_leaving_at_once_gives_back_the_days_after_today():
    back = proration.unused_after(line(STARTER), A_DAY)

    vat = tax.split_vat(back, VAT).vat
    print(f"cancelled=2026-11-24 days=19/30 credit={back.amount} vat={vat.amount}")
    assert (back.amount, vat.amount) == ("316.03", "41.22")


SPANS = st.builds(
    lambda start, days: Period(start, start + timedelta(days=days)),
    st.dates(date(2026, 1, 1), date(2040, 1, 1)),
    st.integers(1, 366),
)


@pytest.mark.rule("BIL-10")
@given(a=AMOUNTS, b=AMOUNTS, period=SPANS, data=st.data())
def test_there_and_back_on_one_day_nets_nothing(a, b, period, data):
    day = period.start + timedelta(days=data.draw(st.integers(0, period.days - 1)))

    there = rest(line(a, period), period, day)
    back = rest(RunningLine(there.charge(b), Period(day, period.end)), period, day)

    sides = there.charge(b) - there.credit("ZAR"), back.charge(a) - back.credit("ZAR")
    assert sides[0] + sides[1] == Money(0, "ZAR")


def test_a_planted_credit_on_the_full_period_would_be_found():
    """Credited by the days of the period, not of the line now running, case b is wrong."""
    wrong = proration.prorate(Money.of("999.33"), 10, NOVEMBER.days)

    assert wrong.amount != "499.67"


# --- overage --------------------------------------------------------------------------------------


@pytest.mark.rule("BIL-23")
@pytest.mark.parametrize(
    ("used", "included", "billed", "price", "amount"),
    [
        (537, 500, 0, "1.50", "55.50"),
        (1_012_345, 1_000_000, 0, "0.004", "49.38"),
        (540, 500, 37, "1.50", "4.50"),
        (499, 500, 0, "1.50", "0.00"),
        (9_999, None, 0, "1.50", "0.00"),
    ],
)
def test_overage_is_priced_once(
    used: int, included: int | None, billed: int, price: str, amount: str
):
    terms = [overage.OverageTerms(0, included, Decimal(price))]

    assert (
        overage.overage_cost(overage.overage_units(terms, used=used, billed=billed)).amount
        == amount
    )


@pytest.mark.rule("BIL-23")
def test_a_unit_costs_what_held_when_it_was_used():
    """What was included later covers what came before, and never the other way round."""

    def over(used: int, *terms: tuple[int, int | None, str | None], billed: int = 0) -> list[Any]:
        steps = [overage.OverageTerms(n, i, None if p is None else Decimal(p)) for n, i, p in terms]
        return [(n, str(p)) for n, p in overage.overage_units(steps, used=used, billed=billed)]

    plan, small, large = (0, 500, "1.50"), (537, 100, None), (537, 3000, "1.20")

    assert over(537, plan) == over(557, plan, small) == [(37, "1.50")]
    assert over(537, plan, large) == []
    assert over(3637, plan, large) == [(637, "1.20")]
    assert over(1500, (0, 1500, "1.50"), (1400, 500, "1.50")) == [(100, "1.50")]
    assert over(600, plan, (600, 1500, "1.50"), (600, 500, "1.50")) == []
    assert over(600, plan, (600, None, None)) == []
    assert over(1100, (0, 500, "1"), (600, 500, "2"), billed=150) == [(450, "2")]


def test_a_little_overage_waits_and_a_cap_is_a_ceiling():
    least = Money.of("20.00")

    assert overage.is_below_minimum(Money.of("19.99"), least=least, renews=False)
    assert not overage.is_below_minimum(Money.of("19.99"), least=least, renews=True)
    assert not overage.is_below_minimum(least, least=least, renews=False)
    assert overage.units_affordable(Money.of("16.49"), Decimal("1.50")) == 10
    assert overage.units_affordable(Money.of("0.01"), Decimal("0.004")) == 2
    assert overage.units_affordable(Money.of("-5.00"), Decimal("1.50")) == 0
