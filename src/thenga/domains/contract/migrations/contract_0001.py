"""Awards, workspaces, plans, milestones, packages, risks and the end of a contract."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.columns import day, flag, ident, instant, json, number, text, texts, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import (
    adds_up,
    append_only,
    frozen,
    make_kernel_tables,
    make_series,
    make_table,
)

revision = "contract_0001"
down_revision = None
branch_labels = ("contract",)
depends_on = None


def upgrade() -> None:
    make_kernel_tables("contract")
    make_series("contract")
    _awards()
    _workspaces()
    _confirmations()
    _plans()
    _records()
    _hold_rules()


def _moved() -> tuple[sa.Column[Any], ...]:
    """The status of a row, and who moved it, when and why."""
    return (
        text("status"),
        text("status_reason", nullable=True),
        instant("status_changed_at", nullable=True),
        ident("status_changed_by", nullable=True),
    )


def _to(column: str, table: str) -> tuple[tuple[str, str], str, tuple[str, str]]:
    """A reference to a row of the same organization."""
    return ("organization_id", column), f"contract.{table}", ("organization_id", "id")


def _awards() -> None:
    make_table("contract.tenant", Kind.PRIVATE, flag("sandbox"), unique=[("organization_id",)])
    make_table(
        "contract.award",
        Kind.PRIVATE,
        ident("event_id"),
        text("event_type"),
        text("kind"),
        text("source_domain"),
        ident("outcome_id"),
        ident("revision_of", nullable=True),
        ident("bid_workspace_id"),
        ident("tender_opportunity_id", nullable=True),
        text("label"),
        text("buyer_name", nullable=True),
        text("award_reference", nullable=True),
        day("awarded_on"),
        number("awarded_value_minor", nullable=True),
        text("currency", nullable=True),
        json("bidders"),
        json("document_refs"),
        text("correlation_id"),
        text("payload_hash"),
        *_moved(),
        ident("workspace_id", nullable=True),
        unique=[("organization_id", "event_id")],
        indexes=[("organization_id", "outcome_id"), ("organization_id", "awarded_on")],
    )
    frozen(
        "contract.award",
        once="event_id",
        besides=("workspace_id", *(column.name for column in _moved())),
    )


def _workspaces() -> None:
    make_table(
        "contract.workspace",
        Kind.PRIVATE,
        ident("award_id"),
        ident("award_event_id"),
        text("source_domain"),
        ident("outcome_id"),
        *(text("contract_number"), text("order_number", nullable=True)),
        *(text("title"), text("category")),
        json("counterparty"),
        text("counterparty_key"),
        text("counterparty_kind"),
        text("regime"),
        text("currency"),
        number("contract_value_minor"),
        text("value_difference_reason", nullable=True),
        day("starts_on"),
        day("ends_on"),
        day("notified_on", nullable=True),
        day("standstill_until", nullable=True),
        json("document_refs"),
        json("terms"),
        text("content_hash"),
        *_moved(),
        json("challenge", nullable=True),
        text("outcome", nullable=True),
        number("current_value_minor"),
        day("current_ends_on"),
        whole("plan_number"),
        texts("warnings"),
        text("correlation_id"),
        day("activated_on", nullable=True),
        day("terminated_on", nullable=True),
        day("practical_completion_on", nullable=True),
        day("closed_on", nullable=True),
        due=True,
        unique=[
            ("organization_id", "award_id"),
            ("organization_id", "counterparty_key", "contract_number"),
        ],
        indexes=[("organization_id", "ends_on"), ("organization_id", "current_value_minor")],
        references=[_to("award_id", "award")],
    )
    op.execute(
        "CREATE UNIQUE INDEX workspace_outcome_once ON contract.workspace "
        "(organization_id, source_domain, outcome_id) WHERE status <> 'cancelled'"
    )


def _confirmations() -> None:
    make_table(
        "contract.signature",
        Kind.PRIVATE,
        ident("workspace_id"),
        text("subject_type"),
        ident("subject_id"),
        text("party"),
        text("content_hash"),
        day("signed_on"),
        ident("signed_by", nullable=True),
        ident("confirmation_id", nullable=True),
        text("strength", nullable=True),
        instant("voided_at", nullable=True),
        references=[_to("workspace_id", "workspace")],
    )
    make_table(
        "contract.confirmation",
        Kind.PRIVATE,
        ident("workspace_id"),
        text("subject_type"),
        ident("subject_id"),
        number("subject_version"),
        text("party"),
        text("channel"),
        text("decision"),
        json("statement"),
        text("statement_hash"),
        text("status"),
        text("strength"),
        flag("self_filed"),
        json("evidence_refs"),
        day("confirmed_on"),
        text("by_name", nullable=True),
        text("by_position"),
        ident("filed_by", nullable=True),
        unique=[("organization_id", "subject_id", "subject_version", "party")],
        references=[_to("workspace_id", "workspace")],
    )
    make_table(
        "contract.evidence_state",
        Kind.PRIVATE,
        text("reference_domain"),
        text("reference_type"),
        ident("reference_id"),
        text("state"),
        number("sequence"),
        unique=[("organization_id", "reference_domain", "reference_type", "reference_id")],
    )
    op.execute(
        "CREATE UNIQUE INDEX signature_live_once ON contract.signature "
        "(organization_id, subject_id, party) WHERE voided_at IS NULL"
    )
    append_only("contract.confirmation")


def _plans() -> None:
    make_table(
        "contract.plan_revision",
        Kind.PRIVATE,
        ident("workspace_id"),
        whole("number"),
        *_moved(),
        text("reason", nullable=True),
        ident("variation_id", nullable=True),
        json("milestones"),
        text("content_hash"),
        day("finish_on"),
        texts("warnings"),
        unique=[("organization_id", "workspace_id", "number")],
        references=[_to("workspace_id", "workspace")],
    )
    make_table(
        "contract.milestone",
        Kind.PRIVATE,
        ident("workspace_id"),
        text("key"),
        whole("position"),
        text("title"),
        text("kind"),
        sa.Column("value_percent", sa.Numeric, nullable=False),
        day("start_not_before", nullable=True),
        whole("duration_days"),
        text("calendar"),
        day("due_on"),
        text("technique"),
        json("depends_on"),
        flag("practical_completion"),
        text("currency"),
        number("amount_minor"),
        number("billed_minor"),
        sa.Column("accepted_percent", sa.Numeric, nullable=False),
        sa.Column("percent_complete", sa.Numeric, nullable=False),
        day("forecast_on", nullable=True),
        day("started_on", nullable=True),
        json("evidence_refs"),
        text("note", nullable=True),
        *_moved(),
        day("met_on", nullable=True),
        texts("missing"),
        ident("confirmation_id", nullable=True),
        whole("plan_number"),
        whole("told_plan"),
        texts("told_reasons"),
        due=True,
        unique=[("organization_id", "workspace_id", "key")],
        indexes=[("organization_id", "due_on")],
        references=[_to("workspace_id", "workspace")],
    )
    make_table(
        "contract.deliverable",
        Kind.PRIVATE,
        ident("workspace_id"),
        ident("milestone_id"),
        text("key"),
        whole("position"),
        text("title"),
        text("acceptance_criteria", nullable=True),
        day("due_on", nullable=True),
        sa.Column("weight", sa.Numeric, nullable=False),
        flag("required"),
        day("delivered_on", nullable=True),
        sa.Column("quantity", sa.Numeric, nullable=True),
        json("evidence_refs"),
        text("note", nullable=True),
        *_moved(),
        whole("rejections"),
        day("accepted_on", nullable=True),
        ident("confirmation_id", nullable=True),
        unique=[("organization_id", "milestone_id", "key")],
        references=[_to("milestone_id", "milestone")],
    )
    make_table(
        "contract.performance_metric",
        Kind.PRIVATE,
        ident("workspace_id"),
        text("subject"),
        ident("coordination_id", nullable=True),
        ident("supplier_id", nullable=True),
        day("period_from"),
        day("period_to"),
        json("judged"),
        ident("corrects", nullable=True),
        sa.Column("on_time", sa.Numeric, nullable=True),
        sa.Column("quality", sa.Numeric, nullable=True),
        sa.Column("value", sa.Numeric, nullable=True),
        json("counts"),
        text("basis"),
        text("strength"),
        ident("recorded_by", nullable=True),
        indexes=[("organization_id", "workspace_id")],
        appends=True,
        references=[_to("workspace_id", "workspace")],
    )
    append_only("contract.performance_metric")


def _records() -> None:
    make_table(
        "contract.coordination",
        Kind.PRIVATE,
        ident("workspace_id"),
        text("kind"),
        ident("supplier_id", nullable=True),
        text("supplier_name", nullable=True),
        text("title"),
        text("text", nullable=True),
        day("due_on", nullable=True),
        text("currency"),
        number("value_minor", nullable=True),
        number("final_cost_minor", nullable=True),
        whole("pay_days"),
        json("package_milestones"),
        json("quote_ref", nullable=True),
        text("override_reason", nullable=True),
        json("trust", nullable=True),
        *_moved(),
        indexes=[("organization_id", "workspace_id")],
        references=[_to("workspace_id", "workspace")],
    )
    make_table(
        "contract.risk",
        Kind.PRIVATE,
        ident("workspace_id"),
        text("title"),
        text("category"),
        whole("likelihood"),
        whole("impact"),
        whole("score"),
        text("band"),
        whole("target_likelihood", nullable=True),
        whole("target_impact", nullable=True),
        text("currency"),
        number("impact_amount_minor", nullable=True),
        ident("owner_user_id", nullable=True),
        text("response"),
        text("actions", nullable=True),
        day("due_on", nullable=True),
        sa.Column("milestone_ids", pg.ARRAY(pg.UUID), nullable=False),
        text("raised_by_rule", nullable=True),
        *_moved(),
        indexes=[("organization_id", "workspace_id")],
        references=[_to("workspace_id", "workspace")],
    )
    make_table(
        "contract.closeout",
        Kind.PRIVATE,
        ident("workspace_id"),
        json("items"),
        json("adjustments"),
        ident("author_user_id", nullable=True),
        *_moved(),
        ident("confirmation_id", nullable=True),
        json("final_account", nullable=True),
        day("completed_on", nullable=True),
        unique=[("organization_id", "workspace_id")],
        references=[_to("workspace_id", "workspace")],
    )
    make_table(
        "contract.lesson",
        Kind.PRIVATE,
        ident("workspace_id"),
        text("title"),
        text("text"),
        text("category", nullable=True),
        texts("tags"),
        text("recommendation", nullable=True),
        text("visibility"),
        ident("author_user_id", nullable=True),
        *_moved(),
        indexes=[("organization_id", "workspace_id")],
        references=[_to("workspace_id", "workspace")],
    )


def _hold_rules() -> None:
    """What must hold whatever a service does (CON-7, CON-27)."""
    op.execute(
        "ALTER TABLE contract.milestone ADD CONSTRAINT milestone_billed "
        "CHECK (billed_minor BETWEEN 0 AND amount_minor)"
    )
    op.execute(
        "CREATE UNIQUE INDEX plan_revision_baselined_once ON contract.plan_revision "
        "(organization_id, workspace_id) WHERE status = 'baselined'"
    )
    adds_up(
        "contract.plan_revision", "milestones", "value_percent", total="100.0000", when="baselined"
    )
