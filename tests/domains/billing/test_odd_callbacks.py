"""A signed callback that is odd is quarantined: no effect, no 5xx, no retry (SEC-68)."""

import copy
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.domains.billing.paying import booked, findings, read, told
from tests.domains.billing.test_signatures import deliver
from tests.factories import billing, identity, payments
from tests.factories import identity as people
from tests.planting import plant
from tests.providers import signing
from tests.providers.loopback import serving, worker
from tests.providers.servers import PayFastServer
from tests.providers.signing import Sent
from tests.suites import flows
from thenga.domains.billing.adapters.providers import sandbox_secret
from thenga.domains.billing.services.settlement import provider_results
from thenga.domains.billing.tables import (
    Payment,
)
from thenga.domains.billing.values.provider import (
    StatedStatus,
    StatementKind,
)
from thenga.kernel.process.host import Host

pytestmark = pytest.mark.rule("SEC-68")

GONE = object()
ODD = (GONE, None, True, -1, 10**30, 1.5, "", "a\0b", "\U0001f600" * 90, [], ["x"], {})
Path = tuple[str, ...]
ESSENTIAL: dict[str, tuple[Path, ...]] = {
    "paystack": (
        *(("event",), ("data",), ("data", "reference"), ("data", "amount")),
        *(("data", "currency"), ("data", "status")),
    ),
    "stripe": (
        *(("type",), ("data",), ("data", "object"), ("data", "object", "metadata")),
        *(("data", "object", "metadata", "reference"), ("data", "object", "amount_received")),
        ("data", "object", "currency"),
    ),
    "sandbox": (
        *(("type",), ("data",), ("data", "reference"), ("data", "amount")),
        ("data", "currency"),
    ),
    "payfast": (("m_payment_id",), ("pf_payment_id",), ("payment_status",), ("amount_gross",)),
}
OPTIONAL: dict[str, tuple[Path, ...]] = {
    "paystack": (
        *(("data", "id"), ("data", "fees"), ("data", "paid_at"), ("data", "authorization")),
        *(("data", "authorization", one) for one in ("exp_year", "exp_month", "last4", "brand")),
        ("data", "authorization", "channel"),
    ),
    "stripe": (
        *(("id",), ("data", "object", "id"), ("data", "object", "created")),
        *(("data", "object", "payment_method"), ("data", "object", "customer")),
        ("data", "object", "payment_method", "card", "exp_year"),
    ),
    "sandbox": (
        *(("at",), ("data", "fee"), ("data", "paymentId"), ("data", "method")),
        *(("data", "method", "expiresOn"), ("data", "method", "last4")),
    ),
    "payfast": (("amount_fee",), ("token",), ("item_name",)),
}


def event(of: Payment) -> dict[str, Any]:
    """A success of the payment as its provider tells it."""
    card = {"brand": "visa", "last4": "4081", "exp_year": 2031, "exp_month": 2}
    number = uuid4().hex
    if of.provider == "payfast":
        gross = f"{of.amount_minor / 100:.2f}"
        return dict(signing.itn(of.reference, "COMPLETE", number, gross, token=number))
    sums = {"amount": of.amount_minor, "currency": "ZAR", "reference": of.reference}
    if of.provider == "paystack":
        kept = card | {"authorization_code": number, "reusable": True, "channel": "card"}
        more = {"id": number, "status": "success", "fees": 12, "paid_at": "2026-11-14T08:00:00Z"}
        return {"event": "charge.success", "data": sums | more | {"authorization": kept}}
    if of.provider == "sandbox":
        method = {"token": number, "brand": "visa", "last4": "4081", "expiresOn": "2031-02-28"}
        more = {"paymentId": number, "fee": 12, "method": method}
        at = "2026-11-14T08:00:00Z"
        return {"id": number, "type": "payment.succeeded", "at": at, "data": sums | more}
    intent = {
        "id": number,
        "created": 1793520000,
        "amount_received": of.amount_minor,
        "currency": "zar",
        "metadata": {"reference": of.reference},
        "customer": "cus_1",
        "payment_method": {"id": number, "card": card},
    }
    return {"id": number, "type": "payment_intent.succeeded", "data": {"object": intent}}


def changed(known: dict[str, Any], path: Path, value: object) -> dict[str, Any]:
    made = copy.deepcopy(known)
    inner = made
    for name in path[:-1]:
        inner = inner[name]
    if value is GONE:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return made


def sent(host: Host, provider: str, known: dict[str, Any]) -> Sent:
    if provider == "paystack":
        return signing.paystack_raw(json.dumps(known).encode())
    if provider == "stripe":
        return signing.stripe(known, host.now())
    if provider == "sandbox":
        return signing.sandbox({"id": uuid4().hex} | known, host.now(), sandbox_secret(host))
    return signing.payfast({name: str(value) for name, value in known.items()})


def odd_ones(host: Host, of: Payment, paths: Sequence[Path]) -> Iterator[tuple[Path, Sent]]:
    """The event with one field after the other missing, of another type, or of odd bytes."""
    for path in paths:
        for value in ODD:
            if of.provider == "payfast" and not isinstance(value, str) and value is not GONE:
                continue  # a form has texts only
            known = event(of)
            yield path, sent(host, of.provider, changed(known, path, value))


async def outcomes(host: Host, calls: Sequence[Sent]) -> Counter[str]:
    """What became of the calls once the worker has nothing left to do with them."""
    digests = [hashlib.sha256(one.body).digest() for one in calls]

    async def found() -> Counter[str]:
        async with host.engines.connection("billing", "billing_system") as connection:
            rows = await connection.fetch(
                "SELECT status FROM billing.provider_callback WHERE sha256 = ANY($1)", digests
            )
        return Counter(row["status"] for row in rows)

    async def done() -> bool:
        return (await found())["received"] == 0

    async with worker(host):
        await flows.until(done)
    return await found()


@pytest.fixture
async def payer(host: Host, seeded: None) -> people.Member:
    who = await people.member(host, uuid4(), role="owner")
    await billing.account(host, who.organization_id)
    return who


@pytest.fixture(autouse=True)
async def payfast(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[PayFastServer]:
    server = PayFastServer()
    async with serving(server.app) as url:
        monkeypatch.setenv("THENGA_PAYFAST_URL_BILLING", url)
        yield server


@pytest.mark.parametrize("provider", ESSENTIAL)
async def test_what_is_odd_is_quarantined_and_moves_nothing(
    api: httpx2.AsyncClient, host: Host, payer: people.Member, provider: str
):
    of = await payments.payment(host, payer.organization_id, provider=provider)
    calls = [one for _, one in odd_ones(host, of, ESSENTIAL[provider])]

    answers = Counter([(await deliver(api, one)).status_code for one in calls])
    became = await outcomes(host, calls)

    told_of = await told(host, payer.organization_id)
    effects = told_of.count("PaymentSucceeded") + len(await booked(host, payer.organization_id))
    print(f"{provider} calls={len(calls)} answers={dict(answers)} {dict(became)} effects={effects}")
    assert effects == 0
    assert set(answers) <= {200, 401}
    assert set(became) <= {"quarantined", "ignored"}
    # Only a kind of event that is a text and none of ours is ignored.
    assert became["ignored"] <= 4
    assert (await read(api, payer, of.id))["status"] == "requires_action"


@pytest.mark.parametrize("provider", OPTIONAL)
async def test_odd_details_stop_no_payment(
    api: httpx2.AsyncClient, host: Host, payer: people.Member, provider: str
):
    calls = []
    for path in OPTIONAL[provider]:
        for value in ODD:
            of = await payments.payment(host, payer.organization_id, provider=provider)
            text = provider != "payfast" or isinstance(value, str) or value is GONE
            if text:
                calls.append(sent(host, provider, changed(event(of), path, value)))

    answers = Counter([(await deliver(api, one)).status_code for one in calls])
    became = await outcomes(host, calls)

    print(f"{provider} calls={len(calls)} answers={dict(answers)} {dict(became)}")
    assert set(answers) == {200}
    assert set(became) <= {"applied", "quarantined"}
    assert became["quarantined"] <= 2  # a fee below nothing or beyond reason


RAW = (b"", b"[]", b"null", b"\xff\xfe", b'{"event":', b'{"event":"charge.success"}', b"\0")


async def test_signed_bytes_that_are_no_event_are_quarantined(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    operator = (await identity.staff(host, "platform_operator")).headers
    doubled = b'{"event":"charge.success","event":"charge.success"}'
    calls = [signing.paystack_raw(raw) for raw in (*RAW, doubled, b"[" * 5000)]

    answers = Counter([(await deliver(api, one)).status_code for one in calls])
    became = await outcomes(host, calls)
    shown = await api.get(
        "/billing/provider-callbacks?provider=paystack&status=quarantined", headers=operator
    )

    print(f"calls={len(calls)} answers={dict(answers)} {dict(became)}")
    assert set(answers) == {200}
    assert became == {"quarantined": len(calls)}
    assert shown.status_code == 200
    assert any("unreadable" in (one["note"] or "") for one in shown.json()["items"])


@pytest.mark.parametrize("missing", ["amount_minor", "currency"])
@pytest.mark.parametrize("kind", [StatementKind.PAYMENT, StatementKind.REFUND])
async def test_money_needs_amount_and_currency(
    host: Host, payer: people.Member, kind: StatementKind, missing: str
):
    of = await payments.payment(host, payer.organization_id)
    said = payments.said(of, StatedStatus.SUCCEEDED, kind=kind, **{missing: None})

    work = billing.working(host, payer.organization_id)
    taken = await provider_results.apply_report(work, of.id, said)
    await work.finish()

    assert taken.outcome == "quarantined"
    assert await booked(host, payer.organization_id) == {}
    wanted = "currency_differs" if missing == "currency" else "amount_differs"
    assert await findings(host, of) == [wanted]


async def test_a_planted_currency_that_is_guessed_is_found(
    host: Host, payer: people.Member, monkeypatch: pytest.MonkeyPatch
):
    of = await payments.payment(host, payer.organization_id)
    plant(monkeypatch, provider_results, "_moves_money", lambda _: False)

    work = billing.working(host, payer.organization_id)
    taken = await provider_results.apply_report(work, of.id, payments.said(of, currency=None))
    await work.finish()

    assert taken.outcome == "applied"  # the sweep above would see its effect


async def test_operators_see_a_currency_that_is_none(
    api: httpx2.AsyncClient, host: Host, payer: people.Member
):
    operator = (await identity.staff(host, "platform_operator")).headers
    of = await payments.payment(host, payer.organization_id)
    odd = [changed(event(of), ("data", "currency"), one) for one in ("ÄÖÜ", "zar", "Z\u00a0R")]
    calls = [sent(host, "paystack", one) for one in odd]

    answers = [(await deliver(api, one)).status_code for one in calls]
    became = await outcomes(host, calls)
    shown = await api.get("/billing/provider-callbacks", headers=operator)
    payment = await api.get(f"/billing/payments/{of.id}", headers=payer.acting)

    assert (answers, became) == ([200] * 3, {"quarantined": 3})
    assert (shown.status_code, payment.status_code) == (200, 200)
