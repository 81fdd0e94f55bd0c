"""Settings: dated versions that Administration publishes."""

from thenga.kernel.db.migrating import make_setting_values

revision = "identity_0006"
down_revision = "identity_0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_setting_values("identity")
