from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thenga.kernel.crypto import sealing

KEY = bytes(range(32))


@given(plaintext=st.binary(max_size=500), aad=st.binary(max_size=50))
def test_what_is_sealed_opens_again(plaintext, aad):
    assert sealing.unseal(KEY, sealing.seal(KEY, plaintext, aad=aad), aad=aad) == plaintext


def test_two_seals_of_one_text_differ():
    assert sealing.seal(KEY, b"x", aad=b"") != sealing.seal(KEY, b"x", aad=b"")


def test_another_key_or_purpose_does_not_open_it():
    sealed = sealing.seal(KEY, b"secret", aad=b"column")
    with pytest.raises(sealing.BrokenSeal):
        sealing.unseal(KEY, sealed, aad=b"cursor")
    with pytest.raises(sealing.BrokenSeal):
        sealing.unseal(KEY[::-1], sealed, aad=b"column")


def test_every_changed_byte_and_every_cut_is_seen():
    sealed = sealing.seal(KEY, b"secret", aad=b"a")
    changed = [sealed[:i] + bytes([sealed[i] ^ 1]) + sealed[i + 1 :] for i in range(len(sealed))]
    cut = [sealed[:i] for i in range(len(sealed))]
    for bad in changed + cut:
        with pytest.raises(sealing.BrokenSeal):
            sealing.unseal(KEY, bad, aad=b"a")


def test_a_short_key_is_refused():
    with pytest.raises(ValueError, match="32 bytes"):
        sealing.seal(KEY[:16], b"x", aad=b"")


@pytest.mark.rule("IDN-3")
def test_the_key_of_a_refresh_successor():
    token = b"thr_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf1lhLuO"
    session = UUID("019a0000-0000-7000-8000-000000000001")
    key = sealing.derive(token, b"thenga-refresh-successor-v1", salt=session.bytes)
    assert key.hex() == "1eb51973e8be63dea98da2841ae1fa15c51613576ce191acc1fde3bac486c7f0"


def test_the_message_code_is_hmac_sha_256():
    # RFC 4231, test case 2.
    code = sealing.mac(b"Jefe", b"what do ya want for nothing?")
    assert code.hex() == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert sealing.equal(code, bytes(code))
    assert not sealing.equal(code, code[:-1])
