"""Settings: versions that Administration publishes replace the policy values."""

from alembic import op

from thenga.kernel.db.migrating import make_setting_values

revision = "organization_0009"
down_revision = "organization_0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_setting_values("organization")
    op.drop_table("policy_value", schema="organization")
