import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thenga.kernel.crypto import tokens
from thenga.kernel.crypto.tokens import Prefix

BYTES = bytes(range(32))
SECRET = "003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf"
ACCESS = f"tha_{SECRET}1sUiNT"


@pytest.mark.rule("IDN-1")
@pytest.mark.parametrize(
    ("prefix", "text"),
    [
        (Prefix.ACCESS, ACCESS),
        (Prefix.REFRESH, f"thr_{SECRET}1lhLuO"),
        (Prefix.KEY_LIVE, f"thk_live_{SECRET}1IyE2N"),
        (Prefix.KEY_TEST, f"thk_test_{SECRET}1iuUu3"),
    ],
)
def test_known_bytes_give_known_tokens(prefix, text):
    assert tokens.text_of(prefix, BYTES) == text
    assert tokens.parse(text) is prefix


@pytest.mark.rule("IDN-1")
def test_the_digest_covers_the_whole_text():
    expected = "beb84bf221b17fec11deba22fd36aa4befeb2e0a1b26e075b4b72ff01db9394f"
    assert tokens.digest(ACCESS).hex() == expected


@given(prefix=st.sampled_from(Prefix), secret=st.binary(min_size=32, max_size=32))
def test_all_texts_parse_and_have_one_length(prefix, secret):
    text = tokens.text_of(prefix, secret)
    assert tokens.parse(text) is prefix
    assert len(text) == len(prefix) + 1 + 49


def test_minted_tokens_differ_and_parse():
    minted = {tokens.mint(prefix) for prefix in Prefix for _ in range(200)}
    assert len(minted) == 200 * len(Prefix)
    assert {tokens.parse(text) for text in minted} == set(Prefix)


def test_no_single_mistyped_character_passes():
    alphabet = string.digits + string.ascii_letters
    typos = {
        ACCESS[:i] + other + ACCESS[i + 1 :] for i in range(len(ACCESS)) for other in alphabet
    } - {ACCESS}
    assert [typo for typo in typos if tokens.parse(typo)] == []


@pytest.mark.parametrize(
    "text",
    [
        *("", "_", "tha_", "tha", "thx_" + ACCESS[4:], "thk_" + ACCESS[4:], ACCESS + "0"),
        *(
            ACCESS[:-1],
            " " + ACCESS,
            ACCESS + "\n",
            ACCESS[:-1] + "é",
            "tha_" + "\u0661" * 49,
            "\ud800",
        ),
        *("tha__" + ACCESS[5:], ACCESS.upper(), "thr_" + ACCESS[4:]),
    ],
)
def test_other_text_is_no_token(text):
    assert tokens.parse(text) is None


def test_a_token_carries_32_bytes():
    with pytest.raises(ValueError, match="32 bytes"):
        tokens.text_of(Prefix.LINK, BYTES[:31])
