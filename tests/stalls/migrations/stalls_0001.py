"""Make stall and visit."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.columns import day, flag, ident, json, number, text, texts
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_kernel_tables, make_table

revision = "stalls_0001"
down_revision = None
branch_labels = ("stalls",)
depends_on = None


def upgrade() -> None:
    make_kernel_tables("stalls")
    make_table(
        "stalls.stall",
        Kind.PRIVATE,
        text("code"),
        text("name", nullable=True),
        text("size"),
        text("status"),
        number("places"),
        flag("covered"),
        day("opens_on"),
        sa.Column("fee", sa.Numeric, nullable=True),
        json("place", nullable=True),
        json("earlier_places"),
        texts("produce"),
        sa.Column("neighbour_ids", pg.ARRAY(pg.UUID), nullable=False),
        json("extras", nullable=True),
        ident("landlord_id", nullable=True),
        text("pin", nullable=True),
        unique=[("organization_id", "code")],
        indexes=[("organization_id", "status", "opens_on")],
        due=True,
    )
    make_table(
        "stalls.visit",
        Kind.PRIVATE,
        ident("stall_id"),
        text("note"),
        appends=True,
    )
