"""Flags, support cases, audit reviews and governance decisions."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.columns import day, flag, ident, instant, json, text, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import append_only, frozen, make_table

revision = "administration_0003"
down_revision = "administration_0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _flags()
    _support()
    _reviews()
    _decisions()


def _flags() -> None:
    make_table(
        "administration.feature_flag",
        Kind.PLATFORM,
        *(text("key"), text("description"), text("purpose"), text("value_type")),
        *(json("variants"), text("on_variant"), text("off_variant"), text("stickiness")),
        ident("owner_user_id", nullable=True),
        day("expected_end_date", nullable=True),
        flag("declared"),
        ident("created_by", nullable=True),
        whole("rollout_number"),
        *_rollout(),
        ident("set_by", nullable=True),
        instant("set_at", nullable=True),
        unique=[("key",)],
    )
    make_table(
        "administration.flag_rollout",
        Kind.PLATFORM,
        ident("flag_id"),
        whole("number"),
        *_rollout(),
        text("reason"),
        ident("set_by"),
        unique=[("flag_id", "number")],
        references=[(("flag_id",), "administration.feature_flag", ("id",))],
        appends=True,
    )
    append_only("administration.flag_rollout")
    make_table(
        "administration.tenant_card",
        Kind.PRIVATE,
        flag("sandbox", nullable=True),
        text("plan_code", nullable=True),
        instant("plan_at", nullable=True),
    )


def _rollout() -> list[sa.Column[Any]]:
    return [
        text("mode"),
        sa.Column("percentage", sa.Numeric, nullable=True),
        json("include"),
        json("exclude"),
        text("salt"),
    ]


def _support() -> None:
    make_table(
        "administration.support_case",
        Kind.BETWEEN,
        *(text("number"), text("subject"), text("description"), text("category")),
        *(text("impact"), text("urgency"), json("links")),
        *(ident("requester_user_id"), text("channel"), text("priority")),
        text("priority_reason", nullable=True),
        ident("assignee_user_id", nullable=True),
        ident("predecessor_case_id", nullable=True),
        text("status"),
        *(instant("clock_from"), instant("response_due_at")),
        instant("responded_at", nullable=True),
        instant("response_breached_at", nullable=True),
        instant("due_at"),
        instant("due_breached_at", nullable=True),
        instant("resolved_at", nullable=True),
        instant("reopens_until", nullable=True),
        ident("resolved_by", nullable=True),
        text("resolution_code", nullable=True),
        text("resolution_text", nullable=True),
        whole("reopen_count"),
        due=True,
        unique=[("organization_id", "number")],
        indexes=[
            ("organization_id", "requester_user_id", "created_at"),
            ("counterparty_id", "due_at", "id"),
        ],
        references=[
            (
                ("organization_id", "predecessor_case_id"),
                "administration.support_case",
                ("organization_id", "id"),
            )
        ],
    )
    make_table(
        "administration.support_message",
        Kind.BETWEEN,
        *(ident("case_id"), text("author_kind"), ident("author_user_id"), text("body")),
        indexes=[("organization_id", "case_id", "id")],
        references=[
            (
                ("organization_id", "case_id"),
                "administration.support_case",
                ("organization_id", "id"),
            )
        ],
        appends=True,
    )


def _reviews() -> None:
    make_table(
        "administration.audit_review",
        Kind.PLATFORM,
        *(text("number"), text("kind"), text("title"), json("scope")),
        *(day("starts_on"), day("due_on")),
        sa.Column("reviewer_user_ids", pg.ARRAY(pg.UUID), nullable=False),
        json("incident", nullable=True),
        instant("regulator_notified_at", nullable=True),
        ident("governance_decision_id", nullable=True),
        text("status"),
        text("conclusion", nullable=True),
        ident("created_by"),
        ident("reviewed_by", nullable=True),
        ident("closed_by", nullable=True),
        unique=[("number",)],
        indexes=[("due_on", "id")],
    )
    _two_persons("audit_review", "closed_by", "reviewed_by")
    make_table(
        "administration.audit_finding",
        Kind.PLATFORM,
        ident("review_id"),
        *(text("title"), text("severity"), text("description"), json("evidence")),
        *(ident("owner_user_id"), day("due_on"), text("status"), ident("created_by")),
        ident("verified_by", nullable=True),
        instant("verified_at", nullable=True),
        indexes=[("review_id", "id"), ("status", "due_on")],
        references=[(("review_id",), "administration.audit_review", ("id",))],
    )
    _two_persons("audit_finding", "verified_by", "owner_user_id")


def _decisions() -> None:
    table = "administration.governance_decision"
    make_table(
        table,
        Kind.PLATFORM,
        *(text("number"), text("title"), text("category"), text("context")),
        *(text("decision"), text("consequences")),
        text("alternatives", nullable=True),
        day("decided_on"),
        sa.Column("decided_by", pg.ARRAY(pg.UUID), nullable=False),
        json("relates_to"),
        ident("supersedes", nullable=True),
        text("content_hash"),
        ident("created_by"),
        text("status"),
        ident("superseded_by", nullable=True),
        unique=[("number",)],
        references=[(("supersedes",), table, ("id",))],
    )
    op.execute(
        f"CREATE UNIQUE INDEX governance_decision_successor_once ON {table} (supersedes) "
        f"WHERE supersedes IS NOT NULL"
    )
    frozen(table, once="content_hash", besides=["status", "superseded_by"])


def _two_persons(table: str, one: str, other: str) -> None:
    op.execute(
        f"ALTER TABLE administration.{table} ADD CONSTRAINT {table}_two_persons "
        f"CHECK ({one} <> {other})"
    )
