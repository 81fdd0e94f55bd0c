"""Quote requests with their recipients, support requests, and what people were shown."""

from alembic import op

from thenga.kernel.db.columns import ident, instant, json, number, text
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import frozen, make_series, make_table

revision = "marketplace_0003"
down_revision = "marketplace_0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_series("marketplace")
    make_table(
        "marketplace.quote_request",
        Kind.PRIVATE,
        text("status_code", nullable=True),
        text("status_text", nullable=True),
        instant("status_changed_at", nullable=True),
        ident("status_changed_by", nullable=True),
        text("number"),
        text("title"),
        json("lines"),
        json("deliver_to", nullable=True),
        text("currency"),
        number("min_validity_days"),
        text("terms", nullable=True),
        json("document_refs"),
        instant("due_at"),
        text("time_zone"),
        json("recipients"),
        text("purpose"),
        ident("match_id", nullable=True),
        json("need_refs"),
        text("correlation_id"),
        number("revision"),
        text("content_hash", nullable=True),
        instant("sent_at", nullable=True),
        ident("accepted_quote_id", nullable=True),
        number("accepted_revision", nullable=True),
        text("status"),
        unique=[("organization_id", "number")],
        due=True,
    )
    make_table(
        "marketplace.quote_recipient",
        Kind.BETWEEN,
        ident("quote_request_id"),
        ident("supplier_id"),
        ident("listing_id", nullable=True),
        number("revision"),
        json("content"),
        text("content_hash"),
        instant("due_at"),
        text("time_zone"),
        ident("quote_id", nullable=True),
        number("quote_sequence"),
        text("request_status"),
        text("status"),
        unique=[("organization_id", "quote_request_id", "supplier_id")],
        indexes=[("counterparty_id", "quote_request_id")],
        references=[
            (
                ("organization_id", "quote_request_id"),
                "marketplace.quote_request",
                ("organization_id", "id"),
            ),
        ],
    )
    make_table(
        "marketplace.recommendation_display",
        Kind.PRIVATE,
        text("surface"),
        json("items"),
        json("signals"),
        ident("shown_to", nullable=True),
        appends=True,
    )
    make_table(
        "marketplace.support_request",
        Kind.BETWEEN,
        text("status_code", nullable=True),
        text("status_text", nullable=True),
        instant("status_changed_at", nullable=True),
        ident("status_changed_by", nullable=True),
        text("kind"),
        json("about"),
        text("about_key"),
        text("text"),
        json("evidence_refs"),
        ident("opened_by", nullable=True),
        ident("decided_by", nullable=True),
        text("outcome", nullable=True),
        text("answer", nullable=True),
        text("status"),
        indexes=[("organization_id", "kind", "about_key")],
    )
    # A quote is for exactly what its recipient was sent (MKT-26).
    frozen(
        "marketplace.quote_recipient",
        once="content_hash",
        besides=("due_at", "quote_id", "quote_sequence", "request_status", "status"),
    )
    # The same thing is asked once while it is open, also by two calls at the same time.
    op.execute(
        "CREATE UNIQUE INDEX support_request_open_once ON marketplace.support_request "
        "(organization_id, kind, about_key) WHERE status = 'open'"
    )
