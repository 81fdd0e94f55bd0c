"""A refund of unknown outcome is asked for and may have two names; a dispute has its amount."""

import sqlalchemy as sa
from alembic import op

revision = "billing_0015"
down_revision = "billing_0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("sent_at", "next_check_at"):
        column = sa.Column(name, sa.TIMESTAMP(timezone=True), nullable=True)
        op.add_column("refund", column, schema="billing")
    alias = sa.Column("provider_alias", sa.Text, nullable=True)
    op.add_column("refund", alias, schema="billing")
    op.execute(
        "ALTER TABLE billing.payment ADD COLUMN dispute_amounts jsonb NOT NULL DEFAULT '{}'::jsonb"
    )
    where = "WHERE next_check_at IS NOT NULL"
    op.execute(
        f"CREATE INDEX refund_due ON billing.refund (organization_id, next_check_at) {where}"
    )
    op.execute(f"CREATE INDEX refund_due_any ON billing.refund (next_check_at) {where}")
    op.execute(
        "UPDATE billing.refund SET sent_at = updated_at, next_check_at = now() "
        "WHERE status = 'processing'"
    )
