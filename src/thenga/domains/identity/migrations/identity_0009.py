"""Cards of people have their phone numbers."""

from thenga.kernel.db.migrating import let_gate_read_more

revision = "identity_0009"
down_revision = "identity_0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    let_gate_read_more("identity.user_account", ["phone"])
