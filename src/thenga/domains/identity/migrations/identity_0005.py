"""The application sees for when a job is planned: a sandbox's clock waits for what is under way."""

from thenga.kernel.db.migrating import show_job_schedule

revision = "identity_0005"
down_revision = "identity_0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    show_job_schedule("identity")
