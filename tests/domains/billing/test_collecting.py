"""What providers say: any order and any repetition give the same payment and the same books."""

import asyncio
import random
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.domains.billing.paying import booked, told, within
from tests.factories import billing, payments
from tests.factories import identity as people
from tests.suites.sizes import size
from thenga.domains.billing.public import PaymentSucceeded
from thenga.domains.billing.services import collecting, numbering
from thenga.domains.billing.tables import (
    Book,
    MethodToken,
    Payment,
    PaymentStatus,
    StatedStatus,
    Statement,
    StatementKind,
    StatementOutcome,
)
from thenga.kernel.host import Host

S, K, Out = StatedStatus, StatementKind, StatementOutcome
AT = datetime(2026, 11, 14, 8, tzinfo=UTC)
_A_DAY = timedelta(days=1)


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    who = await people.member(host, uuid4(), role="owner")
    await billing.account(host, who.organization_id)
    return who


def history(chance: random.Random, of: Payment) -> list[Statement]:
    """What may be said of one payment, repeated and with what comes after it."""
    at = [AT + timedelta(minutes=n) for n in range(9)]
    refund: dict[str, Any] = {
        "kind": K.REFUND,
        "amount_minor": 5000,
        "item_reference": f"r-{of.reference}",
    }
    said = [
        payments.said(of, S.PROCESSING, provider_at=at[0]),
        payments.said(of, S.FAILED, code="51", provider_at=at[1]),
        payments.said(of, S.FAILED, code="43", provider_at=at[2]),
        payments.said(of, S.CANCELED, provider_at=at[3]),
        payments.said(of, S.SUCCEEDED, provider_at=at[4], fee_minor=1248),
        payments.said(of, S.SUCCEEDED, provider_at=at[4]),
        payments.said(of, S.SUCCEEDED, provider_at=at[5], provider_reference=f"q-{of.reference}"),
        *(payments.said(of, status, **refund) for status in (S.PROCESSING, S.FAILED, S.SUCCEEDED)),
        *(
            payments.said(of, status, kind=K.DISPUTE, item_reference="d1", provider_at=at[8])
            for status in (S.OPEN, S.WON, S.LOST)
        ),
    ]
    chosen = chance.sample(said, chance.randint(2, len(said)))
    return chosen + chance.choices(chosen, k=2)


_ENDS = (
    "SELECT status, failure, fee_minor, refunded_minor, dispute_status, disputes, paid_by, "
    "provider_updated_at, provider_reference FROM billing.payment WHERE id = $1",
    "SELECT status, received_minor, amount_due_minor, released_at IS NOT NULL FROM billing.invoice "
    "WHERE id = (SELECT invoice_id FROM billing.payment WHERE id = $1)",
    "SELECT account, sum(amount_minor) FROM billing.journal_line l "
    "JOIN billing.journal_entry e ON e.id = l.entry_id "
    "AND e.organization_id = l.organization_id WHERE e.source_id = $1 "
    "OR e.source_id IN (SELECT id FROM billing.refund WHERE payment_id = $1) "
    "GROUP BY 1 HAVING sum(amount_minor) <> 0 ORDER BY 1",
)


async def replayed(
    host: Host, connection: Any, of: Payment, said: list[Statement], order: list[int]
) -> list[Any]:
    """The end of one order of a history: payment, invoice, books, and how often it was told.

    What was paid gets its number first. Each statement is a unit of work; the transaction around
    them is rolled back, so that the next order finds the same payment as this one.
    """
    told = 0
    await connection.execute("BEGIN")
    try:
        for place in order:
            work = billing.working_on(connection, host, of.organization_id, AT + _A_DAY)
            await collecting.take(work, of.id, said[place])
            told += sum(isinstance(event, PaymentSucceeded) for event, _ in work._events)
        work = billing.working_on(connection, host, of.organization_id, AT + _A_DAY)
        await numbering.issue_next(work, seller="thenga", book=Book.SANDBOX)
        await connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        ends = [await connection.fetch(one, of.id) for one in _ENDS]
    finally:
        await connection.execute("ROLLBACK")
    return [*([tuple(row) for row in end] for end in ends), told]


@dataclass
class Shuffled:
    """What came of many orders of many histories."""

    histories: int = 0
    orders: int = 0
    statements: int = 0
    differing: list[Any] = field(default_factory=list)  # which, the first end, the other end

    async def live(self, host: Host, seeds: range, shuffles: int) -> None:
        """Histories of one organization, each with a payment of its own.

        It is a sandbox, so that nobody else waits for its numbers.
        """
        organization_id = uuid4()
        await billing.account(host, organization_id, book=Book.SANDBOX)
        async with host.engines.connection("billing", "billing_system") as connection:
            for seed in seeds:
                chance = random.Random(seed)
                of = await payments.payment(host, organization_id)
                said = history(chance, of)
                seen = []
                for _ in range(shuffles):
                    order = chance.sample(range(len(said)), len(said))
                    seen.append(await replayed(host, connection, of, said, order))
                self.histories += 1
                self.orders += len(seen)
                self.statements += len(seen) * len(said)
                self.differing += [(seed, seen[0], one) for one in seen if one != seen[0]]


@pytest.mark.rule("BIL-31")
async def test_every_order_of_a_history_ends_the_same(host: Host, seeded: None):
    histories, shuffles = size(check=8, prove=200), size(check=4, prove=100)
    shuffled, began = Shuffled(), time.perf_counter()

    # Two at once, each in an organization of its own: one reckons while the other's rows are read.
    halves = [range(histories)[place::2] for place in range(2)]
    await asyncio.gather(*(shuffled.live(host, seeds, shuffles) for seeds in halves))

    print(
        f"histories={shuffled.histories} shuffles={shuffles} orders={shuffled.orders} "
        f"statements={shuffled.statements} differing={len(shuffled.differing)} "
        f"seconds={time.perf_counter() - began:.0f}"
    )
    assert shuffled.differing[:3] == []
    assert (shuffled.histories, shuffled.orders) == (histories, histories * shuffles)


async def test_a_planted_last_word_is_found(
    host: Host, owner: people.Member, monkeypatch: pytest.MonkeyPatch
):
    """As if whatever is heard last were true."""
    ranks = dict.fromkeys(PaymentStatus, 0) | {PaymentStatus.FAILED: 1, PaymentStatus.CANCELED: 1}
    monkeypatch.setattr(collecting, "_RANK", ranks)
    shuffled = Shuffled()

    await shuffled.live(host, range(4), 6)

    assert shuffled.differing


@pytest.mark.rule("BIL-31")
async def test_failed_after_succeeded_is_stale_and_succeeded_after_failed_counts(
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


async def test_a_refund_made_on_the_providers_pages_is_booked_and_one_too_large_is_not(
    host: Host, owner: people.Member
):
    of = await payments.paid(host, owner.organization_id)

    def back(amount: int, number: str) -> Statement:
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


async def test_the_way_a_payment_was_made_is_kept_once_and_shown_without_its_token(
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
