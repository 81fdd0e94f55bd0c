"""The application sees for when a job is planned: a sandbox's clock waits for what is under way."""

from alembic import op

revision = "identity_0005"
down_revision = "identity_0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("GRANT SELECT (scheduled_at) ON identity.procrastinate_jobs TO identity")
