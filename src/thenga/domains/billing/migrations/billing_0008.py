"""What is held, what was given as goodwill, and what was used."""

revision = "billing_0008"
down_revision = "billing_0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Filled by its area."""
