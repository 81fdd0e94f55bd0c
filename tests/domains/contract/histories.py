"""Random histories of contracts, lived twice: by the services and by a slow model in decimals."""

import random
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from tests.domains.contract.slow_history import Refused, SlowBill, SlowHistory
from tests.factories import contract_money
from thenga.domains.contract.services.invoicing import invoices, payments
from thenga.domains.contract.services.invoicing.drafts import LineGiven
from thenga.domains.contract.services.invoicing.moves import InvoiceMove
from thenga.domains.contract.services.invoicing.payments import PaymentGiven
from thenga.domains.contract.services.variations import execution
from thenga.domains.contract.tables import (
    InvoiceKind,
    Party,
    Variation,
    VariationReason,
    VariationStatus,
    Workspace,
)
from thenga.domains.contract.values.terms import Advance, Retention, Terms
from thenga.kernel.access.actors import Actor, ActorKind, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.money import Money

AT = datetime(2026, 11, 2, 8, tzinfo=UTC)
TODAY = date(2026, 11, 2)
ACTS = 18
_ACCOUNTS = """
    SELECT account, sum(amount_minor)::bigint AS minor FROM contract.journal_line
    WHERE organization_id = $1 GROUP BY account
"""
_INVOICES = """
    SELECT id, status, payable_minor - paid_minor - credited_minor - written_off_minor AS owed
    FROM contract.invoice WHERE organization_id = $1 AND number IS NOT NULL
"""


@dataclass
class Found:
    """What the comparison of histories found."""

    histories: int = 0
    invoices: int = 0
    violations: list[str] = field(default_factory=list)
    cents_off: int = 0
    seconds: float = 0.0

    def add(self, other: "Found") -> None:
        self.histories += other.histories
        self.invoices += other.invoices
        self.violations += other.violations
        self.cents_off += other.cents_off
        self.seconds += other.seconds


class Lived:
    """One contract as the services keep it, each act in a transaction of its own."""

    def __init__(self, host: Host, connection: Any, terms: Terms, value: Money) -> None:
        self.host, self.connection, self.terms, self.value = host, connection, terms, value
        self.id, self.user_id = new_id(), new_id()
        self.workspace_id: UUID
        self.milestones: dict[str, UUID] = {}
        self.invoices: list[UUID] = []
        self.payments: list[UUID] = []

    def work(self) -> Work:
        origin = Origin(action="test", request_id="test", correlation_id="test")
        scope = Scope(Actor(kind=ActorKind.USER, id=self.user_id), self.id)
        made = Work(self.host, "contract", scope, origin, login="contract_system")
        made._connection, made.now = self.connection, AT
        return made

    async def begin(self) -> None:
        self.workspace_id, self.milestones = await contract_money.add_rows(
            self.work(), self.id, self.value, self.terms, {"practical_completion_on": TODAY}
        )
        await self.connection.execute(
            "UPDATE contract.milestone SET status = 'met', accepted_percent = 100 "
            "WHERE organization_id = $1",
            self.id,
        )

    async def act(self, name: str, facts: dict[str, Any]) -> None:
        await self.connection.execute("BEGIN")
        try:
            await getattr(self, name)(**facts)
        except BaseException:
            await self.connection.execute("ROLLBACK")
            raise
        await self.connection.execute("COMMIT")

    async def bill(self, kind: str, key: str | None, amount: Money) -> None:
        milestone = None if key is None else self.milestones[key]
        made = await invoices.create_invoice(
            self.work(),
            self.workspace_id,
            kind=InvoiceKind(kind),
            lines=[LineGiven("Claim", amount, milestone)],
            fields={},
            submit_as=contract_money.SELLER,
            is_submitted=True,
        )
        self.invoices.append(made.id)

    async def move(self, place: int, verb: str, amount: Money | None = None) -> None:
        move = InvoiceMove(verb, TODAY, "missing_papers", "History", amount)
        await invoices.change_invoice(
            self.work(), self.invoices[place], fields={}, lines=None, move=move, submit_as=None
        )

    async def pay(self, place: int, amount: Money) -> None:
        given = PaymentGiven(amount, TODAY, seen_in_bank=True)
        made = await payments.record_payment(self.work(), self.invoices[place], given)
        self.payments.append(made.id)

    async def reverse(self, payment: int) -> None:
        await payments.reverse_payment(self.work(), self.payments[payment], "recalled")

    async def vary(self, key: str, delta: Money) -> None:
        work = self.work()
        workspace = await work.lock(Workspace, self.workspace_id)
        variation = await work.add(
            Variation(
                organization_id=self.id,
                workspace_id=self.workspace_id,
                number=str(new_id()),
                reason_code=VariationReason.REMEASUREMENT,
                status=VariationStatus.APPROVED,
                title="Remeasurement",
                kinds=["value"],
                value_delta_minor=delta.minor,
                currency=delta.currency,
                milestone_changes=[
                    {"key": key, "amount_delta_minor": delta.minor, "currency": delta.currency}
                ],
                content_hash="0" * 64,
            )
        )
        await work.hold(variation)
        for party in Party:
            await execution.sign(work, workspace, variation, party, None)


def chosen(dice: random.Random, model: SlowHistory) -> tuple[str, dict[str, Any]]:
    """Something that a person might do now, mostly something that makes sense."""
    bills = len(model.bills)
    names = ["bill"] * 4 + ["vary"]
    names += ["pay", "pay", "move", "move"] if bills else []
    names += ["reverse"] if model.payments else []
    name = dice.choice(names)
    if name == "bill":
        kind = dice.choice(["progress"] * 4 + ["advance", "retention_release"])
        key = dice.choice(list(model.milestones)) if kind == "progress" else None
        room = model.room(kind, key)
        return name, {"kind": kind, "key": key, "amount": amount(dice, room)}
    if name == "vary":
        size = model.value / dice.choice([4, 10, 50])
        delta = amount(dice, size)
        key = dice.choice(list(model.milestones))
        return name, {"key": key, "delta": delta if dice.random() < 0.7 else -delta}
    if name == "reverse":
        return name, {"payment": dice.randrange(len(model.payments))}
    place = dice.randrange(bills)
    owed = model.bills[place].outstanding
    if name == "pay":
        return name, {"place": place, "amount": amount(dice, owed)}
    verb = dice.choice(
        ["receive", "receive", "return", "resubmit", "dispute", "resolve", "credit", "write_off"]
    )
    sized = verb in ("dispute", "credit", "write_off")
    return name, {"place": place, "verb": verb, "amount": amount(dice, owed) if sized else None}


def amount(dice: random.Random, room: Decimal) -> Money:
    """All of it, a part of it, or now and then a cent too much."""
    cents = max(int(room * 100), 0)
    part = dice.choice([cents, cents, dice.randint(0, cents), cents // 3, cents + 1])
    return Money(max(part, 1), "ZAR")


async def live(host: Host, connection: Any, seed: int) -> Found:
    """One history both ways, and what differs."""
    began, dice = time.perf_counter(), random.Random(seed)
    found = Found(histories=1)
    value = Money(dice.randint(100_000, 999_999_999), "ZAR")
    terms = Terms(
        payment_days=30,
        advance=Advance(Decimal(dice.choice([0, 10, 15])), Decimal(dice.choice([0, 25, 33]))),
        retention=Retention(
            Decimal(dice.choice(["0", "5", "7.5", "10"])),
            Decimal(dice.choice(["2.5", "5", "10"])),
            Decimal(dice.choice([0, 50, 100])),
            dice.choice([0, 90]),
            dice.choice(["when_due", "on_invoice"]),
        ),
    )
    lived = Lived(host, connection, terms, value)
    model = SlowHistory.of(terms, Decimal(value.amount), contract_money.SHARES_E)
    await lived.act("begin", {})
    for _ in range(ACTS):
        name, facts = chosen(dice, model)
        await _both(lived, model, name, facts, found, seed)
    await _compare(lived, model, found, seed)
    found.invoices, found.seconds = len(model.bills), time.perf_counter() - began
    return found


async def _both(
    lived: Lived, model: SlowHistory, name: str, facts: dict[str, Any], found: Found, seed: int
) -> None:
    ours = theirs = True
    try:
        await lived.act(name, facts)
    except Problem:
        ours = False
    with suppress(Refused):
        theirs = False
        model.act(name, facts)
        theirs = True
    if ours is not theirs:
        found.violations.append(f"seed {seed}: {name} {facts}: {ours} but the model {theirs}")
        raise AssertionError(found.violations[-1])


async def _compare(lived: Lived, model: SlowHistory, found: Found, seed: int) -> None:
    rows = await lived.connection.fetch(_ACCOUNTS, lived.id)
    ours = {row["account"]: row["minor"] for row in rows}
    for account, total in model.accounts().items():
        off = ours.get(account, 0) - int(total * 100)
        if off:
            found.violations.append(f"seed {seed}: {account} is {off} cents off")
            found.cents_off += abs(off)
    states = {row["id"]: row for row in await lived.connection.fetch(_INVOICES, lived.id)}
    for invoice_id, bill in zip(lived.invoices, model.bills, strict=True):
        row = states[invoice_id]
        assert isinstance(bill, SlowBill)
        if (row["status"], row["owed"]) != (bill.status, int(bill.outstanding * 100)):
            found.violations.append(f"seed {seed}: {dict(row)} but the model {bill}")
