"""A recovery waits while its account is parked."""

import sqlalchemy as sa
from alembic import op

revision = "billing_0014"
down_revision = "billing_0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    column = sa.Column("held_since", sa.DateTime(timezone=True), nullable=True)
    op.add_column("payment_failure", column, schema="billing")
