"""Providers that call back: true, forged, repeated, late and in any order, and what must come of
it, reckoned without the code under test."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from tests.factories import billing, payments
from tests.providers import signing
from tests.providers.signing import Sent
from thenga.domains.billing.tables import Payment
from thenga.kernel.process.host import Host

PROVIDERS = ("paystack", "payfast", "stripe", "sandbox")
# What may be told of a payment; Paystack tells of nothing but success.
COURSES: tuple[tuple[str, ...], ...] = (
    ("succeeded",),
    ("processing", "succeeded"),
    ("failed", "succeeded"),
    ("processing", "failed"),
    ("cancelled", "failed"),
    ("processing", "cancelled"),
    ("processing", "failed", "cancelled", "succeeded"),
)
RANK = ("requires_action", "processing", "cancelled", "failed", "succeeded")
_PAYFAST = {
    "succeeded": "COMPLETE",
    "failed": "FAILED",
    "cancelled": "CANCELLED",
    "processing": "PENDING",
}
_STRIPE = {
    "succeeded": "payment_intent.succeeded",
    "failed": "payment_intent.payment_failed",
    "cancelled": "payment_intent.canceled",
    "processing": "payment_intent.processing",
}


@dataclass
class Told:
    """One payment with everything that is sent of it."""

    payment: Payment
    expected: str
    true: list[Sent]
    forged: list[Sent]


@dataclass
class Tally:
    """What was sent, and what came of it."""

    calls: int = 0
    forged_effects: int = 0
    double_effects: int = 0
    server_errors: int = 0
    wrong_states: int = 0
    twins_apart: int = 0
    answers: dict[int, int] = field(default_factory=dict)


class Callers:
    """Makes the calls of one run; the same seed makes the same ones."""

    def __init__(self, host: Host, at: datetime, secret: str, seed: int) -> None:
        self._host, self._at, self._secret = host, at, secret
        self.chance = random.Random(seed)

    async def payment(self, provider: str, course: Sequence[str], place: UUID) -> Told:
        """A payment, its true calls with repeats, and forgeries of its success."""
        of = await payments.payment(self._host, place, provider=provider)
        steps = [one for one in course if provider != "paystack" or one == "succeeded"]
        true = [self._call(of, step) for step in steps]
        true += self.chance.choices(true, k=len(true)) if true else []
        self.chance.shuffle(true)
        best = max((RANK.index(step) for step in steps), default=0)
        return Told(of, RANK[best], true, [*self._forgeries(of), *self._strangers(of)])

    def _call(self, of: Payment, step: str, *, amount: int | None = None) -> Sent:
        """The provider's own number of a payment is one; of an event it is another."""
        minor, number = amount or of.amount_minor, str(of.id.int % 10**12)
        if of.provider == "paystack":
            data = {"id": int(number), "reference": of.reference, "amount": minor}
            data |= {"currency": "ZAR", "status": "success"}
            return signing.paystack("charge.success", data)
        if of.provider == "payfast":
            gross = f"{minor // 100}.{minor % 100:02}"
            return signing.payfast(signing.itn(of.reference, _PAYFAST[step], number, gross))
        if of.provider == "stripe":
            return signing.stripe(_intent(of, step, minor), self._at)
        event = {
            "id": f"sbx_{of.reference}_{step}",
            "type": f"payment.{step}",
            "at": "2026-11-14T08:00:00Z",
            "data": {
                "reference": of.reference,
                "paymentId": f"sbxp_{of.reference}",
                "amount": minor,
                "currency": "ZAR",
            },
        }
        return signing.sandbox(event, self._at, self._secret)

    def _forgeries(self, of: Payment) -> list[Sent]:
        """A success that nobody sent: a byte changed, another's signature, none at all."""
        true = self._call(of, "succeeded")
        changed = true.saying(
            true.body.replace(of.reference.encode(), b"Z" + of.reference.encode())
        )
        body = true.body.partition(b"&signature=")[0]
        bare = Sent(of.provider, body, (true.headers[-1],))
        other = Sent("stripe" if of.provider != "stripe" else "paystack", true.body, true.headers)
        return [changed, bare, other]

    def _strangers(self, of: Payment) -> list[Sent]:
        """Signed with a secret that is not ours, for a payment that is."""
        data = {"id": uuid4().int % 10**12, "reference": of.reference, "amount": of.amount_minor}
        data |= {"currency": "ZAR", "status": "success"}
        return [signing.paystack("charge.success", data, "sk_test_of_a_stranger")]


def _intent(of: Payment, step: str, minor: int) -> dict[str, Any]:
    intent = {
        "id": f"pi_{of.reference}",
        "amount": minor,
        "amount_received": minor,
        "currency": "zar",
        "status": step,
        "metadata": {"reference": of.reference},
    }
    made = {"id": f"evt_{of.reference}_{step}", "object": "event", "type": _STRIPE[step]}
    return made | {"data": {"object": intent}}


async def places(host: Host, count: int) -> list[UUID]:
    """Organizations with accounts."""
    found = [uuid4() for _ in range(count)]
    for place in found:
        await billing.account(host, place)
    return found


async def waiting(connection: asyncpg.Connection) -> int:
    """Callbacks whose job has not done its work yet."""
    found: int = await connection.fetchval(
        "SELECT count(*) FROM billing.procrastinate_jobs "
        "WHERE task_name = 'billing.apply_callback' AND status IN ('todo', 'doing')"
    )
    return found


async def judge(connection: asyncpg.Connection, told: Sequence[Told], tally: Tally) -> None:
    """Compare the payments and the books with what was reckoned."""
    for one in told:
        row = await connection.fetchrow(_END, one.payment.id)
        paid = int(one.expected == "succeeded")
        tally.wrong_states += row["status"] != one.expected
        tally.double_effects += max(0, row["booked"] - paid) + max(0, row["told"] - paid)
        # Whatever is more than the true calls can have brought came from a forgery.
        tally.forged_effects += max(0, RANK.index(row["status"]) - RANK.index(one.expected))
        tally.forged_effects += max(0, row["heard"] - len({sent.body for sent in one.true}))


_END = """
    SELECT status,
        (SELECT count(*) FROM billing.journal_entry e
         WHERE e.source_id = p.id AND e.kind = 'payment') AS booked,
        (SELECT count(*) FROM billing.outbox o WHERE o.aggregate = 'payment/' || p.id::text
         AND o.mesh_subject LIKE '%.PaymentSucceeded.%') AS told,
        (SELECT count(*) FROM billing.provider_statement s
         WHERE s.payment_id = p.id AND s.organization_id = p.organization_id) AS heard
    FROM billing.payment p WHERE p.id = $1
"""
