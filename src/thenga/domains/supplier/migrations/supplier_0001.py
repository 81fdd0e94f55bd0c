"""Suppliers and what they can deliver."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.columns import flag, ident, json, number, text
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import below_notice, make_kernel_tables, make_table

revision = "supplier_0001"
down_revision = None
branch_labels = ("supplier",)
depends_on = None


def upgrade() -> None:
    make_kernel_tables("supplier")
    make_table(
        "supplier.capability",
        Kind.NOTICE,
        ident("supplier_id"),
        text("title"),
        text("title_key"),
        text("description", nullable=True),
        sa.Column("category_ids", pg.ARRAY(pg.UUID), nullable=False),
        ident("organization_capability_id", nullable=True),
        json("verification", nullable=True),
        number("verification_sequence"),
        flag("withdrawn"),
        unique=[("organization_id", "supplier_id", "title_key")],
        indexes=[("supplier_id",), ("organization_id", "organization_capability_id")],
    )
    make_table(
        "supplier.supplier",
        Kind.NOTICE,
        text("kind"),
        text("name_key"),
        text("name", nullable=True),
        text("registration_number", nullable=True),
        text("vat_status", nullable=True),
        json("contact", nullable=True),
        text("note", nullable=True),
        sa.Column("category_ids", pg.ARRAY(pg.UUID), nullable=False),
        json("areas"),
        flag("accepts_quote_requests"),
        ident("linked_to", nullable=True),
        text("status"),
        unique=[("organization_id", "kind", "name_key")],
    )
    make_table(
        "supplier.tenant",
        Kind.PRIVATE,
        flag("sandbox"),
        unique=[("organization_id",)],
    )
    below_notice("supplier.capability", "supplier_id", "supplier.supplier")
    # An own supplier is its organization and has no name of its own (SUP-1).
    op.execute(
        "ALTER TABLE supplier.supplier ADD CONSTRAINT supplier_name_of_external "
        "CHECK ((kind = 'external') = (name IS NOT NULL) AND shared = (kind = 'own'))"
    )
