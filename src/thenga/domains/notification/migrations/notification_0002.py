"""Schedules, reminders with their deadlines, and escalations."""

from alembic import op

from thenga.kernel.db.columns import ident, instant, json, number, text, texts, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_table

revision = "notification_0002"
down_revision = "notification_0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _schedules()
    _reminders()
    _escalations()


def _schedules() -> None:
    make_table(
        "notification.schedule",
        Kind.PRIVATE,
        text("name"),
        text("kind"),
        text("starts_at"),
        text("time_zone"),
        text("rrule", nullable=True),
        json("exdates"),
        text("on_non_working_day"),
        text("misfire"),
        whole("misfire_grace"),
        json("request"),
        text("status"),
        ident("acts_for"),
        text("acts_for_kind"),
        text("suspended_reason", nullable=True),
        text("next_local", nullable=True),
        instant("last_fired_at", nullable=True),
        whole("fired_count"),
        whole("missed_count"),
        due=True,
    )


def _reminders() -> None:
    make_table(
        "notification.anchor",
        Kind.PRIVATE,
        text("reference_key"),
        text("kind"),
        json("reference"),
        text("state"),
        instant("due_at", nullable=True),
        text("time_zone", nullable=True),
        number("sequence"),
        unique=[("organization_id", "reference_key", "kind")],
    )
    make_table(
        "notification.reminder",
        Kind.PRIVATE,
        text("source_domain"),
        text("key", nullable=True),
        text("topic_code"),
        json("about"),
        json("audience"),
        json("facts"),
        ident("anchor_id", nullable=True),
        instant("due_at", nullable=True),
        text("time_zone", nullable=True),
        number("anchor_sequence", nullable=True),
        json("offsets"),
        json("repeat", nullable=True),
        whole("round"),
        text("status"),
        ident("acts_for", nullable=True),
        text("acts_for_kind", nullable=True),
        text("cancelled_reason", nullable=True),
        unique=[("organization_id", "source_domain", "key")],
        indexes=[("organization_id", "anchor_id", "id")],
        references=[
            (("organization_id", "anchor_id"), "notification.anchor", ("organization_id", "id"))
        ],
        due=True,
    )
    make_table(
        "notification.reminder_occurrence",
        Kind.PRIVATE,
        ident("reminder_id"),
        whole("round"),
        whole("offset_index"),
        whole("repeat_no"),
        instant("due_at"),
        instant("fired_at", nullable=True),
        ident("request_id", nullable=True),
        text("skipped_reason", nullable=True),
        unique=[("organization_id", "reminder_id", "round", "offset_index", "repeat_no")],
        references=[
            (
                ("organization_id", "reminder_id"),
                "notification.reminder",
                ("organization_id", "id"),
            )
        ],
    )


def _escalations() -> None:
    make_table(
        "notification.escalation",
        Kind.PRIVATE,
        text("policy_key"),
        json("policy_snapshot"),
        json("about"),
        text("about_key"),
        json("facts"),
        text("status"),
        whole("level"),
        texts("request_ids"),
        json("log"),
        text("resolution_code", nullable=True),
        text("resolution_note", nullable=True),
        ident("resolved_by", nullable=True),
        instant("resolved_at", nullable=True),
        indexes=[("organization_id", "about_key", "policy_key")],
        due=True,
    )
    op.execute(
        "CREATE UNIQUE INDEX escalation_unresolved_once ON notification.escalation "
        "(organization_id, policy_key, about_key) WHERE status <> 'resolved'"
    )
    make_table(
        "notification.escalation_opening",
        Kind.PRIVATE,
        text("key"),
        ident("escalation_id"),
        unique=[("organization_id", "key")],
        references=[
            (
                ("organization_id", "escalation_id"),
                "notification.escalation",
                ("organization_id", "id"),
            )
        ],
    )
