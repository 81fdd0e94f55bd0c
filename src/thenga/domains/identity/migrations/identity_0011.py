"""The gate says who answers for a key: where two people must act, the key counts as that person."""

from thenga.kernel.db.migrating import let_gate_read_more

revision = "identity_0011"
down_revision = "identity_0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    let_gate_read_more("identity.api_key", ["sponsor_user_id"])
