import re
import timeit
import unicodedata
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

import jsonschema_rs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from tests.plain_fields import plain_fields
from thenga.kernel.values import fields
from thenga.kernel.values.money import Money

WORD = Annotated[str, fields.text(3, 8)]
OPTIONAL = Annotated[str, fields.text(0, 5)]
BEFORE_AND_AFTER = st.sampled_from(["", " ", "\n", "\t", "\u2003", "\x00", "\u2028"])


def accepts(kind, value):
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError:
        return False
    return True


FORMATS = {"decimal": lambda text: re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text) is not None}


def follows_schema(kind, value):
    schema = TypeAdapter(kind).json_schema()
    assert ("format" in schema) != ("pattern" in schema)
    if "format" in schema:
        made = jsonschema_rs.validator_for(schema, validate_formats=True, formats=FORMATS)
        return made.is_valid(value)
    fits = schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
    return fits and re.fullmatch(schema["pattern"][1:-1], value) is not None


def read(kind, value):
    return TypeAdapter(kind).validate_python(value)


@pytest.mark.rule("37")
@pytest.mark.parametrize("kind", [fields.Name, fields.Note, WORD, OPTIONAL])
@pytest.mark.parametrize(
    "value", ["a\x00bc", "a\x1bbc", "a\x7fbc", "a\x85bc", "a\u2028bc", "a\rbc", "a\ud800bc"]
)
def test_control_characters_and_half_surrogates_are_refused(kind, value):
    assert not accepts(kind, value)


def test_newlines_and_tabs_stand_only_in_notes():
    assert read(fields.Note, "one\n\ttwo\n") == "one\n\ttwo"
    assert not accepts(fields.Name, "one\ntwo")
    assert not accepts(fields.Name, "one\ttwo")


def test_text_is_trimmed_and_put_into_one_form():
    assert read(fields.Name, " \u00a0Jose\u0301 ") == "Jos\u00e9"
    assert read(OPTIONAL, "   ") == ""
    assert not accepts(fields.Name, "   ")
    assert not accepts(WORD, " ab ")


@pytest.mark.parametrize("value", [b"abc", 5, None, True, ["abc"]])
def test_only_text_is_text(value):
    assert not accepts(fields.Name, value)


@pytest.mark.parametrize("kind", [WORD, OPTIONAL, Annotated[str, fields.lines(1, 6)]])
@given(value=st.text(max_size=10), before=BEFORE_AND_AFTER, after=BEFORE_AND_AFTER)
@example(value="\u0958" * 8, before="", after="")  # grows under NFC
@example(value="ae\u0301", before="", after="")  # shrinks under it
def test_text_is_taken_exactly_when_it_follows_the_schema(kind, value, before, after):
    sent = before + value + after
    assert accepts(kind, sent) == follows_schema(kind, sent)


@given(value=st.text(max_size=10))
def test_what_was_taken_is_taken_again_unchanged(value):
    # Rows are read into views of the same types, so a second reading must not refuse or change.
    sent = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", "", f"ab{value}c")[:8]
    once = read(WORD, sent)
    assert read(WORD, once) == once
    assert unicodedata.normalize("NFC", once) == unicodedata.normalize("NFC", sent.strip())


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        (fields.Count, 0, 2**31 - 1),
        (fields.SmallInt, -(2**15), 2**15 - 1),
        (fields.BigInt, -(2**53) + 1, 2**53 - 1),
        (Annotated[int, fields.whole(1, 5)], 1, 5),
    ],
)
def test_whole_numbers_are_bounded(kind, low, high):
    assert read(kind, low) == low
    assert read(kind, high) == high
    assert type(read(kind, 3.0)) is int
    for bad in (low - 1, high + 1, 10**39, 1.5, "3", True, None, 1e300, float("inf")):
        assert not accepts(kind, bad)
    schema = TypeAdapter(kind).json_schema()
    assert (schema["type"], schema["minimum"], schema["maximum"]) == ("integer", low, high)


@pytest.mark.parametrize("value", ["0", "100", "100.00", "99.99", "7.5", "0.00"])
def test_a_percentage(value):
    assert read(fields.Percent, value) == Decimal(value)
    assert follows_schema(fields.Percent, value)


@pytest.mark.parametrize(
    "value", ["100.01", "-1", "101", "1.005", "1e1", "NaN", "", "07", 5, 5.5, True, Decimal("NaN")]
)
def test_no_percentage(value):
    assert not accepts(fields.Percent, value)


def test_decimal_keeps_its_value_without_exponent():
    assert read(fields.Percent, Decimal("15.000000")) == 15
    assert TypeAdapter(fields.Percent).dump_json(Decimal("1E+2")) == b'"100"'
    assert TypeAdapter(fields.FiniteDecimal).dump_json(Decimal("0.000001")) == b'"0.000001"'
    assert str(read(fields.FiniteDecimal, "-0")) == "0"


@given(value=st.decimals("-99999999999999", "99999999999999", places=6))
def test_finite_decimals_survive_the_wire(value):
    adapter = TypeAdapter(fields.FiniteDecimal)
    assert adapter.validate_json(adapter.dump_json(value)) == value


@given(day=st.dates(date(1890, 1, 1), date(2210, 12, 31)))
def test_days_from_1900_to_2200(day):
    inside = 1900 <= day.year <= 2200
    assert accepts(fields.Day, day.isoformat()) is accepts(fields.Day, day) is inside
    assert follows_schema(fields.Day, day.isoformat())  # a format does not tell the years


def test_every_day_there_is_is_taken_and_no_other():
    taken = TypeAdapter(fields.Day)
    first, last = date(1900, 1, 1), date(2200, 12, 31)
    real = {(first + timedelta(days=i)).isoformat() for i in range((last - first).days + 1)}
    shown = {
        f"{year}-{month:02d}-{day:02d}"
        for year in range(1899, 2202)
        for month in range(14)
        for day in range(33)
    }
    assert {text for text in shown if _is_taken(taken, text)} == real


def _is_taken(adapter, text):
    try:
        adapter.validate_python(text)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    "value",
    ["2026-02-30", "2026-2-3", "20260203", "2026-02-03T00:00:00Z", 0, 1.5, "", "2026-02-03\n"],
)
def test_no_day(value):
    assert not accepts(fields.Day, value)


def test_a_day_is_not_an_instant():
    assert not accepts(fields.Day, datetime(2026, 1, 1, tzinfo=UTC))
    assert not accepts(fields.Instant, date(2026, 1, 1))


ZONES = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(at=st.datetimes(datetime(1901, 1, 1), datetime(2199, 12, 31), timezones=ZONES))  # noqa: DTZ001 (hypothesis adds the zone)
def test_an_instant_is_read_with_any_offset_and_written_with_z(at):
    adapter = TypeAdapter(fields.Instant)
    sent = at.isoformat()
    assert follows_schema(fields.Instant, sent)
    got = adapter.validate_python(sent)
    assert (got, got.tzinfo) == (at, UTC)
    written = adapter.dump_json(got).decode().strip('"')
    assert written.endswith("Z")
    assert follows_schema(fields.Instant, written)
    assert adapter.validate_python(written) == at


def test_an_instant_shows_no_needless_places():
    adapter = TypeAdapter(fields.Instant)
    assert adapter.dump_json(read(fields.Instant, "2026-11-14T10:30:00.000+02:00")) == (
        b'"2026-11-14T08:30:00Z"'
    )
    assert adapter.dump_python(read(fields.Instant, "2026-11-14T08:30:00Z")) == datetime(
        2026, 11, 14, 8, 30, tzinfo=UTC
    )


@pytest.mark.parametrize(
    "value",
    [
        *("2026-11-14T08:30:00", "2026-11-14", "2026-11-14 08:30:00Z", "2026-11-14T08:30Z"),
        *("2026-11-14T24:00:00Z", "2026-11-14T08:30:60Z", "2026-02-29T08:30:00Z", 1700000000),
        *("1700000000", "1900-01-01T00:00:00+01:00", "2201-01-01T00:00:00Z", "", None),
        datetime(2026, 1, 1),  # noqa: DTZ001 (naive on purpose)
        datetime(1899, 12, 31, tzinfo=UTC),
    ],
)
def test_no_instant(value):
    assert not accepts(fields.Instant, value)


@pytest.mark.parametrize("value", ["a.b+c@example.co.za", "o'neil@x.test", "1@2.africa"])
def test_an_address(value):
    assert read(fields.Email, value) == value
    assert follows_schema(fields.Email, value)


@pytest.mark.parametrize(
    "value",
    [
        *("a", "a@", "@b.za", "a@b", "a b@c.za", "a@b..za", "a@-b.za", "a@b.za\n", "a@b.za\x00"),
        *("a\r\nBcc: x@y.za", '"a b"@c.za', "a@[127.0.0.1]", "a@xn--80ak6aa92e.com", "é@b.za"),
        *("a" * 65 + "@b.za", "a@" + "b" * 64 + ".za", "a@" + "b." * 126 + "za", 5, None),
        *("Name <a@b.za>", "a@b.localhost"),
    ],
)
def test_no_address(value):
    assert not accepts(fields.Email, value)


def test_the_domain_of_an_address_is_put_into_small_letters():
    assert read(fields.Email, "Jan.Smit@Example.CO.ZA") == "Jan.Smit@example.co.za"


def test_currencies_zones_and_codes():
    assert accepts(fields.CurrencyCode, "ZAR")
    assert not accepts(fields.CurrencyCode, "zar")
    assert not accepts(fields.CurrencyCode, "ZAR\n")
    assert accepts(fields.TimeZoneName, "Africa/Johannesburg")
    assert not accepts(fields.TimeZoneName, "Africa/johannesburg")
    assert not accepts(fields.TimeZoneName, "../../etc/passwd")
    with pytest.raises(ValueError, match="anchored"):
        fields.matching("[a-z]+", 5)


class Colour(StrEnum):
    RED = "red"


class Inner(BaseModel):
    bare: int
    back: "Outer | None" = None


class Outer(BaseModel):
    name: fields.Name
    zone: fields.TimeZoneName
    price: Money
    id: UUID
    colour: Colour
    choice: Literal["a", 1]
    both: int = Field(ge=0, le=5)
    maybe: Annotated[int, Field(ge=0, le=5)] | None = None
    around: int | None = Field(default=None, gt=0, lt=5)
    coded: str = Field(max_length=5, pattern="^[a-z]*$")
    shares: list[fields.Percent]
    flag: bool
    half: int = Field(ge=0)
    long: str = Field(max_length=5)
    texts: list[str]
    by_name: dict[str, fields.Count]
    union: fields.Count | float | None
    nested: list[Inner | None]
    amount: Decimal
    day: date | None
    at: Annotated[datetime, "a remark"]


def test_plain_fields_are_named_however_deep():
    assert plain_fields(Outer) == [
        "Outer.half: plain int",
        "Outer.long: plain str",
        "Outer.texts: plain str",
        "Outer.by_name: plain str",
        "Outer.union: plain float",
        "Outer.nested.bare: plain int",
        "Outer.amount: plain Decimal",
        "Outer.day: plain date",
        "Outer.at: plain datetime",
    ]


def test_reading_a_row_of_fields_is_quick():
    class Row(BaseModel):
        name: fields.Name
        note: fields.Note
        count: fields.Count
        at: fields.Instant
        share: fields.Percent
        price: Money

    body = {
        "name": "Chairs for the office",
        "note": "Second floor.\nBy the stairs.",
        "count": 12,
        "at": "2026-11-14T08:30:00Z",
        "share": "12.50",
        "price": {"amount": "1234.50", "currency": "ZAR"},
    }
    row = Row.model_validate(body)
    reading = min(timeit.repeat(lambda: Row.model_validate(body), number=1000, repeat=5)) * 1e3
    writing = min(timeit.repeat(row.model_dump_json, number=1000, repeat=5)) * 1e3
    print(f"six_fields read_us={reading:.1f} write_us={writing:.1f}")
    assert reading < 500
