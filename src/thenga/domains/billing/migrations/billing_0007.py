"""Renewals and failed payments."""

import sqlalchemy as sa
from alembic import op

from thenga.kernel.db.columns import day, flag, ident, instant, json, number, text, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_table

revision = "billing_0007"
down_revision = "billing_0006"
branch_labels = None
depends_on = None


_SUBSCRIPTION = (
    ("organization_id", "subscription_id"),
    "billing.subscription",
    ("organization_id", "id"),
)


def upgrade() -> None:
    _failures()
    make_table(
        "billing.renewal",
        Kind.PRIVATE,
        ident("subscription_id"),
        day("period_start"),
        instant("notice_sent_at", nullable=True),
        instant("renewed_at", nullable=True),
        day("period_end", nullable=True),
        ident("invoice_id", nullable=True),
        number("amount_minor", nullable=True),
        sa.Column("currency", sa.CHAR(3), nullable=False),
        instant("next_check_at", nullable=True),
        unique=[("organization_id", "subscription_id", "period_start")],
        references=[_SUBSCRIPTION],
    )
    _due("renewal")
    make_table(
        "billing.test_clock",
        Kind.PRIVATE,
        instant("target_at"),
        instant("stepped_to"),
        whole("steps"),
        whole("turn"),
        whole("waited"),
        text("status"),
        unique=[("organization_id",)],
    )


def _failures() -> None:
    make_table(
        "billing.payment_failure",
        Kind.PRIVATE,
        ident("subscription_id"),
        ident("invoice_id"),
        text("kind"),
        text("category"),
        flag("first_charge"),
        instant("first_failed_at"),
        json("attempts"),
        json("policy"),
        day("policy_version"),
        instant("next_retry_at", nullable=True),
        whole("retries_left"),
        instant("grace_ends_at"),
        instant("shielded_until", nullable=True),
        instant("exhausted_at", nullable=True),
        instant("ends_at"),
        instant("grace_told_at", nullable=True),
        text("status"),
        instant("recovered_at", nullable=True),
        ident("credit_note_id", nullable=True),
        instant("next_check_at", nullable=True),
        indexes=[
            ("organization_id", "subscription_id"),
            ("organization_id", "first_failed_at", "id"),
        ],
        references=[_SUBSCRIPTION],
    )
    # One recovery an invoice at a time, whoever opens it (BIL-48).
    op.execute(
        "CREATE UNIQUE INDEX payment_failure_unsettled_once "
        "ON billing.payment_failure (organization_id, invoice_id) "
        "WHERE status IN ('open', 'retrying', 'exhausted')"
    )
    _due("payment_failure")


def _due(table: str) -> None:
    where = "WHERE next_check_at IS NOT NULL"
    op.execute(
        f"CREATE INDEX {table}_due ON billing.{table} (organization_id, next_check_at) {where}"
    )
    op.execute(f"CREATE INDEX {table}_due_any ON billing.{table} (next_check_at) {where}")
