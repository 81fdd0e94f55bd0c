"""What others found out about a company, and what machines suggest about it (ORG-1)."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status


class Outcome(StrEnum):
    """Result of a verification.

    `inconclusive` means that it could not be carried out, not that it failed.
    """

    VERIFIED = "verified"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"


class SuggestionStatus(StrEnum):
    """Status of a suggestion."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    EDITED_AND_ACCEPTED = "edited_and_accepted"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"


class Verification(TenantRow, table="organization.verification", kind=Kind.PRIVATE):
    """One check of one version of a fact or record, with what the checker found (ORG-6).

    It is added and later ended, by time, by a change or by a newer check; nothing else of it
    changes. `next_check_at` is the end of a valid one.
    """

    fact_key: Col[str | None] = col(sa.Text, nullable=True, default=None)
    record_type: Col[str | None] = col(sa.Text, nullable=True, default=None)
    record_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    subject_version: Col[int] = col(sa.BigInteger)
    found_value: Col[Any] = col(pg.JSONB, nullable=True, default=None, secret=True)
    found_sealed: Col[bytes | None] = col(sa.LargeBinary, nullable=True, default=None, secret=True)
    canonical_hash: Col[bytes | None] = col(
        sa.LargeBinary, nullable=True, default=None, secret=True
    )
    outcome: Col[Outcome] = status(Outcome)
    method: Col[str] = col(sa.Text)
    source: Col[dict[str, Any]] = col(pg.JSONB)
    note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    checked_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    valid_until: Col[datetime | None] = col(Instant, nullable=True, default=None)
    ended_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    # Another company holds the number already; told to the checker only (ORG-33).
    held_elsewhere: Col[bool] = col(sa.Boolean, default=False)
    command_key: Col[str | None] = col(sa.Text, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class FactSuggestion(TenantRow, table="organization.fact_suggestion", kind=Kind.PRIVATE):
    """A machine's value; accepting it makes a new statement of the customer (ORG-5)."""

    fact_key: Col[str | None] = col(sa.Text, nullable=True, default=None)
    record_type: Col[str | None] = col(sa.Text, nullable=True, default=None)
    record_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    field: Col[str | None] = col(sa.Text, nullable=True, default=None)
    proposed_value: Col[Any] = col(pg.JSONB, secret=True)
    proposed_hash: Col[bytes] = col(sa.LargeBinary, secret=True)
    base_version: Col[int] = col(sa.BigInteger)
    confidence_ppm: Col[int] = col(sa.Integer)
    sources: Col[list[dict[str, Any]]] = col(pg.JSONB)
    produced_by: Col[dict[str, Any]] = col(pg.JSONB)
    guardrail_outcome: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status: Col[SuggestionStatus] = status(SuggestionStatus, default=SuggestionStatus.PENDING)
    expires_at: Col[datetime] = col(Instant)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    decided_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    decided_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    decision_reason: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    # The value that was decided is the customer's, so it stands in the customer's own table.
    customer_statement_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    command_key: Col[str | None] = col(sa.Text, nullable=True, default=None)
