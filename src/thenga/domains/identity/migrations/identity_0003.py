"""Belonging and rights."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from thenga.kernel.db.columns import ident, instant, text, texts
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import let_gate_read, let_gate_read_more, make_table

revision = "identity_0003"
down_revision = "identity_0002"
branch_labels = None
depends_on = None

_SCOPE = ("scope_domain", "scope_type", "scope_id")
# A scope that is not there is the whole organization, and counts as one value in a key.
_SCOPE_KEY = "coalesce(scope_domain, ''), coalesce(scope_type, ''), coalesce(scope_id, '')"
_OPEN = "status IN ('scheduled', 'active')"


def scope() -> list[sa.Column[Any]]:
    return [text(name, nullable=True) for name in _SCOPE]


def status_facts() -> list[sa.Column[Any]]:
    """Why a status is what it is, since when, and by whom."""
    return [
        sa.Column("status_code", sa.Text, nullable=True),
        sa.Column("status_text", sa.Text, nullable=True),
        *status_times(),
    ]


def status_times() -> list[sa.Column[Any]]:
    return [instant("status_changed_at", nullable=True), ident("status_changed_by", nullable=True)]


def upgrade() -> None:
    _membership()
    _role_assignment()
    _permission_assignment()
    _custom_role()
    _invitation()
    _gate()


def _membership() -> None:
    added: list[sa.Column[Any]] = [
        sa.Column("title", sa.Text, nullable=True),
        sa.Column("email", sa.Text, nullable=False, server_default=""),
        sa.Column("email_key", sa.LargeBinary, nullable=True),
        sa.Column("aal2_ready", sa.Boolean, nullable=False, server_default=sa.false()),
        *status_facts(),
    ]
    for column in added:
        op.add_column("membership", column, schema="identity")


def _role_assignment() -> None:
    added: list[sa.Column[Any]] = [
        *scope(),
        text("reason", nullable=True),
        ident("decision_id", nullable=True),
        *status_facts(),
    ]
    for column in added:
        op.add_column("role_assignment", column, schema="identity")
    op.execute(
        f"CREATE UNIQUE INDEX role_assignment_once ON identity.role_assignment "
        f"(organization_id, membership_id, role_code, {_SCOPE_KEY}) WHERE {_OPEN}"
    )


def _permission_assignment() -> None:
    make_table(
        "identity.permission_assignment",
        Kind.PRIVATE,
        text("target_type"),
        ident("target_id"),
        text("permission"),
        text("effect"),
        *scope(),
        text("status"),
        instant("valid_from"),
        instant("valid_to", nullable=True),
        text("reason", nullable=True),
        ident("assigned_by", nullable=True),
        ident("decision_id", nullable=True),
        instant("next_check_at", nullable=True),
        *status_facts(),
        indexes=[("organization_id", "target_id", "permission")],
    )
    op.execute(
        f"CREATE UNIQUE INDEX permission_assignment_once ON identity.permission_assignment "
        f"(organization_id, target_type, target_id, permission, effect, {_SCOPE_KEY}) "
        f"WHERE {_OPEN}"
    )
    _due("permission_assignment")


def _custom_role() -> None:
    make_table(
        "identity.custom_role",
        Kind.PRIVATE,
        text("code"),
        text("name"),
        text("description", nullable=True),
        texts("permissions"),
        text("status"),
        *status_facts(),
        unique=[("organization_id", "code")],
    )


def _invitation() -> None:
    make_table(
        "identity.invitation",
        Kind.PRIVATE,
        text("email"),
        sa.Column("email_key", sa.LargeBinary, nullable=False),
        texts("role_codes"),
        *scope(),
        text("message", nullable=True),
        text("status"),
        ident("invited_by_user_id"),
        sa.Column("sent_count", sa.BigInteger, nullable=False),
        instant("last_sent_at", nullable=True),
        instant("delivered_at", nullable=True),
        sa.Column("link_hash", sa.LargeBinary, nullable=True),
        instant("expires_at"),
        instant("reminded_at", nullable=True),
        ident("accepted_by_user_id", nullable=True),
        ident("membership_id", nullable=True),
        instant("next_check_at", nullable=True),
        *status_times(),
    )
    op.execute(
        "CREATE UNIQUE INDEX invitation_once ON identity.invitation "
        "(organization_id, email_key) WHERE status = 'pending'"
    )
    _due("invitation")
    for name in ("organization_id", "invitation_id"):
        op.add_column("one_time_link", ident(name, nullable=True), schema="identity")


def _due(table: str) -> None:
    op.execute(
        f"CREATE INDEX {table}_due ON identity.{table} (organization_id, next_check_at) "
        f"WHERE next_check_at IS NOT NULL"
    )
    op.execute(
        f"CREATE INDEX {table}_due_any ON identity.{table} (next_check_at) "
        f"WHERE next_check_at IS NOT NULL"
    )


def _gate() -> None:
    let_gate_read_more("identity.role_assignment", ["id", *_SCOPE])
    let_gate_read_more("identity.membership", ["aal2_ready"])
    let_gate_read(
        "identity.custom_role", ["id", "organization_id", "code", "permissions", "status"]
    )
    let_gate_read(
        "identity.permission_assignment",
        [
            "id",
            "organization_id",
            "target_type",
            "target_id",
            "permission",
            "effect",
            *_SCOPE,
            "status",
            "valid_from",
            "valid_to",
        ],
    )
