"""Cancellations and pauses."""

revision = "billing_0006"
down_revision = "billing_0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Filled by its area."""
