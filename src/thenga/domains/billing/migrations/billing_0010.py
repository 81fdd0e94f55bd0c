"""Until when the usage of a plan that is paid by the year was billed."""

from alembic import op

from thenga.kernel.db.columns import day

revision = "billing_0010"
down_revision = "billing_0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("subscription", day("usage_billed_to", nullable=True), schema="billing")
