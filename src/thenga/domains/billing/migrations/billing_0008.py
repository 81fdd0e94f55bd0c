"""What is held, what was given as goodwill, and what was used."""

import sqlalchemy as sa
from alembic import op

from thenga.kernel.db.columns import day, flag, ident, instant, json, number, text, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_table

revision = "billing_0008"
down_revision = "billing_0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _held()
    _records()
    _totals()
    _reservations()


def _held() -> None:
    make_table(
        "billing.entitlement_set",
        Kind.PRIVATE,
        instant("as_of"),
        instant("valid_until", nullable=True),
        json("items"),
        text("access"),
        text("because", nullable=True),
        flag("trial_ended"),
        flag("spend_capped"),
        ident("subscription_id", nullable=True),
        day("anchor"),
        day("usage_month"),
        instant("resets_at"),
        instant("next_check_at", nullable=True),
        key=("organization_id",),
    )
    _due("entitlement_set")
    make_table(
        "billing.goodwill_grant",
        Kind.PRIVATE,
        text("entitlement"),
        json("value"),
        instant("expires_at"),
        text("reason"),
        text("status"),
        ident("issued_by", nullable=True),
        instant("revoked_at", nullable=True),
        instant("next_check_at", nullable=True),
    )
    _due("goodwill_grant")


def _records() -> None:
    make_table(
        "billing.usage_record",
        Kind.PRIVATE,
        text("meter"),
        text("key"),
        number("quantity"),
        instant("occurred_at"),
        json("subject", nullable=True),
        text("operation"),
        day("usage_month"),
        flag("late"),
        key=("organization_id", "meter", "key"),
        indexes=[("organization_id", "id")],
        appends=True,
        partitions=16,
    )


def _totals() -> None:
    make_table(
        "billing.usage_total",
        Kind.PRIVATE,
        text("meter"),
        day("usage_month"),
        number("quantity"),
        number("reserved"),
        instant("reserved_until", nullable=True),
        instant("told_at", nullable=True),
        number("billed_quantity"),
        number("included", nullable=True),
        sa.Column("unit_price", sa.Numeric, nullable=True),
        instant("billed_at", nullable=True),
        key=("organization_id", "meter", "usage_month"),
    )
    op.execute(
        "ALTER TABLE billing.usage_total ADD CONSTRAINT usage_total_not_negative "
        "CHECK (quantity >= 0 AND reserved >= 0)"
    )
    make_table(
        "billing.holding",
        Kind.PRIVATE,
        text("meter"),
        text("subject"),
        flag("open"),
        instant("changed_at"),
        unique=[("organization_id", "meter", "subject")],
    )
    make_table(
        "billing.threshold",
        Kind.PRIVATE,
        ident("held_by"),
        text("meter"),
        day("usage_month"),
        whole("percent"),
        unique=[("organization_id", "held_by", "meter", "usage_month", "percent")],
    )


def _reservations() -> None:
    make_table(
        "billing.reservation",
        Kind.PRIVATE,
        text("meter"),
        text("key"),
        day("usage_month"),
        number("quantity"),
        number("settled_quantity", nullable=True),
        instant("expires_at"),
        text("status"),
        instant("next_check_at", nullable=True),
        unique=[("organization_id", "key")],
    )
    op.execute(
        "CREATE INDEX reservation_held ON billing.reservation "
        "(organization_id, meter, usage_month, expires_at) WHERE status = 'held'"
    )
    _due("reservation")


def _due(table: str) -> None:
    where = "WHERE next_check_at IS NOT NULL"
    op.execute(
        f"CREATE INDEX {table}_due ON billing.{table} (organization_id, next_check_at) {where}"
    )
    op.execute(f"CREATE INDEX {table}_due_any ON billing.{table} (next_check_at) {where}")
