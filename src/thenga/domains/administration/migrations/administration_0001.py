"""The kernel's tables, and the record of what staff did."""

from thenga.kernel.db.columns import flag, ident, json, text
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import append_only, make_kernel_tables, make_series, make_table

revision = "administration_0001"
down_revision = None
branch_labels = ("administration",)
depends_on = None


def upgrade() -> None:
    make_kernel_tables("administration")
    make_series("administration")
    make_table(
        "administration.admin_action",
        Kind.PLATFORM,
        ident("actor_id"),
        ident("session_id", nullable=True),
        text("action"),
        text("resource_type"),
        ident("resource_id"),
        ident("subject_organization_id", nullable=True),
        ident("decision_id", nullable=True),
        text("outcome"),
        text("request_id"),
        text("reason"),
        json("changes"),
        flag("truncated"),
        text("digest"),
        indexes=[
            ("actor_id", "created_at"),
            ("resource_id", "created_at"),
            ("subject_organization_id", "created_at"),
        ],
        appends=True,
    )
    append_only("administration.admin_action")
