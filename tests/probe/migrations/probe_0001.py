"""The tables of the probe."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_kernel_tables, make_series, make_table

revision = "probe_0001"
down_revision = None
branch_labels = ("probe",)
depends_on = None


def upgrade() -> None:
    make_kernel_tables("probe")
    make_series("probe")
    make_table(
        "probe.thing",
        Kind.PRIVATE,
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("amount", sa.BigInteger, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("secret", sa.Text, nullable=True),
    )
    make_table(
        "probe.effect",
        Kind.PRIVATE,
        sa.Column("thing_id", pg.UUID, nullable=False),
        sa.Column("cause", sa.Text, nullable=False),
        sa.Column("sequence", sa.BigInteger, nullable=False),
    )
    make_table(
        "probe.label",
        Kind.PRIVATE,
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("slot", sa.Text, nullable=True),
        unique=[("organization_id", "name")],
    )
    op.execute(
        "CREATE UNIQUE INDEX label_slot_part ON probe.label (organization_id, slot) "
        "WHERE slot IS NOT NULL"
    )
    make_table(
        "probe.ticket",
        Kind.PRIVATE,
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("status_code", sa.Text, nullable=True),
        sa.Column("status_text", sa.Text, nullable=True),
        sa.Column("status_changed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("status_changed_by", pg.UUID, nullable=True),
        unique=[("organization_id", "name")],
    )
