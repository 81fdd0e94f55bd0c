"""The tables of the probe."""

import sqlalchemy as sa
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
