"""Money of a contract: counters that the database bounds, and the journal."""

from datetime import date
from enum import StrEnum
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Row, TenantRow, col, status


class Account(StrEnum):
    """Account of the journal."""

    RECEIVABLE = "receivable"
    RETENTION = "retention"
    ADVANCE = "advance"
    WORK = "work"
    VAT_OUTPUT = "vat_output"
    BANK = "bank"
    WRITE_OFF = "write_off"


class EntryKind(StrEnum):
    """Kind of journal entry."""

    INVOICE = "invoice"
    CREDIT_NOTE = "credit_note"
    PAYMENT = "payment"
    REVERSAL = "reversal"
    WRITE_OFF = "write_off"


class WorkspaceMoney(TenantRow, table="contract.workspace_money", kind=Kind.PRIVATE):
    """Counters of one contract; every change of its money locks them.

    `releases_told` is the last part of the retention that was announced as releasable.
    """

    workspace_id: Col[UUID] = col(pg.UUID)
    currency: Col[str] = col(sa.Text)
    value_minor: Col[int] = col(sa.BigInteger)
    increases_minor: Col[int] = col(sa.BigInteger, default=0)
    billed_minor: Col[int] = col(sa.BigInteger, default=0)
    advance_due_minor: Col[int] = col(sa.BigInteger, default=0)
    advance_billed_minor: Col[int] = col(sa.BigInteger, default=0)
    recovered_minor: Col[int] = col(sa.BigInteger, default=0)
    retention_cap_minor: Col[int] = col(sa.BigInteger, default=0)
    retained_minor: Col[int] = col(sa.BigInteger, default=0)
    released_minor: Col[int] = col(sa.BigInteger, default=0)
    releases_told: Col[int] = col(sa.Integer, default=0)


class JournalEntry(TenantRow, table="contract.journal_entry", kind=Kind.PRIVATE):
    """One journal entry. `key` identifies what was recorded, so it is recorded once."""

    workspace_id: Col[UUID] = col(pg.UUID)
    kind: Col[EntryKind] = status(EntryKind)
    key: Col[str] = col(sa.Text)
    source_id: Col[UUID] = col(pg.UUID)
    occurred_on: Col[date] = col(sa.Date)


class JournalLine(Row, table="contract.journal_line", kind=Kind.PRIVATE):
    """One side of a booking, positive for debit and negative for credit.

    It has no audit row of its own: a line is written once with its audited entry, and the database
    refuses every change (CON-27).
    """

    organization_id: Col[UUID] = col(pg.UUID)
    entry_id: Col[UUID] = col(pg.UUID)
    workspace_id: Col[UUID] = col(pg.UUID)
    account: Col[Account] = status(Account)
    amount_minor: Col[int] = col(sa.BigInteger)
    currency: Col[str] = col(sa.Text)
