"""Settings: versions that Administration publishes replace the values of the catalogue file."""

from alembic import op

from thenga.kernel.db.migrating import make_setting_values

revision = "billing_0020"
down_revision = "billing_0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_setting_values("billing")
    op.drop_table("configuration_value", schema="billing")
