import copy
import json
import pickle
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from thenga.kernel.values.money import CurrencyMismatch, Money

MINOR = st.integers(-(10**18) + 1, 10**18 - 1)


class Offer(BaseModel):
    price: Money
    extras: list[Money] = []
    discount: Money | None = None


def wire(amount, currency="ZAR"):
    return {"price": {"amount": amount, "currency": currency}}


def test_it_travels_both_ways():
    offer = Offer.model_validate(wire("1234.5"))
    assert offer.price == Money(123450, "ZAR")
    assert json.loads(offer.model_dump_json())["price"] == {"amount": "1234.50", "currency": "ZAR"}
    assert offer.model_dump()["price"] is offer.price
    assert Offer(price=offer.price).price is offer.price


@given(minor=MINOR)
def test_every_amount_survives_the_wire(minor):
    offer = Offer(price=Money(minor, "ZAR"), extras=[Money(minor, "USD")])
    assert Offer.model_validate_json(offer.model_dump_json()) == offer
    assert Offer.model_validate(offer.model_dump(mode="json")) == offer


@pytest.mark.parametrize(
    "amount",
    [
        *(1234.5, 12, True, None, Decimal("1.50"), "", " 1", "1 ", "+1", "1.", ".5", "01", "1,5"),
        *("1.505", "NaN", "Infinity", "1e3", "1E3", "12345678901234567", "1.5\n", "\u0661", "--1"),
    ],
)
def test_an_amount_that_is_not_plain_decimal_text_is_refused(amount):
    with pytest.raises(ValidationError):
        Offer.model_validate(wire(amount))


@pytest.mark.parametrize("currency", ["zar", "ZA", "ZARR", "Z1R", "", None, 710, "ZAR\n"])
def test_a_currency_is_three_capitals(currency):
    with pytest.raises(ValidationError):
        Offer.model_validate(wire("1.00", currency))


@pytest.mark.parametrize("price", ["1.00", 5, [1, "ZAR"], {"amount": "1"}, wire("1") | {"x": 1}])
def test_a_price_of_another_shape_is_refused(price):
    with pytest.raises(ValidationError):
        Offer.model_validate({"price": price})


def test_the_document_shows_one_money():
    schema = Offer.model_json_schema()
    assert schema == Offer.model_json_schema(mode="serialization")
    assert schema["properties"]["price"] == {"$ref": "#/$defs/Money"}
    assert schema["$defs"]["Money"]["required"] == ["amount", "currency"]


@given(a=st.integers(-(10**17), 10**17), b=st.integers(-(10**17), 10**17))
def test_sums_and_order_are_those_of_the_cents(a, b):
    one, other = Money(a, "ZAR"), Money(b, "ZAR")
    assert (one + other).minor == a + b
    assert (one - other).minor == a - b
    assert (-one).minor == -a
    assert (one < other, one <= other, one == other) == (a < b, a <= b, a == b)


def test_currencies_do_not_mix():
    rand, dollar = Money(100, "ZAR"), Money(100, "USD")
    assert rand != dollar
    with pytest.raises(CurrencyMismatch):
        rand + dollar
    with pytest.raises(CurrencyMismatch):
        rand - dollar
    with pytest.raises(CurrencyMismatch):
        assert rand < dollar


def test_only_whole_cents_make_money():
    with pytest.raises(TypeError):
        Money(1.0, "ZAR")
    with pytest.raises(TypeError):
        Money(True, "ZAR")
    with pytest.raises(OverflowError):
        Money(10**18, "ZAR")
    with pytest.raises(AttributeError):
        Money(1, "ZAR").minor = 2


@pytest.mark.parametrize(
    ("amount", "factor", "result"),
    [
        ("0.01", Decimal("0.5"), "0.01"),
        ("-0.01", Decimal("0.5"), "-0.01"),
        ("0.01", Decimal("0.499999999999999999999999999999999999"), "0.00"),
        ("100.00", Decimal("0.15"), "15.00"),
        ("115.00", Fraction(15, 115), "15.00"),
        ("10.05", Decimal("0.5"), "5.03"),
        ("9999999999999999.99", 1, "9999999999999999.99"),
    ],
)
def test_a_product_is_rounded_half_up_once(amount, factor, result):
    assert Money.of(amount).times(factor).amount == result


@pytest.mark.parametrize("factor", [0.15, "0.15", None])
def test_a_float_is_no_factor(factor):
    with pytest.raises(TypeError):
        Money.of("1.00").times(factor)


@pytest.mark.parametrize("factor", [Decimal("NaN"), Decimal("Infinity")])
def test_a_factor_is_finite(factor):
    with pytest.raises((ValueError, OverflowError)):
        Money.of("1.00").times(factor)


@given(minor=MINOR, weights=st.lists(st.integers(0, 10**6), min_size=1).filter(any))
def test_shares_sum_to_the_whole_and_are_off_by_less_than_a_cent(minor, weights):
    shares = Money(minor, "ZAR").share(weights)
    assert sum(share.minor for share in shares) == minor
    exact = [Fraction(minor * weight, sum(weights)) for weight in weights]
    assert all(abs(share.minor - part) < 1 for share, part in zip(shares, exact, strict=True))


def test_the_earlier_of_equal_parts_gets_the_cent():
    assert [share.minor for share in Money(100, "ZAR").share([1, 1, 1])] == [34, 33, 33]
    assert [share.minor for share in Money(-100, "ZAR").share([1, 1, 1])] == [-34, -33, -33]


@pytest.mark.parametrize("weights", [[], [0, 0], [2, -1]])
def test_weights_without_sense_are_refused(weights):
    with pytest.raises(ValueError, match="weight"):
        Money(100, "ZAR").share(weights)


def test_it_can_be_hashed_copied_and_pickled():
    money = Money(5, "ZAR")
    assert {money, Money(5, "ZAR")} == {money}
    assert copy.deepcopy(money) == pickle.loads(pickle.dumps(money)) == money  # noqa: S301 (our own bytes)
    assert str(money) == "ZAR 0.05"
