"""The tables of the domain of papers."""

from thenga.kernel.db.columns import text
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_kernel_tables, make_table
from thenga.kernel.files.contents import CONTENT_INDEXES, content_columns

revision = "filed_0001"
down_revision = None
branch_labels = ("filed",)
depends_on = None


def upgrade() -> None:
    make_kernel_tables("filed")
    make_table(
        "filed.paper",
        Kind.PRIVATE,
        *content_columns(),
        text("name"),
        indexes=CONTENT_INDEXES,
    )
