"""Decisions, keys and the audit trail; what staff may do."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.columns import ident, instant, number, text
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import let_gate_read, let_gate_read_more, make_table

revision = "identity_0004"
down_revision = "identity_0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _platform_roles()
    _keys()
    _records()
    _tallies()
    _signals()
    _heads()
    _gate()


def _platform_roles() -> None:
    make_table(
        "identity.platform_role_assignment",
        Kind.PLATFORM,
        ident("user_id"),
        text("role_code"),
        text("status"),
        instant("valid_from"),
        instant("valid_to", nullable=True),
        text("reason"),
        ident("assigned_by", nullable=True),
        indexes=[("user_id",)],
    )
    op.execute(
        "CREATE UNIQUE INDEX platform_role_assignment_once "
        "ON identity.platform_role_assignment (user_id, role_code) "
        "WHERE status IN ('scheduled', 'active')"
    )


def _keys() -> None:
    make_table(
        "identity.api_key",
        Kind.PRIVATE,
        sa.Column("hash", sa.LargeBinary, nullable=False),
        text("name"),
        sa.Column("scopes", pg.ARRAY(sa.Text), nullable=False),
        text("environment"),
        text("prefix"),
        text("last4"),
        sa.Column("allowed_networks", pg.ARRAY(pg.CIDR), nullable=False),
        text("status"),
        instant("expires_at"),
        ident("sponsor_user_id"),
        text("sponsor_state"),
        instant("grace_ends_at", nullable=True),
        ident("rotated_from_id", nullable=True),
        ident("rotated_to_id", nullable=True),
        number("warned_days", nullable=True),
        instant("next_check_at", nullable=True),
        instant("last_used_at", nullable=True),
        text("last_used_network", nullable=True),
        text("status_code", nullable=True),
        text("status_text", nullable=True),
        instant("status_changed_at", nullable=True),
        ident("status_changed_by", nullable=True),
        indexes=[("id",)],
    )
    # A key is found by what it is, before anybody knows whose it is.
    op.execute("CREATE UNIQUE INDEX api_key_hash_once ON identity.api_key (hash)")
    op.execute(
        "CREATE INDEX api_key_due ON identity.api_key (organization_id, next_check_at) "
        "WHERE next_check_at IS NOT NULL"
    )
    op.execute(
        "CREATE INDEX api_key_due_any ON identity.api_key (next_check_at) "
        "WHERE next_check_at IS NOT NULL"
    )


def _decided() -> list[sa.Column[Any]]:
    return [
        text("actor_kind"),
        text("action"),
        sa.Column("resource", pg.JSONB, nullable=False),
        text("decision"),
        text("reason_code"),
        sa.Column("obligations", pg.JSONB, nullable=False),
        sa.Column("remedy", pg.JSONB, nullable=True),
        text("policy_version"),
        text("purpose"),
        text("channel"),
        text("request_id"),
    ]


def _records() -> None:
    op.drop_table("decision_record", schema="identity")  # its kind changes, and nothing is in it
    make_table(
        "identity.decision_record",
        Kind.TWO_PARTY,
        *_decided(),
        indexes=[("user_id", "id"), ("created_at",)],
    )
    make_table("identity.personal_decision", Kind.PERSONAL, *_decided(), indexes=[("created_at",)])
    make_table(
        "identity.platform_decision",
        Kind.PLATFORM,
        ident("organization_id", nullable=True),
        ident("user_id"),
        *_decided(),
        indexes=[("created_at",)],
    )


def _tallied() -> list[sa.Column[Any]]:
    return [
        instant("hour"),
        text("shape"),
        text("actor_kind"),
        ident("actor_id", nullable=True),
        text("action"),
        text("resource_type"),
        text("reason_code"),
        sa.Column("context", pg.JSONB, nullable=False),
        number("count"),
        ident("last_decision_id", nullable=True),
    ]


def _tallies() -> None:
    make_table(
        "identity.decision_tally",
        Kind.PRIVATE,
        *_tallied(),
        unique=[("organization_id", "hour", "shape")],
        indexes=[("hour",)],
    )
    make_table("identity.platform_tally", Kind.PLATFORM, *_tallied(), unique=[("hour", "shape")])


def _signals() -> None:
    make_table(
        "identity.entitlement_signal",
        Kind.PRIVATE,
        text("feature"),
        text("state"),
        text("access"),
        number("limit_count", nullable=True),
        number("used_count", nullable=True),
        instant("resets_at", nullable=True),
        number("source_sequence"),
        instant("checked_at"),
        unique=[("organization_id", "feature")],
    )
    none = sa.text("'{}'")
    op.add_column(
        "tenant_mirror",
        sa.Column("capabilities_off", pg.ARRAY(sa.Text), nullable=False, server_default=none),
        schema="identity",
    )
    op.add_column(
        "permission",
        sa.Column("scopes", pg.ARRAY(sa.Text), nullable=False, server_default=none),
        schema="identity",
    )


def _heads() -> None:
    make_table(
        "identity.signed_head",
        Kind.CHAIN,
        number("seq"),
        sa.Column("head", sa.LargeBinary, nullable=False),
        instant("signed_at"),
        sa.Column("signature", sa.LargeBinary, nullable=False),
        unique=[("chain", "seq")],
    )


def _gate() -> None:
    let_gate_read(
        "identity.platform_role_assignment",
        ["user_id", "role_code", "status", "valid_from", "valid_to"],
    )
    let_gate_read(
        "identity.api_key",
        [
            "id",
            "organization_id",
            "hash",
            "scopes",
            "allowed_networks",
            "status",
            "status_code",
            "expires_at",
            "grace_ends_at",
        ],
    )
    let_gate_read(
        "identity.entitlement_signal",
        [
            "organization_id",
            "feature",
            "state",
            "access",
            "limit_count",
            "used_count",
            "resets_at",
            "checked_at",
        ],
    )
    let_gate_read_more("identity.tenant_mirror", ["capabilities_off"])
    let_gate_read_more("identity.permission", ["scopes", "keys"])
    let_gate_read_more("identity.session", ["authenticated_at"])
