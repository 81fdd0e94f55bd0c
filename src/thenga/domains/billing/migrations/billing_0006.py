"""Cancellations and pauses, and what customers of a version are moved to."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.columns import day, ident, instant, number, text, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_table

revision = "billing_0006"
down_revision = "billing_0005"
branch_labels = None
depends_on = None

_SUBSCRIPTION = (
    ("organization_id", "subscription_id"),
    "billing.subscription",
    ("organization_id", "id"),
)


def upgrade() -> None:
    op.add_column("subscription", day("changed_on", nullable=True), schema="billing")
    for table in ("plan_version", "offered_plan"):
        op.add_column(table, whole("migrates_to", nullable=True), schema="billing")
        op.add_column(table, day("migrates_after", nullable=True), schema="billing")
    # A sign-up that is not paid waits alone: a new one expires it (BIL-15).
    op.execute(
        "CREATE UNIQUE INDEX subscription_incomplete_base_once "
        "ON billing.subscription (organization_id) "
        "WHERE kind = 'base' AND status = 'incomplete'"
    )
    _cancellations()
    _pauses()


def _cancellations() -> None:
    make_table(
        "billing.cancellation",
        Kind.PRIVATE,
        ident("subscription_id"),
        text("mode"),
        text("reason_code"),
        text("comment", nullable=True),
        ident("requested_by", nullable=True),
        text("settlement"),
        instant("effective_at"),
        text("status"),
        number("credited_minor"),
        sa.Column("currency", sa.CHAR(3), nullable=False),
        sa.Column("credit_note_ids", pg.ARRAY(pg.UUID), nullable=False),
        sa.Column("refund_ids", pg.ARRAY(pg.UUID), nullable=False),
        instant("undone_at", nullable=True),
        instant("next_check_at", nullable=True),
        indexes=[("organization_id", "subscription_id")],
        references=[_SUBSCRIPTION],
    )
    op.execute(
        "CREATE UNIQUE INDEX cancellation_scheduled_once "
        "ON billing.cancellation (organization_id, subscription_id) WHERE status = 'scheduled'"
    )
    where = "WHERE next_check_at IS NOT NULL"
    op.execute(
        "CREATE INDEX cancellation_due "
        f"ON billing.cancellation (organization_id, next_check_at) {where}"
    )
    op.execute(f"CREATE INDEX cancellation_due_any ON billing.cancellation (next_check_at) {where}")


def _pauses() -> None:
    make_table(
        "billing.pause",
        Kind.PRIVATE,
        ident("subscription_id"),
        day("paused_on"),
        day("resume_by"),
        whole("banked_days"),
        whole("period_days"),
        instant("noticed_at", nullable=True),
        day("resumed_on", nullable=True),
        day("continued_to", nullable=True),
        references=[_SUBSCRIPTION],
    )
    op.execute(
        "CREATE UNIQUE INDEX pause_running_once "
        "ON billing.pause (organization_id, subscription_id) WHERE resumed_on IS NULL"
    )
