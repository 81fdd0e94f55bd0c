"""Offers, assets and experience."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.columns import day, ident, instant, json, number, text, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_table

revision = "organization_0004"
down_revision = "organization_0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _catalogue()
    _offerings()
    _capabilities()
    _assets()
    _projects()
    _references()


def _record() -> tuple[sa.Column[Any], ...]:
    return json("provenance"), instant("archived_at", nullable=True)


def _due(table: str) -> None:
    """The two indexes by which sweeps find what is due."""
    waiting = f"ON organization.{table}"
    only = "WHERE next_check_at IS NOT NULL"
    op.execute(f"CREATE INDEX {table}_due {waiting} (organization_id, next_check_at) {only}")
    op.execute(f"CREATE INDEX {table}_due_any {waiting} (next_check_at) {only}")


def _percent(table: str, column: str) -> None:
    # NaN is greater than every number, so the upper bound refuses it too.
    op.create_check_constraint(
        f"{table}_{column}", table, f"{column} BETWEEN 0 AND 100", schema="organization"
    )


def _catalogue() -> None:
    make_table(
        "organization.classification_code",
        Kind.CATALOGUE,
        text("scheme"),
        text("code"),
        text("title"),
        text("parent", nullable=True),
        unique=[("scheme", "code")],
        indexes=[("scheme", "parent")],
    )
    op.execute(
        "CREATE INDEX classification_code_words ON organization.classification_code "
        "USING gin (to_tsvector('english', title))"
    )


def _offering() -> tuple[sa.Column[Any], ...]:
    return (
        *_record(),
        text("name"),
        text("description", nullable=True),
        json("classifications"),
        json("areas"),
        text("unit", nullable=True),
        whole("lead_time_days", nullable=True),
        number("price_from_minor", nullable=True),
        text("price_from_currency", nullable=True),
        json("evidence_refs"),
        text("status"),
    )


def _offerings() -> None:
    by_name = [("organization_id", "name", "id")]
    make_table("organization.service", Kind.PRIVATE, *_offering(), indexes=by_name)
    make_table(
        "organization.product",
        Kind.PRIVATE,
        *_offering(),
        text("brand", nullable=True),
        text("model", nullable=True),
        text("gtin", nullable=True),
        text("country_of_origin", nullable=True),
        sa.Column("local_content_percent", sa.Numeric, nullable=True),
        indexes=by_name,
    )
    _percent("product", "local_content_percent")
    for table in ("service", "product"):
        op.execute(
            f"CREATE UNIQUE INDEX {table}_name_once ON organization.{table} "
            f"(organization_id, lower(name)) "
            f"WHERE status <> 'discontinued' AND archived_at IS NULL"
        )


def _capabilities() -> None:
    make_table(
        "organization.capability",
        Kind.PRIVATE,
        *_record(),
        text("title"),
        text("description", nullable=True),
        json("classifications"),
        json("cidb", nullable=True),
        text("cidb_class", nullable=True),
        json("capacity", nullable=True),
        json("areas"),
        json("evidence_refs"),
        text("status"),
        text("verification_status"),
        instant("verified_until", nullable=True),
        instant("next_check_at", nullable=True),
    )
    _due("capability")
    make_table(
        "organization.known_evidence",
        Kind.PRIVATE,
        text("domain"),
        text("evidence_type"),
        ident("evidence_id"),
        ident("proof_id", nullable=True),
        number("source_version"),
        text("state"),
        sa.Column("verified", sa.Boolean, nullable=False),
        day("valid_until", nullable=True),
        unique=[("organization_id", "domain", "evidence_type", "evidence_id")],
        indexes=[("organization_id", "proof_id")],
    )


_TO_ADDRESS = (("organization_id", "location_address_id"), ("organization_id", "id"))


def _assets() -> None:
    for column in (
        ident("location_address_id", nullable=True),
        sa.Column("document_refs", pg.JSONB, nullable=False, server_default="[]"),
    ):
        op.add_column("equipment", column, schema="organization")
    op.create_foreign_key(
        "equipment_location_address_id_refers",
        "equipment",
        "address",
        *map(list, _TO_ADDRESS),
        source_schema="organization",
        referent_schema="organization",
    )
    make_table(
        "organization.fleet_asset",
        Kind.PRIVATE,
        *_record(),
        text("name"),
        text("category", nullable=True),
        text("make", nullable=True),
        text("model", nullable=True),
        whole("year", nullable=True),
        text("ownership", nullable=True),
        ident("location_address_id", nullable=True),
        json("document_refs"),
        text("registration_number"),
        text("vin", nullable=True),
        text("vehicle_type", nullable=True),
        whole("payload_kg", nullable=True),
        whole("seats", nullable=True),
        day("licence_expires_on"),
        day("roadworthy_expires_on", nullable=True),
        day("operating_licence_expires_on", nullable=True),
        day("insurance_expires_on", nullable=True),
        text("status"),
        day("next_expiry", nullable=True),
        instant("next_check_at", nullable=True),
        indexes=[("organization_id", "name", "id")],
        references=[(_TO_ADDRESS[0], "organization.address", _TO_ADDRESS[1])],
    )
    op.execute(
        "CREATE UNIQUE INDEX fleet_asset_plate_once ON organization.fleet_asset "
        "(organization_id, registration_number) "
        "WHERE status <> 'retired' AND archived_at IS NULL"
    )
    _due("fleet_asset")


def _projects() -> None:
    make_table(
        "organization.past_project",
        Kind.PRIVATE,
        *_record(),
        text("title"),
        text("client_name"),
        text("client_type", nullable=True),
        text("client_domain", nullable=True),
        text("contract_number", nullable=True),
        number("value_minor", nullable=True),
        text("value_currency", nullable=True),
        day("started_on"),
        day("completed_on", nullable=True),
        text("role", nullable=True),
        sa.Column("share_percent", sa.Numeric, nullable=True),
        text("province", nullable=True),
        text("municipality_code", nullable=True),
        json("classifications"),
        json("evidence_refs"),
        json("contract_ref", nullable=True),
        text("status"),
        text("verification_status"),
        json("verified_by"),
        indexes=[("organization_id", "title", "id")],
    )
    _percent("past_project", "share_percent")
    op.execute(
        "CREATE UNIQUE INDEX past_project_contract_once ON organization.past_project "
        "(organization_id, lower(client_name), contract_number) "
        "WHERE contract_number IS NOT NULL AND archived_at IS NULL"
    )


def _references() -> None:
    make_table(
        "organization.client_reference",
        Kind.PRIVATE,
        *_record(),
        ident("past_project_id"),
        sa.Column("contact", sa.LargeBinary, nullable=False),
        number("contact_version"),
        sa.Column("contact_index", sa.LargeBinary, nullable=True),
        json("questions"),
        text("message", nullable=True),
        text("status"),
        sa.Column("statement_hash", sa.LargeBinary, nullable=True),
        instant("requested_at", nullable=True),
        instant("expires_at", nullable=True),
        instant("next_check_at", nullable=True),
        whole("rounds"),
        json("answers", nullable=True),
        json("corrections", nullable=True),
        text("strength", nullable=True),
        json("strength_reasons"),
        text("receipt", nullable=True),
        instant("erased_at", nullable=True),
        references=[
            (
                ("organization_id", "past_project_id"),
                "organization.past_project",
                ("organization_id", "id"),
            )
        ],
        indexes=[("organization_id", "contact_index")],
    )
    _due("client_reference")
