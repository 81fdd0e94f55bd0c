"""Payments, ways to pay, refunds, and what providers say."""

import sqlalchemy as sa
from alembic import op

from thenga.kernel.db.columns import (
    day,
    flag,
    ident,
    instant,
    json,
    number,
    octets,
    text,
    texts,
    whole,
)
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_table

revision = "billing_0005"
down_revision = "billing_0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _payment_methods()
    _payments()
    _refunds()
    _statements()
    _callbacks()


def _payment_methods() -> None:
    make_table(
        "billing.payment_method",
        Kind.PRIVATE,
        ident("account_id"),
        text("provider"),
        text("kind"),
        text("brand", nullable=True),
        text("last4", nullable=True),
        day("expires_on", nullable=True),
        flag("off_session"),
        text("status"),
        flag("preferred"),
        octets("sealed_token"),
        octets("token_hash"),
        instant("expiry_told_at", nullable=True),
        instant("next_check_at", nullable=True),
        unique=[("organization_id", "provider", "token_hash")],
        references=[
            (("organization_id", "account_id"), "billing.account", ("organization_id", "id"))
        ],
    )
    op.execute(
        "CREATE UNIQUE INDEX payment_method_preferred_once "
        "ON billing.payment_method (organization_id) WHERE preferred AND status = 'active'"
    )
    _due("payment_method")


def _payments() -> None:
    make_table(
        "billing.payment",
        Kind.PRIVATE,
        ident("account_id"),
        ident("invoice_id"),
        ident("subscription_id", nullable=True),
        ident("payment_method_id", nullable=True),
        text("provider"),
        text("reference"),
        text("provider_reference", nullable=True),
        texts("paid_by"),
        number("amount_minor"),
        sa.Column("currency", sa.CHAR(3), nullable=False),
        text("status"),
        json("next_action", nullable=True),
        text("return_url", nullable=True),
        whole("attempt"),
        text("initiated_by"),
        json("failure", nullable=True),
        number("fee_minor"),
        number("refunded_minor"),
        text("dispute_status"),
        json("disputes"),
        instant("provider_updated_at", nullable=True),
        text("bank_reference", nullable=True),
        whole("faults"),
        flag("charge_again"),
        instant("next_check_at", nullable=True),
        # A callback names nothing but these, before anybody knows whose it is.
        unique=[("provider", "reference")],
        indexes=[("organization_id", "invoice_id")],
        references=[
            (("organization_id", "account_id"), "billing.account", ("organization_id", "id")),
            (("organization_id", "invoice_id"), "billing.invoice", ("organization_id", "id")),
        ],
    )
    for statement in (
        "ALTER TABLE billing.payment ADD CONSTRAINT payment_amounts CHECK (amount_minor > 0 "
        "AND fee_minor >= 0 AND refunded_minor BETWEEN 0 AND amount_minor)",
        "CREATE UNIQUE INDEX payment_processing_once ON billing.payment "
        "(organization_id, invoice_id) WHERE status = 'processing'",
        "CREATE UNIQUE INDEX payment_provider_number_once ON billing.payment "
        "(provider, provider_reference) WHERE provider_reference IS NOT NULL",
        "CREATE UNIQUE INDEX payment_bank_reference_once ON billing.payment (bank_reference) "
        "WHERE bank_reference IS NOT NULL",
    ):
        op.execute(statement)
    _due("payment")


def _refunds() -> None:
    make_table(
        "billing.refund",
        Kind.PRIVATE,
        ident("payment_id"),
        text("provider"),
        text("provider_reference", nullable=True),
        number("amount_minor"),
        sa.Column("currency", sa.CHAR(3), nullable=False),
        text("reason"),
        text("status"),
        indexes=[("organization_id", "payment_id")],
        references=[
            (("organization_id", "payment_id"), "billing.payment", ("organization_id", "id"))
        ],
    )
    op.execute(
        "CREATE UNIQUE INDEX refund_provider_reference_once ON billing.refund "
        "(organization_id, provider, provider_reference) WHERE provider_reference IS NOT NULL"
    )
    op.execute("ALTER TABLE billing.refund ADD CONSTRAINT refund_amount CHECK (amount_minor > 0)")


def _statements() -> None:
    make_table(
        "billing.provider_statement",
        Kind.PRIVATE,
        ident("payment_id"),
        ident("callback_id", nullable=True),
        text("source"),
        text("kind"),
        text("status"),
        text("provider_reference", nullable=True),
        text("item_reference", nullable=True),
        number("amount_minor", nullable=True),
        text("currency", nullable=True),
        instant("provider_at", nullable=True),
        text("outcome"),
        text("note", nullable=True),
        indexes=[("organization_id", "payment_id")],
        references=[
            (("organization_id", "payment_id"), "billing.payment", ("organization_id", "id"))
        ],
    )


def _callbacks() -> None:
    make_table(
        "billing.provider_callback",
        Kind.INTAKE,
        text("provider"),
        text("event_key"),
        text("event_type"),
        instant("received_at"),
        octets("sha256"),
        text("secret_used"),
        text("status"),
        octets("sealed_content", nullable=True),
        json("statement", nullable=True),
        ident("organization_id", nullable=True),
        ident("payment_id", nullable=True),
        text("note", nullable=True),
        unique=[("provider", "event_key")],
        indexes=[("status", "received_at"), ("payment_id",)],
    )
    make_table(
        "billing.callback_rejection",
        Kind.INTAKE,
        text("provider"),
        day("day"),
        whole("place"),
        octets("sha256"),
        text("cause"),
        unique=[("provider", "day", "place")],
    )


def _due(table: str) -> None:
    where = "WHERE next_check_at IS NOT NULL"
    op.execute(
        f"CREATE INDEX {table}_due ON billing.{table} (organization_id, next_check_at) {where}"
    )
    op.execute(f"CREATE INDEX {table}_due_any ON billing.{table} (next_check_at) {where}")
