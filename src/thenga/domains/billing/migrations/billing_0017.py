"""Months of usage as they were: their days, and what they included and cost."""

from alembic import op

from thenga.kernel.db.columns import day, instant, json, number
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_table

revision = "billing_0017"
down_revision = "billing_0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_table(
        "billing.usage_month",
        Kind.PRIVATE,
        day("usage_month"),
        instant("begins_at"),
        instant("ends_at"),
        json("terms"),
        number("spend_cap_minor", nullable=True),
        number("ceiling_minor", nullable=True),
        number("billed_minor"),
        instant("billed_at", nullable=True),
        key=("organization_id", "usage_month"),
    )
    # The running month is remembered when its set is looked at next.
    for column in ("included", "unit_price", "billed_at"):
        op.drop_column("usage_total", column, schema="billing")
