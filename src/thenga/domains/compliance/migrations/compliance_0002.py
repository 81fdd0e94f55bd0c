"""Readiness, tracked tenders, risks and suggestions."""

import sqlalchemy as sa
from alembic import op

from thenga.kernel.db.columns import day, ident, instant, json, number, text, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_table

revision = "compliance_0002"
down_revision = "compliance_0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _readiness()
    _risks()


def _readiness() -> None:
    make_table(
        "compliance.readiness_state",
        Kind.PRIVATE,
        number("revision"),
        number("computed_revision"),
        day("computed_on", nullable=True),
        instant("computed_at", nullable=True),
        text("verdict", nullable=True),
        sa.Column("score", sa.Numeric, nullable=True),
        json("blockers"),
        json("tenders"),
        json("unknown_since"),
        text("inputs_hash", nullable=True),
        due=True,
    )
    make_table(
        "compliance.readiness_snapshot",
        Kind.PRIVATE,
        text("scope"),
        day("day"),
        json("answer"),
        text("inputs_hash"),
        unique=[("organization_id", "scope", "day")],
    )
    make_table(
        "compliance.expiry_told",
        Kind.PRIVATE,
        ident("document_id"),
        whole("document_version"),
        whole("window"),
        instant("told_at"),
        unique=[("organization_id", "document_id", "document_version", "window")],
    )
    make_table(
        "compliance.tracked_tender",
        Kind.PRIVATE,
        ident("tender_opportunity_id"),
        text("interest"),
        instant("closing_at", nullable=True),
        day("validity_ends_on", nullable=True),
        day("expected_award_on", nullable=True),
        text("sphere", nullable=True),
        text("category", nullable=True),
        json("terms"),
        instant("terms_loaded_at", nullable=True),
        number("tender_sequence"),
        instant("as_of", nullable=True),
        instant("ended_at", nullable=True),
        due=True,
        unique=[("organization_id", "tender_opportunity_id")],
        indexes=[("tender_opportunity_id",)],
    )


def _risks() -> None:
    make_table(
        "compliance.risk",
        Kind.PRIVATE,
        text("rule_code"),
        text("subject"),
        text("raised_by"),
        text("title"),
        text("category"),
        whole("likelihood"),
        whole("impact"),
        whole("score"),
        text("level"),
        text("treatment", nullable=True),
        json("actions"),
        whole("residual_likelihood", nullable=True),
        whole("residual_impact", nullable=True),
        ident("owner_user_id", nullable=True),
        ident("requirement_id", nullable=True),
        ident("document_id", nullable=True),
        ident("tender_opportunity_id", nullable=True),
        text("status"),
        text("status_code", nullable=True),
        text("status_text", nullable=True),
        instant("status_changed_at", nullable=True),
        ident("status_changed_by", nullable=True),
        day("accepted_until", nullable=True),
        ident("accepted_by", nullable=True),
        due=True,
        indexes=[("organization_id", "score")],
    )
    make_table(
        "compliance.ai_suggestion",
        Kind.PRIVATE,
        text("key"),
        text("kind"),
        text("target_type"),
        ident("target_id"),
        text("target_field", nullable=True),
        whole("base_version", nullable=True),
        json("proposed"),
        text("proposed_hash"),
        sa.Column("confidence", sa.Numeric, nullable=False),
        json("sources"),
        json("produced_by"),
        text("guardrail_outcome", nullable=True),
        text("status"),
        text("status_code", nullable=True),
        text("status_text", nullable=True),
        instant("status_changed_at", nullable=True),
        ident("status_changed_by", nullable=True),
        ident("decided_by", nullable=True),
        instant("decided_at", nullable=True),
        text("reason_code", nullable=True),
        json("decided_value", nullable=True),
        instant("expires_at"),
        due=True,
        unique=[("organization_id", "key")],
        indexes=[("organization_id", "target_id")],
    )
    op.execute(
        "CREATE UNIQUE INDEX risk_open_once ON compliance.risk "
        "(organization_id, rule_code, subject) WHERE status NOT IN ('closed', 'materialised')"
    )
    op.execute(
        "CREATE UNIQUE INDEX ai_suggestion_pending_once ON compliance.ai_suggestion "
        "(organization_id, kind, target_id, proposed_hash) "
        "WHERE status IN ('pending', 'changes_requested')"
    )
