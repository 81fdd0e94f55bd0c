"""Awards, workspaces, signatures and confirmations."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, KnownTenant, TenantRow, col, status


class Tenant(KnownTenant, table="contract.tenant", kind=Kind.PRIVATE):
    """An organization, and whether it is a sandbox."""


class AwardStatus(StrEnum):
    """Status of an award."""

    AWAITING = "awaiting"
    OPENED = "opened"
    WITHDRAWN = "withdrawn"


class AwardKind(StrEnum):
    """Origin of an award."""

    AWARD = "award"
    CONTRACT_CREATION = "contract_creation"


class Award(TenantRow, table="contract.award", kind=Kind.PRIVATE):
    """The stored event that a contract begins with; its facts never change (CON-1)."""

    event_id: Col[UUID] = col(pg.UUID)
    event_type: Col[str] = col(sa.Text)
    kind: Col[AwardKind] = status(AwardKind)
    source_domain: Col[str] = col(sa.Text)
    outcome_id: Col[UUID] = col(pg.UUID)
    revision_of: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    bid_workspace_id: Col[UUID] = col(pg.UUID)
    tender_opportunity_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    label: Col[str] = col(sa.Text)
    buyer_name: Col[str | None] = col(sa.Text, nullable=True, default=None)
    award_reference: Col[str | None] = col(sa.Text, nullable=True, default=None)
    awarded_on: Col[date] = col(sa.Date)
    awarded_value_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    currency: Col[str | None] = col(sa.Text, nullable=True, default=None)
    bidders: Col[list[dict[str, Any]]] = col(pg.JSONB)
    document_refs: Col[list[dict[str, Any]]] = col(pg.JSONB)
    correlation_id: Col[str] = col(sa.Text)
    payload_hash: Col[str] = col(sa.Text)
    status: Col[AwardStatus] = status(AwardStatus, default=AwardStatus.AWAITING)
    status_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    workspace_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class ContractCategory(StrEnum):
    """Category of a contract."""

    WORKS = "works"
    GOODS = "goods"
    SERVICES = "services"


class BuyerKind(StrEnum):
    """Category of a public or private buyer."""

    NATIONAL_DEPARTMENT = "national_department"
    PROVINCIAL_DEPARTMENT = "provincial_department"
    MUNICIPALITY = "municipality"
    MUNICIPAL_ENTITY = "municipal_entity"
    PUBLIC_ENTITY = "public_entity"
    STATE_COMPANY = "state_company"
    PRIVATE = "private"


class Regime(StrEnum):
    """Law that applies to a buyer."""

    PFMA = "pfma"
    MFMA = "mfma"
    PUBLIC_ENTITY = "public_entity"
    PRIVATE = "private"


class WorkspaceStatus(StrEnum):
    """Status of a contract."""

    PENDING = "pending"
    ACTIVE = "active"
    SUSPENDED = "suspended"
    TERMINATED = "terminated"
    CLOSING = "closing"
    CLOSED = "closed"
    CANCELLED = "cancelled"


class Workspace(TenantRow, table="contract.workspace", kind=Kind.PRIVATE):
    """One contract from the side that performs it.

    `next_check_at` is when a part of the retention can be claimed.
    """

    award_id: Col[UUID] = col(pg.UUID)
    award_event_id: Col[UUID] = col(pg.UUID)
    source_domain: Col[str] = col(sa.Text)
    outcome_id: Col[UUID] = col(pg.UUID)
    contract_number: Col[str] = col(sa.Text)
    order_number: Col[str | None] = col(sa.Text, nullable=True, default=None)
    title: Col[str] = col(sa.Text)
    category: Col[ContractCategory] = status(ContractCategory)
    counterparty: Col[dict[str, Any]] = col(pg.JSONB)
    counterparty_key: Col[str] = col(sa.Text)  # the buyer's name, folded
    counterparty_kind: Col[BuyerKind] = status(BuyerKind)
    regime: Col[Regime] = status(Regime)
    currency: Col[str] = col(sa.Text)
    contract_value_minor: Col[int] = col(sa.BigInteger)
    value_difference_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    starts_on: Col[date] = col(sa.Date)
    ends_on: Col[date] = col(sa.Date)
    notified_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    standstill_until: Col[date | None] = col(sa.Date, nullable=True, default=None)
    document_refs: Col[list[dict[str, Any]]] = col(pg.JSONB)
    terms: Col[dict[str, Any]] = col(pg.JSONB)
    content_hash: Col[str] = col(sa.Text)
    status: Col[WorkspaceStatus] = status(WorkspaceStatus, default=WorkspaceStatus.PENDING)
    status_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    challenge: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    outcome: Col[str | None] = col(sa.Text, nullable=True, default=None)
    current_value_minor: Col[int] = col(sa.BigInteger)
    current_ends_on: Col[date] = col(sa.Date)
    plan_number: Col[int] = col(sa.Integer, default=0)
    warnings: Col[list[str]] = col(pg.ARRAY(sa.Text))
    correlation_id: Col[str] = col(sa.Text)
    activated_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    terminated_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    practical_completion_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    closed_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class Party(StrEnum):
    """Party to a contract."""

    SUPPLIER = "supplier"
    BUYER = "buyer"


class Signature(TenantRow, table="contract.signature", kind=Kind.PRIVATE):
    """One side's signature over one hash; `subject_id` is the workspace or the variation."""

    workspace_id: Col[UUID] = col(pg.UUID)
    subject_type: Col[str] = col(sa.Text)
    subject_id: Col[UUID] = col(pg.UUID)
    party: Col[Party] = status(Party)
    content_hash: Col[str] = col(sa.Text)
    signed_on: Col[date] = col(sa.Date)
    signed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    confirmation_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    strength: Col[str | None] = col(sa.Text, nullable=True, default=None)
    voided_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class ConfirmationStatus(StrEnum):
    """Status of a confirmation; one by document is confirmed at once."""

    CONFIRMED = "confirmed"


class Confirmation(TenantRow, table="contract.confirmation", kind=Kind.PRIVATE):
    """What the other side said over a frozen statement, filed by us with its proof (CON-44)."""

    workspace_id: Col[UUID] = col(pg.UUID)
    subject_type: Col[str] = col(sa.Text)
    subject_id: Col[UUID] = col(pg.UUID)
    subject_version: Col[int] = col(sa.BigInteger)
    party: Col[Party] = status(Party, default=Party.BUYER)
    channel: Col[str] = col(sa.Text, default="document")
    decision: Col[str] = col(sa.Text)
    statement: Col[dict[str, Any]] = col(pg.JSONB)
    statement_hash: Col[str] = col(sa.Text)
    status: Col[ConfirmationStatus] = status(
        ConfirmationStatus, default=ConfirmationStatus.CONFIRMED
    )
    strength: Col[str] = col(sa.Text, default="document")
    self_filed: Col[bool] = col(sa.Boolean, default=False)
    evidence_refs: Col[list[dict[str, Any]]] = col(pg.JSONB)
    confirmed_on: Col[date] = col(sa.Date)
    by_name: Col[str | None] = col(sa.Text, nullable=True, default=None)
    by_position: Col[str] = col(sa.Text)
    filed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class EvidenceState(TenantRow, table="contract.evidence_state", kind=Kind.PRIVATE):
    """What Compliance last said of a document or proof that a contract refers to (CON-46)."""

    reference_domain: Col[str] = col(sa.Text)
    reference_type: Col[str] = col(sa.Text)
    reference_id: Col[UUID] = col(pg.UUID)
    state: Col[str] = col(sa.Text)  # live, stale
    sequence: Col[int] = col(sa.BigInteger)
