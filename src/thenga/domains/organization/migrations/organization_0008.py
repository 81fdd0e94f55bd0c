"""Workers write what operators see of them: waiting events, parked ones, jobs and consumers."""

from thenga.kernel.db.migrating import make_figures

revision = "organization_0008"
down_revision = "organization_0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_figures("organization")
