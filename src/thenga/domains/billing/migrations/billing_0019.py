"""Workers write what operators see of them: waiting events, parked ones, jobs and consumers."""

from thenga.kernel.db.migrating import make_figures

revision = "billing_0019"
down_revision = "billing_0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_figures("billing")
