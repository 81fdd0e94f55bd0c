"""Random histories, lived twice: by the services and by the model.

A history is one transaction that is never committed, so thousands of them leave nothing behind;
each step is a unit of work of its own on it, at its own instant, and a refusal is rolled back.
"""

import random
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from tests.domains.billing.model import DAY, FULL_REFUND, RANK, Model, Refused, vat
from tests.factories import billing, paying
from thenga.domains.billing.services import (
    cancellations,
    collecting,
    numbering,
    pausing,
    plan_changes,
    recovering,
    retries,
    subscription_clock,
    subscriptions,
)
from thenga.domains.billing.services.cancellations import Leaving
from thenga.domains.billing.services.payments import How
from thenga.domains.billing.services.plan_quotes import Wanted
from thenga.domains.billing.tables import (
    Account,
    CancellationMode,
    Interval,
    MethodKind,
    Payment,
    PaymentMethod,
    Settlement,
)
from thenga.kernel.actors import SYSTEM, Scope
from thenga.kernel.db.reader import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem
from thenga.kernel.host import Host
from thenga.kernel.ids import new_id

BEGINS = date(2027, 1, 1)
MONTHS = 24
_ACTS, _MIDNIGHT = time(8, tzinfo=UTC), time(22, tzinfo=UTC)  # ten o'clock and midnight, local
_DUE = """
    SELECT kind, id, at FROM (
        SELECT 'subscription' AS kind, id, next_check_at AS at FROM billing.subscription
            WHERE organization_id = $1
        UNION ALL SELECT 'failure', id, next_check_at FROM billing.payment_failure
            WHERE organization_id = $1
    ) AS checks WHERE at <= $2 ORDER BY at, kind, id LIMIT 1
"""
_MOVERS: dict[str, Any] = {
    "subscription": subscription_clock.pass_time,
    "failure": recovering.pass_time,
}


@dataclass
class Found:
    """What the comparison of a history found."""

    invoices: int = 0
    violations: list[str] = field(default_factory=list)
    cents_off: int = 0


@dataclass
class Lived:
    """One history on the side of the services."""

    host: Host
    connection: Any
    organization_id: UUID
    now: datetime
    card: str = "ok"
    method: UUID | None = None
    refused: str = ""

    def work(self) -> Work:
        origin = Origin(action="history", request_id="history", correlation_id="history")
        made = Work(
            self.host,
            "billing",
            Scope(SYSTEM, self.organization_id),
            origin,
            login="billing_system",
        )
        made._connection, made.now = self.connection, self.now
        return made

    async def begin(self) -> None:
        work = self.work()
        account = await work.add(
            Account(
                organization_id=self.organization_id,
                book="live",
                status="active",
                bill_to=billing.BILL_TO | {"address": {"line1": "1", "city": "2"}},
            )
        )
        self.account_id = account.id
        await self.add_card()

    async def add_card(self) -> PaymentMethod:
        work = self.work()
        await work.run(
            "UPDATE billing.payment_method SET preferred = false WHERE organization_id = $1",
            self.organization_id,
        )
        made = await work.add(
            PaymentMethod(
                organization_id=self.organization_id,
                account_id=self.account_id,
                provider="paystack",
                kind=MethodKind.CARD,
                preferred=True,
                sealed_token=b"",
                token_hash=new_id().bytes,
            )
        )
        self.method = made.id
        return made

    async def until(self, instant: datetime) -> None:
        """Do what is due, in order, each at its own instant."""
        for _ in range(2000):
            found = await self.connection.fetch(_DUE, self.organization_id, instant)
            if not found:
                break
            self.now = max(self.now, found[0]["at"])
            await _MOVERS[found[0]["kind"]](self.work(), found[0]["id"])
            await self.settle()
        self.now = instant

    async def settle(self) -> None:
        """Answer the charges that run, and number the documents."""
        waiting = await self.connection.fetch(
            "SELECT id FROM billing.payment WHERE organization_id = $1 AND status = 'processing'",
            self.organization_id,
        )
        for row in waiting:
            work = self.work()
            payment = await work.get(Payment, row["id"])
            said = paying.statement(payment, self.card, self.now)
            await collecting.take(work, payment.id, said)
        for _ in range(20):
            work = self.work()
            await numbering.issue_next(work, seller="thenga", book="live")
            if not work._jobs:
                break
        if waiting:
            await self.settle()

    async def act(self, name: str, **given: Any) -> bool:
        """Whether it was let; a refusal leaves nothing behind."""
        await self.connection.execute("SAVEPOINT act")
        try:
            await getattr(self, name)(**given)
        except Problem as refused:
            self.refused = f"{type(refused).__name__}: {refused.detail}"
            await self.connection.execute("ROLLBACK TO SAVEPOINT act; RELEASE SAVEPOINT act")
            return False
        await self.connection.execute("RELEASE SAVEPOINT act")
        await self.settle()
        return True

    async def _live(self) -> UUID:
        found = await self.connection.fetchval(
            "SELECT id FROM billing.subscription WHERE organization_id = $1 "
            "AND status IN ('active', 'past_due', 'suspended', 'paused')",
            self.organization_id,
        )
        if found is None:
            raise Problem("There is no subscription.")
        return UUID(str(found))

    async def buy(self, plan: str, interval: str) -> None:
        how = How(payment_method_id=self.method)
        await subscriptions.buy(self.work(), plan_code=plan, interval=Interval(interval), how=how)

    async def change(self, plan: str, interval: str) -> None:
        work = self.work()
        held = await subscription_clock.held(work, await self._live())
        wanted = Wanted(plan, Interval(interval), None)
        await plan_changes.request(work, held, wanted, expected_due=None)

    async def pause(self, resume_on: date | None) -> None:
        work = self.work()
        held = await subscription_clock.held(work, await self._live())
        await pausing.pause(work, held, resume_on=resume_on)

    async def resume(self) -> None:
        work = self.work()
        held = await subscription_clock.held(work, await self._live())
        if held.status != "paused":
            raise Problem("It is not paused.")
        await pausing.resume(work, held, on=(self.now + timedelta(hours=2)).date())

    async def cancel(self, at_once: bool) -> None:
        work = self.work()
        held = await subscription_clock.held(work, await self._live())
        mode = CancellationMode.IMMEDIATE if at_once else CancellationMode.PERIOD_END
        await cancellations.cancel(work, held, Leaving(mode, "other", None, Settlement.CREDIT))

    async def undo(self) -> None:
        found = await self.connection.fetchval(
            "SELECT id FROM billing.cancellation WHERE organization_id = $1 "
            "AND status = 'scheduled'",
            self.organization_id,
        )
        if found is None:
            raise Problem("Nothing is cancelled.")
        await cancellations.undo(self.work(), UUID(str(found)))

    async def retry(self) -> None:
        found = await self.connection.fetchval(
            "SELECT id FROM billing.payment_failure WHERE organization_id = $1 "
            "AND status IN ('open', 'exhausted') ORDER BY id DESC LIMIT 1",
            self.organization_id,
        )
        if found is None:
            raise Problem("Nothing has failed.")
        await retries.by_hand(self.work(), UUID(str(found)), method_id=None)

    async def replace_card(self) -> None:
        self.card = "ok"
        await retries.new_method(self.work(), await self.add_card())


def chosen(dice: random.Random, model: Model, day: date) -> tuple[str, dict[str, Any]]:
    """Something that a person might do now, mostly something that makes sense."""
    held = model.held
    plan, interval = dice.choice(list(RANK)), dice.choice(["month", "month", "month", "year"])
    names = ["card", "buy", "change", "retry", "replace_card"]
    if held is None:
        names = ["buy"] * 6 + ["card", "retry", "replace_card"]
    elif held.failure is not None:
        names = ["retry", "replace_card", "card", "change", "wait", "wait"]
    else:
        names += ["change"] * 3 + ["pause", "resume", "cancel", "undo", "card", "wait"]
    name = dice.choice(names)
    if name in ("buy", "change"):
        return name, {"plan": plan, "interval": interval}
    if name == "pause":
        longest = dice.choice([None, day + dice.randint(1, 60) * DAY])
        return name, {"resume_on": longest}
    if name == "cancel" and held is not None:
        fresh = (day - held.begun).days <= FULL_REFUND + 1
        return name, {"at_once": not fresh and dice.random() < 0.5}
    if name == "card":
        return name, {"said": dice.choice(["ok", "soft", "soft", "hard"])}
    return name, {}


async def live(host: Host, connection: Any, seed: int) -> Found:
    """One history of 24 months, both ways, and what differs."""
    dice, model, found = random.Random(seed), Model(), Found()
    first = BEGINS + dice.randint(0, 364) * DAY
    lived = Lived(host, connection, new_id(), datetime.combine(first, _ACTS))
    await connection.execute("BEGIN")
    try:
        await lived.begin()
        await _live_through(lived, model, dice, first, found)
        await _compare(lived, model, found, seed)
        await connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
    finally:
        await connection.execute("ROLLBACK")
    return found


async def _live_through(
    lived: Lived, model: Model, dice: random.Random, first: date, found: Found
) -> None:
    acts_on, day = first, first
    while day < first + MONTHS * 30 * DAY:
        if day != first:
            model.midnight(day)
        model.morning(day)
        if day == acts_on:
            await lived.until(datetime.combine(day, _ACTS))
            await _act(lived, model, dice, day, found)
            acts_on = day + dice.choice([1, 3, 8, 15, 29, 35, 60]) * DAY
        day += DAY
    await lived.until(datetime.combine(day - DAY, _ACTS))


async def _act(lived: Lived, model: Model, dice: random.Random, day: date, found: Found) -> None:
    name, given = chosen(dice, model, day)
    if name == "wait":
        return
    if name == "card":
        model.card = lived.card = given["said"]
        return
    expected = True
    try:
        getattr(model, name)(day, **given)
    except Refused:
        expected = False
    if await lived.act(name, **given) != expected:
        found.violations.append(f"{day} {name} {given}: {expected=} {lived.refused}")


_DOCUMENTS = """
    SELECT gross_minor, vat_minor, amount_due_minor FROM billing.invoice
    WHERE organization_id = $1 AND number IS NOT NULL ORDER BY number
"""
_NOTES = """
    SELECT gross_minor, vat_minor FROM billing.credit_note
    WHERE organization_id = $1 ORDER BY number
"""
_CREDIT = """
    SELECT coalesce(-sum(amount_minor), 0)::bigint FROM billing.journal_line
    WHERE organization_id = $1 AND account = 'customer_credit'
"""
_RECEIVABLE = """
    SELECT coalesce(sum(amount_minor), 0)::bigint FROM billing.journal_line
    WHERE organization_id = $1 AND account = 'receivable'
"""
_STANDS = """
    SELECT status, plan_code, period_end FROM billing.subscription
    WHERE organization_id = $1 AND status IN ('active', 'past_due', 'suspended', 'paused')
"""


async def _compare(lived: Lived, model: Model, found: Found, seed: int) -> None:
    ours, connection = lived.organization_id, lived.connection
    documents = [tuple(row) for row in await connection.fetch(_DOCUMENTS, ours)]
    notes = sorted(tuple(row) for row in await connection.fetch(_NOTES, ours))
    expected = [(one.gross, vat(one.gross), one.due) for one in model.invoices]
    given = sorted(note for one in model.invoices for note in one.notes)
    credit = await connection.fetchval(_CREDIT, ours)
    owed = await connection.fetchval(_RECEIVABLE, ours)
    stands = [tuple(row) for row in await connection.fetch(_STANDS, ours)]
    held = model.held
    wanted = [] if held is None else [(held.status, held.plan, held.end)]
    found.invoices = len(documents)
    found.cents_off += _off(documents, expected) + _off(notes, given)
    found.cents_off += abs(credit - model.credit) + abs(owed - model.due)
    for what, is_, should in (
        ("stands", stands, wanted),
        ("documents", len(documents), len(expected)),
        ("credit notes", len(notes), len(given)),
        ("receivable", owed, sum(one[2] for one in documents)),
    ):
        if is_ != should:
            found.violations.append(f"{seed} {what}: {is_} should be {should}")


def _off(here: list[Any], there: list[Any]) -> int:
    """By how many cents two lists of amounts differ, one by one."""
    return sum(
        abs(a - b)
        for one, other in zip(here, there, strict=False)
        for a, b in zip(one, other, strict=True)
    )
