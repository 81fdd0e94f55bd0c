"""The arithmetic of a price, to the cent: worked examples and a slow second implementation."""

import random
from decimal import Decimal
from typing import Any

import pytest

from tests.domains.bid import price_oracle
from thenga.domains.bid.services.pricing import arithmetic, cash, findings, points
from thenga.domains.bid.services.pricing.arithmetic import Totals, VatStatus
from thenga.domains.bid.services.pricing.findings import Limits
from thenga.domains.bid.services.pricing.points import Offer
from thenga.domains.bid.values.findings import Class
from thenga.domains.bid.values.prices import (
    Basis,
    CashTerms,
    Content,
    Discounts,
    Item,
    ItemKind,
    ItemVat,
)
from thenga.kernel.values.money import Money

VAT = Decimal(15)
LIMITS = Limits(VAT, vat_compulsory=Decimal(2_300_000), least_margin=Decimal(5))


def zar(amount: str) -> Money:
    return Money.of(amount.replace(" ", ""))


def item(kind: str, quantity: str | None, rate: str | None, **more: Any) -> Item:
    return Item(
        position=more.pop("position", 1),
        kind=ItemKind(kind),
        description=more.pop("description", "Item"),
        quantity=None if quantity is None else Decimal(quantity),
        unit_rate=None if rate is None else Decimal(rate),
        **more,
    )


def the_sheets_workbook() -> Content:
    return Content(
        items={
            "1": item("measured", "125.5", "387.45"),
            "2": item("measured", "17.333", "1845.67"),
            "3": item("measured", "2.5", "0.33"),
            "4": item("lump_sum", None, "250000.00"),
            "5": item("provisional_sum", None, "100000.00"),
            "6": item("percentage", None, "10", percent_of=("5",)),
            "7": item("rate_only", "40", "99.00"),
        },
        discounts=Discounts(percent=Decimal("2.5")),
    )


def computed(content: Content, status: VatStatus = VatStatus.VENDOR) -> arithmetic.Priced:
    return arithmetic.compute(content, vat_percent=VAT, vat_status=status)


def found(content: Content, status: VatStatus = VatStatus.VENDOR, **limits: Any) -> dict[str, str]:
    priced = computed(content, status)
    checked = findings.check(
        content,
        priced,
        cash.picture(priced.totals, content.cash_terms),
        vat_status=status,
        limits=Limits(VAT, Decimal(2_300_000), Decimal(5), **limits),
    )
    return {one.key: one.text for one in checked}


@pytest.mark.rule("BID-26")
def test_the_sheets_workbook_adds_up() -> None:
    priced = computed(the_sheets_workbook())

    assert [priced.amounts[key] for key in "1234567"] == [
        *(zar("48 624.98"), zar("31 991.00"), zar("0.83"), zar("250 000.00")),
        *(zar("100 000.00"), zar("10 000.00"), zar("0.00")),
    ]
    totals = priced.totals
    assert (totals.items, totals.discount) == (zar("440 616.81"), zar("11 015.42"))
    assert (totals.net, totals.vat) == (zar("429 601.39"), zar("64 440.21"))
    assert totals.total == zar("494 041.60")


@pytest.mark.rule("BID-26")
def test_random_workbooks_agree_with_the_slow_reference() -> None:
    count = 5_000

    off = cents_off(count)

    print(f"workbooks={count} cents_off={off}")
    assert off == 0


def cents_off(count: int) -> int:
    """By how many cents random workbooks differ from the slow reference, together."""
    chance, off = random.Random(20270401), 0
    for _ in range(count):
        content, vendor = random_workbook(chance), chance.random() < 0.8
        status = VatStatus.VENDOR if vendor else VatStatus.NON_VENDOR
        ours = computed(content, status).totals
        theirs = price_oracle.totals(content, vat_percent=VAT, vendor=vendor)
        off += sum(
            abs(getattr(ours, name).minor - int(value * 100)) for name, value in theirs.items()
        )
    return off


def random_workbook(chance: random.Random) -> Content:
    kinds = ("measured", "measured", "measured", "lump_sum", "provisional_sum", "rate_only")
    places = chance.choice((2, 2, 4, 6))
    items = {}
    for number in range(chance.randint(1, 12)):
        built_up = chance.random() < 0.2
        items[f"i{number}"] = item(
            chance.choice(kinds),
            str(Decimal(chance.randint(0, 10**6)).scaleb(-chance.choice((0, 1, 3, 6)))),
            None if built_up else str(Decimal(chance.randint(0, 10**9)).scaleb(-places)),
            cost=Decimal(chance.randint(1, 10**7)).scaleb(-2) if built_up else None,
            markup_percent=Decimal(chance.randint(0, 9999)).scaleb(-2) if built_up else None,
            vat=chance.choice((ItemVat.STANDARD, ItemVat.STANDARD, ItemVat.ZERO, ItemVat.EXEMPT)),
        )
    named = tuple(chance.sample(sorted(items), k=min(2, len(items))))
    percent = str(Decimal(chance.randint(0, 2500)).scaleb(-2))
    items["p"] = item("percentage", None, percent, percent_of=named)
    discount = chance.choice(
        (
            Discounts(),
            Discounts(percent=Decimal(chance.randint(0, 3000)).scaleb(-2)),
            Discounts(amount=Decimal(chance.randint(0, 10**5)).scaleb(-2)),
        )
    )
    basis = chance.choice((Basis.VAT_EXCLUSIVE, Basis.VAT_INCLUSIVE))
    return Content(items=items, rate_decimals=places, discounts=discount, basis=basis)


@pytest.mark.rule("BID-27")
def test_an_inclusive_price_contains_its_vat() -> None:
    content = Content(basis=Basis.VAT_INCLUSIVE, items={"1": item("lump_sum", None, "115000.00")})

    totals = computed(content).totals

    assert (totals.net, totals.vat, totals.total) == (
        *(zar("100 000.00"), zar("15 000.00"), zar("115 000.00")),
    )


@pytest.mark.rule("BID-27")
def test_non_vendor_charges_no_vat_and_sees_what_it_would_absorb() -> None:
    content = Content(items={"1": item("lump_sum", None, "2500000.00")})

    totals = computed(content, VatStatus.NON_VENDOR).totals
    texts = found(content, VatStatus.NON_VENDOR)

    assert (totals.vat, totals.total) == (zar("0.00"), zar("2 500 000.00"))
    assert "326 086.96" in texts["non_vendor_over_limit:workbook"]
    assert "vat_status_unknown:workbook" in found(content, VatStatus.UNKNOWN)


@pytest.mark.rule("BID-28")
def test_rate_is_built_up_from_cost_and_markup() -> None:
    built = item("measured", "100", None, cost=Decimal("310.00"), markup_percent=Decimal(25))

    priced = computed(Content(items={"1": built}))

    assert priced.rates["1"] == Decimal("387.50")
    assert priced.totals.margin_percent == Decimal("20.00")


@pytest.mark.rule("BID-28")
@pytest.mark.parametrize(
    ("rate", "key"),
    [("104.00", "margin_low:workbook"), ("99.00", "price_below_cost:workbook"), ("106.00", None)],
)
def test_a_low_margin_is_a_risk_and_a_loss_blocks(rate: str, key: str | None) -> None:
    content = Content(items={"1": item("measured", "1", rate, cost=Decimal(100))})

    keys = {one for one in found(content) if "margin" in one or "below" in one}

    assert keys == ({key} if key else set())


@pytest.mark.rule("BID-32")
def test_what_is_wrong_with_a_price_is_found() -> None:
    content = Content(
        items={
            "1": item("measured", "3", "0.00"),
            "2": item("measured", None, "4.00"),
            "3": item("measured", "2", "-1.00"),
            "4": item("provisional_sum", None, "90000.00"),
        },
        first_sums={"4": "100000"},
        discounts=Discounts(conditional=({"text": "2 % if paid in 10 days"},)),
        validity_days=89,
    )

    keys = set(found(content, tender_validity_days=90))

    assert keys == {
        "rate_missing:item:1",
        "quantity_missing:item:2",
        "amount_negative:item:3",
        "provisional_sum_altered:item:4",
        "conditional_discount:workbook",
        "validity_short:workbook",
        "cash_picture_missing:cash_terms",
    }


@pytest.mark.rule("BID-33")
def test_hash_covers_the_price_and_not_scenario_or_cash_terms() -> None:
    base = the_sheets_workbook()
    same = Content.of_row(base.to_row() | {"scenario": {"x": 1}, "cash_terms": {"cession": True}})
    other = Content.of_row(base.to_row() | {"validity_days": 90})

    assert same.sha256() == base.sha256()
    assert other.sha256() != base.sha256()
    assert Content.of_row(base.to_row()) == base


@pytest.mark.rule("BID-36")
def test_the_sheets_cash_picture() -> None:
    totals = Totals(
        *(zar("1 000 000.00"), zar("0.00"), zar("1 000 000.00"), zar("150 000.00")),
        *(zar("1 150 000.00"), zar("780 000.00"), Decimal(22)),
    )
    terms = CashTerms(
        supplier_credit_percent=Decimal(30),
        supplier_terms_days=30,
        delivery_days=45,
        acceptance_days=10,
        retention_percent=Decimal(5),
    )

    picture = cash.picture(totals, terms)

    assert picture.need == zar("546 000.00")
    assert {one.paid_after_days: one.days for one in picture.gaps} == {30: 55, 60: 85, 90: 115}
    assert (picture.retention, picture.paid) == (zar("57 500.00"), zar("1 092 500.00"))
    missing = cash.picture(totals, CashTerms(delivery_days=45))
    assert missing.missing == (
        *("acceptance_days", "supplier_credit_percent", "supplier_terms_days"),
    )


# --- Points ---------------------------------------------------------------------------------------

PRICES = [
    ("purchase", 80, "1000000", "1000000", "80.00"),
    ("purchase", 80, "1000000", "1050000", "76.00"),
    ("purchase", 80, "1000000", "1200000", "64.00"),
    ("purchase", 80, "1000000", "2000000", "0.00"),
    ("purchase", 80, "1000000", "2500000", "-40.00"),
    ("purchase", 80, "1111111.11", "1234567.89", "71.11"),
    ("purchase", 90, "60000000", "63000000", "85.50"),
    ("purchase", 90, "60000000", "75500000", "66.75"),
    ("income", 80, "500000", "450000", "72.00"),
    ("income", 80, "500000", "400000", "64.00"),
    ("income", 90, "80000000", "72000000", "81.00"),
]
RANKING = [
    ("1", "4600000", "6", "80.00", "86.00", 3, "goals"),
    ("2", "4830000", "20", "76.00", "96.00", 1, None),
    ("3", "5060000", "14", "72.00", "86.00", 2, "goals"),
    ("4", "9430000", "20", "-4.00", "16.00", 4, None),
]
THRESHOLD = Decimal(50_000_000)


@pytest.mark.rule("BID-34")
def test_every_vector_of_the_regulations() -> None:
    results = [_price_holds(*case) for case in PRICES]
    offers = [Offer(k, zar(p), Decimal(g), Decimal(g)) for k, p, g, *_ in RANKING]
    ranked = points.rank(offers, system="80_20", contract="purchase", threshold=THRESHOLD)
    assert ranked is not None
    scores = {one.key: one for one in ranked.scores}
    for key, _, _, price_points, total, place, tie in RANKING:
        one = scores[key]
        results.append(
            (one.price_points, one.total, one.rank, one.tie)
            == (Decimal(price_points), Decimal(total), place, tie)
        )
    results.append(_straddle_holds())
    for lowest, system in (("50000000.00", "80_20"), ("50000000.01", "90_10")):
        results.append(points.system_for("either", zar(lowest), THRESHOLD) == system)

    print(f"points_vectors={len(results)} failed={results.count(False)}")
    assert (len(results), results.count(False)) == (18, 0)


def _price_holds(contract: Any, weight: int, reference: str, price: str, expected: str) -> bool:
    exact = points.price_points(
        zar(price), reference=zar(reference), weight=weight, contract=contract
    )
    return arithmetic.rounded(exact, 2) == Decimal(expected)


def _straddle_holds() -> bool:
    """The lowest acceptable price decides; a lower one that is not acceptable does not."""
    offers = [
        Offer("lowest", zar("49500000"), Decimal(0), Decimal(0)),
        Offer("ours", zar("52000000"), Decimal(0), Decimal(0)),
        Offer("unacceptable", zar("100"), Decimal(0), Decimal(0), acceptable=False),
    ]
    found = points.rank(offers, system="either", contract="purchase", threshold=THRESHOLD)
    assert found is not None
    ours = next(one for one in found.scores if one.key == "ours")
    other = points.price_points(
        zar("52000000"), reference=zar("49500000"), weight=90, contract="purchase"
    )
    return (found.system, ours.price_points, arithmetic.rounded(other, 2)) == (
        *("80_20", Decimal("75.96"), Decimal("85.45")),
    )


@pytest.mark.rule("BID-34")
def test_ties_fall_to_functionality_and_then_lots() -> None:
    def offer(key: str, functionality: str) -> Offer:
        return Offer(key, zar("100"), Decimal(5), Decimal(5), Decimal(functionality))

    offers = [offer("a", "70"), offer("b", "80"), offer("c", "70")]

    found = points.rank(offers, system="80_20", contract="purchase", threshold=THRESHOLD)

    assert found is not None
    assert [(one.key, one.rank, one.tie) for one in found.scores] == [
        *(("b", 1, "functionality"), ("a", 2, "lots"), ("c", 2, "lots")),
    ]


@pytest.mark.rule("BID-34")
def test_clamping_at_zero_is_a_choice_of_the_operator() -> None:
    offers = [Offer(k, zar(p), Decimal(g), Decimal(g)) for k, p, g, *_ in RANKING]

    found = points.rank(
        offers, system="80_20", contract="purchase", threshold=THRESHOLD, clamp_at_zero=True
    )

    assert found is not None
    assert next(one for one in found.scores if one.key == "4").total == Decimal("20.00")


def test_findings_name_their_class() -> None:
    priced = computed(Content())

    checked = findings.check(
        Content(),
        priced,
        cash.picture(priced.totals, CashTerms()),
        vat_status=VatStatus.VENDOR,
        limits=LIMITS,
    )

    assert [one.severity for one in checked] == [Class.BLOCKING, Class.HIGH_RISK]
