"""The double-entry journal. Entries are append-only (BIL-47, BIL-48).

One pure function per booking names the accounts it moves; `post` writes it. The database refuses an
entry that does not sum to 0, a line added later, and every change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from sqlalchemy import bindparam, func, select

from thenga.domains.billing.tables import Book, EntryKind, JournalEntry, JournalLine
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, on_local_days, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_midnight
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.money import Money

_LINES = """
    INSERT INTO billing.journal_line (id, created_at, updated_at, version, organization_id,
        entry_id, account, amount_minor, currency)
    SELECT one.id, $5, $5, 1, $6, $7, one.account, one.amount, one.currency
    FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[])
        AS one (id, account, amount, currency)
"""


@dataclass(frozen=True, slots=True)
class Line:
    """One side: positive for debit, negative for credit."""

    account: str
    amount: Money


@dataclass(frozen=True, slots=True)
class Booking:
    """An entry before it is written."""

    kind: EntryKind
    lines: tuple[Line, ...]


def _booking(kind: EntryKind, *sides: tuple[str, Money]) -> Booking:
    return Booking(kind, tuple(Line(account, amount) for account, amount in sides if amount))


def clearing(provider: str) -> str:
    """The clearing account of a provider."""
    return f"clearing.{provider}"


def payment_booking(provider: str, amount: Money) -> Booking:
    """A payment becomes the customer's credit until an invoice uses it."""
    return _booking(EntryKind.PAYMENT, (clearing(provider), amount), ("customer_credit", -amount))


def invoice_booking(*, net: Money, vat: Money) -> Booking:
    """An issued invoice: receivable, deferred revenue and VAT."""
    return _booking(
        EntryKind.INVOICE,
        ("receivable", net + vat),
        ("deferred_revenue", -net),
        ("vat_output", -vat),
    )


def allocation(amount: Money) -> Booking:
    """Credit pays an invoice."""
    return _booking(EntryKind.ALLOCATION, ("customer_credit", amount), ("receivable", -amount))


def credit_note_booking(*, unearned: Money, earned: Money, vat: Money) -> Booking:
    """A credit note, split into deferred and recognized revenue."""
    return _booking(
        EntryKind.CREDIT_NOTE,
        ("deferred_revenue", unearned),
        ("revenue", earned),
        ("vat_output", vat),
        ("customer_credit", -(unearned + earned + vat)),
    )


def refund_booking(provider: str, amount: Money) -> Booking:
    """Credit is refunded through the provider."""
    return _booking(EntryKind.REFUND, ("customer_credit", amount), (clearing(provider), -amount))


def fee_booking(provider: str, amount: Money) -> Booking:
    """The provider keeps its fee."""
    return _booking(EntryKind.FEE, ("provider_fees", amount), (clearing(provider), -amount))


def payout(provider: str, amount: Money) -> Booking:
    """The provider pays out to our bank."""
    return _booking(EntryKind.PAYOUT, ("bank", amount), (clearing(provider), -amount))


def bank_transfer_booking(amount: Money) -> Booking:
    """The customer paid to our bank directly."""
    return _booking(EntryKind.EFT, ("bank", amount), ("customer_credit", -amount))


def dispute_opened_booking(provider: str, amount: Money) -> Booking:
    """The provider withholds disputed money."""
    return _booking(EntryKind.DISPUTE_OPENED, ("disputed", amount), (clearing(provider), -amount))


def dispute_won_booking(provider: str, amount: Money) -> Booking:
    """The disputed money is returned to us."""
    return _booking(EntryKind.DISPUTE_WON, (clearing(provider), amount), ("disputed", -amount))


def dispute_lost_booking(amount: Money) -> Booking:
    """The disputed money is lost."""
    return _booking(EntryKind.DISPUTE_LOST, ("bad_debt", amount), ("disputed", -amount))


def write_off(amount: Money) -> Booking:
    """The amount due of an invoice is written off."""
    return _booking(EntryKind.WRITE_OFF, ("bad_debt", amount), ("receivable", -amount))


def revenue_booking(amount: Money) -> Booking:
    """Deferred revenue is recognized."""
    return _booking(EntryKind.EARNING, ("deferred_revenue", amount), ("revenue", -amount))


@dataclass(frozen=True, slots=True)
class EntrySource:
    """What an entry is for. `key` makes it unique."""

    type: str
    id: UUID
    key: str


async def post(
    work: Work, booking: Booking, *, book: Book, source: EntrySource, occurred_at: datetime
) -> JournalEntry:
    """Write an entry with its lines. The database refuses a key that is already booked."""
    entry = await work.add(
        JournalEntry(
            organization_id=work.organization_id,
            book=book,
            kind=booking.kind,
            key=source.key,
            source_type=source.type,
            source_id=source.id,
            occurred_at=occurred_at,
        )
    )
    await work.run(
        _LINES,
        [new_id() for _ in booking.lines],
        [line.account for line in booking.lines],
        [line.amount.minor for line in booking.lines],
        [line.amount.currency for line in booking.lines],
        work.now,
        entry.organization_id,
        entry.id,
    )
    return entry


async def list_entries(
    read: Reader,
    paged: Paged,
    *,
    account: str | None,
    since: date | None,
    until: date | None,
    source_id: UUID | None,
) -> Slice[JournalEntry]:
    """The organization's entries. Days are local and both included."""
    statement = select(JournalEntry)
    if account is not None:
        line = JournalLine.__table__
        on_account = select(line.c.entry_id).where(
            line.c.organization_id == JournalEntry.organization_id, line.c.account == account
        )
        statement = statement.where(JournalEntry.id.in_(on_account))
    statement = on_local_days(statement, JournalEntry.occurred_at, since, until)
    statement = where_given(statement, (JournalEntry.source_id, source_id))
    return await read.page(statement, paged)


async def entry_lines(
    read: Reader, entries: Sequence[JournalEntry]
) -> dict[UUID, list[JournalLine]]:
    """The lines of a page of entries, by entry, in one statement."""
    found: dict[UUID, list[JournalLine]] = {entry.id: [] for entry in entries}
    if not found:
        return found
    statement = select(JournalLine).where(among(JournalLine.entry_id, found))
    for line in await read.all(statement.order_by(JournalLine.id), limit=5_000):
        found[line.entry_id].append(line)
    return found


@dataclass(frozen=True, slots=True)
class Balance:
    """The balance of one account of a book."""

    book: Book
    account: str
    debit: Money
    credit: Money

    @property
    def balance(self) -> Money:
        return self.debit - self.credit


async def trial_balance(read: Reader, *, until: date) -> list[Balance]:
    """All accounts of the organization at the end of a day. They sum to 0."""
    line, entry = JournalLine.__table__, JournalEntry.__table__
    amount = line.c.amount_minor
    statement = (
        select(
            *(entry.c.book, line.c.account, line.c.currency),
            func.coalesce(func.sum(amount).filter(amount > 0), 0).label("debit"),
            func.coalesce(-func.sum(amount).filter(amount < 0), 0).label("credit"),
        )
        .select_from(line.join(entry, entry.c.id == line.c.entry_id))
        .where(entry.c.organization_id == read.organization_id)
        .where(line.c.organization_id == read.organization_id)
        .where(entry.c.occurred_at < local_midnight(_next(until)))
        .group_by(entry.c.book, line.c.account, line.c.currency)
        .order_by(entry.c.book, line.c.account, line.c.currency)
    )
    return [
        Balance(
            Book(record["book"]),
            record["account"],
            Money(int(record["debit"]), record["currency"]),
            Money(int(record["credit"]), record["currency"]),
        )
        for record in await read.records(statement)
    ]


_LINE = JournalLine.__table__
_CREDIT = select(func.coalesce(-func.sum(_LINE.c.amount_minor), 0)).where(
    _LINE.c.organization_id == bindparam("organization_id"),
    _LINE.c.account == "customer_credit",
    _LINE.c.currency == bindparam("currency"),
)


async def credit_balance(read: Reader, *, currency: str) -> Money:
    """The organization's credit with us."""
    place = read.organization_id
    total = await read.value(_CREDIT, organization_id=place, currency=currency)
    return Money(int(total or 0), currency)


def _next(day: date) -> date:
    return date.fromordinal(day.toordinal() + 1)
