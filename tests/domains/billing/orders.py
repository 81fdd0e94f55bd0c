"""Histories of one payment in many orders: what a provider says of what a customer waits for.

Each statement is a unit of work of its own, and documents get their numbers in between. The
transaction around an order is rolled back, so that the next one finds the same customer.
"""

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.factories import billing, paying, payments
from tests.factories.paying import Clock, Payer
from thenga.domains.billing.public import PaymentSucceeded
from thenga.domains.billing.services.customer import account_lock
from thenga.domains.billing.services.invoicing import issuing
from thenga.domains.billing.services.payments.attempts import PaymentChoice
from thenga.domains.billing.services.plan_changes import changes
from thenga.domains.billing.services.plan_changes.quotes import ChangeRequest
from thenga.domains.billing.services.settlement import provider_results
from thenga.domains.billing.services.trials import conversions, trials
from thenga.domains.billing.services.trials.conversions import ConversionTime
from thenga.domains.billing.tables import (
    Book,
    Interval,
    Payment,
    Subscription,
)
from thenga.domains.billing.values.provider import (
    ProviderReport,
    StatedStatus,
    StatementKind,
)
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

S, K = StatedStatus, StatementKind
AT = datetime(2026, 11, 14, 8, tzinfo=UTC)
_RENEWS = datetime(2026, 12, 13, 22, tzinfo=UTC)
_TRIAL_ENDS = datetime(2026, 11, 28, 22, tzinfo=UTC)
_NUMBER = None  # in an order: the numbering job runs here


async def first(payer: Payer) -> None:
    """A plan was bought and is not paid."""
    payer.card = "silent"
    await payer.buy("starter")


async def renewal(payer: Payer) -> None:
    """A plan goes on, and its card is being charged."""
    await payer.buy("starter")
    payer.card = "silent"
    await payer.at(_RENEWS)


async def change(payer: Payer) -> None:
    """More was asked for, and the difference is being charged."""
    bought = await payer.buy("starter")
    payer.card = "silent"
    payer.clock.set(AT + timedelta(days=10))
    work = payer.work()
    await account_lock.lock_account(work)
    held = await work.lock(Subscription, bought.id)
    await changes.request_change(work, held, ChangeRequest("professional"), expected_due=None)
    await work.finish()


async def conversion(payer: Payer) -> None:
    """What is tried was bought at once."""
    payer.card = "silent"
    await _try(payer, ConversionTime.NOW)


async def trial_end(payer: Payer) -> None:
    """What was tried became a plan by itself, and its first charge is under way."""
    payer.card = "silent"
    await _try(payer, ConversionTime.TRIAL_END)
    await payer.at(_TRIAL_ENDS)


async def _try(payer: Payer, when: ConversionTime) -> None:
    work = payer.work()
    trial = await trials.start_trial(work, plan_code="professional")
    await work.finish()
    work = payer.work()
    how = PaymentChoice(payment_method_id=payer.method.id)
    await conversions.convert(work, trial.id, interval=Interval.MONTH, how=how, when=when)
    await work.finish()


Situation = Callable[[Payer], Awaitable[None]]
SITUATIONS: tuple[Situation, ...] = (first, renewal, change, conversion, trial_end)


def history(chance: random.Random, of: Payment) -> list[ProviderReport]:
    """What may be said of one payment, repeated and with what comes after it."""
    at = [AT + timedelta(minutes=n) for n in range(9)]
    refund: dict[str, Any] = {
        "kind": K.REFUND,
        "amount_minor": 5000,
        "item_reference": f"r-{of.reference}",
    }
    dispute: dict[str, Any] = {
        "kind": K.DISPUTE,
        "item_reference": "d1",
        "provider_at": at[8],
    }
    said = [
        payments.said(of, S.PROCESSING, provider_at=at[0]),
        payments.said(of, S.FAILED, code="51", provider_at=at[1]),
        payments.said(of, S.FAILED, code="43", provider_at=at[2]),
        payments.said(of, S.CANCELLED, provider_at=at[3]),
        payments.said(of, S.SUCCEEDED, provider_at=at[4], fee_minor=1248),
        payments.said(of, S.SUCCEEDED, provider_at=at[4]),
        payments.said(of, S.SUCCEEDED, provider_at=at[5], provider_reference=f"q-{of.reference}"),
        *(payments.said(of, status, **refund) for status in (S.PROCESSING, S.FAILED, S.SUCCEEDED)),
        *(
            payments.said(of, status, **dispute, amount_minor=amount)
            for status, amount in ((S.OPEN, of.amount_minor), (S.WON, None), (S.LOST, 3000))
        ),
        payments.said(of, S.OPEN, **dispute, amount_minor=4000),
    ]
    chosen = chance.sample(said, chance.randint(2, len(said)))
    return chosen + chance.choices(chosen, k=2)


# What BIL-31 names: payment, invoice, subscription, entitlement and balances.
_ENDS = {
    "payment": "SELECT status, failure, fee_minor, refunded_minor, dispute_status, disputes, "
    "dispute_amounts, paid_by, provider_updated_at, provider_reference FROM billing.payment "
    "WHERE organization_id = $1 ORDER BY id",
    "invoices": "SELECT purpose, status, collection_status, gross_minor, received_minor, "
    "amount_paid_minor, credit_applied_minor, amount_due_minor, released_at IS NOT NULL "
    "FROM billing.invoice WHERE organization_id = $1 ORDER BY id",
    "notes": "SELECT status, gross_minor, reason_code FROM billing.credit_note "
    "WHERE organization_id = $1 ORDER BY 2, 3",
    "subscription": "SELECT status, plan_code, anchor_date, period_start, period_end, disputed, "
    "pending_change IS NULL FROM billing.subscription WHERE organization_id = $1 ORDER BY id",
    "trial": "SELECT status FROM billing.trial WHERE organization_id = $1",
    "recovery": "SELECT kind, status FROM billing.payment_failure "
    "WHERE organization_id = $1 AND status <> 'recovered'",
    "entitlements": "SELECT access, because, valid_until, items FROM billing.entitlement_set "
    "WHERE organization_id = $1",
    "balances": "SELECT account, sum(amount_minor) FROM billing.journal_line "
    "WHERE organization_id = $1 GROUP BY 1 HAVING sum(amount_minor) <> 0 ORDER BY 1",
}


@dataclass(frozen=True)
class Waiting:
    """A customer in some situation, at an instant, and the payment that it waits for."""

    name: str
    at: datetime
    payment: Payment


async def waiting(host: Host, clock: Clock, situation: Situation) -> Waiting:
    """Bring a new customer there."""
    payer = await paying.payer(host, clock, AT)
    await situation(payer)
    found = await payer.rows(
        "SELECT id FROM billing.payment WHERE organization_id = $1 ORDER BY id DESC LIMIT 1"
    )
    payment = await payer.read(Payment, found[0]["id"])
    return Waiting(situation.__name__, host.now(), payment)


@dataclass
class Shuffled:
    """What came of many orders of many histories."""

    histories: int = 0
    orders: int = 0
    statements: int = 0
    differing: list[tuple[str, int, dict[str, Any]]] = field(default_factory=list)

    async def live(
        self, host: Host, customer: Waiting, seeds: Sequence[int], shuffles: int
    ) -> None:
        """Histories of the one payment that a customer waits for."""
        async with host.engines.connection("billing", "billing_system") as connection:
            for seed in seeds:
                chance = random.Random(seed)
                said = history(chance, customer.payment)
                steps = [*range(len(said)), _NUMBER]
                ends = []
                for _ in range(shuffles):
                    order = [*chance.sample(steps, len(steps)), _NUMBER]
                    ends.append(await _replayed(host, connection, customer, said, order))
                self.histories += 1
                self.orders += len(ends)
                self.statements += len(ends) * len(said)
                others = [_apart(ends[0], one) for one in ends if one != ends[0]]
                self.differing += [(customer.name, seed, one) for one in others]


async def _replayed(
    host: Host,
    connection: Any,
    customer: Waiting,
    said: list[ProviderReport],
    order: Sequence[int | None],
) -> dict[str, Any]:
    """The end of one order, and how often success was told on the way."""
    told, of = 0, customer.payment
    await connection.execute("BEGIN")
    try:
        for place in order:
            work = billing.working_on(connection, host, of.organization_id, customer.at)
            if place is None:
                await _number(work)
                continue
            await provider_results.apply_report(work, of.id, said[place])
            told += sum(isinstance(event, PaymentSucceeded) for event, *_ in work._events)
        await connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        ends = {
            name: [tuple(row) for row in await connection.fetch(query, of.organization_id)]
            for name, query in _ENDS.items()
        }
    finally:
        await connection.execute("ROLLBACK")
    return ends | {"told": told}


async def _number(work: Work) -> None:
    for _ in range(4):  # a charge, a note, and whatever they bring
        await issuing.issue_next(work, seller="thenga", book=Book.SANDBOX)


def _apart(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {name: (one[name], other[name]) for name in one if one[name] != other[name]}
