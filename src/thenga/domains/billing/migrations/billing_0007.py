"""Renewals and failed payments."""

revision = "billing_0007"
down_revision = "billing_0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Filled by its area."""
