"""What providers say: any order and any repetition give the same payment and the same books."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.domains.billing.paying import booked, told, within
from tests.factories import billing, payments
from tests.factories import identity as people
from thenga.domains.billing.tables import (
    PaymentStatus,
    StatementOutcome,
)
from thenga.domains.billing.values.provider import (
    MethodToken,
    ProviderReport,
    StatedStatus,
    StatementKind,
)
from thenga.kernel.process.host import Host

pytestmark = pytest.mark.no_retry

S, K, Out = StatedStatus, StatementKind, StatementOutcome
AT = datetime(2026, 11, 14, 8, tzinfo=UTC)
_A_DAY = timedelta(days=1)


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    who = await people.member(host, uuid4(), role="owner")
    await billing.account(host, who.organization_id)
    return who


@pytest.mark.rule("BIL-31")
async def test_late_failure_is_stale_and_late_success_counts(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    ends = []
    for order in ((S.SUCCEEDED, S.FAILED), (S.FAILED, S.SUCCEEDED)):
        of = await payments.payment(host, owner.organization_id)
        taken = [await payments.taken(host, of, payments.said(of, one)) for one in order]
        ends.append(([one.outcome for one in taken], taken[-1].payment.status))

    print(f"late failure: {ends[0][0][1]}; both end {ends[0][1]}")
    assert ends == [
        ([Out.APPLIED, Out.STALE], PaymentStatus.SUCCEEDED),
        ([Out.APPLIED, Out.APPLIED], PaymentStatus.SUCCEEDED),
    ]


@pytest.mark.rule("BIL-36")
@pytest.mark.parametrize(
    ("wrong", "finding"),
    [
        ({"amount_minor": 499}, "amount_differs"),
        ({"amount_minor": None}, "amount_differs"),
        ({"currency": "USD"}, "currency_differs"),
        ({"amount_minor": 49899}, "amount_differs"),
    ],
)
async def test_what_does_not_fit_our_record_is_set_aside_and_told(
    host: Host, owner: people.Member, wrong: dict[str, Any], finding: str
):
    of = await payments.payment(host, owner.organization_id)

    taken = await payments.taken(host, of, payments.said(of, **wrong))

    assert (taken.outcome, taken.note) == (Out.QUARANTINED, finding)
    assert taken.payment.status is PaymentStatus.REQUIRES_ACTION
    assert await told(host, owner.organization_id) == ["PaymentMismatchFound"]
    assert await booked(host, owner.organization_id) == {}


@pytest.mark.rule("BIL-33")
async def test_money_that_comes_twice_is_credit_and_told(host: Host, owner: people.Member):
    of = await payments.payment(host, owner.organization_id, provider="payfast")

    await payments.taken(host, of, payments.said(of, provider_reference="pf-1"))
    second = await payments.taken(host, of, payments.said(of, provider_reference="pf-2"))
    third = await payments.taken(host, of, payments.said(of, provider_reference="pf-2"))

    books = await booked(host, owner.organization_id)
    assert (second.outcome, third.outcome) == (Out.APPLIED, Out.STALE)
    assert books == {"clearing.payfast": 99800, "customer_credit": -99800}
    assert await told(host, owner.organization_id) == ["PaymentSucceeded", "PaymentMismatchFound"]


@pytest.mark.rule("BIL-50")
@pytest.mark.parametrize(("provider", "days"), [("sandbox", 0), ("paystack", 0), ("eft", 3)])
async def test_only_a_transfer_may_predate_its_payment(
    host: Host, owner: people.Member, provider: str, days: int
):
    of = await payments.payment(host, owner.organization_id, provider=provider)
    early = of.created_at - timedelta(days=3)

    await payments.taken(host, of, payments.said(of, provider_at=early))

    async with host.engines.connection("billing", "billing_system") as connection:
        booked_at = await connection.fetchval(
            "SELECT occurred_at FROM billing.journal_entry WHERE organization_id = $1 "
            "ORDER BY id LIMIT 1",
            owner.organization_id,
        )
    assert of.created_at - booked_at == timedelta(days=days)


@pytest.mark.rule("BIL-47")
@pytest.mark.parametrize(
    ("course", "books"),
    [
        ((S.OPEN,), {"clearing.paystack": 0, "disputed": 49900}),
        ((S.OPEN, S.WON), {"clearing.paystack": 49900}),
        ((S.OPEN, S.LOST), {"clearing.paystack": 0, "bad_debt": 49900}),
        ((S.LOST, S.OPEN), {"clearing.paystack": 0, "bad_debt": 49900}),
    ],
)
async def test_a_dispute_takes_the_money_back_until_it_is_decided(
    host: Host, owner: people.Member, course: tuple[StatedStatus, ...], books: dict[str, int]
):
    of = await payments.paid(host, owner.organization_id)

    for status in course:
        stated = payments.said(of, status, kind=K.DISPUTE, item_reference="d-1")
        await payments.taken(host, of, stated)

    found = await booked(host, owner.organization_id)
    assert {name: found.get(name, 0) for name in books} == books
    assert sum(found.values()) == 0
    events = await told(host, owner.organization_id)
    assert events.count("PaymentDisputed") == (1 if course[0] is S.LOST else len(course))


@pytest.mark.rule("BIL-31")
@pytest.mark.parametrize("opened", [None, 49900, 49800])
@pytest.mark.parametrize("turned", [False, True])
async def test_what_a_dispute_comes_to_at_last_is_all_that_stays_of_it(
    host: Host, owner: people.Member, opened: int | None, turned: bool
):
    of = await payments.paid(host, owner.organization_id)
    course = [(S.OPEN, opened), (S.LOST, 30000)]

    for status, amount in reversed(course) if turned else course:
        more = {"kind": K.DISPUTE, "item_reference": "d-1", "amount_minor": amount}
        await payments.taken(host, of, payments.said(of, status, **more))

    found = await booked(host, owner.organization_id)
    assert {"clearing.paystack": 19900, "bad_debt": 30000}.items() <= found.items()
    assert "disputed" not in found


@pytest.mark.rule("BIL-36")
async def test_more_is_disputed_than_was_paid_and_nobody_believes_it(
    host: Host, owner: people.Member
):
    of = await payments.paid(host, owner.organization_id)
    more = {"kind": K.DISPUTE, "item_reference": "d-1", "amount_minor": 49901}

    taken = await payments.taken(host, of, payments.said(of, S.OPEN, **more))

    assert (taken.outcome, taken.note) == (Out.QUARANTINED, "amount_differs")


async def test_provider_side_refund_is_booked_unless_too_large(host: Host, owner: people.Member):
    of = await payments.paid(host, owner.organization_id)

    def back(amount: int, number: str) -> ProviderReport:
        return payments.said(of, kind=K.REFUND, amount_minor=amount, item_reference=number)

    first = await payments.taken(host, of, back(40000, "r-1"))
    again = await payments.taken(host, of, back(40000, "r-1"))
    large = await payments.taken(host, of, back(9901, "r-2"))

    assert [one.outcome for one in (first, again, large)] == [
        Out.APPLIED,
        Out.STALE,
        Out.QUARANTINED,
    ]
    assert large.note == "refund_exceeds"
    assert (await booked(host, owner.organization_id))["clearing.paystack"] == 9900


async def test_payment_method_is_saved_once_and_hides_its_token(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    token = MethodToken("AUTH_secret_token", brand="visa", last4="4081")
    for _ in range(2):
        of = await payments.payment(host, owner.organization_id)
        await payments.taken(host, of, payments.said(of, token=token))
    path = f"/billing/accounts/{of.account_id}/payment-methods"

    listed = await api.get(path, headers=within(owner))

    (shown,) = listed.json()["items"]
    assert (shown["brand"], shown["last4"], shown["isDefault"]) == ("visa", "4081", True)
    assert "AUTH_secret_token" not in listed.text
    async with host.engines.connection("billing", "billing_system") as connection:
        raw = await connection.fetchval(
            "SELECT sealed_token FROM billing.payment_method WHERE id = $1", UUID(shown["id"])
        )
    assert b"AUTH_secret_token" not in raw
