from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thenga.kernel.crypto.sealing import Ring
from thenga.kernel.db.cursors import open_cursor, seal_cursor
from thenga.kernel.errors import InvalidCursor

RING = Ring([bytes(range(32))], b"cursor")
OTHER = Ring([bytes(range(32))[::-1]], b"cursor")
HERE = "GET /billing/invoices|org=1|actor=2|status=open"
ROW = UUID("019a0000-0000-7000-8000-000000000001")
AT = datetime(2026, 11, 14, 8, 30, 0, 123456, tzinfo=UTC)

VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63),
    st.text(max_size=40),
    st.uuids(),
    st.dates(),
    st.datetimes(timezones=st.just(UTC)),
    st.decimals(allow_nan=False, allow_infinity=False),
)


@given(position=st.lists(VALUES, max_size=4))
def test_values_come_back_with_their_types(position):
    opened = open_cursor(RING, seal_cursor(RING, position, bound_to=HERE), bound_to=HERE)
    assert opened == position
    assert [type(value) for value in opened] == [type(value) for value in position]


def test_an_offset_is_kept():
    at = AT.astimezone(timezone(timedelta(hours=2)))
    [opened] = open_cursor(RING, seal_cursor(RING, [at], bound_to=HERE), bound_to=HERE)
    assert opened.isoformat() == at.isoformat()


def test_a_typical_cursor_is_short_and_fit_for_an_address():
    text = seal_cursor(RING, [AT, Decimal("1234.50"), date(2026, 11, 14), ROW], bound_to=HERE)
    print(f"cursor_characters={len(text)}")
    assert len(text) <= 400
    assert set(text) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    assert ROW.hex not in text


@pytest.mark.rule("47")
def test_it_opens_for_no_other_list_caller_or_key():
    text = seal_cursor(RING, [AT, ROW], bound_to=HERE)
    with pytest.raises(InvalidCursor):
        open_cursor(RING, text, bound_to=HERE.replace("org=1", "org=3"))
    with pytest.raises(InvalidCursor):
        open_cursor(OTHER, text, bound_to=HERE)


def test_an_edited_cursor_is_refused():
    text = seal_cursor(RING, [AT, ROW], bound_to=HERE)
    # The last character may hold spare bits of base64 that mean nothing.
    edits = [
        text[:i] + ("A" if text[i] != "A" else "B") + text[i + 1 :] for i in range(len(text) - 1)
    ]
    for edit in [*edits, *(text[:i] for i in range(len(text)))]:
        with pytest.raises(InvalidCursor):
            open_cursor(RING, edit, bound_to=HERE)


@given(text=st.text(max_size=200))
def test_any_other_text_is_refused(text):
    with pytest.raises(InvalidCursor):
        open_cursor(RING, text, bound_to=HERE)


def test_a_long_text_is_refused_before_it_is_opened():
    with pytest.raises(InvalidCursor):
        open_cursor(RING, "A" * 1_000_000, bound_to=HERE)


def test_a_value_without_a_form_is_a_mistake_of_ours():
    with pytest.raises(TypeError):
        seal_cursor(RING, [b"bytes"], bound_to=HERE)
