"""The tables of the errand domain."""

import sqlalchemy as sa

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import Instant, make_kernel_tables, make_table

revision = "errand_0001"
down_revision = None
branch_labels = ("errand",)
depends_on = None


def upgrade() -> None:
    make_kernel_tables("errand")
    make_table(
        "errand.errand",
        Kind.PRIVATE,
        sa.Column("next_check_at", Instant, nullable=True),
        indexes=[("next_check_at",), ("organization_id", "next_check_at")],
    )
