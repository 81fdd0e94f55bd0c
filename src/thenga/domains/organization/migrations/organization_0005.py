"""Preferences, graph and health."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import Instant, make_table

revision = "organization_0005"
down_revision = "organization_0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _preferences()
    _graph()
    _health()


def _preferences() -> None:
    make_table(
        "organization.procurement_preferences",
        Kind.PRIVATE,
        sa.Column("document", pg.JSONB, nullable=False),
    )
    make_table(
        "organization.preferences_version",
        Kind.PRIVATE,
        sa.Column("preferences_version", sa.BigInteger, nullable=False),
        sa.Column("document", pg.JSONB, nullable=False),
        sa.Column("changes", pg.JSONB, nullable=False),
        sa.Column("actor_kind", sa.Text, nullable=False),
        sa.Column("actor_id", pg.UUID, nullable=True),
        unique=[("organization_id", "preferences_version")],
        appends=True,
    )


def _graph() -> None:
    make_table(
        "organization.graph_edge",
        Kind.PRIVATE,
        *(
            sa.Column(name, sa.Text, nullable=False)
            for name in ("owner_key", "edge_type", "from_key", "from_type", "to_key", "to_type")
        ),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("since", Instant, nullable=False),
        sa.Column("until", Instant, nullable=True),
        unique=[("organization_id", "owner_key", "edge_type", "from_key", "to_key")],
        indexes=[("organization_id", "from_key"), ("organization_id", "to_key")],
    )
    make_table(
        "organization.external_ref",
        Kind.PRIVATE,
        sa.Column("node_key", sa.Text, nullable=False),
        sa.Column("domain", sa.Text, nullable=False),
        sa.Column("ref_type", sa.Text, nullable=False),
        sa.Column("ref_id", sa.Text, nullable=False),
        unique=[("organization_id", "node_key")],
    )


def _health() -> None:
    make_table(
        "organization.health",
        Kind.PRIVATE,
        sa.Column("told_score", sa.Numeric, nullable=True),
        sa.Column("next_check_at", Instant, nullable=True),
        indexes=[("next_check_at",), ("organization_id", "next_check_at")],
    )
    make_table(
        "organization.health_snapshot",
        Kind.PRIVATE,
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("score", sa.Numeric, nullable=False),
        sa.Column("score_exact", sa.Numeric, nullable=False),
        sa.Column("band", sa.Text, nullable=False),
        sa.Column("formula_version", sa.Integer, nullable=False),
        sa.Column("partial", sa.Boolean, nullable=False),
        unique=[("organization_id", "day")],
        deletes=True,
    )
