"""Workers write what operators see of them: waiting events, parked ones, jobs and consumers."""

from thenga.kernel.db.migrating import make_figures

revision = "identity_0007"
down_revision = "identity_0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_figures("identity")
