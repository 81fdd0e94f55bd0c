"""Invoice arithmetic to the cent: worked Contract E, odd cents, and a slow second opinion."""

from collections import Counter
from decimal import Decimal
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domains.contract.slow_money import SlowContract, part, vat_inside
from thenga.domains.contract.services.invoicing.arithmetic import (
    Amounts,
    InvoiceTerms,
    booking_of,
    credit_booking,
    credit_shares,
    invoice_amounts,
    split_vat,
)
from thenga.domains.contract.services.ledger import Balances, Booking, payment_booking
from thenga.domains.contract.tables import Account, InvoiceKind
from thenga.kernel.values.money import Money

NIL = Money(0, "ZAR")
E = Balances(
    value=Money.of("4830000.00"),
    increases=NIL,
    billed=NIL,
    advance_due=Money.of("483000.00"),
    advance_billed=NIL,
    recovered=NIL,
    retention_cap=Money.of("241500.00"),
    retained=NIL,
    released=NIL,
)
TERMS_E = InvoiceTerms(Decimal(15), Decimal(10), Decimal(25))
AMOUNT = st.integers(1, 10**11)
PERCENT = st.decimals(0, 100, places=2)
RATE = st.one_of(st.none(), st.decimals(0, 30, places=1))


def after(balances: Balances, kind: InvoiceKind, made: Amounts) -> Balances:
    """The counters once an invoice is submitted."""
    is_advance, is_release = kind is InvoiceKind.ADVANCE, kind is InvoiceKind.RETENTION_RELEASE
    return Balances(
        value=balances.value,
        increases=balances.increases,
        billed=balances.billed + made.work,
        advance_due=balances.advance_due,
        advance_billed=balances.advance_billed + (made.payable if is_advance else NIL),
        recovered=balances.recovered + made.recovered,
        retention_cap=balances.retention_cap,
        retained=balances.retained + made.retained,
        released=balances.released + (made.payable if is_release else NIL),
    )


def plain(amount: Money) -> Decimal:
    return Decimal(amount.amount)


def posted(total: Counter[Account], booking: Booking) -> None:
    assert sum(line.amount.minor for line in booking.lines) == 0
    for line in booking.lines:
        total[line.account] += line.amount.minor


@pytest.mark.rule("CON-15")
@pytest.mark.rule("CON-16")
@pytest.mark.rule("CON-26")
def test_contract_e_is_invoiced_to_the_cent() -> None:
    claims = [
        (InvoiceKind.ADVANCE, "483000.00"),
        *((InvoiceKind.PROGRESS, work) for work in ("966000.00", "1690500.00")),
        *((InvoiceKind.PROGRESS, work) for work in ("1207500.00", "966000.00")),
        *((InvoiceKind.RETENTION_RELEASE, "120750.00") for _ in range(2)),
    ]

    balances, made, journal = E, [], Counter[Account]()
    for kind, total in claims:
        amounts = invoice_amounts(kind, Money.of(total), terms=TERMS_E, balances=balances)
        balances = after(balances, kind, amounts)
        posted(journal, booking_of(kind, amounts))
        posted(journal, payment_booking(amounts.payable))
        made.append(amounts)

    shown = [(m.retained.amount, m.recovered.amount, m.payable.amount, m.vat.amount) for m in made]
    print(*shown, sep="\n")
    assert shown == [
        ("0.00", "0.00", "483000.00", "63000.00"),
        ("96600.00", "241500.00", "627900.00", "81900.00"),
        ("144900.00", "241500.00", "1304100.00", "170100.00"),
        ("0.00", "0.00", "1207500.00", "157500.00"),
        ("0.00", "0.00", "966000.00", "126000.00"),
        ("0.00", "0.00", "120750.00", "15750.00"),
        ("0.00", "0.00", "120750.00", "15750.00"),
    ]
    assert sum((m.payable for m in made), NIL).amount == "4830000.00"
    assert sum((m.vat for m in made), NIL).amount == "630000.00"
    print({account.value: minor / 100 for account, minor in journal.items()})
    assert journal[Account.WORK] == -420000000
    assert journal[Account.VAT_OUTPUT] == -63000000
    assert journal[Account.RETENTION] == journal[Account.ADVANCE] == 0
    assert journal[Account.BANK] == 483000000


@pytest.mark.rule("CON-26")
def test_first_milestone_of_e_is_booked_as_the_sheet_says() -> None:
    billed = after(
        E,
        InvoiceKind.ADVANCE,
        invoice_amounts(InvoiceKind.ADVANCE, Money.of("483000.00"), terms=TERMS_E, balances=E),
    )
    made = invoice_amounts(
        InvoiceKind.PROGRESS, Money.of("966000.00"), terms=TERMS_E, balances=billed
    )

    lines = {one.account: one.amount.amount for one in booking_of(InvoiceKind.PROGRESS, made).lines}

    assert lines == {
        Account.RECEIVABLE: "627900.00",
        Account.RETENTION: "96600.00",
        Account.ADVANCE: "241500.00",
        Account.WORK: "-884100.00",
        Account.VAT_OUTPUT: "-81900.00",
    }


@pytest.mark.rule("CON-16")
def test_odd_cents_are_rounded_half_up_once() -> None:
    terms = InvoiceTerms(Decimal(15), Decimal("7.5"))

    made = invoice_amounts(InvoiceKind.PROGRESS, Money.of("333333.00"), terms=terms, balances=E)

    assert (made.retained.amount, made.payable.amount) == ("24999.98", "308333.02")
    assert made.vat.amount == "40217.35"


@pytest.mark.rule("CON-16")
def test_retention_taxed_on_the_invoice_bears_no_vat_at_release() -> None:
    terms = InvoiceTerms(Decimal(15), Decimal(10), vat_timing="on_invoice")

    work = invoice_amounts(InvoiceKind.PROGRESS, Money.of("115000.00"), terms=terms, balances=E)
    back = invoice_amounts(
        InvoiceKind.RETENTION_RELEASE, Money.of("11500.00"), terms=terms, balances=E
    )

    assert (work.payable.amount, work.consideration.amount) == ("103500.00", "115000.00")
    assert (work.vat.amount, back.vat.amount) == ("15000.00", "0.00")
    assert (back.payable.amount, back.consideration.amount) == ("11500.00", "0.00")


@pytest.mark.rule("CON-15")
def test_a_non_vendor_charges_no_vat() -> None:
    assert split_vat(Money.of("115000.00"), None) == (Money.of("115000.00"), NIL)


@pytest.mark.rule("CON-15")
def test_a_planted_vat_line_by_line_would_be_found() -> None:
    lines = [Money.of("0.10")] * 3

    by_line = sum(split_vat(line, Decimal(15))[1].minor for line in lines)

    assert (by_line, split_vat(Money.of("0.30"), Decimal(15))[1].minor) == (3, 4)


@pytest.mark.rule("CON-16")
@given(st.lists(AMOUNT, min_size=1, max_size=6), PERCENT, PERCENT, PERCENT, RATE, st.booleans())
def test_invoices_agree_with_the_slow_contract(
    works: list[int],
    retention: Decimal,
    cap: Decimal,
    recovery: Decimal,
    rate: Decimal | None,
    when_due: bool,
) -> None:
    value = Money(sum(works), "ZAR")
    slow = SlowContract(
        plain(value), retention, cap, Decimal(10), recovery, rate, when_due=when_due
    )
    timing: Literal["when_due", "on_invoice"] = "when_due" if when_due else "on_invoice"
    terms = InvoiceTerms(rate, retention, recovery, timing)
    advance = value.times(Decimal("0.1"))
    balances = Balances(
        *(value, NIL, NIL, advance, advance, NIL),
        *(value.times(cap / 100), NIL, NIL),
    )
    if advance:
        slow.advance(plain(advance))

    for work in works:
        amount = Money(work, "ZAR")
        made = invoice_amounts(InvoiceKind.PROGRESS, amount, terms=terms, balances=balances)
        balances = after(balances, InvoiceKind.PROGRESS, made)
        bill = slow.progress(plain(amount))

        said = (made.retained, made.recovered, made.payable, made.vat)
        assert tuple(map(plain, said)) == (bill.retained, bill.recovered, bill.payable, bill.vat)
        assert made.net + made.vat == made.consideration
        assert made.payable >= NIL
        assert balances.retained <= balances.retention_cap
        assert balances.recovered <= balances.advance_billed


@pytest.mark.rule("CON-18")
@given(AMOUNT, PERCENT, PERCENT, RATE, st.lists(st.integers(1, 99), max_size=5))
def test_credits_of_the_whole_return_exactly_what_was_charged(
    work: int, retention: Decimal, recovery: Decimal, rate: Decimal | None, cuts: list[int]
) -> None:
    value = Money(work, "ZAR")
    balances = Balances(*(value, NIL, NIL, value, value, NIL), *(value, NIL, NIL))
    terms = InvoiceTerms(rate, retention, recovery)
    made = invoice_amounts(InvoiceKind.PROGRESS, value, terms=terms, balances=balances)
    if not made.payable:
        return
    journal = Counter[Account]()
    posted(journal, booking_of(InvoiceKind.PROGRESS, made))

    before, back = NIL, [NIL, NIL, NIL, NIL]
    parts = [made.payable.times(Decimal(cut) / 1000) for cut in cuts]
    parts = [one for one in parts if one]
    for credit in [*parts, made.payable - sum(parts, NIL)]:
        shares = credit_shares(made, credit, before=before)
        before += credit
        told = (shares.work, shares.retained, shares.recovered, shares.vat)
        assert min(told) >= NIL
        back = [total + one for total, one in zip(back, told, strict=True)]
        posted(journal, credit_booking(InvoiceKind.PROGRESS, shares))
        assert plain(back[3]) == part(plain(made.vat), plain(before), plain(made.payable))

    assert back == [made.work, made.retained, made.recovered, made.vat]
    assert not any(journal.values())


@given(AMOUNT, RATE)
def test_vat_agrees_with_decimals(amount: int, rate: Decimal | None) -> None:
    money = Money(amount, "ZAR")

    assert plain(split_vat(money, rate)[1]) == vat_inside(plain(money), rate)
