"""Deadlines of shared tenders are found over all organizations."""

from alembic import op

revision = "notification_0003"
down_revision = "notification_0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("anchor_reference_key_by", "anchor", ["reference_key"], schema="notification")
