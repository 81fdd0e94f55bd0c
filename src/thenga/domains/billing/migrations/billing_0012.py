"""An invoice notices by itself that it is late, and the lines of a day are counted by an index."""

from alembic import op

revision = "billing_0012"
down_revision = "billing_0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "CREATE INDEX invoice_line_of_subscription "
        "ON billing.invoice_line (organization_id, subscription_id, created_at)"
    )
    op.drop_column("renewal", "next_check_at", schema="billing")  # with its indexes
