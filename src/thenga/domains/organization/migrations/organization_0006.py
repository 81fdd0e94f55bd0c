"""The application sees for when a job is planned: a sandbox's clock waits for what is under way."""

from alembic import op

revision = "organization_0006"
down_revision = "organization_0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("GRANT SELECT (scheduled_at) ON organization.procrastinate_jobs TO organization")
