"""Signatures of odd bytes: refused with 401, nothing kept, never a 5xx (BIL-35)."""

from collections import Counter
from collections.abc import Iterator

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.billing.test_signatures import (
    AT,
    PAYFAST,
    SANDBOX_KEY,
    VECTORS,
    deliver,
    kept,
)
from tests.providers.signing import Sent
from thenga.domains.billing.adapters import providers
from thenga.kernel.process.host import Host

pytestmark = pytest.mark.rule("BIL-35")
_HEADERS = {
    "paystack": "x-paystack-signature",
    "stripe": "stripe-signature",
    "sandbox": "webhook-signature",
}


@pytest.fixture(autouse=True)
def first_of_november(clock: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    clock.set(AT)
    monkeypatch.setattr(providers, "sandbox_secret", lambda host: SANDBOX_KEY)


def odd_headers(true: str) -> Iterator[str]:
    """A signature changed in its bytes; the letters of the true one stay among them."""
    yield from ("", " ", "0", "=", ",", "v1", "v1=", "v1,", "t=,v1=", "t=1793520000", true[:-1])
    yield from (true.upper() + "A", f"{true}\x7f", f"{true}\xa0", f"\xef\xbb\xbf{true}")
    yield from (f"{true}é", "é" * 64, true.replace("1", "\u0661").encode().decode("latin-1"))
    yield from (f'"{true}"', f"{true}{true[-8:]}", "0" * 4000, "v1=" * 1000, "v1,x " * 800)
    yield from ("t=1793520000,t=1793520000,v1=00", "t=-1,v1=00", "t=²,v1=00", "t=1e9,v1=00")
    yield "t=" + "9" * 400 + ",v1=00"


def odd_forms() -> Iterator[bytes]:
    """PayFast's string with fields twice, other encodings, and bytes that are no form."""
    string, _, given = PAYFAST.body.partition(b"&signature=")
    sign = b"&signature=" + given
    yield from (b"", b"&", b"=", b"&signature=", sign, sign[1:], string, string + sign + b"&a=b")
    yield from (string + sign + b"\n", string + sign.upper(), string + sign + b"%00")
    yield from (string + b"&%6d_payment_id=X" + sign, b"m_payment_id=X&" + string + sign)
    yield from (string.replace(b"=", b"%3D", 1) + sign, string.replace(b"%28", b"(") + sign)
    yield from (string.replace(b"%40", b"%zz") + sign, string.replace(b"%27", b"%FF") + sign)
    yield from (string.replace(b"+", b"%00") + sign, string + b"\xff\xfe" + sign)
    yield from (b"&".join([string] * 12) + sign, b"a" * 100_000 + sign, string + sign * 50)


async def test_odd_signatures_are_refused(api: httpx2.AsyncClient, host: Host):
    tried = [*VECTORS.values(), *(PAYFAST.saying(body) for body in odd_forms())]
    before = await kept(host, *tried)
    answers: Counter[int] = Counter()
    for provider, name in _HEADERS.items():
        sent = VECTORS[provider]
        true = dict(sent.headers)[name]
        rest = tuple(one for one in sent.headers if one[0] != name)
        for odd in odd_headers(true):
            answer = await deliver(api, Sent(provider, sent.body, ((name, odd), *rest)))
            answers[answer.status_code] += 1
        for count in (2, 3, 20):
            doubled = ((name, true),) * count + rest
            answers[(await deliver(api, Sent(provider, sent.body, doubled))).status_code] += 1
    for body in odd_forms():
        answers[(await deliver(api, PAYFAST.saying(body))).status_code] += 1
    after = await kept(host, *tried)

    print(f"calls={answers.total()} answers={dict(answers)} effects={after - before}")
    assert set(answers) <= {400, 401}
    assert after == before


@pytest.mark.parametrize("media", ["text/plain", "application/json; charset=utf-16", "x", ""])
@pytest.mark.parametrize("provider", VECTORS)
async def test_the_media_type_changes_nothing(api: httpx2.AsyncClient, provider: str, media: str):
    sent = VECTORS[provider]
    headers = tuple(one for one in sent.headers if one[0] != "content-type")

    answer = await deliver(api, Sent(provider, sent.body, (*headers, ("content-type", media))))

    assert answer.status_code == 200  # the bytes as they came are what is signed
