"""The tables of the errand domain."""

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_kernel_tables, make_table

revision = "errand_0001"
down_revision = None
branch_labels = ("errand",)
depends_on = None


def upgrade() -> None:
    make_kernel_tables("errand")
    make_table("errand.errand", Kind.PRIVATE, due=True)
    make_table("errand.chore", Kind.PLATFORM, due=True)
