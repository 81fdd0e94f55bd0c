"""Invoices, credit notes, and the days that were billed."""

revision = "billing_0004"
down_revision = "billing_0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Filled by its area."""
