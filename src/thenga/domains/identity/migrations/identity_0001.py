"""The tables of Identity's walking skeleton."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.columns import flag, ident, instant, octets, text
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import let_gate_read, make_kernel_tables, make_table

revision = "identity_0001"
down_revision = None
branch_labels = ("identity",)
depends_on = None


def upgrade() -> None:
    make_kernel_tables("identity")
    _people()
    _sessions()
    _belonging()
    _catalogues()
    _gate()


def _people() -> None:
    make_table(
        "identity.user_account",
        Kind.PERSONAL,
        text("email"),
        text("display_name"),
        text("locale"),
        text("time_zone"),
        text("status"),
        flag("staff"),
        instant("email_verified_at", nullable=True),
        instant("last_sign_in_at", nullable=True),
    )
    make_table(
        "identity.sign_in_name", Kind.BEARER, ident("user_id"), octets("link_hash", nullable=True)
    )
    make_table("identity.password", Kind.PERSONAL, text("phc"), unique=[("user_id",)])
    make_table(
        "identity.one_time_link",
        Kind.BEARER,
        text("purpose"),
        octets("account_key"),
        ident("user_id"),
        octets("sealed", nullable=True),
        instant("expires_at"),
        instant("used_at", nullable=True),
    )


def _sessions() -> None:
    make_table(
        "identity.session",
        Kind.PERSONAL,
        text("kind"),
        text("status"),
        text("assurance"),
        sa.Column("methods", pg.ARRAY(sa.Text), nullable=False),
        instant("authenticated_at"),
        instant("proven_at"),
        ident("active_organization_id", nullable=True),
        instant("last_seen_at"),
        instant("idle_expires_at"),
        instant("expires_at"),
        text("network"),
        text("ended_cause", nullable=True),
    )
    make_table(
        "identity.access_token",
        Kind.BEARER,
        ident("session_id"),
        ident("user_id"),
        instant("expires_at"),
        indexes=[("expires_at",)],
    )
    make_table(
        "identity.refresh_token",
        Kind.BEARER,
        ident("session_id"),
        ident("user_id"),
        sa.Column("generation", sa.BigInteger, nullable=False),
        instant("used_at", nullable=True),
        octets("successor_sealed", nullable=True),
    )


def _belonging() -> None:
    make_table(
        "identity.tenant_mirror",
        Kind.PRIVATE,
        text("status"),
        flag("sandbox"),
        sa.Column("ahead", sa.Interval, nullable=False),
        sa.Column("source_sequence", sa.BigInteger, nullable=False),
        unique=[("organization_id",)],
    )
    make_table(
        "identity.membership",
        Kind.TWO_PARTY,
        text("status"),
        text("origin"),
        text("display_name"),
        instant("joined_at", nullable=True),
        instant("ended_at", nullable=True),
        indexes=[("user_id", "id")],
    )
    # A person belongs to an organization once; who left and returns gets a new membership.
    op.execute(
        "CREATE UNIQUE INDEX membership_once ON identity.membership (organization_id, user_id) "
        "WHERE status <> 'removed'"
    )
    make_table(
        "identity.role_assignment",
        Kind.PRIVATE,
        ident("membership_id"),
        text("role_code"),
        text("status"),
        instant("valid_from"),
        instant("valid_to", nullable=True),
        ident("assigned_by", nullable=True),
        instant("next_check_at", nullable=True),
        references=[
            (("organization_id", "membership_id"), "identity.membership", ("organization_id", "id"))
        ],
        indexes=[("organization_id", "membership_id")],
    )
    op.execute(
        "CREATE INDEX role_assignment_due ON identity.role_assignment "
        "(organization_id, next_check_at) WHERE next_check_at IS NOT NULL"
    )
    op.execute(
        "CREATE INDEX role_assignment_due_any ON identity.role_assignment (next_check_at) "
        "WHERE next_check_at IS NOT NULL"
    )
    make_table(
        "identity.decision_record",
        Kind.PRIVATE,
        text("actor_kind"),
        ident("actor_id"),
        text("action"),
        sa.Column("resource", pg.JSONB, nullable=False),
        text("decision"),
        text("reason_code"),
        text("policy_version"),
        text("channel"),
        text("request_id"),
    )


def _catalogues() -> None:
    make_table(
        "identity.role",
        Kind.CATALOGUE,
        text("code"),
        text("title"),
        text("audience"),
        unique=[("code",)],
    )
    make_table(
        "identity.permission",
        Kind.CATALOGUE,
        text("code"),
        text("domain"),
        text("title"),
        text("effect"),
        sa.Column("audiences", pg.ARRAY(sa.Text), nullable=False),
        text("sensitivity"),
        text("feature", nullable=True),
        flag("keys"),
        text("agents"),
        flag("while_suspended"),
        sa.Column("roles", pg.ARRAY(sa.Text), nullable=False),
        text("status"),
        unique=[("code",)],
    )
    make_table(
        "identity.policy_set",
        Kind.CATALOGUE,
        text("label"),
        text("status"),
        text("text"),
        unique=[("label",)],
    )
    op.execute(
        "CREATE UNIQUE INDEX policy_set_enforced_once ON identity.policy_set ((status)) "
        "WHERE status = 'enforced'"
    )


def _gate() -> None:
    let_gate_read("identity.access_token", ["hash", "session_id", "user_id", "expires_at"])
    let_gate_read(
        "identity.session",
        [
            "id",
            "user_id",
            "kind",
            "status",
            "assurance",
            "methods",
            "proven_at",
            "active_organization_id",
            "idle_expires_at",
            "expires_at",
        ],
    )
    let_gate_read(
        "identity.user_account",
        ["id", "user_id", "status", "staff", "display_name", "email", "locale", "time_zone"],
    )
    let_gate_read("identity.tenant_mirror", ["organization_id", "status", "sandbox", "ahead"])
    let_gate_read("identity.membership", ["id", "organization_id", "user_id", "status"])
    let_gate_read(
        "identity.role_assignment",
        ["organization_id", "membership_id", "role_code", "status", "valid_from", "valid_to"],
    )
    let_gate_read(
        "identity.permission",
        [
            "code",
            "domain",
            "effect",
            "audiences",
            "sensitivity",
            "feature",
            "agents",
            "while_suspended",
            "roles",
            "status",
        ],
    )
    let_gate_read("identity.policy_set", ["label", "status", "text"])
