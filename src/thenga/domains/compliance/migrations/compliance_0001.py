"""The catalogue, profiles, requirements, documents, evidence and verifications."""

from alembic import op

from thenga.kernel.db.columns import (
    day,
    flag,
    ident,
    instant,
    json,
    number,
    octets,
    text,
    texts,
    whole,
)
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_kernel_tables, make_table
from thenga.kernel.files.contents import CONTENT_INDEXES, content_columns

revision = "compliance_0001"
down_revision = None
branch_labels = ("compliance",)
depends_on = None


def upgrade() -> None:
    make_kernel_tables("compliance")
    _catalogue()
    _requirements()
    _documents()
    _evidence()
    _verifications()


def _catalogue() -> None:
    make_table(
        "compliance.catalogue_entry",
        Kind.PLATFORM,
        text("entry_kind"),
        text("code"),
        day("effective_from"),
        json("content"),
        ident("written_by"),
        whole("affected_organizations", nullable=True),
        unique=[("entry_kind", "code", "effective_from")],
    )
    make_table(
        "compliance.requirement_definition",
        Kind.CATALOGUE,
        text("code"),
        text("title"),
        text("component"),
        whole("weight"),
        text("gate"),
        json("hard_when", nullable=True),
        flag("locked"),
        texts("spheres"),
        json("applies_when"),
        text("per_subject"),
        json("proof"),
        json("validity"),
        whole("recheck_days", nullable=True),
        text("min_assurance"),
        texts("needed_at"),
        text("period"),
        day("effective_from"),
        day("effective_to", nullable=True),
        json("source"),
        whole("catalogue_version"),
        unique=[("code", "effective_from")],
    )
    make_table(
        "compliance.document_type",
        Kind.CATALOGUE,
        text("code"),
        text("title"),
        text("document_class"),
        texts("media_types"),
        number("max_bytes"),
        json("facts"),
        texts("sealed_fields"),
        day("effective_from"),
        day("effective_to", nullable=True),
        json("source"),
        whole("catalogue_version"),
        unique=[("code", "effective_from")],
    )


def _requirements() -> None:
    make_table(
        "compliance.tenant",
        Kind.PRIVATE,
        flag("sandbox"),
        unique=[("organization_id",)],
    )
    make_table(
        "compliance.profile",
        Kind.PRIVATE,
        text("status"),
        texts("spheres"),
        json("answers"),
        ident("responsible_user_id", nullable=True),
        json("fact_basis"),
        json("facts_missing"),
        due=True,
        unique=[("organization_id",)],
    )
    make_table(
        "compliance.requirement",
        Kind.PRIVATE,
        text("origin"),
        text("definition_code", nullable=True),
        ident("tender_opportunity_id", nullable=True),
        text("tender_requirement_ref", nullable=True),
        text("title", nullable=True),
        text("description", nullable=True),
        text("component", nullable=True),
        whole("weight", nullable=True),
        text("gate", nullable=True),
        json("proof", nullable=True),
        json("validity", nullable=True),
        json("params"),
        json("subjects"),
        ident("owner_user_id", nullable=True),
        day("due_on", nullable=True),
        day("ends_on", nullable=True),
        text("applicability"),
        json("because"),
        instant("undetermined_since", nullable=True),
        indexes=[("organization_id", "tender_opportunity_id"), ("organization_id", "created_at")],
    )
    once = "CREATE UNIQUE INDEX requirement_{} ON compliance.requirement ({}) WHERE {}"
    op.execute(
        once.format("of_catalogue_once", "organization_id, definition_code", "origin = 'catalogue'")
    )
    of_tender = "organization_id, tender_opportunity_id, "
    op.execute(
        once.format("ref_of_tender_once", of_tender + "tender_requirement_ref", "origin = 'tender'")
    )
    op.execute(
        once.format(
            "code_of_tender_once",
            of_tender + "definition_code",
            "origin = 'tender' AND tender_requirement_ref IS NULL",
        )
    )


def _documents() -> None:
    make_table(
        "compliance.document",
        Kind.PRIVATE,
        text("document_type_code"),
        text("document_class"),
        text("title", nullable=True),
        text("subject_kind"),
        ident("subject_ref", nullable=True),
        text("purpose", nullable=True),
        text("basis", nullable=True),
        text("status"),
        whole("current_version"),
        whole("latest_version"),
        day("expires_on", nullable=True),
        day("valid_until", nullable=True),
        text("valid_basis", nullable=True),
        day("renewal_expected_on", nullable=True),
        text("renewal_reference", nullable=True),
        text("renewal_note", nullable=True),
        day("destroy_on", nullable=True),
        due=True,
        indexes=[("organization_id", "document_type_code"), ("organization_id", "expires_on")],
    )
    make_table(
        "compliance.document_version",
        Kind.PRIVATE,
        *content_columns(),
        ident("document_id"),
        whole("number"),
        text("file_name", nullable=True),
        day("issued_on", nullable=True),
        day("expires_on", nullable=True),
        text("document_number", nullable=True),
        text("issuer", nullable=True),
        text("holder_name", nullable=True),
        text("period", nullable=True),
        json("attributes"),
        octets("attributes_sealed", nullable=True),
        day("valid_until", nullable=True),
        text("valid_basis", nullable=True),
        whole("pages", nullable=True),
        ident("uploaded_by", nullable=True),
        ident("facts_by", nullable=True),
        json("facts_source", nullable=True),
        unique=[("organization_id", "document_id", "number")],
        indexes=CONTENT_INDEXES,
        references=[
            (("organization_id", "document_id"), "compliance.document", ("organization_id", "id"))
        ],
    )
    make_table(
        "compliance.download_ticket",
        Kind.BEARER,
        ident("organization_id"),
        ident("document_id"),
        ident("version_id"),
        ident("user_id"),
        ident("session_id", nullable=True),
        text("purpose", nullable=True),
        whole("uses_left"),
        instant("expires_at"),
    )


def _evidence() -> None:
    make_table(
        "compliance.evidence",
        Kind.PRIVATE,
        text("proof_kind"),
        text("proof_key"),
        ident("document_id", nullable=True),
        whole("document_version"),
        json("reference", nullable=True),
        text("statement_code", nullable=True),
        json("answers", nullable=True),
        text("period"),
        text("note", nullable=True),
        text("sha256", nullable=True),
        text("assurance"),
        text("status"),
        text("stale_reason", nullable=True),
        text("status_code", nullable=True),
        text("status_text", nullable=True),
        instant("status_changed_at", nullable=True),
        ident("status_changed_by", nullable=True),
        ident("latest_verification_id", nullable=True),
        ident("successor_of", nullable=True),
        ident("linked_by", nullable=True),
        day("valid_until", nullable=True),
        day("verified_until", nullable=True),
        due=True,
        unique=[("organization_id", "proof_key", "document_version", "period")],
        indexes=[("organization_id", "document_id")],
    )
    make_table(
        "compliance.evidence_link",
        Kind.PRIVATE,
        ident("evidence_id"),
        ident("requirement_id"),
        ident("linked_by", nullable=True),
        instant("removed_at", nullable=True),
        unique=[("organization_id", "evidence_id", "requirement_id")],
        indexes=[("organization_id", "requirement_id")],
        references=[
            (("organization_id", "evidence_id"), "compliance.evidence", ("organization_id", "id")),
            (
                ("organization_id", "requirement_id"),
                "compliance.requirement",
                ("organization_id", "id"),
            ),
        ],
    )
    make_table(
        "compliance.known_reference",
        Kind.PRIVATE,
        text("domain"),
        text("type"),
        ident("reference_id"),
        day("valid_until", nullable=True),
        instant("revoked_at", nullable=True),
        number("sequence"),
        unique=[("organization_id", "domain", "type", "reference_id")],
    )


def _verifications() -> None:
    make_table(
        "compliance.verification",
        Kind.PRIVATE,
        ident("evidence_id"),
        text("method"),
        text("requested_from"),
        ident("requested_by", nullable=True),
        text("status"),
        text("evidence_sha256", nullable=True),
        whole("evidence_version"),
        ident("assignee_user_id", nullable=True),
        instant("due_at", nullable=True),
        text("reason_code", nullable=True),
        json("found", nullable=True),
        json("source", nullable=True),
        text("note", nullable=True),
        text("assurance", nullable=True),
        day("valid_until", nullable=True),
        ident("checked_by", nullable=True),
        instant("checked_at", nullable=True),
        due=True,
        indexes=[("organization_id", "evidence_id")],
        references=[
            (("organization_id", "evidence_id"), "compliance.evidence", ("organization_id", "id"))
        ],
    )
    make_table(
        "compliance.verification_ticket",
        Kind.PLATFORM,
        ident("verification_id"),
        ident("tenant_id"),
        ident("evidence_id"),
        text("document_type_code", nullable=True),
        instant("due_at"),
        ident("assignee_user_id", nullable=True),
        instant("closed_at", nullable=True),
        unique=[("verification_id",)],
        indexes=[("due_at", "id")],
    )
    op.execute(
        "CREATE UNIQUE INDEX verification_open_once ON compliance.verification "
        "(organization_id, evidence_id, method) WHERE status IN ('pending', 'in_progress')"
    )
