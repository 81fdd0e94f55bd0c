"""kill: processes die at random under load, and every acknowledged write has its effects, once."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import psycopg
import pytest

from tests.factories.identity import person
from tests.suites import books
from tests.suites.buyers import Buyer
from tests.suites.clients import Caller, Client, Ledger
from tests.suites.killing import Platform, hosted, kill_some, platform
from tests.suites.reckoning import Figures, is_quiet, reckon
from tests.suites.sizes import size
from tests.suites.streams import came

pytestmark = pytest.mark.no_retry

CLIENTS = size(3, 6)
BUYERS = size(1, 2)
SEED = 20261115
QUIET_SECONDS = 300


@pytest.fixture(scope="module")
async def running() -> AsyncIterator[Platform]:
    async with platform() as made:
        yield made


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    """What all clients of this platform were told, over all tests."""
    return Ledger()


async def load(
    running: Platform,
    ledger: Ledger,
    meanwhile: Callable[[], Awaitable[list[str]]],
    *,
    one_key: bool = True,
) -> list[str]:
    """Clients at work while something happens to the platform.

    Nobody buys with another key each time: an account is opened once, whatever the key.
    """
    chance = random.Random(SEED)
    async with hosted(running.settings) as host:
        people = [await person(host) for _ in range(CLIENTS + BUYERS)]
    callers = [
        Caller(running.urls, one.headers, ledger, random.Random(chance.random()), one_key=one_key)
        for one in people
    ]
    clients = [Client(caller) for caller in callers[:CLIENTS]]
    buyers = [Buyer(caller) for caller in callers[CLIENTS:] if one_key]
    stop = asyncio.Event()
    tasks = [asyncio.create_task(one.run(stop)) for one in (*clients, *buyers)]
    try:
        return await meanwhile()
    finally:
        stop.set()
        await asyncio.gather(*tasks)


@pytest.fixture
async def in_use(running: Platform, ledger: Ledger) -> None:
    """Something was made and bought, by an earlier test or now, without a kill."""

    async def until_bought() -> list[str]:
        async with asyncio.timeout(QUIET_SECONDS):
            while not (ledger.machines and ledger.bought):
                await asyncio.sleep(0.02)
        return []

    if not (ledger.machines and ledger.bought):
        await load(running, ledger, until_bought)


async def settled(running: Platform, ledger: Ledger) -> tuple[bool, Figures]:
    async with hosted(running.settings) as host:
        quiet = await came(lambda: is_quiet(host, ledger), QUIET_SECONDS)
        charges = books.charges_of(running.provider.payments)
        return quiet, await reckon(host, ledger, charges)


@pytest.mark.rule("SEC-11")
@pytest.mark.rule("BIL-31")
@pytest.mark.rule("BIL-48")
async def test_no_kill_loses_or_doubles_anything(running: Platform, ledger: Ledger) -> None:
    kills = size(2, 60)

    async def kill() -> list[str]:
        chance = random.Random(SEED)
        killed = await kill_some(running.victims, kills, chance, lambda: ledger.writes)
        async with asyncio.timeout(QUIET_SECONDS):  # a few kills leave little time to buy in
            while len(ledger.watched) < CLIENTS or len(ledger.bought) < BUYERS:
                await asyncio.sleep(0.02)
        return killed

    killed = await load(running, ledger, kill)
    quiet, figures = await settled(running, ledger)

    print(f"\nkills={len(killed)} {figures}")
    print(
        f"kill writes={ledger.writes} retries={ledger.retries} "
        f"organizations={len(ledger.organizations)} machines={len(ledger.machines)} "
        f"jobs={len(ledger.watched)} bought={len(ledger.bought)} killed={dict(Counter(killed))}"
    )
    assert not figures.faults, figures.notes[:20]
    assert quiet
    assert len(killed) == kills
    assert len(ledger.watched) >= CLIENTS, "no job was due, so none was proved"
    assert len(ledger.bought) >= BUYERS, "nothing was bought, so no book was proved"


@pytest.mark.prove
async def test_clients_that_retry_with_another_key_are_caught(
    running: Platform, ledger: Ledger
) -> None:
    async def until_sent_again() -> list[str]:
        async with asyncio.timeout(QUIET_SECONDS):
            while not ledger.sent_again:
                await asyncio.sleep(0.02)
        return []

    await load(running, ledger, until_sent_again, one_key=False)
    _, figures = await settled(running, ledger)

    print(f"\nplanted, another key each time: {figures}")
    assert figures.faults["doubled"] > 0
    assert figures.faults["audit_gaps"] == figures.faults["order"] == 0


@pytest.mark.prove
@pytest.mark.usefixtures("in_use")
async def test_a_missing_audit_row_and_a_missing_event_are_caught(
    running: Platform, ledger: Ledger
) -> None:
    admin = running.settings.admin_database.get_secret_value()
    with psycopg.connect(admin, autocommit=True) as connection:
        for table, column in (("audit_entry", "entry"), ("outbox", "envelope")):
            connection.execute(
                f"DELETE FROM organization.{table} WHERE id = "
                f"(SELECT id FROM organization.{table} WHERE {column} LIKE '%equipment%' LIMIT 1)"
            )

    _, figures = await settled(running, ledger)

    print(f"\nplanted, rows deleted: {figures}")
    assert figures.faults["audit_gaps"] > 0
    assert figures.faults["lost"] > 0


# Behind the triggers, as nobody but the administrator of the database can.
_PLANTED = {
    "unbalanced": """
        DELETE FROM billing.journal_line WHERE id =
            (SELECT id FROM billing.journal_line
             WHERE account = 'receivable' AND organization_id = ANY (%(bought)s) LIMIT 1)
    """,
    "lost": """
        DELETE FROM billing.journal_entry WHERE id = (
            SELECT e.id FROM billing.journal_entry e
            WHERE kind = 'allocation' AND e.organization_id = ANY (%(bought)s)
            AND (SELECT count(*) FROM billing.journal_line l WHERE l.entry_id = e.id) = 2 LIMIT 1
        )
    """,
}


_SAID_OF = {"unbalanced": "entries whose sides differ", "lost": "allocations of invoice"}


@pytest.mark.prove
@pytest.mark.usefixtures("in_use")
@pytest.mark.parametrize("fault", _PLANTED)
async def test_a_missing_booking_is_caught(running: Platform, ledger: Ledger, fault: str) -> None:
    _, before = await settled(running, ledger)
    admin = running.settings.admin_database.get_secret_value()
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        # Of what the ledger knows: a purchase that nobody was told of is not looked for.
        connection.execute(_PLANTED[fault], {"bought": list(ledger.bought)})

    _, figures = await settled(running, ledger)

    print(f"\nplanted, a booking deleted: {figures}")
    new = [one for one in figures.notes if one not in before.notes]
    of_it = [one for one in new if one.startswith(f"{fault} 1: ") and _SAID_OF[fault] in one]
    assert len(of_it) == 1, (before.notes, figures.notes)


@pytest.mark.prove
@pytest.mark.usefixtures("in_use")
async def test_a_charge_that_nobody_booked_is_caught(running: Platform, ledger: Ledger) -> None:
    _, before = await settled(running, ledger)
    (one, *_) = running.provider.payments.values()
    running.provider.payments["SECONDCHARGE"] = replace(one, reference="SECONDCHARGE")

    _, figures = await settled(running, ledger)

    print(f"\nplanted, charged twice: {figures}")
    said = "doubled 1: charges of no payment"
    assert said in figures.notes and said not in before.notes, (before.notes, figures.notes)
