"""The journal that nobody changes, the series of numbers, and the nightly checks."""

import sqlalchemy as sa
from alembic import op

from thenga.kernel.db.columns import day, flag, ident, instant, json, number, text
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import append_only, balanced, make_table

revision = "billing_0003"
down_revision = "billing_0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _journal()
    make_table(
        "billing.document_series",
        Kind.PLATFORM,
        text("seller_code"),
        text("document_kind"),
        text("book"),
        number("next_number"),
        unique=[("seller_code", "document_kind", "book")],
    )
    make_table(
        "billing.ledger_verification",
        Kind.PLATFORM,
        day("day"),
        number("entries"),
        number("lines"),
        number("journal_sum_minor"),
        number("unbalanced"),
        json("balances"),
        flag("passed"),
        unique=[("day",)],
    )


def _journal() -> None:
    make_table(
        "billing.journal_entry",
        Kind.PRIVATE,
        text("book"),
        text("kind"),
        text("key"),
        text("source_type"),
        ident("source_id"),
        instant("occurred_at"),
        unique=[("organization_id", "key")],
        indexes=[("organization_id", "source_id"), ("organization_id", "occurred_at")],
    )
    make_table(
        "billing.journal_line",
        Kind.PRIVATE,
        ident("entry_id"),
        text("account"),
        number("amount_minor"),
        sa.Column("currency", sa.CHAR(3), nullable=False),
        indexes=[("organization_id", "entry_id"), ("organization_id", "account")],
        references=[
            (("organization_id", "entry_id"), "billing.journal_entry", ("organization_id", "id"))
        ],
    )
    op.execute(
        "ALTER TABLE billing.journal_line ADD CONSTRAINT journal_line_not_nothing "
        "CHECK (amount_minor <> 0)"
    )
    balanced("billing.journal_entry", "billing.journal_line")
    append_only("billing.journal_entry", "billing.journal_line")
