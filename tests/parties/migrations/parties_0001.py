"""The tables of the domain of two parties."""

from thenga.kernel.db.columns import ident, text
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_kernel_tables, make_table

revision = "parties_0001"
down_revision = None
branch_labels = ("parties",)
depends_on = None


def upgrade() -> None:
    make_kernel_tables("parties")
    make_table("parties.offer", Kind.BETWEEN, text("text"))
    make_table("parties.note", Kind.PRIVATE, ident("offer_id"), text("text"))
    make_table("parties.tender", Kind.NOTICE, text("text"))
    make_table(
        "parties.remark",
        Kind.PRIVATE,
        ident("tender_id"),
        text("text"),
        references=[(("tender_id",), "parties.tender", ("id",))],
    )
    make_table("parties.listing", Kind.PUBLISHED, text("code"), text("text"), indexes=[("code",)])
    make_table("parties.course", Kind.SPONSORED, text("text"))
