"""Search entries and matches."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.columns import flag, ident, instant, json, number, text
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import keeper_removes, make_search_configuration, make_table

revision = "marketplace_0002"
down_revision = "marketplace_0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_search_configuration("marketplace", "za")
    make_table(
        "marketplace.match",
        Kind.PRIVATE,
        json("need", nullable=True),
        json("from_tender", nullable=True),
        ident("tender_opportunity_id", nullable=True),
        number("requirement_set_version", nullable=True),
        json("requirements"),
        json("candidates"),
        json("excluded"),
        number("formula_version"),
        instant("as_of"),
        text("correlation_id"),
    )
    make_table(
        "marketplace.search_entry",
        Kind.PUBLISHED,
        ident("supplier_id"),
        sa.Column("words", pg.TSVECTOR, nullable=False),
        sa.Column("tokens", pg.ARRAY(sa.Text), nullable=False),
        text("provider_name", nullable=True),
        number("level"),
        text("trust", nullable=True),
        instant("confirmed_at"),
        flag("sandbox"),
        indexes=[("confirmed_at", "id")],
        deletes=True,
    )
    keeper_removes("marketplace.search_entry")
    # Words and tokens are asked together, and one index answers both.
    op.execute(
        "CREATE INDEX search_entry_found ON marketplace.search_entry USING gin (words, tokens) "
        "WITH (fastupdate = off)"
    )
