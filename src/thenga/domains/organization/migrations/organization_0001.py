"""The tables of Organization's walking skeleton."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.columns import text
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import Instant, make_kernel_tables, make_table

revision = "organization_0001"
down_revision = None
branch_labels = ("organization",)
depends_on = None


def upgrade() -> None:
    make_kernel_tables("organization")
    make_table(
        "organization.organization",
        Kind.PRIVATE,
        text("organization_type"),
        text("mode"),
        text("time_zone"),
        text("locale"),
        text("status"),
        text("display_name"),
        sa.Column("created_by", pg.UUID, nullable=False),
        sa.Column("clock_ahead", sa.Interval, nullable=False),
        sa.Column("clock_moves", sa.BigInteger, nullable=False),
    )
    _facts()
    _equipment()


def _facts() -> None:
    make_table(
        "organization.customer_statement",
        Kind.PRIVATE,
        text("fact_key"),
        sa.Column("value", pg.JSONB, nullable=False),
        sa.Column("stated_by", pg.UUID, nullable=True),
        sa.Column("withdrawn_at", Instant, nullable=True),
    )
    op.execute(
        "CREATE UNIQUE INDEX customer_statement_live_once ON organization.customer_statement "
        "(organization_id, fact_key) WHERE withdrawn_at IS NULL"
    )
    make_table(
        "organization.fact",
        Kind.PRIVATE,
        text("fact_key"),
        sa.Column("statement_id", pg.UUID, nullable=True),
        unique=[("organization_id", "fact_key")],
        references=[
            (
                ("organization_id", "statement_id"),
                "organization.customer_statement",
                ("organization_id", "id"),
            )
        ],
    )


def _equipment() -> None:
    make_table(
        "organization.equipment",
        Kind.PRIVATE,
        text("name"),
        text("category", nullable=True),
        text("make", nullable=True),
        text("model", nullable=True),
        sa.Column("year", sa.Integer, nullable=True),
        text("ownership", nullable=True),
        sa.Column("quantity", sa.Integer, nullable=False),
        text("serial_number", nullable=True),
        sa.Column("expiries", pg.JSONB, nullable=False),
        text("status"),
        sa.Column("next_expiry", sa.Date, nullable=True),
        sa.Column("next_check_at", Instant, nullable=True),
        sa.Column("archived_at", Instant, nullable=True),
        indexes=[("organization_id", "name", "id")],
    )
    op.execute(
        "CREATE UNIQUE INDEX equipment_serial_once ON organization.equipment "
        "(organization_id, serial_number) WHERE serial_number IS NOT NULL AND archived_at IS NULL"
    )
    op.execute(
        "CREATE INDEX equipment_due ON organization.equipment (organization_id, next_check_at) "
        "WHERE next_check_at IS NOT NULL"
    )
    op.execute(
        "CREATE INDEX equipment_due_any ON organization.equipment (next_check_at) "
        "WHERE next_check_at IS NOT NULL"
    )
