"""The journal, the number series of documents, and the nightly checks."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.billing.tables.accounts import Book
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Row, TenantRow, col, status


class EntryKind(StrEnum):
    """What a journal entry records."""

    PAYMENT = "payment"
    INVOICE = "invoice"
    ALLOCATION = "allocation"
    CREDIT_NOTE = "credit_note"
    REFUND = "refund"
    FEE = "fee"
    PAYOUT = "payout"
    EFT = "eft"
    DISPUTE_OPENED = "dispute_opened"
    DISPUTE_WON = "dispute_won"
    DISPUTE_LOST = "dispute_lost"
    WRITE_OFF = "write_off"
    EARNING = "earning"


class JournalEntry(TenantRow, table="billing.journal_entry", kind=Kind.PRIVATE):
    """One journal entry. `key` identifies what was recorded, so it is recorded once."""

    book: Col[Book] = status(Book)
    kind: Col[EntryKind] = status(EntryKind)
    key: Col[str] = col(sa.Text)
    source_type: Col[str] = col(sa.Text)
    source_id: Col[UUID] = col(pg.UUID)
    occurred_at: Col[datetime] = col(Instant)


class JournalLine(Row, table="billing.journal_line", kind=Kind.PRIVATE):
    """One side of a booking, positive for debit and negative for credit.

    It has no audit row of its own: a line is written once with its audited entry, and the database
    refuses every change (BIL-48).
    """

    organization_id: Col[UUID] = col(pg.UUID)
    entry_id: Col[UUID] = col(pg.UUID)
    account: Col[str] = col(sa.Text)
    amount_minor: Col[int] = col(sa.BigInteger)
    currency: Col[str] = col(sa.CHAR(3))


class DocumentSeries(Row, table="billing.document_series", kind=Kind.PLATFORM):
    """The next number of a kind of document, locked while one is assigned (BIL-25).

    Live books have one series, the platform's. Each sandbox has its own, because its clock is
    separate and dates must not fall as numbers rise.
    """

    seller_code: Col[str] = col(sa.Text)
    document_kind: Col[str] = col(sa.Text)
    book: Col[Book] = status(Book)
    next_number: Col[int] = col(sa.BigInteger, default=1)
    holder_id: Col[UUID] = col(pg.UUID, default=OPERATOR)
    last_date: Col[date | None] = col(sa.Date, nullable=True, default=None)


class LedgerVerification(Row, table="billing.ledger_verification", kind=Kind.PLATFORM):
    """The result of a nightly check of all books."""

    day: Col[date] = col(sa.Date)
    entries: Col[int] = col(sa.BigInteger)
    lines: Col[int] = col(sa.BigInteger)
    journal_sum_minor: Col[int] = col(sa.BigInteger)
    unbalanced: Col[int] = col(sa.BigInteger)
    balances: Col[list[dict[str, Any]]] = col(pg.JSONB)
    checks: Col[list[dict[str, Any]]] = col(pg.JSONB, default=[])
    passed: Col[bool] = col(sa.Boolean)
