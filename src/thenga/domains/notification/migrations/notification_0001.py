"""Requests, messages, deliveries, templates, preferences and the history."""

from alembic import op

from thenga.kernel.db.columns import flag, ident, instant, json, octets, text, texts, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import append_only, make_kernel_tables, make_table

revision = "notification_0001"
down_revision = None
branch_labels = ("notification",)
depends_on = None


def upgrade() -> None:
    make_kernel_tables("notification")
    _requests()
    _notifications()
    _deliveries()
    _attempts()
    _channels()
    _templates()
    _settings()
    _history()


def _requests() -> None:
    make_table(
        "notification.request",
        Kind.PRIVATE,
        text("topic_code"),
        text("category"),
        text("lane"),
        text("source_domain"),
        text("dedupe_key", nullable=True),
        json("about", nullable=True),
        json("audience"),
        json("recipients"),
        octets("sealed_addresses", nullable=True),
        json("facts"),
        octets("sealed_facts", nullable=True),
        flag("exclude_actor"),
        ident("requested_by", nullable=True),
        texts("channel_kinds", nullable=True),
        text("acknowledgement"),
        text("escalation_policy_key", nullable=True),
        instant("send_at"),
        instant("expires_at"),
        instant("deadline_at", nullable=True),
        text("status"),
        ident("causation_event_id", nullable=True),
        json("errors"),
        json("planned_after", nullable=True),
        instant("completed_at", nullable=True),
        unique=[("organization_id", "source_domain", "dedupe_key")],
        due=True,
    )


def _notifications() -> None:
    make_table(
        "notification.notification",
        Kind.PRIVATE,
        ident("request_id"),
        text("recipient_key"),
        ident("user_id", nullable=True),
        text("recipient_mask", nullable=True),
        text("topic_code"),
        text("category"),
        json("about", nullable=True),
        text("title", nullable=True),
        text("body", nullable=True),
        text("language", nullable=True),
        text("template_key"),
        whole("template_version"),
        text("content_hash", nullable=True),
        instant("expires_at"),
        instant("deadline_at", nullable=True),
        instant("read_at", nullable=True),
        instant("dismissed_at", nullable=True),
        text("acknowledgement"),
        instant("acknowledged_at", nullable=True),
        text("acknowledgement_note", nullable=True),
        text("outcome"),
        unique=[("organization_id", "request_id", "recipient_key")],
        indexes=[("organization_id", "user_id", "created_at")],
        references=[
            (
                ("organization_id", "request_id"),
                "notification.request",
                ("organization_id", "id"),
            )
        ],
    )


def _deliveries() -> None:
    make_table(
        "notification.delivery",
        Kind.PRIVATE,
        ident("notification_id"),
        ident("request_id"),
        text("channel_kind"),
        ident("channel_id", nullable=True),
        text("status"),
        text("reason_code", nullable=True),
        text("reason_detail", nullable=True),
        whole("priority"),
        instant("held_until", nullable=True),
        instant("expires_at"),
        text("address_mask", nullable=True),
        text("address_fingerprint", nullable=True),
        whole("fence"),
        whole("attempts"),
        text("certainty"),
        json("decisions"),
        unique=[("organization_id", "notification_id", "channel_kind")],
        indexes=[("organization_id", "request_id")],
        references=[
            (
                ("organization_id", "notification_id"),
                "notification.notification",
                ("organization_id", "id"),
            )
        ],
        due=True,
    )
    op.execute(
        "ALTER TABLE notification.delivery ADD CONSTRAINT delivery_has_reason CHECK "
        "(status NOT IN ('held', 'not_sent', 'undelivered', 'bounced') "
        "OR reason_code IS NOT NULL)"
    )


def _attempts() -> None:
    make_table(
        "notification.attempt",
        Kind.PRIVATE,
        ident("delivery_id"),
        whole("number"),
        whole("fence"),
        ident("channel_id"),
        text("provider"),
        text("address_fingerprint", nullable=True),
        text("provider_message_id", nullable=True),
        instant("started_at"),
        instant("finished_at", nullable=True),
        text("outcome", nullable=True),
        text("provider_code", nullable=True),
        text("provider_text", nullable=True),
        whole("units"),
        json("reports"),
        unique=[
            ("organization_id", "delivery_id", "number"),
            ("organization_id", "channel_id", "provider_message_id"),
        ],
        # A provider's ID finds its attempt whichever organization sent it; the system login asks.
        indexes=[("channel_id", "provider_message_id"), ("channel_id", "address_fingerprint")],
        references=[
            (
                ("organization_id", "delivery_id"),
                "notification.delivery",
                ("organization_id", "id"),
            )
        ],
    )
    make_table(
        "notification.provider_callback",
        Kind.INTAKE,
        ident("channel_id"),
        text("dedup_key"),
        instant("received_at"),
        text("provider_message_id", nullable=True),
        octets("sealed_content", nullable=True),
        text("state"),
        instant("try_again_at", nullable=True),
        unique=[("channel_id", "dedup_key")],
        indexes=[("channel_id", "provider_message_id"), ("state", "try_again_at")],
    )


def _channels() -> None:
    make_table(
        "notification.suppression",
        Kind.CATALOGUE,
        text("channel_kind"),
        text("address_fingerprint"),
        text("reason"),
        instant("until", nullable=True),
        unique=[("channel_kind", "address_fingerprint")],
    )
    make_table(
        "notification.channel",
        Kind.CATALOGUE,
        text("code"),
        text("name"),
        text("channel_kind"),
        text("provider"),
        text("status_from"),
        whole("priority"),
        text("status"),
        unique=[("code",)],
    )


def _templates() -> None:
    make_table(
        "notification.template",
        Kind.NOTICE,
        text("template_key"),
        text("topic_code"),
        text("name"),
        unique=[("organization_id", "template_key"), ("organization_id", "id")],
    )
    make_table(
        "notification.template_version",
        Kind.NOTICE,
        ident("template_id"),
        whole("number"),
        text("status"),
        json("variables"),
        json("content"),
        text("content_hash"),
        ident("author_id", nullable=True),
        ident("approved_by", nullable=True),
        instant("approved_at", nullable=True),
        unique=[("organization_id", "template_id", "number")],
        references=[
            (
                ("organization_id", "template_id"),
                "notification.template",
                ("organization_id", "id"),
            )
        ],
    )
    op.execute(
        "CREATE UNIQUE INDEX template_version_approved_once ON notification.template_version "
        "(organization_id, template_id) WHERE status = 'approved'"
    )
    op.execute(
        "ALTER TABLE notification.template_version ADD CONSTRAINT template_version_two_persons "
        "CHECK (author_id IS NULL OR approved_by IS NULL OR author_id <> approved_by)"
    )


def _settings() -> None:
    make_table(
        "notification.preference",
        Kind.PRIVATE,
        ident("user_id", nullable=True),
        text("topic_code", nullable=True),
        json("channels"),
        json("quiet_hours", nullable=True),
        text("language", nullable=True),
        indexes=[("organization_id", "user_id", "topic_code")],
    )
    make_table(
        "notification.tenant",
        Kind.PRIVATE,
        flag("sandbox"),
        unique=[("organization_id",)],
    )


def _history() -> None:
    make_table(
        "notification.history_entry",
        Kind.PRIVATE,
        instant("occurred_at"),
        text("kind"),
        ident("notification_id"),
        ident("request_id"),
        ident("recipient_user_id", nullable=True),
        text("recipient_mask", nullable=True),
        text("topic_code"),
        json("about", nullable=True),
        text("channel_kind", nullable=True),
        text("template_key"),
        whole("template_version"),
        text("language", nullable=True),
        text("content_hash", nullable=True),
        text("provider", nullable=True),
        text("provider_message_id", nullable=True),
        text("status"),
        text("reason_code", nullable=True),
        indexes=[
            ("organization_id", "occurred_at", "id"),
            ("organization_id", "recipient_user_id", "occurred_at"),
        ],
        appends=True,
    )
    append_only("notification.history_entry")
