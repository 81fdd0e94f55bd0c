"""Signatures: each provider's own scheme, on the bytes as they came, and nothing else (BIL-35)."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from uuid import uuid4

import httpx2
import pytest
import standardwebhooks
import stripe

from tests.conftest import Time
from tests.providers import signing
from tests.providers.signing import Sent
from thenga.domains.billing.adapters import paystack, providers
from thenga.domains.billing.adapters.sandbox import signed
from thenga.kernel.process.host import Host

AT = datetime.fromtimestamp(1793520000, UTC)
_FORM = (("content-type", "application/x-www-form-urlencoded"),)
_JSON = ("content-type", "application/json")

PAYSTACK = Sent(
    "paystack",
    b'{"event":"charge.success","data":{"id":302961,"reference":"inv_0001","amount":49900,'
    b'"currency":"ZAR","status":"success"}}',
    (
        (
            "x-paystack-signature",
            "f0b529ebe3aa3d8d4bef62506a133afa5c823ba9a44c6939b39af19cf3ac9b53"
            "70e41a99c8207d4f7f201b2d485fab60161f6c08f801cfc82e75940398b5af5b",
        ),
        _JSON,
    ),
)
PAYFAST = Sent(
    "payfast",
    b"m_payment_id=INV-0001&pf_payment_id=1089250&payment_status=COMPLETE&item_name=Pro+plan+"
    b"%28monthly%29&item_description=&amount_gross=499.00&amount_fee=-11.48&amount_net=487.52"
    b"&custom_str1=&name_first=Thandi&name_last=O%27Brien&email_address=thandi%40example.co.za"
    b"&merchant_id=10000100&signature=ad70e1baa165a2d4a4c14808eec81016",
    _FORM,
)
STRIPE = Sent(
    "stripe",
    b'{"id":"evt_0001","object":"event","type":"invoice.payment_failed"}',
    (
        (
            "stripe-signature",
            "t=1793520000,v1=3831435250ae87a6861d54c7456ffd399141c66420c5b8f302b27194a18febfb",
        ),
        _JSON,
    ),
)
SANDBOX_KEY = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
SANDBOX = Sent(
    "sandbox",
    b'{"id":"sbx_0001","type":"payment.succeeded","at":"2026-11-01T08:00:00Z","data":'
    b'{"reference":"pay_0001","amount":49900,"currency":"ZAR"}}',
    (
        ("webhook-id", "sbx_0001"),
        ("webhook-timestamp", "1793520000"),
        ("webhook-signature", "v1,6YScSlk5lLEMBQrPHPvyB/BIOC9ADx43BWEOPwFyMCA="),
        _JSON,
    ),
)
VECTORS = {one.provider: one for one in (PAYSTACK, PAYFAST, STRIPE, SANDBOX)}


@pytest.fixture(autouse=True)
def first_of_november(clock: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    """The moment of the vectors, and the key of the sandbox's."""
    clock.set(AT)
    monkeypatch.setattr(providers, "sandbox_secret", lambda host: SANDBOX_KEY)


async def deliver(api: httpx2.AsyncClient, sent: Sent) -> httpx2.Response:
    headers = [(name.encode(), value.encode("latin-1")) for name, value in sent.headers]
    return await api.post(sent.path, content=sent.body, headers=headers)


async def kept(host: Host, *sent: Sent) -> int:
    """How many callbacks with these bodies are kept."""
    digests = [sha256(each.body).digest() for each in sent]
    async with host.engines.connection("billing", "billing_system") as connection:
        found: int = await connection.fetchval(
            "SELECT count(*) FROM billing.provider_callback WHERE sha256 = ANY ($1)", digests
        )
    return found


@pytest.mark.rule("BIL-35")
@pytest.mark.parametrize("provider", VECTORS)
async def test_the_vector_of_each_provider_is_accepted(
    api: httpx2.AsyncClient, host: Host, provider: str
):
    answer = await deliver(api, VECTORS[provider])
    again = await deliver(api, VECTORS[provider])

    assert (answer.status_code, answer.json()) == (200, {"received": True})
    assert (again.status_code, again.json()) == (200, {"received": True})


def _changed(sent: Sent) -> Sent:
    return sent.saying(sent.body.replace(b"499", b"498", 1).replace(b"evt_0001", b"evt_0002"))


def _reserialised(sent: Sent) -> Sent:
    if sent.provider == "payfast":
        return sent.saying(sent.body.replace(b"+", b"%20"))
    return sent.saying(json.dumps(json.loads(sent.body), indent=1).encode())


def _elsewhere(sent: Sent) -> Sent:
    other = "stripe" if sent.provider == "paystack" else "paystack"
    return Sent(other, sent.body, sent.headers)


def _twice(sent: Sent) -> Sent:
    if sent.provider == "payfast":
        return sent.saying(sent.body + b"&signature=ad70e1baa165a2d4a4c14808eec81016")
    return Sent(sent.provider, sent.body, (*sent.headers[:-1], *sent.headers))


def _unsigned(sent: Sent) -> Sent:
    if sent.provider == "payfast":
        return sent.saying(sent.body.partition(b"&signature=")[0])
    return Sent(sent.provider, sent.body, (_JSON,))


def _not_ascii(sent: Sent) -> Sent:
    if sent.provider == "payfast":
        return sent.saying(sent.body.replace(b"Thandi", b"Th\xe4ndi"))
    name, value = sent.headers[-2]
    return Sent(sent.provider, sent.body, (*sent.headers[:-2], (name, value[:-1] + "ä"), _JSON))


def _empty(sent: Sent) -> Sent:
    return sent.saying(b"")


WRONGS: dict[str, Callable[[Sent], Sent]] = {
    "one byte changed": _changed,
    "re-serialised": _reserialised,
    "another provider's path": _elsewhere,
    "two signatures": _twice,
    "no signature": _unsigned,
    "not ASCII": _not_ascii,
    "no body": _empty,
}


@pytest.mark.rule("BIL-35")
@pytest.mark.parametrize("wrong", WRONGS)
async def test_invalid_signature_is_refused_and_changes_nothing(
    api: httpx2.AsyncClient, host: Host, wrong: str
):
    sent = [WRONGS[wrong](vector) for vector in VECTORS.values()]
    before = await kept(host, *sent)

    answers = [await deliver(api, each) for each in sent]

    after = await kept(host, *sent)
    codes = {(one.status_code, one.json()["code"]) for one in answers}
    server_errors = sum(one.status_code >= 500 for one in answers)
    print(f"wrong={wrong!r} refused={len(answers)} effects={after - before} 5xx={server_errors}")
    assert codes == {(401, "billing-signature-invalid")}
    assert after == before


@pytest.mark.rule("BIL-35")
@pytest.mark.parametrize("provider", ["stripe", "sandbox"])
@pytest.mark.parametrize(("off", "status"), [(-301, 401), (-300, 200), (300, 200), (301, 401)])
async def test_a_signed_time_is_good_for_five_minutes(
    api: httpx2.AsyncClient, clock: Time, provider: str, off: int, status: int
):
    clock.set(AT - timedelta(seconds=off))

    answer = await deliver(api, VECTORS[provider])

    assert answer.status_code == status


@pytest.mark.rule("BIL-35")
async def test_the_former_secret_is_good_while_it_rotates(api: httpx2.AsyncClient, host: Host):
    data = {"id": uuid4().int % 10**12, "reference": "X"}
    former = await deliver(api, signing.paystack("subscription.create", data, "sk_test_demo_0000"))
    unknown = await deliver(api, signing.paystack("subscription.create", data, "sk_test_older"))

    async with host.engines.connection("billing", "billing_system") as connection:
        used = await connection.fetchval(
            "SELECT secret_used FROM billing.provider_callback WHERE event_key = $1",
            f"subscription.create:{data['id']}",
        )
    assert (former.status_code, unknown.status_code, used) == (200, 401, "former")


async def test_unknown_provider_and_large_body_are_refused(
    api: httpx2.AsyncClient,
):
    unknown = await api.post("/billing/providers/nobody/callbacks", content=b"{}")
    large = await deliver(api, PAYSTACK.saying(b" " * (256 * 1024 + 1)))

    assert unknown.status_code == 404
    assert (large.status_code, large.json()["limitBytes"]) == (413, 256 * 1024)


async def test_stripes_own_library_agrees(host: Host):
    event = {"id": "evt_9", "object": "event", "type": "payment_intent.succeeded", "data": {}}
    made = signing.stripe(event, datetime.now(UTC))

    verified = stripe.Webhook.construct_event(  # type: ignore[no-untyped-call]  # upstream
        made.body, dict(made.headers)["stripe-signature"], signing.STRIPE_SECRET
    )

    assert verified["id"] == "evt_9"


async def test_the_library_of_standard_webhooks_agrees():
    at = datetime.now(UTC)
    made = signing.sandbox({"id": "sbx_9", "type": "payment.succeeded"}, at, SANDBOX_KEY)
    ours = signed(SANDBOX_KEY, "sbx_9", str(int(at.timestamp())), made.body)

    read = standardwebhooks.Webhook(SANDBOX_KEY).verify(made.body, dict(made.headers))

    assert read["id"] == "sbx_9"
    assert dict(made.headers)["webhook-signature"] == ours


async def test_a_planted_comparison_that_lets_all_through_is_found(
    api: httpx2.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(paystack, "which_secret", lambda *_: "current")
    body = PAYSTACK.body.replace(b"302961", str(uuid4().int % 10**9).encode())
    sent = PAYSTACK.saying(body)

    answer = await deliver(api, sent)

    assert (answer.status_code, await kept(host, sent)) == (200, 1)
