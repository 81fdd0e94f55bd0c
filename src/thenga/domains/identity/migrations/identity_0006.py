"""The permission catalogue says what only people may do, and the gate reads it."""

import sqlalchemy as sa
from alembic import op

from thenga.kernel.db.migrating import let_gate_read_more

revision = "identity_0006"
down_revision = "identity_0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    people_only = sa.Column("people_only", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("permission", people_only, schema="identity")
    let_gate_read_more("identity.permission", ["people_only"])
