"""Tenders with their versions, dates, and documents, and where they come from."""

import sqlalchemy as sa
from alembic import op

from thenga.kernel.db.columns import day, flag, ident, instant, json, number, text, texts, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import below_notice, make_kernel_tables, make_table
from thenga.kernel.files.contents import CONTENT_INDEXES, content_columns

revision = "opportunity_0001"
down_revision = None
branch_labels = ("opportunity",)
depends_on = None


_BELOW = (
    "tender_version",
    "amendment",
    "ripple_entry",
    "briefing",
    "attendance",
    "deadline",
    "document",
    "document_page",
)


def upgrade() -> None:
    make_kernel_tables("opportunity")
    _notices()
    _keys()
    _amendments()
    _dates()
    _sources()
    _documents()
    for name in _BELOW:
        below_notice(
            f"opportunity.{name}", "tender_opportunity_id", "opportunity.tender_opportunity"
        )


def _keys() -> None:
    """What is unique only among some of the rows."""
    op.execute(
        "CREATE UNIQUE INDEX tender_opportunity_ocid_shared "
        "ON opportunity.tender_opportunity (ocid) WHERE shared AND ocid IS NOT NULL"
    )
    op.execute(
        "CREATE INDEX tender_opportunity_likeness "
        "ON opportunity.tender_opportunity (organization_id, number_key)"
    )


def _notices() -> None:
    make_table(
        "opportunity.tender_opportunity",
        Kind.NOTICE,
        text("tender_number"),
        text("number_key"),
        text("title"),
        text("description", nullable=True),
        text("buyer_name"),
        text("buyer_sphere", nullable=True),
        text("buyer_regime", nullable=True),
        text("source_buyer_id", nullable=True),
        text("ocid", nullable=True),
        instant("opens_at", nullable=True),
        instant("closing_at", nullable=True),
        text("closing_precision"),
        text("closing_raw", nullable=True),
        text("closing_confidence"),
        instant("closes_at", nullable=True),
        text("time_zone"),
        text("method", nullable=True),
        text("method_details", nullable=True),
        text("main_category", nullable=True),
        text("category_text", nullable=True),
        json("classifications"),
        number("value_minor", nullable=True),
        text("value_currency", nullable=True),
        texts("provinces"),
        text("municipality_code", nullable=True),
        text("delivery_text", nullable=True),
        text("special_conditions", nullable=True),
        json("contact", nullable=True),
        text("visibility"),
        text("status"),
        text("status_reason", nullable=True),
        text("source_status", nullable=True),
        day("published_on", nullable=True),
        instant("published_at", nullable=True),
        whole("version_number"),
        whole("amendment_number"),
        whole("material_revision"),
        whole("match_revision"),
        whole("requirement_set_version"),
        json("terms"),
        json("awards"),
        json("conflicts"),
        texts("doubts"),
        ident("superseded_by", nullable=True),
        ident("primary_source_id", nullable=True),
        whole("source_rank", nullable=True),
        due=True,
    )
    make_table(
        "opportunity.tender_version",
        Kind.NOTICE,
        ident("tender_opportunity_id"),
        whole("number"),
        json("document"),
        ident("source_record_id", nullable=True),
        whole("normaliser_version", nullable=True),
        unique=[("organization_id", "tender_opportunity_id", "number")],
        indexes=[("tender_opportunity_id",)],
    )
    make_table(
        "opportunity.tenant",
        Kind.PRIVATE,
        text("organization_type"),
        flag("sandbox"),
        unique=[("organization_id",)],
    )


def _amendments() -> None:
    make_table(
        "opportunity.amendment",
        Kind.NOTICE,
        ident("tender_opportunity_id"),
        whole("number"),
        whole("from_version"),
        whole("to_version"),
        text("origin"),
        text("buyer_reference", nullable=True),
        text("note", nullable=True),
        json("changes"),
        text("level"),
        flag("material"),
        flag("short_notice"),
        instant("detected_at"),
        ident("event_id", nullable=True),
        unique=[("organization_id", "tender_opportunity_id", "number")],
        indexes=[("tender_opportunity_id", "number")],
    )
    make_table(
        "opportunity.ripple_entry",
        Kind.PRIVATE,
        ident("tender_opportunity_id"),
        ident("amendment_id"),
        whole("amendment_number"),
        text("domain"),
        text("effect"),
        text("reference"),
        text("state"),
        instant("at"),
        ident("event_id", nullable=True),
        unique=[("organization_id", "amendment_id", "effect", "reference")],
        indexes=[("organization_id", "tender_opportunity_id", "amendment_number")],
    )


def _dates() -> None:
    make_table(
        "opportunity.briefing",
        Kind.NOTICE,
        ident("tender_opportunity_id"),
        text("kind"),
        instant("starts_at"),
        instant("ends_at", nullable=True),
        text("time_zone"),
        text("venue", nullable=True),
        flag("compulsory"),
        text("note", nullable=True),
        text("status"),
        json("moved_from"),
        texts("doubts"),
        indexes=[("tender_opportunity_id",)],
    )
    make_table(
        "opportunity.attendance",
        Kind.PRIVATE,
        ident("tender_opportunity_id"),
        ident("briefing_id"),
        instant("starts_at"),
        text("state"),
        ident("attended_by_user_id", nullable=True),
        text("registered_as", nullable=True),
        json("proof_refs"),
        ident("recorded_by", nullable=True),
        instant("recorded_at"),
        json("history"),
        unique=[("organization_id", "briefing_id")],
        indexes=[("organization_id", "tender_opportunity_id")],
    )
    make_table(
        "opportunity.deadline",
        Kind.NOTICE,
        ident("tender_opportunity_id"),
        text("kind"),
        text("label"),
        instant("due_at"),
        json("rule", nullable=True),
        text("precision"),
        text("time_zone"),
        flag("withdrawn"),
        json("moved_from"),
        text("basis"),
        ident("briefing_id", nullable=True),
        unique=[("organization_id", "tender_opportunity_id", "kind", "label")],
        indexes=[("tender_opportunity_id",)],
    )


def _sources() -> None:
    make_table(
        "opportunity.source",
        Kind.NOTICE,
        text("name"),
        text("name_key"),
        text("kind"),
        text("address", nullable=True),
        json("settings"),
        text("time_zone"),
        text("clock_fault"),
        instant("clock_fault_until", nullable=True),
        whole("cadence_seconds"),
        texts("document_hosts"),
        whole("rank"),
        text("licence"),
        text("attribution"),
        text("visibility"),
        text("status"),
        text("status_reason", nullable=True),
        text("health"),
        text("health_reason", nullable=True),
        instant("last_run_at", nullable=True),
        instant("last_success_at", nullable=True),
        instant("last_new_record_at", nullable=True),
        json("completeness", nullable=True),
        instant("probed_at", nullable=True),
        due=True,
    )
    make_table(
        "opportunity.source_state",
        Kind.PRIVATE,
        json("cursor", nullable=True),
        whole("failures"),
        text("last_error", nullable=True),
        instant("breaker_until", nullable=True),
        json("validators", nullable=True),
        instant("trailed_on", nullable=True),
        whole("failed_runs"),
        due=True,
    )
    make_table(
        "opportunity.run",
        Kind.PRIVATE,
        ident("source_id"),
        text("mode"),
        instant("starts_on", nullable=True),
        instant("ends_on", nullable=True),
        json("releases", nullable=True),
        text("status"),
        json("cursor", nullable=True),
        texts("seen_keys"),
        whole("pages"),
        whole("requests"),
        json("counts"),
        json("completeness", nullable=True),
        json("rejects"),
        text("error_code", nullable=True),
        whole("attempts"),
        whole("fence"),
        instant("started_at", nullable=True),
        instant("finished_at", nullable=True),
        ident("asked_by", nullable=True),
        indexes=[("organization_id", "source_id", "id")],
        due=True,
    )
    make_table(
        "opportunity.source_record",
        Kind.NOTICE,
        ident("source_id"),
        text("source_key"),
        text("content_hash"),
        text("object_key", nullable=True),
        whole("raw_first"),
        whole("raw_size"),
        instant("received_at"),
        whole("normaliser_version"),
        json("report"),
        text("outcome"),
        ident("tender_opportunity_id", nullable=True),
        unique=[("organization_id", "source_id", "source_key", "content_hash")],
        indexes=[("source_id", "source_key")],
    )
    make_table(
        "opportunity.fetch_slot",
        Kind.PLATFORM,
        text("host"),
        instant("leased_until", nullable=True),
        ident("lease", nullable=True),
        instant("free_at", nullable=True),
        unique=[("host",)],
    )
    make_table(
        "opportunity.category_map",
        Kind.CATALOGUE,
        text("text"),
        texts("unspsc"),
        texts("cidb"),
        whole("edition"),
        unique=[("text",)],
    )
    op.execute(
        "CREATE UNIQUE INDEX source_name_live ON opportunity.source (organization_id, name_key) "
        "WHERE status <> 'retired'"
    )
    op.execute(
        "CREATE UNIQUE INDEX source_address_live ON opportunity.source "
        "(organization_id, kind, address) WHERE status <> 'retired'"
    )
    op.execute(
        "CREATE UNIQUE INDEX run_unfinished ON opportunity.run (organization_id, source_id) "
        "WHERE status IN ('queued', 'running')"
    )


def _documents() -> None:
    make_table(
        "opportunity.document",
        Kind.NOTICE,
        *content_columns(),
        ident("tender_opportunity_id"),
        text("title"),
        text("url", nullable=True),
        text("document_type"),
        text("language", nullable=True),
        ident("replaces_document_id", nullable=True),
        ident("superseded_by", nullable=True),
        ident("source_id", nullable=True),
        text("source_document_id", nullable=True),
        text("fetch_state"),
        text("text_state"),
        text("index_state"),
        whole("attempts"),
        whole("missing_times"),
        whole("pages", nullable=True),
        whole("ocr_pages", nullable=True),
        sa.Column("mean_confidence", sa.Numeric, nullable=True),
        text("reason_code", nullable=True),
        indexes=[*CONTENT_INDEXES, *[("tender_opportunity_id",)]],
    )
    make_table(
        "opportunity.document_page",
        Kind.NOTICE,
        ident("document_id"),
        ident("tender_opportunity_id"),
        whole("number"),
        text("text"),
        text("quality"),
        sa.Column("confidence", sa.Numeric, nullable=True),
        unique=[("organization_id", "document_id", "number")],
        indexes=[("document_id", "number")],
    )
    op.execute(
        "CREATE UNIQUE INDEX document_url_live ON opportunity.document "
        "(organization_id, tender_opportunity_id, url) WHERE superseded_by IS NULL"
    )
