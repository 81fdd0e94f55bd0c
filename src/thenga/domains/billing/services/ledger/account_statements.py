"""Account statements: documents and payments in order, with the balance after each.

Statements are read from the journal, so they cannot differ from it. Invoices add to the balance,
payments and credit notes reduce it; applying credit to an invoice does not change it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, select

from thenga.domains.billing.tables import (
    CreditNote,
    EntryKind,
    Invoice,
    JournalEntry,
    JournalLine,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.errors import RuleViolated
from thenga.kernel.values.calendar import local_midnight
from thenga.kernel.values.money import Money

LONGEST = 366
_MOST_STEPS = 10_000  # steps of a downloaded statement
_OF_CUSTOMER = ("receivable", "customer_credit")


@dataclass(frozen=True, slots=True)
class Step:
    """One document or payment, and the balance after it."""

    entry_id: UUID
    kind: EntryKind
    occurred_at: datetime
    source_type: str
    source_id: UUID
    number: str | None
    amount: Money
    balance: Money


@dataclass(frozen=True, slots=True)
class Statement:
    """A page of a statement. Its two balances cover the whole range."""

    opening: Money
    closing: Money
    steps: list[Step]
    next_cursor: str | None


async def statement_page(
    read: Reader, paged: Paged, *, since: date, until: date, currency: str
) -> Statement:
    """The statement between two days, both included."""
    if not 0 <= (until - since).days < LONGEST:
        raise RuleViolated(
            f"A statement covers at most {LONGEST} days. Set `to` on or after `from`, within that "
            "range.",
            rule="statement-days",
        )
    begins, ends = local_midnight(since), local_midnight(until + timedelta(days=1))
    steps = _steps(read.organization_id, currency).subquery("steps")
    shown = select(steps).where(steps.c.occurred_at >= begins, steps.c.occurred_at < ends)
    rows, cursor = await read.page_records(shown, paged, (steps.c.occurred_at, steps.c.id))
    numbers = await _numbers(read, [row["source_id"] for row in rows])
    return Statement(
        opening=await _balance(read, begins, currency),
        closing=await _balance(read, ends, currency),
        steps=[_step(row, numbers, currency) for row in rows],
        next_cursor=cursor,
    )


async def whole_statement(
    read: Reader, paged: Paged, *, since: date, until: date, currency: str
) -> Statement:
    """As `statement_page`, without pages, for a download."""
    page = replace(paged, limit=_MOST_STEPS, cursor=None)
    made = await statement_page(read, page, since=since, until=until, currency=currency)
    if made.next_cursor is not None:
        raise RuleViolated(
            f"A file has at most {_MOST_STEPS} rows. Choose a shorter time range.",
            rule="statement-steps",
        )
    return made


def _step(row: Any, numbers: dict[UUID, str], currency: str) -> Step:
    return Step(
        entry_id=row["id"],
        kind=EntryKind(row["kind"]),
        occurred_at=row["occurred_at"],
        source_type=row["source_type"],
        source_id=row["source_id"],
        number=numbers.get(row["source_id"]),
        amount=Money(int(row["amount"]), currency),
        balance=Money(int(row["balance"]), currency),
    )


def _steps(organization_id: UUID, currency: str) -> Select[*tuple[Any, ...]]:
    line, entry = JournalLine.__table__, JournalEntry.__table__
    amount = func.sum(line.c.amount_minor)
    running = func.sum(amount).over(order_by=(entry.c.occurred_at, entry.c.id))
    columns = (
        *(entry.c.id, entry.c.kind, entry.c.occurred_at),
        *(entry.c.source_type, entry.c.source_id),
    )
    return (
        select(*columns, amount.label("amount"), running.label("balance"))
        .select_from(line.join(entry, entry.c.id == line.c.entry_id))
        .where(entry.c.organization_id == organization_id)
        .where(line.c.organization_id == organization_id, line.c.currency == currency)
        .where(among(line.c.account, _OF_CUSTOMER))
        .group_by(*columns)
        .having(amount != 0)
    )


async def _balance(read: Reader, before: datetime, currency: str) -> Money:
    line, entry = JournalLine.__table__, JournalEntry.__table__
    total = await read.value(
        select(func.coalesce(func.sum(line.c.amount_minor), 0))
        .select_from(line.join(entry, entry.c.id == line.c.entry_id))
        .where(entry.c.organization_id == read.organization_id)
        .where(line.c.organization_id == read.organization_id, line.c.currency == currency)
        .where(among(line.c.account, _OF_CUSTOMER), entry.c.occurred_at < before)
    )
    return Money(int(total or 0), currency)


async def _numbers(read: Reader, ids: Sequence[UUID]) -> dict[UUID, str]:
    most = len(ids) + 1
    invoices = await read.all(select(Invoice).where(among(Invoice.id, ids)), limit=most)
    notes = await read.all(select(CreditNote).where(among(CreditNote.id, ids)), limit=most)
    numbers = {document.id: document.number for document in invoices} | {
        document.id: document.number for document in notes
    }
    return {document: number for document, number in numbers.items() if number is not None}
