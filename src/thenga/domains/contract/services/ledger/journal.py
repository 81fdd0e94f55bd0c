"""The journal of a contract. Entries are append-only and sum to 0 (CON-26, CON-27)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from sqlalchemy import func, select

from thenga.domains.contract.services.ledger.bookings import Booking
from thenga.domains.contract.tables import Account, JournalEntry, JournalLine
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.money import Money

_LINES = """
    INSERT INTO contract.journal_line (id, created_at, updated_at, version, organization_id,
        entry_id, workspace_id, account, amount_minor, currency)
    SELECT one.id, $5, $5, 1, $6, $7, $8, one.account, one.amount, one.currency
    FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[])
        AS one (id, account, amount, currency)
"""


async def post(
    work: Work, booking: Booking, *, workspace_id: UUID, source_id: UUID, key: str
) -> JournalEntry | None:
    """Write an entry with its lines. The database refuses a key that is already booked."""
    if not booking.lines:
        return None
    entry = await work.add(
        JournalEntry(
            organization_id=work.organization_id,
            workspace_id=workspace_id,
            kind=booking.kind,
            key=key,
            source_id=source_id,
            occurred_on=local_day(work.now),
        )
    )
    await work.run(
        _LINES,
        [new_id() for _ in booking.lines],
        [line.account.value for line in booking.lines],
        [line.amount.minor for line in booking.lines],
        [line.amount.currency for line in booking.lines],
        *(work.now, entry.organization_id, entry.id, workspace_id),
    )
    return entry


@dataclass(frozen=True, slots=True)
class JournalFilters:
    """What the journal may be narrowed to. Days are local and both included."""

    since: date | None = None
    until: date | None = None
    account: Account | None = None


async def list_entries(
    read: Reader, paged: Paged, workspace_id: UUID, filters: JournalFilters
) -> Slice[JournalEntry]:
    """Entries of one contract."""
    statement = select(JournalEntry).where(JournalEntry.workspace_id == workspace_id)
    if filters.account is not None:
        line = JournalLine.__table__
        on_account = select(line.c.entry_id).where(
            line.c.organization_id == read.organization_id,
            line.c.workspace_id == workspace_id,
            line.c.account == filters.account.value,
        )
        statement = statement.where(JournalEntry.id.in_(on_account))
    if filters.since is not None:
        statement = statement.where(JournalEntry.occurred_on >= filters.since)
    if filters.until is not None:
        statement = statement.where(JournalEntry.occurred_on <= filters.until)
    return await read.page(statement, paged)


async def entry_lines(
    read: Reader, entries: Sequence[JournalEntry]
) -> dict[UUID, list[JournalLine]]:
    """Lines of a page of entries, by entry, in one statement."""
    found: dict[UUID, list[JournalLine]] = {entry.id: [] for entry in entries}
    if not found:
        return found
    statement = select(JournalLine).where(among(JournalLine.entry_id, found))
    for line in await read.all(statement.order_by(JournalLine.id), limit=5_000):
        found[line.entry_id].append(line)
    return found


@dataclass(frozen=True, slots=True)
class AccountBalance:
    """The balance of one account: positive is debit, negative is credit."""

    account: Account
    balance: Money


async def account_balances(
    read: Reader, workspace_id: UUID, filters: JournalFilters
) -> list[AccountBalance]:
    """Balances of a contract's accounts over the filtered days. Over all accounts they sum to 0."""
    line, entry = JournalLine.__table__, JournalEntry.__table__
    statement = (
        select(line.c.account, line.c.currency, func.sum(line.c.amount_minor).label("total"))
        .select_from(line.join(entry, entry.c.id == line.c.entry_id))
        .where(entry.c.organization_id == read.organization_id)
        .where(line.c.organization_id == read.organization_id)
        .where(line.c.workspace_id == workspace_id)
        .group_by(line.c.account, line.c.currency)
        .order_by(line.c.account, line.c.currency)
    )
    if filters.since is not None:
        statement = statement.where(entry.c.occurred_on >= filters.since)
    if filters.until is not None:
        statement = statement.where(entry.c.occurred_on <= filters.until)
    if filters.account is not None:
        statement = statement.where(line.c.account == filters.account.value)
    return [
        AccountBalance(Account(record["account"]), Money(int(record["total"]), record["currency"]))
        for record in await read.records(statement)
    ]
