"""The reckoning after the chaos: what clients were told against what stands everywhere."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson

from tests.suites import books, buyers
from tests.suites.clients import Ledger
from tests.suites.own import DOMAINS
from tests.suites.streams import Told, came, inversions, is_carried, is_consumed, told
from thenga.domains.organization.public import ExpiryApproaching
from thenga.kernel.db.rows import PersonalRow, TenantRow, rows
from thenga.kernel.events import sealer
from thenga.kernel.process.host import Host

# Each version of these has an event of its own; the name is the first part of its subject.
TOLD_TABLES = {
    "organization": "organization.organization",
    "equipment": "organization.equipment",
    "membership": "identity.membership",
    "role_assignment": "identity.role_assignment",
}
SEALED_SECONDS = 60  # within which an audit row is sealed, with room for a busy machine
CONSUMERS = (
    "identity-from-organization",
    "organization-from-organization",
    "organization-from-identity",
    "billing-from-organization",
    "billing-from-identity",
    "identity-from-billing",
)


@dataclass
class Figures:
    """How much of each fault was found, and what it was."""

    faults: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def add(self, fault: str, count: int, note: str) -> None:
        if count > 0:
            self.faults[fault] += count
            self.notes.append(f"{fault} {count}: {note}")

    def compare(self, expected: int, found: int, note: str) -> None:
        self.add("lost", expected - found, note)
        self.add("doubled", found - expected, note)

    def __str__(self) -> str:
        names = ("lost", "doubled", "order", "audit_gaps", "journal_sum", "unbalanced")
        return " ".join(f"{name}={self.faults[name]}" for name in names)


async def query(host: Host, domain: str, text: str) -> list[Any]:
    async with host.engines.connection(domain, f"{domain}_system") as connection:
        return list(await connection.fetch(text))


async def at_one_moment(host: Host, domain: str, *texts: str) -> list[list[Any]]:
    """The rows of several queries in one state: a job may still write while we reckon."""
    async with (
        host.engines.connection(domain, f"{domain}_system") as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        return [list(await connection.fetch(text)) for text in texts]


async def is_quiet(host: Host, ledger: Ledger) -> bool:
    """Whether events, reactions, seals and jobs have all come to their end."""
    for domain in DOMAINS:
        unsealed = await query(
            host, domain, f"SELECT 1 FROM {domain}.audit_entry WHERE seq IS NULL LIMIT 1"
        )
        if unsealed or not await is_carried(host, domain):
            return False
    for consumer in CONSUMERS:
        if not await is_consumed(host, consumer):
            return False
    waiting = await query(
        host,
        "organization",
        "SELECT id FROM organization.equipment WHERE next_check_at IS NOT NULL",
    )
    if ledger.watched & {row["id"] for row in waiting}:
        return False
    text = "SELECT organization_id FROM billing.invoice WHERE status = 'paid'"
    paid = Counter(row["organization_id"] for row in await query(host, "billing", text))
    return all(paid[home] >= buyers.PERIODS for home in ledger.bought)


async def reckon(host: Host, ledger: Ledger, charges: Mapping[str, int]) -> Figures:
    """Every fault that can be seen from outside and inside; `charges` is the provider's side."""
    figures = Figures()
    await _writes(host, ledger, figures)
    # Before the streams are read: what a sweep tells meanwhile is on its way, and not lost.
    committed = {domain: await _outbox(host, domain) for domain in DOMAINS}
    streams = {domain: await told(host, domain) for domain in DOMAINS}
    for domain, events in streams.items():
        await _stream(host, domain, events, committed[domain], figures)
        await _audit(host, domain, figures)
        await _leftovers(host, domain, figures)
    for name, table in TOLD_TABLES.items():
        await _versions_told(host, name, table, figures)
    await _reactions(host, ledger, figures)
    _jobs(ledger, streams["organization"], figures)
    await _money(host, ledger, charges, figures)
    return figures


async def _writes(host: Host, ledger: Ledger, figures: Figures) -> None:
    """Each acknowledged write is there once, and nothing that nobody asked for."""
    text = "SELECT id, version, quantity, status FROM organization.equipment"
    found = {row["id"]: row for row in await query(host, "organization", text)}
    for key, machine in ledger.machines.items():
        row = found.pop(key, None)
        if row is None:
            figures.add("lost", machine.version, f"machine {key}")
            continue
        by_job = key in ledger.watched
        figures.compare(machine.version + by_job, row["version"], f"versions of machine {key}")
        state = (row["quantity"], row["status"])
        figures.add("lost", state != (machine.quantity, machine.status), f"state of machine {key}")
    figures.add("doubled", len(found), "machines that nobody was told of")
    text = "SELECT id, version FROM organization.organization"
    kept = {row["id"]: row["version"] for row in await query(host, "organization", text)}
    for key, version in ledger.organizations.items():
        figures.compare(version, kept.pop(key, 0), f"versions of organization {key}")
    figures.add("doubled", len(kept), "organizations that nobody was told of")


async def _outbox(host: Host, domain: str) -> set[UUID]:
    return {row["id"] for row in await query(host, domain, f"SELECT id FROM {domain}.outbox")}


async def _stream(
    host: Host, domain: str, events: list[Told], committed: set[UUID], figures: Figures
) -> None:
    """The stream holds what the outbox holds, once and in the order of each aggregate."""
    ids = Counter(event.id for event in events)
    untold = ids.keys() - await _outbox(host, domain)
    figures.add("lost", len(committed - ids.keys()), f"events of {domain} that no stream has")
    figures.add("doubled", len(untold), f"events of {domain} that no commit told")
    figures.add("doubled", ids.total() - len(ids), f"events twice in the stream of {domain}")
    figures.add("order", inversions(events), f"versions swapped in the stream of {domain}")


async def _versions_told(host: Host, name: str, table: str, figures: Figures) -> None:
    domain = table.partition(".")[0]
    text = (
        f"SELECT aggregate, (envelope::jsonb ->> 'sequence')::int AS sequence "
        f"FROM {domain}.outbox WHERE aggregate LIKE '{name}/%'"
    )
    sent, kept = await at_one_moment(host, domain, text, f"SELECT id, version FROM {table}")
    events = Counter((row["aggregate"], row["sequence"]) for row in sent)
    for row in kept:
        for version in range(1, row["version"] + 1):
            subject = f"{name}/{row['id']}"
            found = events.pop((subject, version), 0)
            figures.compare(1, found, f"events of version {version} of {subject}")
    figures.add("doubled", events.total(), f"events of versions that no {name} has")


async def _audit(host: Host, domain: str, figures: Figures) -> None:
    """Each version of each row has one audit row, sealed in a chain that holds."""
    entries: Counter[tuple[str, str]] = Counter()
    kept = {table: f"SELECT id, version FROM {domain}.{table}" for table in _audited_tables(domain)}
    texts = [f"SELECT id, entry, seq FROM {domain}.audit_entry", *kept.values()]
    audited, *versions = await at_one_moment(host, domain, *texts)
    for row in audited:
        entry = orjson.loads(row["entry"])
        entries[entry["target"]["type"], entry["target"]["id"]] += "change" in entry["detail"]
    for table, found_rows in zip(kept, versions, strict=True):
        for row in found_rows:
            found = entries[table, str(row["id"])]
            note = f"audit rows of {table} {row['id']}"
            figures.add("audit_gaps", row["version"] - found, note)
            figures.add("doubled", found - row["version"], note)
    unsealed = {row["id"] for row in audited if row["seq"] is None}
    await came(lambda: _all_sealed(host, domain, unsealed), SEALED_SECONDS)
    unsealed &= await _unsealed(host, domain)
    figures.add("audit_gaps", len(unsealed), f"not sealed: {sorted(map(str, unsealed))[:3]}")
    async with host.engines.connection(domain, f"{domain}_system") as connection:
        breaks = await sealer.verify(connection, domain)
    figures.add("audit_gaps", len(breaks), f"breaks in the chains of {domain}: {breaks[:3]}")


async def _unsealed(host: Host, domain: str) -> set[UUID]:
    text = f"SELECT id FROM {domain}.audit_entry WHERE seq IS NULL"
    return {row["id"] for row in await query(host, domain, text)}


async def _all_sealed(host: Host, domain: str, entries: set[UUID]) -> bool:
    return entries.isdisjoint(await _unsealed(host, domain))


def _audited_tables(domain: str) -> list[str]:
    """Whatever belongs to an organization or a person, found by the declarations."""
    return [
        str(row.__table__.name)
        for row in rows()
        if row.__table__.schema == domain
        and issubclass(row, TenantRow | PersonalRow)
        and row.__told__
    ]


async def _leftovers(host: Host, domain: str, figures: Figures) -> None:
    parked = await query(host, domain, f"SELECT event_id, error FROM {domain}.parked_event")
    figures.add("lost", len(parked), f"events parked in {domain}: {parked[:3]}")
    text = f"SELECT task_name FROM {domain}.procrastinate_jobs WHERE status = 'failed'"
    failed = await query(host, domain, text)
    figures.add("lost", len(failed), f"jobs failed in {domain}: {failed[:3]}")


async def _reactions(host: Host, ledger: Ledger, figures: Figures) -> None:
    """Whoever founded an organization is its owner, once; and it has one billing account."""
    text = "SELECT organization_id FROM billing.account"
    opened: Counter[UUID] = Counter(
        row["organization_id"] for row in await query(host, "billing", text)
    )
    for key in ledger.organizations:
        figures.compare(1, opened[key], f"billing account of {key}")
    for table in ("membership", "role_assignment"):
        text = f"SELECT organization_id FROM identity.{table}"
        found: Counter[UUID] = Counter(
            row["organization_id"] for row in await query(host, "identity", text)
        )
        for key in ledger.organizations:
            figures.compare(1, found[key], f"{table} of the founder of {key}")


def _jobs(ledger: Ledger, events: list[Told], figures: Figures) -> None:
    """Each step that time brought was told by its job, once."""
    found = Counter(event.aggregate for event in events if event.type == ExpiryApproaching.type)
    for key in ledger.watched:
        figures.compare(1, found[f"equipment/{key}"], f"expiry of {key}")


async def _money(host: Host, ledger: Ledger, charges: Mapping[str, int], figures: Figures) -> None:
    """The journal balances; each period was charged, booked and allocated once, and numbered."""
    async with host.engines.connection("billing", "billing_system") as connection:
        balance = await books.balance(connection)
        invoices, strange = await books.sold(connection, list(ledger.bought), charges)
    figures.add("journal_sum", abs(balance.journal_sum), "cents in all books")
    figures.add("unbalanced", balance.unbalanced, "entries whose sides differ")
    figures.add("doubled", strange, "charges of no payment")
    paid = Counter(one.organization_id for one in invoices.values() if one.status == "paid")
    for home in ledger.bought:
        figures.compare(buyers.PERIODS, paid[home], f"paid invoices of {home}")
    for key, one in invoices.items():
        figures.compare(1, one.charged, f"charges of invoice {key}")
        figures.compare(1, one.booked, f"bookings of the money of invoice {key}")
        figures.compare(1, one.allocations, f"allocations of invoice {key}")
    figures.add("lost", books.missing_numbers(invoices), "numbers that no invoice has")
