"""People: factors, devices, locks, and what of them managers and staff see."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.columns import ident, instant, number, octets, text
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import let_gate_read_more, make_table

revision = "identity_0002"
down_revision = "identity_0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _accounts()
    _links()
    _sessions()
    _devices()
    _factors()
    _gate()


def _add(table: str, *columns: sa.Column[Any]) -> None:
    for column in columns:
        op.add_column(table, column, schema="identity")


def _accounts() -> None:
    kinds: sa.Column[Any] = sa.Column(
        "factor_kinds", pg.ARRAY(sa.Text), nullable=False, server_default="{}"
    )
    _add(
        "user_account",
        text("phone", nullable=True),
        ident("active_organization_id", nullable=True),
        instant("locked_until", nullable=True),
        text("lock_cause", nullable=True),
        kinds,
        text("status_reason_code", nullable=True),
        text("status_reason_text", nullable=True),
        instant("status_changed_at", nullable=True),
        ident("status_changed_by", nullable=True),
    )
    # What staff see of an account: its holder and the operator are the two parties.
    make_table(
        "identity.account_card",
        Kind.TWO_PARTY,
        octets("account_key"),
        text("email"),
        text("display_name"),
        text("status"),
        sa.Column("staff", sa.Boolean, nullable=False),
        instant("email_verified_at", nullable=True),
        instant("locked_until", nullable=True),
        instant("last_sign_in_at", nullable=True),
        unique=[("organization_id", "user_id")],
        indexes=[("organization_id", "created_at"), ("organization_id", "account_key")],
    )
    make_table(
        "identity.sign_in_counter",
        Kind.BEARER,
        number("failures"),
        instant("window_from"),
        number("level"),
        instant("locked_until", nullable=True),
        indexes=[("updated_at",)],
    )


def _links() -> None:
    op.drop_column("sign_in_name", "link_hash", schema="identity")
    _add("sign_in_name", instant("ended_at", nullable=True))
    for table in ("sign_in_name", "one_time_link"):
        op.create_index(f"{table}_user_id_by", table, ["user_id"], schema="identity")
    # The one open link of an address and a purpose; the older ones are dead.
    make_table("identity.link_slot", Kind.BEARER, octets("link_hash"))
    _add("one_time_link", ident("session_id", nullable=True))
    _add("one_time_link", octets("address_sealed", nullable=True))


def _sessions() -> None:
    _add(
        "session",
        ident("device_id", nullable=True),
        sa.Column("device_label", sa.Text, nullable=False, server_default=""),
        sa.Column("device_family", sa.Text, nullable=False, server_default=""),
        sa.Column("idle_for", sa.Interval, nullable=False, server_default="14 days"),
    )
    op.execute(
        "CREATE INDEX session_alive ON identity.session (idle_expires_at) "
        "WHERE status IN ('active', 'pending_mfa')"
    )
    make_table(
        "identity.session_use",
        Kind.TWO_PARTY,
        ident("session_id"),
        text("device_label"),
        text("device_family"),
        text("network"),
        instant("last_seen_at"),
        instant("ended_at", nullable=True),
        unique=[("organization_id", "session_id")],
        indexes=[("organization_id", "user_id"), ("user_id", "session_id")],
    )
    # Uses noted by the gate's process, folded into sessions by the system login (IDN-42).
    make_table(
        "identity.use_note",
        Kind.LEDGER,
        ident("organization_id", nullable=True),
        ident("session_id"),
        ident("user_id"),
        ident("used_in", nullable=True),
        text("network"),
        instant("seen_at"),
    )


def _devices() -> None:
    make_table(
        "identity.known_device",
        Kind.PERSONAL,
        text("label"),
        text("family"),
        instant("last_seen_at"),
        instant("removed_at", nullable=True),
    )
    make_table("identity.device_token", Kind.BEARER, ident("user_id"), ident("device_id"))


def _factors() -> None:
    make_table(
        "identity.mfa_factor",
        Kind.PERSONAL,
        text("kind"),
        text("label"),
        text("status"),
        number("failures"),
        instant("stopped_at", nullable=True),
        instant("last_used_at", nullable=True),
        instant("expires_at", nullable=True),
        octets("secret_sealed", nullable=True),
        number("last_step"),
    )
    make_table(
        "identity.recovery_code",
        Kind.PERSONAL,
        ident("factor_id"),
        octets("code_hash"),
        instant("used_at", nullable=True),
        unique=[("user_id", "factor_id", "code_hash")],
        references=[(("user_id", "factor_id"), "identity.mfa_factor", ("user_id", "id"))],
    )
    make_table(
        "identity.mfa_challenge",
        Kind.PERSONAL,
        ident("session_id"),
        ident("factor_id", nullable=True),
        text("kind"),
        text("purpose"),
        text("status"),
        number("failures"),
        instant("expires_at"),
    )


def _gate() -> None:
    half = sa.Column("half", sa.Boolean, nullable=False, server_default=sa.false())
    _add("permission", half)
    let_gate_read_more("identity.permission", ["half"])
    let_gate_read_more("identity.user_account", ["factor_kinds"])
