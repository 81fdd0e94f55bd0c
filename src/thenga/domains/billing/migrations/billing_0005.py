"""Payments, ways to pay, refunds, and what providers say."""

revision = "billing_0005"
down_revision = "billing_0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Filled by its area."""
