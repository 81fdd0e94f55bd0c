"""What usage added up to each day, kept when its records are not any more."""

from alembic import op

from thenga.kernel.db.columns import day, number, text
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_table

revision = "billing_0009"
down_revision = "billing_0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_table(
        "billing.usage_day",
        Kind.PRIVATE,
        text("meter"),
        text("operation"),
        day("day"),
        number("quantity"),
        number("records"),
        key=("organization_id", "meter", "operation", "day"),
        indexes=[("day",)],
        appends=True,
    )
    # Records come in the order of time, so that a few bytes for each range of pages find the old.
    op.execute(
        "CREATE INDEX usage_record_created_at_by ON billing.usage_record USING brin (created_at)"
    )
