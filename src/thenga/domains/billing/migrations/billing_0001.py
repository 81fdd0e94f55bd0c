"""The catalogue: plans, features, meters, sellers, configuration."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.columns import day, flag, ident, instant, json, text, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_kernel_tables, make_table

revision = "billing_0001"
down_revision = None
branch_labels = ("billing",)
depends_on = None


def terms() -> list[sa.Column[Any]]:
    return [
        text("plan_code"),
        whole("plan_version"),
        text("name"),
        text("description"),
        text("kind"),
        whole("rank"),
        flag("public"),
        flag("trial_eligible"),
        json("prices"),
        json("entitlements"),
        day("effective_from"),
        day("effective_to", nullable=True),
        instant("retired_at", nullable=True),
    ]


def upgrade() -> None:
    make_kernel_tables("billing")
    _plans()
    _around_plans()


def _plans() -> None:
    make_table(
        "billing.plan_version",
        Kind.PLATFORM,
        *terms(),
        text("status"),
        sa.Column("authors", pg.ARRAY(pg.UUID), nullable=False),
        ident("published_by", nullable=True),
        instant("published_at", nullable=True),
        whole("live_subscriptions", nullable=True),
        unique=[("plan_code", "plan_version")],
    )
    make_table(
        "billing.offered_plan",
        Kind.CATALOGUE,
        *terms(),
        # One version a code and day is sold.
        unique=[("plan_code", "plan_version"), ("plan_code", "effective_from")],
    )


def _around_plans() -> None:
    make_table(
        "billing.feature",
        Kind.CATALOGUE,
        text("key"),
        text("type"),
        text("title"),
        unique=[("key",)],
    )
    make_table(
        "billing.meter", Kind.CATALOGUE, text("key"), text("kind"), text("unit"), unique=[("key",)]
    )
    make_table(
        "billing.seller",
        Kind.CATALOGUE,
        text("seller_code"),
        day("effective_from"),
        text("legal_name"),
        text("trading_name"),
        text("registration_number", nullable=True),
        text("vat_number", nullable=True),
        json("address"),
        json("bank"),
        unique=[("seller_code", "effective_from")],
    )
    make_table(
        "billing.configuration_value",
        Kind.CATALOGUE,
        text("key"),
        day("effective_from"),
        json("value"),
        unique=[("key", "effective_from")],
    )
