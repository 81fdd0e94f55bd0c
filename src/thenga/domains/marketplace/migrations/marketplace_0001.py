"""Categories, listings and what others see of them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.columns import flag, ident, instant, json, number, text
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import frozen, keeper_removes, make_kernel_tables, make_table

revision = "marketplace_0001"
down_revision = None
branch_labels = ("marketplace",)
depends_on = None


def upgrade() -> None:
    make_kernel_tables("marketplace")
    make_table(
        "marketplace.category",
        Kind.PUBLISHED,
        text("code"),
        json("names"),
        ident("parent_id", nullable=True),
        sa.Column("unspsc_prefixes", pg.ARRAY(sa.Text), nullable=False),
        sa.Column("cidb_classes", pg.ARRAY(sa.Text), nullable=False),
        unique=[("organization_id", "code")],
    )
    make_table(
        "marketplace.listing",
        Kind.BETWEEN,
        text("status_code", nullable=True),
        text("status_text", nullable=True),
        instant("status_changed_at", nullable=True),
        ident("status_changed_by", nullable=True),
        ident("supplier_id"),
        text("kind"),
        text("title_key", nullable=True),
        text("visibility"),
        number("live_version", nullable=True),
        number("open_version", nullable=True),
        number("newest_version"),
        instant("pending_since", nullable=True),
        json("decision", nullable=True),
        ident("decided_by", nullable=True),
        text("status"),
        unique=[("organization_id", "title_key")],
        indexes=[("counterparty_id", "pending_since")],
    )
    make_table(
        "marketplace.listing_version",
        Kind.BETWEEN,
        ident("listing_id"),
        number("number"),
        json("content"),
        text("content_hash"),
        json("decision", nullable=True),
        ident("decided_by", nullable=True),
        instant("decided_at", nullable=True),
        text("status"),
        unique=[("organization_id", "listing_id", "number")],
    )
    make_table(
        "marketplace.live_listing",
        Kind.PUBLISHED,
        ident("supplier_id"),
        text("kind"),
        text("visibility"),
        number("live_version"),
        json("content"),
        text("content_hash"),
        instant("published_at"),
        flag("sandbox"),
        indexes=[("id",), ("supplier_id",)],
        deletes=True,
    )
    make_table(
        "marketplace.provider",
        Kind.PRIVATE,
        ident("supplier_id"),
        text("supplier_status"),
        sa.Column("trust_effects", pg.ARRAY(sa.Text), nullable=False),
        unique=[("organization_id",)],
    )
    make_table(
        "marketplace.tenant",
        Kind.PRIVATE,
        flag("sandbox"),
        unique=[("organization_id",)],
    )
    keeper_removes("marketplace.live_listing")
    # A version that was decided says forever what it said (MKT-2).
    frozen("marketplace.listing_version", once="decided_at", besides=())
    op.execute(
        "ALTER TABLE marketplace.category ADD CONSTRAINT category_of_operator "
        f"CHECK (organization_id = '{OPERATOR}')"
    )
