"""The application sees for when a job is planned: a sandbox's clock waits for what is under way."""

from thenga.kernel.db.migrating import show_job_schedule

revision = "billing_0018"
down_revision = "billing_0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    show_job_schedule("billing")
