import json
import time
import timeit
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thenga.kernel.errors import MalformedRequest
from thenga.kernel.http.json_guard import read_json

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**39), 10**39)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=40,
)
BODY = json.dumps(
    {
        "title": "Supply of office chairs",
        "note": "Delivered to \u00c9ast London, second floor, by the 14th.",
        "price": {"amount": "1234.50", "currency": "ZAR"},
        "items": [{"quantity": 12, "unit": "each"}, {"quantity": 3, "unit": "box"}],
        "organizationId": "019a0000-0000-7000-8000-000000000001",
        "active": True,
        "pad": "x" * 30,
    }
).encode()


@given(document=DOCUMENTS, escaped=st.booleans(), indent=st.sampled_from([None, 1]))
def test_it_agrees_with_the_standard_library(document, escaped, indent):
    body = json.dumps(document, ensure_ascii=escaped, indent=indent).encode()
    assert read_json(body, max_depth=100) == json.loads(body) == document


@given(body=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body):
    try:
        read = read_json(body)
    except MalformedRequest:
        return
    assert read == json.loads(body)


@pytest.mark.rule("38")
@pytest.mark.parametrize(
    "body",
    [
        *(b"", b" ", b"{", b"[1,]", b"{'a':1}", b"1 2", b"\xef\xbb\xbf{}", b"tru", b'"a\nb"'),
        *(b"\xff", b'"\xc3"', b'"\xed\xa0\x80"', '"a"'.encode("utf-16")),
        *(b"NaN", b"[Infinity]", b"-Infinity", b"1e999", b"-1e999", b"[1e400]"),
        *(b'{"a":1,"a":1}', b'[{"b":{"a":1,"\\u0061":2}}]'),
        *(b"1" * 41, b"-" + b"1" * 41, b"[" + b"9" * 5000 + b"]"),
        *(b'"\\ud800"', b'"\\udc00x"', b'{"\\uD800":1}', b'["\\udc00\\ud800"]'),
    ],
)
def test_a_body_without_one_meaning_is_refused(body):
    with pytest.raises(MalformedRequest):
        read_json(body)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"\\\\ud800"', "\\ud800"),
        (b"-" + b"1" * 40, -int("1" * 40)),
        (b" [ ] \n", []),
    ],
)
def test_what_only_looks_wrong_is_read(body, value):
    assert read_json(body) == value


@pytest.mark.rule("38")
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_depth_is_bounded(opening, closing):
    assert read_json(opening * 32 + b"1" + closing * 32)
    for depth in (33, 1000, 100_000):
        with pytest.raises(MalformedRequest, match="levels deep"):
            read_json(opening * depth + b"1" + closing * depth)


def test_brackets_in_text_and_side_by_side_are_not_depth():
    document = ["[[[{{{" * 50, 'a"[', "\\", "[" * 100, *([[]] * 100), {"k[": {}}]
    assert read_json(json.dumps(document).encode()) == document


@pytest.mark.parametrize(
    "body",
    [
        b'"' + b'\\"' * 500_000 + b"[" * 33,
        b'"' * 1_000_000 + b"[" * 33,
        b"[" * 1_000_000,
        b"[" + b"[]," * 330_000 + b"[]]",
        b'"' + b"\\" * 999_999 + b"[" * 33,
        b"[" + b"1" * 1_000_000,
        b"1." + b"1" * 1_000_000,
    ],
    ids=["escaped quotes", "quotes", "deep", "wide", "backslashes", "digits", "places"],
)
def test_a_hostile_megabyte_costs_ten_usual_at_most(body):
    """What is tried again with each byte would take thousands; CPU, so that no machine is slow."""
    usual = _cpu(b"[" + BODY + b",%b" % BODY * (1_000_000 // len(BODY)) + b"]")
    assert _cpu(body) < 10 * usual


def _cpu(body):
    began = time.process_time()
    with suppress(MalformedRequest):
        read_json(body)
    return time.process_time() - began


def test_a_usual_body_is_read_in_microseconds():
    read_json(BODY)
    best = min(timeit.repeat(lambda: read_json(BODY), number=2000, repeat=5)) / 2000
    plain = min(timeit.repeat(lambda: json.loads(BODY), number=2000, repeat=5)) / 2000
    print(f"guard bytes={len(BODY)} us={best * 1e6:.1f} json_loads_us={plain * 1e6:.1f}")
    assert best < 100e-6  # ten times the goal, so that a busy machine does not fail it
