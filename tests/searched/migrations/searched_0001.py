"""The tables of the domain with texts."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.columns import text
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import (
    make_kernel_tables,
    make_part_index,
    make_search_configuration,
    make_search_index,
    make_table,
)

revision = "searched_0001"
down_revision = None
branch_labels = ("searched",)
depends_on = None


def upgrade() -> None:
    make_kernel_tables("searched")
    make_search_configuration("searched", "za")
    for name, kind in (("notice", Kind.PUBLISHED), ("draft", Kind.PRIVATE)):
        table = f"searched.{name}"
        words = sa.Computed("to_tsvector('searched.za', title)", persisted=True)
        make_table(
            table,
            kind,
            text("number"),
            text("title"),
            sa.Column("words", pg.TSVECTOR, words, nullable=False),
        )
        make_search_index(table, "words")
        make_part_index(table, "number")
