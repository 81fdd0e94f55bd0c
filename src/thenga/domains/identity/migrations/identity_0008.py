"""Settings: dated versions that Administration publishes."""

from thenga.kernel.db.migrating import make_setting_values

revision = "identity_0008"
down_revision = "identity_0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_setting_values("identity")
