"""The end of older archives that hold personal documents."""

from alembic import op

revision = "bid_0004"
down_revision = "bid_0003"
branch_labels = None
depends_on = None

# When their documents are destroyed is not known here; no personal document is kept for longer.
FILL = """
    UPDATE bid.file SET next_check_at = received_at + interval '180 days'
    WHERE purpose = 'archive' AND document_class = 'personal' AND object_key IS NOT NULL
        AND content_status = 'clean' AND next_check_at IS NULL
"""


def upgrade() -> None:
    op.execute(FILL)
