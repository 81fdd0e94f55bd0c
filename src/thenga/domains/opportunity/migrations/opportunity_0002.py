"""What search finds, what tenders ask for, and what each company makes of them."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.columns import flag, ident, instant, json, number, text, texts, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import (
    below_notice,
    make_part_index,
    make_search_configuration,
    make_search_index,
    make_table,
)

revision = "opportunity_0002"
down_revision = "opportunity_0001"
branch_labels = None
depends_on = None

_LIVE = "WHERE status IN ('planned', 'open')"


_BELOW = (
    "requirement",
    "requirement_set",
    "match",
    "match_alert",
    "match_run",
    "qualification",
    "recommendation",
    "recommendation_revision",
    "watchlist_hit",
    "saved_opportunity",
    "deadline_told",
)


def upgrade() -> None:
    make_search_configuration("opportunity", "za")
    _search()
    _requirements()
    _matching()
    _judgement()
    _board()
    for name in _BELOW:
        below_notice(
            f"opportunity.{name}", "tender_opportunity_id", "opportunity.tender_opportunity"
        )


def _search() -> None:
    found = "opportunity.notice_search"
    make_table(found, Kind.PUBLISHED, *_entries(), indexes=[("id",)], deletes=True)
    make_table("opportunity.capture_search", Kind.PRIVATE, *_entries(), deletes=True)
    for column in ("words", "title_words", "buyer_words", "provinces", "classification_prefixes"):
        make_search_index(found, column)
    make_part_index(found, "number_key")
    for column in ("closing_sort", "published_sort"):
        op.create_index(
            f"notice_search_{column}_by", "notice_search", [column, "id"], schema="opportunity"
        )
        op.execute(f"CREATE INDEX notice_search_{column}_live ON {found} ({column}, id) {_LIVE}")
    for column in ("words", "provinces", "classification_prefixes"):
        live = f"CREATE INDEX notice_search_{column}_live ON {found} USING gin ({column})"
        op.execute(f"{live} {_LIVE}")
    op.execute(f"CREATE INDEX notice_search_ocid_by ON {found} (ocid)")
    for name, kind in (("page_search", Kind.PUBLISHED), ("own_page_search", Kind.PRIVATE)):
        make_table(
            f"opportunity.{name}", kind, *_page_entries(), indexes=[("document_id",)], deletes=True
        )
    make_search_index("opportunity.page_search", "words")


def _entries() -> list[sa.Column[Any]]:
    return [
        text("status"),
        instant("opens_at", nullable=True),
        instant("closes_at"),
        instant("closing_sort"),
        instant("published_sort"),
        text("number_key"),
        text("ocid", nullable=True),
        sa.Column("buyer_words", pg.TSVECTOR, nullable=False),
        text("buyer_name"),
        text("source_buyer_id", nullable=True),
        text("sphere", nullable=True),
        text("method", nullable=True),
        text("main_category", nullable=True),
        text("category_text", nullable=True),
        texts("provinces"),
        text("municipality_code", nullable=True),
        texts("classification_prefixes"),
        texts("cidb_classes"),
        whole("cidb_grade", nullable=True),
        number("value_minor", nullable=True),
        text("briefing"),
        flag("has_documents"),
        ident("source_id", nullable=True),
        sa.Column("title_words", pg.TSVECTOR, nullable=False),
        sa.Column("words", pg.TSVECTOR, nullable=False),
    ]


def _page_entries() -> list[sa.Column[Any]]:
    return [
        ident("document_id"),
        ident("tender_opportunity_id"),
        whole("page"),
        sa.Column("words", pg.TSVECTOR, nullable=False),
    ]


def _matching() -> None:
    make_table(
        "opportunity.match_profile",
        Kind.PRIVATE,
        json("features"),
        json("preferences"),
        whole("preferences_version"),
        json("blockers"),
        flag("matching_on"),
        json("fact_refs"),
        whole("revision"),
        instant("as_of", nullable=True),
        unique=[("organization_id",)],
        due=True,
    )
    make_table(
        "opportunity.match",
        Kind.PRIVATE,
        ident("tender_opportunity_id"),
        whole("score_tenths", nullable=True),
        text("band"),
        whole("coverage_hundredths"),
        flag("eligible"),
        json("factors"),
        json("gates"),
        texts("failed_gates"),
        whole("weights_version"),
        number("opportunity_version"),
        whole("match_revision"),
        whole("profile_revision"),
        instant("computed_at"),
        instant("alerted_at", nullable=True),
        instant("below_since", nullable=True),
        unique=[("organization_id", "tender_opportunity_id")],
        indexes=[("tender_opportunity_id",)],
    )
    make_table(
        "opportunity.match_alert",
        Kind.PRIVATE,
        ident("tender_opportunity_id"),
        text("reason"),
        whole("material_revision"),
        unique=[("organization_id", "tender_opportunity_id", "reason", "material_revision")],
    )
    make_table(
        "opportunity.match_run",
        Kind.PRIVATE,
        ident("tender_opportunity_id"),
        text("scope"),
        flag("alerts"),
        whole("material_revision"),
        whole("match_revision"),
        text("status"),
        whole("done"),
        whole("total"),
        json("counts"),
        instant("finished_at", nullable=True),
        indexes=[("organization_id", "tender_opportunity_id", "id")],
    )


def _judgement() -> None:
    make_table(
        "opportunity.qualification",
        Kind.PRIVATE,
        ident("tender_opportunity_id"),
        whole("revision"),
        text("status"),
        json("answers"),
        json("self_scores"),
        text("note", nullable=True),
        text("verdict", nullable=True),
        json("criteria"),
        json("readiness", nullable=True),
        json("functionality", nullable=True),
        json("inputs"),
        texts("stale_reasons"),
        ident("decided_by", nullable=True),
        instant("decided_at", nullable=True),
        unique=[("organization_id", "tender_opportunity_id", "revision")],
        indexes=[("tender_opportunity_id",)],
    )
    make_table(
        "opportunity.recommendation",
        Kind.PRIVATE,
        ident("tender_opportunity_id"),
        whole("revision"),
        text("status"),
        text("verdict"),
        flag("preliminary"),
        json("reasons"),
        whole("rules_version"),
        json("inputs"),
        json("analysis", nullable=True),
        json("decision", nullable=True),
        ident("decided_by", nullable=True),
        instant("decided_at", nullable=True),
        instant("computed_at"),
        whole("analysis_attempts"),
        unique=[("organization_id", "tender_opportunity_id")],
        indexes=[("tender_opportunity_id",)],
        due=True,
    )
    make_table(
        "opportunity.recommendation_revision",
        Kind.PRIVATE,
        ident("tender_opportunity_id"),
        ident("recommendation_id"),
        whole("revision"),
        json("document"),
        unique=[("organization_id", "recommendation_id", "revision")],
    )
    op.execute(
        "CREATE UNIQUE INDEX qualification_draft ON opportunity.qualification "
        "(organization_id, tender_opportunity_id) WHERE status = 'draft'"
    )


def _compiled() -> list[sa.Column[Any]]:
    """What a notice is compared with, so that all watchlists are asked in one statement."""
    return [
        sa.Column("query", pg.TSQUERY, nullable=True),
        sa.Column("buyer_query", pg.TSQUERY, nullable=True),
        text("province", nullable=True),
        text("municipality", nullable=True),
        text("category", nullable=True),
        text("classification", nullable=True),
        text("buyer_id", nullable=True),
        text("sphere", nullable=True),
        text("method", nullable=True),
        text("main_category", nullable=True),
        text("cidb_class", nullable=True),
        whole("cidb_grade_max", nullable=True),
        number("value_min_minor", nullable=True),
        number("value_max_minor", nullable=True),
        instant("closing_from", nullable=True),
        instant("closing_to", nullable=True),
        instant("published_from", nullable=True),
        text("briefing", nullable=True),
        text("number_key", nullable=True),
        text("ocid", nullable=True),
        ident("source_id", nullable=True),
        flag("has_documents", nullable=True),
    ]


def _board() -> None:
    make_table(
        "opportunity.watchlist",
        Kind.PRIVATE,
        text("name"),
        text("name_key"),
        json("filters"),
        *_compiled(),
        texts("alert_on"),
        whole("min_score_tenths", nullable=True),
        flag("is_shared"),
        ident("owner_user_id", nullable=True),
        text("status"),
        text("status_reason", nullable=True),
    )
    make_table(
        "opportunity.watchlist_hit",
        Kind.PRIVATE,
        ident("watchlist_id"),
        ident("tender_opportunity_id"),
        whole("material_revision"),
        instant("at"),
        unique=[("organization_id", "watchlist_id", "tender_opportunity_id", "material_revision")],
        indexes=[
            ("organization_id", "watchlist_id", "at"),
            ("tender_opportunity_id", "material_revision", "organization_id"),
        ],
    )
    make_table(
        "opportunity.saved_opportunity",
        Kind.PRIVATE,
        ident("tender_opportunity_id"),
        text("stage"),
        instant("stage_changed_at"),
        ident("owner_user_id", nullable=True),
        whole("priority", nullable=True),
        texts("tags"),
        text("notes", nullable=True),
        number("estimated_minor", nullable=True),
        text("estimated_currency", nullable=True),
        number("rank"),
        text("decline_reason", nullable=True),
        text("led_by"),
        ident("bid_workspace_id", nullable=True),
        number("bid_sequence"),
        json("attention"),
        instant("next_deadline_at", nullable=True),
        instant("closing_at", nullable=True),
        instant("ended_at", nullable=True),
        unique=[("organization_id", "tender_opportunity_id")],
        indexes=[("tender_opportunity_id",), ("organization_id", "rank", "id")],
        due=True,
    )
    make_table(
        "opportunity.deadline_told",
        Kind.PRIVATE,
        ident("tender_opportunity_id"),
        ident("deadline_id"),
        instant("due_at"),
        text("threshold"),
        unique=[("organization_id", "deadline_id", "due_at", "threshold")],
    )
    op.execute(
        "CREATE UNIQUE INDEX watchlist_name_live ON opportunity.watchlist "
        "(organization_id, name_key) WHERE status <> 'archived'"
    )


def _requirements() -> None:
    make_table(
        "opportunity.requirement",
        Kind.NOTICE,
        ident("tender_opportunity_id"),
        text("requirement_class"),
        sa.Column("points", sa.Numeric, nullable=True),
        text("title"),
        text("text", nullable=True),
        json("criterion"),
        text("criterion_kind"),
        text("code", nullable=True),
        texts("evidence_kinds"),
        json("citation", nullable=True),
        text("gate"),
        text("cure"),
        text("status"),
        text("origin"),
        whole("ordinal"),
        whole("since_set"),
        whole("until_set", nullable=True),
        ident("replaces_id", nullable=True),
        indexes=[("tender_opportunity_id", "ordinal")],
    )
    make_table(
        "opportunity.requirement_set",
        Kind.PRIVATE,
        ident("tender_opportunity_id"),
        whole("set_version"),
        whole("last_ordinal"),
        unique=[("organization_id", "tender_opportunity_id")],
    )
