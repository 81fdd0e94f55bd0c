"""A recovery waits while its account is parked, and counts what was told of it."""

import sqlalchemy as sa
from alembic import op

revision = "billing_0014"
down_revision = "billing_0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    column = sa.Column("held_since", sa.DateTime(timezone=True), nullable=True)
    op.add_column("payment_failure", column, schema="billing")
    counted = sa.Column("notices", sa.Integer, nullable=False, server_default="1")
    op.add_column("payment_failure", counted, schema="billing")
    op.execute(
        "UPDATE billing.payment_failure SET notices = greatest(1, jsonb_array_length(attempts))"
    )
    op.alter_column("payment_failure", "notices", server_default=None, schema="billing")
