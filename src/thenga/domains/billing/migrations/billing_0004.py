"""Invoices, credit notes, and the days that were billed."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.columns import day, ident, instant, json, number, octets, text, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import (
    append_only,
    frozen,
    joins_only_while,
    make_table,
)

revision = "billing_0004"
down_revision = "billing_0003"
branch_labels = None
depends_on = None


def minor(*names: str) -> list[sa.Column[Any]]:
    return [number(f"{name}_minor") for name in names]


def checked(table: str, **rules: str) -> None:
    for name, rule in rules.items():
        op.execute(f"ALTER TABLE billing.{table} ADD CONSTRAINT {table}_{name} CHECK ({rule})")


def upgrade() -> None:
    _series()
    op.add_column(
        "ledger_verification",
        sa.Column("checks", pg.JSONB, nullable=False, server_default="[]"),
        schema="billing",
    )
    op.alter_column("ledger_verification", "checks", server_default=None, schema="billing")
    _invoices()
    _invoice_lines()
    _credit_notes()
    _credit_note_lines()
    _billed_spans()
    _prints()


def _series() -> None:
    """Every sandbox has series of its own: its clock runs by itself, and dates never fall."""
    op.add_column(
        "document_series",
        sa.Column("holder_id", pg.UUID, nullable=False, server_default=str(OPERATOR)),
        schema="billing",
    )
    op.alter_column("document_series", "holder_id", server_default=None, schema="billing")
    op.add_column("document_series", day("last_date", nullable=True), schema="billing")
    op.drop_constraint(
        "document_series_document_kind_book_once", "document_series", schema="billing"
    )
    op.create_unique_constraint(
        "document_series_once",
        "document_series",
        ["seller_code", "document_kind", "book", "holder_id"],
        schema="billing",
    )


def _invoices() -> None:
    make_table(
        "billing.invoice",
        Kind.PRIVATE,
        ident("account_id"),
        ident("subscription_id", nullable=True),
        *(text("purpose"), text("status"), text("collection_status")),
        *(text("book"), text("seller_code"), text("number", nullable=True), text("title")),
        json("seller", nullable=True),
        json("recipient"),
        text("order_number", nullable=True),
        sa.Column("currency", sa.CHAR(3), nullable=False),
        sa.Column("rate_pct", sa.Numeric, nullable=True),
        *minor("gross", "net", "vat", "planned_credit", "received", "credit_applied"),
        *minor("amount_paid", "amount_credited", "amount_due"),
        *(day("issue_date", nullable=True), day("supply_date", nullable=True)),
        day("due_date", nullable=True),
        *(instant("released_at", nullable=True), instant("issued_at", nullable=True)),
        *(json("at_issue", nullable=True), json("pdf", nullable=True)),
        instant("next_check_at", nullable=True),
        unique=[("organization_id", "seller_code", "number")],
        indexes=[("organization_id", "issue_date"), ("organization_id", "subscription_id")],
        references=[
            (("organization_id", "account_id"), "billing.account", ("organization_id", "id")),
        ],
    )
    checked(
        "invoice",
        adds_up="net_minor + vat_minor = gross_minor AND gross_minor > 0 AND vat_minor >= 0",
        numbered="(number IS NULL) = (status IN ('draft', 'discarded'))",
        dated="(number IS NULL) = (issue_date IS NULL)",
        due="amount_due_minor BETWEEN 0 AND gross_minor",
        credited="amount_credited_minor BETWEEN 0 AND gross_minor",
        settled="status NOT IN ('paid', 'credited') OR amount_due_minor = 0",
    )
    frozen(
        "billing.invoice",
        once="number",
        besides=(
            *("status", "collection_status", "received_minor", "credit_applied_minor"),
            *("amount_paid_minor", "amount_credited_minor", "amount_due_minor"),
            *("pdf", "next_check_at"),
        ),
    )
    _numbered_once("invoice")
    where = "WHERE next_check_at IS NOT NULL"
    op.execute(
        f"CREATE INDEX invoice_due ON billing.invoice (organization_id, next_check_at) {where}"
    )
    op.execute(f"CREATE INDEX invoice_due_any ON billing.invoice (next_check_at) {where}")


def _numbered_once(table: str) -> None:
    op.execute(
        f"CREATE UNIQUE INDEX {table}_number_live ON billing.{table} (seller_code, number) "
        f"WHERE book = 'live'"
    )
    # What waits for its number, and what waits for its print.
    op.execute(
        f"CREATE INDEX {table}_waiting ON billing.{table} (released_at) "
        f"WHERE released_at IS NOT NULL AND number IS NULL"
    )
    op.execute(
        f"CREATE INDEX {table}_unprinted ON billing.{table} (issued_at) "
        f"WHERE number IS NOT NULL AND pdf IS NULL"
    )


def _invoice_lines() -> None:
    make_table(
        "billing.invoice_line",
        Kind.PRIVATE,
        ident("invoice_id"),
        whole("position"),
        *(text("kind"), text("key", nullable=True), text("description")),
        number("quantity"),
        sa.Column("unit_price", sa.Numeric, nullable=False),
        *minor("gross"),
        *(day("service_from", nullable=True), day("service_to", nullable=True)),
        ident("subscription_id", nullable=True),
        text("plan_code", nullable=True),
        whole("plan_version", nullable=True),
        number("net_minor", nullable=True),
        *minor("credited", "credited_net", "earned"),
        unique=[("organization_id", "key"), ("organization_id", "invoice_id", "position")],
        references=[
            (("organization_id", "invoice_id"), "billing.invoice", ("organization_id", "id"))
        ],
    )
    checked(
        "invoice_line",
        positive="gross_minor > 0 AND quantity > 0 AND unit_price >= 0",
        served="(service_from IS NULL) = (service_to IS NULL) AND service_from <= service_to",
        # No more is ever given back than was charged, whoever adds it up.
        credited="credited_minor BETWEEN 0 AND gross_minor",
        earned="earned_minor >= 0 AND credited_net_minor >= 0 "
        "AND earned_minor + credited_net_minor <= coalesce(net_minor, 0)",
    )
    frozen(
        "billing.invoice_line",
        once="net_minor",
        besides=("credited_minor", "credited_net_minor", "earned_minor"),
    )
    joins_only_while("billing.invoice_line", "invoice_id", "billing.invoice", unset="number")


def _credit_notes() -> None:
    make_table(
        "billing.credit_note",
        Kind.PRIVATE,
        *(ident("account_id"), ident("invoice_id")),
        *(text("status"), text("book"), text("seller_code"), text("number", nullable=True)),
        json("seller", nullable=True),
        json("recipient"),
        text("invoice_number", nullable=True),
        day("invoice_date", nullable=True),
        *(text("reason_code"), text("explanation")),
        sa.Column("currency", sa.CHAR(3), nullable=False),
        sa.Column("rate_pct", sa.Numeric, nullable=True),
        *minor("gross", "net", "vat"),
        day("issue_date", nullable=True),
        *(instant("released_at", nullable=True), instant("issued_at", nullable=True)),
        json("pdf", nullable=True),
        unique=[("organization_id", "seller_code", "number")],
        indexes=[("organization_id", "invoice_id"), ("organization_id", "issue_date")],
        references=[
            (("organization_id", "invoice_id"), "billing.invoice", ("organization_id", "id"))
        ],
    )
    checked(
        "credit_note",
        adds_up="net_minor + vat_minor = gross_minor AND gross_minor > 0 AND vat_minor >= 0",
        numbered="(number IS NULL) = (status IN ('draft', 'discarded'))",
        dated="(number IS NULL) = (issue_date IS NULL)",
    )
    frozen("billing.credit_note", once="number", besides=("pdf",))
    _numbered_once("credit_note")


def _credit_note_lines() -> None:
    make_table(
        "billing.credit_note_line",
        Kind.PRIVATE,
        ident("credit_note_id"),
        whole("position"),
        ident("invoice_line_id"),
        text("description"),
        *minor("gross"),
        unique=[("organization_id", "credit_note_id", "position")],
        references=[
            (
                ("organization_id", "credit_note_id"),
                "billing.credit_note",
                ("organization_id", "id"),
            ),
            (
                ("organization_id", "invoice_line_id"),
                "billing.invoice_line",
                ("organization_id", "id"),
            ),
        ],
    )
    checked("credit_note_line", positive="gross_minor > 0")
    append_only("billing.credit_note_line")
    joins_only_while(
        "billing.credit_note_line", "credit_note_id", "billing.credit_note", unset="number"
    )


def _billed_spans() -> None:
    make_table(
        "billing.billed_span",
        Kind.PRIVATE,
        *(ident("subscription_id"), ident("line_id")),
        *(day("starts_on"), day("ends_on")),
        indexes=[("organization_id", "line_id")],
        references=[
            (("organization_id", "line_id"), "billing.invoice_line", ("organization_id", "id"))
        ],
    )
    checked("billed_span", forward="starts_on <= ends_on")
    # No day of a subscription is billed twice; a span that was cut to nothing covers none.
    op.execute(
        "ALTER TABLE billing.billed_span ADD CONSTRAINT billed_span_no_day_twice "
        "EXCLUDE USING gist (organization_id WITH =, subscription_id WITH =, "
        "daterange(starts_on, ends_on) WITH &&)"
    )


def _prints() -> None:
    make_table(
        "billing.document_pdf",
        Kind.PRIVATE,
        ident("document_id"),
        *(text("edition"), text("sha256")),
        octets("content"),
        unique=[("organization_id", "document_id", "edition")],
    )
    append_only("billing.document_pdf")
