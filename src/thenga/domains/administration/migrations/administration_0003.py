"""Flags, support cases, audit reviews and governance decisions."""

revision = "administration_0003"
down_revision = "administration_0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass
