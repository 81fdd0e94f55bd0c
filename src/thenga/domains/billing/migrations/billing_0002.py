"""Accounts, subscriptions and trials."""

import sqlalchemy as sa
from alembic import op

from thenga.kernel.db.columns import day, flag, ident, instant, json, number, text, texts, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_table

revision = "billing_0002"
down_revision = "billing_0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _accounts()
    _subscriptions()
    _trials()


def _accounts() -> None:
    make_table(
        "billing.account",
        Kind.PRIVATE,
        text("status"),
        text("book"),
        json("bill_to", nullable=True),
        json("bill_to_provenance", nullable=True),
        json("bill_to_review", nullable=True),
        texts("invoice_emails"),
        text("order_number", nullable=True),
        sa.Column("currency", sa.CHAR(3), nullable=False),
        number("spend_cap_minor", nullable=True),
        text("collection_method"),
        json("parked", nullable=True),
        unique=[("organization_id",)],
    )
    op.execute(
        "ALTER TABLE billing.account ADD CONSTRAINT account_cap_not_negative "
        "CHECK (spend_cap_minor >= 0)"
    )


def _subscriptions() -> None:
    make_table(
        "billing.subscription",
        Kind.PRIVATE,
        ident("account_id"),
        text("plan_code"),
        whole("plan_version"),
        text("kind"),
        text("interval", nullable=True),
        text("status"),
        day("anchor_date", nullable=True),
        day("period_start", nullable=True),
        day("period_end", nullable=True),
        json("pending_change", nullable=True),
        instant("cancel_at", nullable=True),
        ident("cancellation_id", nullable=True),
        day("paused_on", nullable=True),
        day("resume_on", nullable=True),
        whole("banked_days", nullable=True),
        flag("disputed"),
        ident("trial_id", nullable=True),
        ident("payment_method_id", nullable=True),
        instant("ended_at", nullable=True),
        instant("next_check_at", nullable=True),
        references=[
            (("organization_id", "account_id"), "billing.account", ("organization_id", "id"))
        ],
    )
    op.execute(
        "CREATE UNIQUE INDEX subscription_live_base_once ON billing.subscription (organization_id) "
        "WHERE kind = 'base' "
        "AND status IN ('trialing', 'active', 'past_due', 'paused', 'suspended')"
    )
    # For the count of who holds a version, over all organizations.
    op.execute(
        "CREATE INDEX subscription_of_plan ON billing.subscription (plan_code, plan_version)"
    )
    _due("subscription")


def _trials() -> None:
    make_table(
        "billing.trial",
        Kind.PRIVATE,
        text("book"),
        text("plan_code"),
        whole("plan_version"),
        ident("subscription_id"),
        instant("started_at"),
        instant("notice_at"),
        instant("ends_at"),
        instant("noticed_at", nullable=True),
        text("status"),
        instant("converted_at", nullable=True),
        instant("ended_at", nullable=True),
        instant("next_check_at", nullable=True),
        references=[
            (
                ("organization_id", "subscription_id"),
                "billing.subscription",
                ("organization_id", "id"),
            )
        ],
    )
    op.execute(
        "CREATE UNIQUE INDEX trial_once ON billing.trial (organization_id) "
        "WHERE book = 'live' OR status = 'active'"
    )
    _due("trial")
    make_table("billing.trial_company", Kind.BEARER)


def _due(table: str) -> None:
    where = "WHERE next_check_at IS NOT NULL"
    op.execute(
        f"CREATE INDEX {table}_due ON billing.{table} (organization_id, next_check_at) {where}"
    )
    op.execute(f"CREATE INDEX {table}_due_any ON billing.{table} (next_check_at) {where}")
