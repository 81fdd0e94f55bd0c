from uuid import UUID

import pytest
import rfc8785

from thenga.kernel.crypto import audit_chain

pytestmark = pytest.mark.no_retry

CHAIN = UUID("019a0000-0000-7000-8000-000000000001")
GENESIS = "3d60fd906f8d843682a0e2ae47ad1b1938220f9ba5f8f62c007ff56eaa8d3169"
ROW = {
    "seq": 1,
    "outcome": "succeeded",
    "id": "019a0000-0000-7000-8000-0000000000a1",
    "at": "2026-11-14T08:30:00Z",
    "action": "identity.session.started",
}


@pytest.mark.rule("IDN-50")
def test_a_known_row_has_a_known_hash():
    start = audit_chain.genesis(CHAIN)
    assert start.hex() == GENESIS
    expected = "fe84fd3059ca856b26fe471549a4d35c7576cc0d8f47a06585d4436d1a645650"
    assert audit_chain.link(start, ROW).hex() == expected


def test_canonical_form_ignores_order_but_not_values():
    start = audit_chain.genesis(CHAIN)
    again = dict(sorted(ROW.items()))
    assert audit_chain.link(start, again) == audit_chain.link(start, ROW)
    assert audit_chain.link(start, ROW | {"outcome": "failed"}) != audit_chain.link(start, ROW)
    assert audit_chain.link(b"\0" * 32, ROW) != audit_chain.link(start, ROW)


def test_what_has_no_canonical_form_is_refused():
    with pytest.raises(rfc8785.CanonicalizationError):
        audit_chain.link(b"", {"n": 2**60})
    with pytest.raises(rfc8785.CanonicalizationError):
        audit_chain.link(b"", {"n": float("nan")})
