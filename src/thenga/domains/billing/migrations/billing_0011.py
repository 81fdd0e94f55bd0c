"""From which address a callback came."""

from alembic import op

from thenga.kernel.db.columns import text

revision = "billing_0011"
down_revision = "billing_0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("provider_callback", text("sender", nullable=True), schema="billing")
