"""Workspaces, plans, tasks, proposals, the matrix, amendments and outcomes."""

import sqlalchemy as sa

from thenga.kernel.db.columns import day, flag, ident, instant, json, number, text, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_kernel_tables, make_table

revision = "bid_0001"
down_revision = None
branch_labels = ("bid",)
depends_on = None


def upgrade() -> None:
    make_kernel_tables("bid")
    _workspaces()
    _planning()
    _proposals()
    _matrix()


def _of(column: str, table: str) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """The key of a row that belongs to another of the same organization."""
    return (("organization_id", column), table, ("organization_id", "id"))


def _workspaces() -> None:
    make_table("bid.tenant", Kind.PRIVATE, flag("sandbox"), unique=[("organization_id",)])
    make_table(
        "bid.workspace",
        Kind.PRIVATE,
        ident("tender_opportunity_id", nullable=True),
        text("origin"),
        text("title"),
        text("buyer_name", nullable=True),
        text("external_reference", nullable=True),
        text("external_key", nullable=True),
        ident("bid_manager_user_id", nullable=True),
        text("access"),
        text("envelopes"),
        json("team"),
        json("bidders"),
        instant("closing_at", nullable=True),
        instant("gate_at", nullable=True),
        whole("amendment_number"),
        whole("reconfirm_amendment", nullable=True),
        ident("reconfirm_ripple_id", nullable=True),
        whole("matrix_version"),
        sa.Column("coverage_overall", sa.Numeric, nullable=True),
        sa.Column("coverage_mandatory", sa.Numeric, nullable=True),
        text("status"),
        text("status_code", nullable=True),
        text("status_text", nullable=True),
        instant("status_changed_at", nullable=True),
        ident("status_changed_by", nullable=True),
        due=True,
        unique=[("organization_id", "tender_opportunity_id"), ("organization_id", "external_key")],
        indexes=[("organization_id", "closing_at"), ("tender_opportunity_id",)],
    )
    make_table(
        "bid.tender_ref",
        Kind.PRIVATE,
        ident("workspace_id"),
        ident("tender_opportunity_id"),
        text("number"),
        text("title"),
        text("tender_status"),
        whole("amendment_number"),
        whole("requirement_set_version"),
        instant("closing_at", nullable=True),
        text("closing_precision"),
        text("time_zone"),
        whole("validity_days", nullable=True),
        json("terms"),
        instant("as_of"),
        unique=[("organization_id", "workspace_id")],
        references=[_of("workspace_id", "bid.workspace")],
    )
    make_table(
        "bid.ripple",
        Kind.PRIVATE,
        ident("workspace_id"),
        whole("amendment_number"),
        ident("causation_event_id"),
        flag("material"),
        json("effects"),
        text("decision", nullable=True),
        text("note", nullable=True),
        ident("decided_by", nullable=True),
        instant("decided_at", nullable=True),
        unique=[("organization_id", "workspace_id", "amendment_number")],
        references=[_of("workspace_id", "bid.workspace")],
    )
    make_table(
        "bid.comment",
        Kind.PRIVATE,
        ident("workspace_id"),
        text("subject_type"),
        text("subject_id", nullable=True),
        flag("price"),
        ident("in_reply_to", nullable=True),
        ident("author_user_id", nullable=True),
        text("body", nullable=True),
        text("anchor_quote", nullable=True),
        whole("anchor_version", nullable=True),
        json("mentions"),
        flag("blocking"),
        text("status"),
        ident("resolved_by", nullable=True),
        instant("resolved_at", nullable=True),
        instant("edited_at", nullable=True),
        instant("deleted_at", nullable=True),
        indexes=[("organization_id", "workspace_id", "id")],
        references=[_of("workspace_id", "bid.workspace")],
    )
    make_table(
        "bid.outcome",
        Kind.PRIVATE,
        ident("workspace_id"),
        text("status"),
        whole("revision"),
        text("stage", nullable=True),
        day("decided_on", nullable=True),
        text("award_reference", nullable=True),
        number("awarded_minor", nullable=True),
        text("awarded_currency", nullable=True),
        json("file_ids"),
        json("our_scores", nullable=True),
        json("winner", nullable=True),
        json("reasons"),
        json("feedback", nullable=True),
        json("lessons"),
        json("appeal"),
        json("hint", nullable=True),
        json("history"),
        ident("recorded_by", nullable=True),
        instant("recorded_at", nullable=True),
        unique=[("organization_id", "workspace_id")],
        references=[_of("workspace_id", "bid.workspace")],
    )


def _planning() -> None:
    make_table(
        "bid.plan",
        Kind.PRIVATE,
        ident("workspace_id"),
        whole("revision"),
        text("template"),
        text("due_time"),
        json("milestones"),
        json("compression", nullable=True),
        instant("closing_at", nullable=True),
        text("status"),
        instant("baselined_at", nullable=True),
        ident("baselined_by", nullable=True),
        unique=[("organization_id", "workspace_id", "revision")],
        references=[_of("workspace_id", "bid.workspace")],
    )
    make_table(
        "bid.task",
        Kind.PRIVATE,
        ident("workspace_id"),
        text("title"),
        text("description", nullable=True),
        text("kind"),
        ident("owner_user_id", nullable=True),
        ident("reviewer_user_id", nullable=True),
        text("milestone_key", nullable=True),
        instant("due_at", nullable=True),
        json("depends_on"),
        json("about", nullable=True),
        json("checklist"),
        text("priority"),
        text("blocked_reason", nullable=True),
        instant("blocked_since", nullable=True),
        ident("blocked_by", nullable=True),
        instant("overdue_told_for", nullable=True),
        text("status"),
        text("status_code", nullable=True),
        text("status_text", nullable=True),
        instant("status_changed_at", nullable=True),
        ident("status_changed_by", nullable=True),
        due=True,
        indexes=[("organization_id", "workspace_id"), ("organization_id", "owner_user_id")],
        references=[_of("workspace_id", "bid.workspace")],
    )


def _proposals() -> None:
    make_table(
        "bid.draft",
        Kind.PRIVATE,
        ident("workspace_id"),
        text("title"),
        text("title_key"),
        text("envelope"),
        unique=[("organization_id", "workspace_id", "title_key")],
        references=[_of("workspace_id", "bid.workspace")],
    )
    make_table(
        "bid.section",
        Kind.PRIVATE,
        ident("workspace_id"),
        ident("draft_id"),
        text("title"),
        text("instructions", nullable=True),
        ident("owner_user_id", nullable=True),
        whole("position"),
        whole("limit_words", nullable=True),
        whole("limit_pages", nullable=True),
        json("requirement_ids"),
        whole("version_number"),
        text("sha256", nullable=True),
        whole("words"),
        json("authors"),
        ident("written_by", nullable=True),
        instant("written_at", nullable=True),
        whole("approved_version", nullable=True),
        ident("approved_by", nullable=True),
        text("status"),
        text("status_code", nullable=True),
        text("status_text", nullable=True),
        instant("status_changed_at", nullable=True),
        ident("status_changed_by", nullable=True),
        indexes=[("organization_id", "draft_id"), ("organization_id", "workspace_id")],
        references=[_of("workspace_id", "bid.workspace"), _of("draft_id", "bid.draft")],
    )
    make_table(
        "bid.section_version",
        Kind.PRIVATE,
        ident("section_id"),
        whole("number"),
        text("content"),
        text("sha256"),
        whole("words"),
        ident("author_user_id", nullable=True),
        ident("suggestion_id", nullable=True),
        appends=True,
        unique=[("organization_id", "section_id", "number")],
        references=[_of("section_id", "bid.section")],
    )
    make_table(
        "bid.section_suggestion",
        Kind.PRIVATE,
        ident("workspace_id"),
        ident("section_id"),
        text("key"),
        whole("base_version"),
        text("text"),
        json("sources"),
        sa.Column("confidence", sa.Numeric, nullable=False),
        ident("execution_id", nullable=True),
        ident("explanation_id", nullable=True),
        json("produced_by"),
        text("guardrail_outcome"),
        text("status"),
        text("decision_reason", nullable=True),
        ident("decided_by", nullable=True),
        instant("decided_at", nullable=True),
        instant("expires_at"),
        due=True,
        unique=[("organization_id", "key")],
        indexes=[("organization_id", "section_id")],
        references=[_of("section_id", "bid.section")],
    )


def _matrix() -> None:
    make_table(
        "bid.matrix_row",
        Kind.PRIVATE,
        ident("workspace_id"),
        ident("requirement_id"),
        whole("requirement_version"),
        text("requirement_class"),
        text("requirement_kind"),
        text("requirement_code", nullable=True),
        sa.Column("requirement_weight", sa.Numeric, nullable=True),
        text("requirement_label"),
        instant("requirement_as_of"),
        flag("needs_evidence"),
        instant("removed_at", nullable=True),
        whole("answered_version", nullable=True),
        text("response"),
        text("note", nullable=True),
        text("justification", nullable=True),
        json("section_ids"),
        json("form_ids"),
        json("evidence_ids"),
        ident("owner_user_id", nullable=True),
        unique=[("organization_id", "workspace_id", "requirement_id")],
        references=[_of("workspace_id", "bid.workspace")],
    )
    make_table(
        "bid.evidence_ref",
        Kind.PRIVATE,
        ident("workspace_id"),
        ident("evidence_id"),
        whole("proof_version", nullable=True),
        text("state"),
        day("valid_until", nullable=True),
        text("sha256", nullable=True),
        instant("as_of", nullable=True),
        unique=[("organization_id", "workspace_id", "evidence_id")],
        indexes=[("organization_id", "evidence_id")],
        references=[_of("workspace_id", "bid.workspace")],
    )
