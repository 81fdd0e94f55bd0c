"""Decisions that are kept, what they are tallied to, and the policies and plans behind them."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Row, TenantRow, col


class Decided(Row):
    """What is kept of a decision, whoever it belongs to (IDN-36).

    `user_id` is whoever it was about, so that people find what they were refused; of a key its id.
    """

    user_id: Col[UUID] = col(pg.UUID)
    actor_kind: Col[str] = col(sa.Text)
    action: Col[str] = col(sa.Text)
    resource: Col[dict[str, Any]] = col(pg.JSONB)
    decision: Col[str] = col(sa.Text)
    reason_code: Col[str] = col(sa.Text)
    obligations: Col[list[dict[str, Any]]] = col(pg.JSONB)
    remedy: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    policy_version: Col[str] = col(sa.Text)
    purpose: Col[str] = col(sa.Text)
    channel: Col[str] = col(sa.Text)
    request_id: Col[str] = col(sa.Text)


class DecisionRecord(Decided, table="identity.decision_record", kind=Kind.TWO_PARTY, told=False):
    """A decision worth keeping, made in an organization."""

    organization_id: Col[UUID] = col(pg.UUID)


class PersonalDecision(Decided, table="identity.personal_decision", kind=Kind.PERSONAL, told=False):
    """A decision about a person's own rows, in no organization."""


class PlatformDecision(Decided, table="identity.platform_decision", kind=Kind.PLATFORM, told=False):
    """A decision about what staff may do; `organization_id` where they act in one."""

    organization_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class Tallied(Row):
    """How often decisions of one shape were made in an hour."""

    hour: Col[datetime] = col(Instant)
    shape: Col[str] = col(sa.Text)  # digest of everything below but the counts
    actor_kind: Col[str] = col(sa.Text)
    actor_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    action: Col[str] = col(sa.Text)
    resource_type: Col[str] = col(sa.Text)
    reason_code: Col[str] = col(sa.Text)
    context: Col[dict[str, Any]] = col(pg.JSONB)
    count: Col[int] = col(sa.BigInteger)
    last_decision_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class DecisionTally(Tallied, table="identity.decision_tally", kind=Kind.PRIVATE, told=False):
    """Of decisions made in an organization."""

    organization_id: Col[UUID] = col(pg.UUID)


class PlatformTally(Tallied, table="identity.platform_tally", kind=Kind.PLATFORM, told=False):
    """Of decisions that are in no organization."""


class EntitlementSignal(
    TenantRow, table="identity.entitlement_signal", kind=Kind.PRIVATE, told=False
):
    """What Billing last said of one feature of an organization (IDN-32)."""

    feature: Col[str] = col(sa.Text)
    state: Col[str] = col(sa.Text)
    access: Col[str] = col(sa.Text)
    # Null where the feature is not counted.
    limit_count: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    used_count: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    resets_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    source_sequence: Col[int] = col(sa.BigInteger, default=0)
    checked_at: Col[datetime] = col(Instant)


class SignedHead(Row, table="identity.signed_head", kind=Kind.CHAIN, told=False):
    """The end of an audit chain at a moment, signed by us (IDN-50)."""

    chain: Col[UUID] = col(pg.UUID)
    seq: Col[int] = col(sa.BigInteger)
    head: Col[bytes] = col(sa.LargeBinary)
    signed_at: Col[datetime] = col(Instant)
    signature: Col[bytes] = col(sa.LargeBinary)


class PolicySet(Row, table="identity.policy_set", kind=Kind.CATALOGUE):
    """A version of the policies; the enforced one is named by every decision."""

    label: Col[str] = col(sa.Text)
    status: Col[str] = col(sa.Text)
    text: Col[str] = col(sa.Text)
