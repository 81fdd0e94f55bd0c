"""The application sees for when a job is planned: a sandbox's clock waits for what is under way."""

from alembic import op

revision = "billing_0018"
down_revision = "billing_0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("GRANT SELECT (scheduled_at) ON billing.procrastinate_jobs TO billing")
