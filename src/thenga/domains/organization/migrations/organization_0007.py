"""Disclosures."""

from thenga.kernel.db.columns import ident, json, text
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import append_only, make_table

revision = "organization_0007"
down_revision = "organization_0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_table(
        "organization.disclosure",
        Kind.PRIVATE,
        text("purpose"),
        json("subjects"),
        json("reference"),
        ident("on_behalf_of"),
        text("command_key"),
        unique=[("organization_id", "command_key")],
        appends=True,
    )
    append_only("organization.disclosure")
