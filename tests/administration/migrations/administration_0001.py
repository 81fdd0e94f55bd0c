"""The tables of the stand-in for Administration."""

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_kernel_tables, make_table

revision = "administration_0001"
down_revision = None
branch_labels = ("administration",)
depends_on = None


def upgrade() -> None:
    make_kernel_tables("administration")
    make_table("administration.version", Kind.PLATFORM)
