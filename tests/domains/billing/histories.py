"""Random histories, lived twice: by the services and by the model, and compared to the cent.

Also a program, so that several processes can share the work: `histories FIRST COUNT STEP FILE`
lives those seeds and writes what it found.
"""

import asyncio
import gc
import json
import random
import sys
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, timedelta
from datetime import time as hour
from pathlib import Path
from typing import Any

import uvloop

from tests.domains.billing.living import Lived
from tests.domains.billing.model import BY_MONTH, DAY, FULL_REFUND, Model, Refused, vat
from thenga.domains.billing.tables import Book
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.ids import new_id
from thenga.starting import make_host

BEGINS = date(2027, 1, 1)
MONTHS = 24
_ACTS = hour(8, tzinfo=UTC)  # ten o'clock, local
_EVENING = timedelta(hours=12)  # when all that follows from that hour has been done


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


def chosen(dice: random.Random, model: Model, day: date) -> tuple[str, dict[str, Any]]:
    """Something that a person might do now, mostly something that makes sense."""
    held = model.held
    plan, interval = dice.choice(list(BY_MONTH)), dice.choice(["month", "month", "month", "year"])
    names = ["card", "buy", "change", "retry", "replace_card"]
    if held is None:
        names = ["buy"] * 6 + ["card", "retry", "replace_card"]
    elif held.failure is not None:
        names = ["retry", "replace_card", "card", "change", "cancel", "undo"] + ["wait"] * 3
    else:
        names += ["change"] * 3 + ["pause", "resume", "cancel", "undo", "card", "wait"]
        names += ["cancel"] * 2 if (day - held.begun).days <= FULL_REFUND else []
    name = dice.choice(names)
    if name in ("buy", "change"):
        return name, {"plan": plan, "interval": interval}
    if name == "pause":
        longest = dice.choice([None, day + dice.randint(1, 60) * DAY])
        return name, {"resume_on": longest}
    if name == "cancel":
        return name, {"at_once": dice.random() < 0.5}
    if name == "card":
        return name, {"said": dice.choice(["ok", "soft", "soft", "hard"])}
    return name, {}


async def live(host: Host, connection: Any, seed: int) -> Found:
    """One history of 24 months, both ways, and what differs.

    Every second one is a sandbox, whose numbers are its own: two processes never wait for the
    same series.
    """
    began = time.perf_counter()
    dice, model, found = random.Random(seed), Model(), Found(histories=1)
    first = BEGINS + dice.randint(0, 364) * DAY
    book = Book.SANDBOX if seed % 2 else Book.LIVE
    lived = Lived(host, connection, book, new_id(), datetime.combine(first, _ACTS))
    await connection.execute("BEGIN")
    try:
        await lived.begin()
        await _live_through(lived, model, dice, first, found)
        await _compare(lived, model, found, seed)
        await connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
    finally:
        await connection.execute("ROLLBACK")
    found.seconds = time.perf_counter() - began
    return found


async def live_all(host: Host, seeds: range) -> Found:
    """Many histories, one after the other."""
    found = Found()
    async with host.engines.connection("billing", "billing_system") as connection:
        for seed in seeds:
            found.add(await live(host, connection, seed))
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
    await lived.until(datetime.combine(day - DAY, _ACTS) + _EVENING)


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
_REFUNDED = """
    SELECT coalesce(sum(amount_minor), 0)::bigint FROM billing.refund
    WHERE organization_id = $1 AND status = 'succeeded'
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
    refunded = await connection.fetchval(_REFUNDED, ours)
    stands = [tuple(row) for row in await connection.fetch(_STANDS, ours)]
    held = model.held
    wanted = [] if held is None else [(held.status, held.plan, held.end)]
    found.invoices = len(documents)
    found.cents_off += _off(documents, expected) + _off(notes, given)
    found.cents_off += abs(credit - model.credit) + abs(refunded - model.refunded)
    found.cents_off += abs(owed - sum(one.due for one in model.invoices))
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


async def main(seeds: range) -> Found:
    host = make_host(Settings())
    try:
        return await live_all(host, seeds)
    finally:
        await host.engines.close()


if __name__ == "__main__":
    first, count, step = map(int, sys.argv[1:4])
    gc.freeze()  # as the application does: what was imported is not looked through again
    gc.set_threshold(50_000, 20, 100)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        lived = runner.run(main(range(first, count, step)))
    Path(sys.argv[4]).write_text(json.dumps(asdict(lived)))
