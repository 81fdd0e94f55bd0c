"""The record family: versions of records, directors, contacts, addresses, users."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.columns import text
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import Instant, make_table

revision = "organization_0003"
down_revision = "organization_0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _versions()
    _places()
    _contacts()
    _users()
    _directors()


def _versions() -> None:
    make_table(
        "organization.record_version",
        Kind.PRIVATE,
        text("record_type"),
        sa.Column("record_id", pg.UUID, nullable=False),
        sa.Column("record_version", sa.BigInteger, nullable=False),
        text("kind"),
        sa.Column("source", pg.JSONB, nullable=True),
        sa.Column("changed_fields", pg.ARRAY(sa.Text), nullable=False),
        sa.Column("snapshot", pg.JSONB, nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=True),
        text("actor_kind"),
        sa.Column("actor_id", pg.UUID, nullable=True),
        unique=[("organization_id", "record_id", "record_version")],
        appends=True,
    )
    # ORG-1: what a machine suggests or somebody checked has tables of its own.
    op.create_check_constraint(
        "record_version_kind",
        "record_version",
        "kind IN ('customer_supplied', 'imported')",
        schema="organization",
    )
    provenance = sa.Column("provenance", pg.JSONB, nullable=False, server_default="{}")
    op.add_column("equipment", provenance, schema="organization")


def _places() -> None:
    make_table(
        "organization.address",
        Kind.PRIVATE,
        *_of_every_record(),
        text("kind"),
        text("label", nullable=True),
        text("line1"),
        text("line2", nullable=True),
        text("suburb", nullable=True),
        text("city"),
        text("postal_code", nullable=True),
        text("country"),
        text("province", nullable=True),
        text("municipality_code", nullable=True),
        text("ward_number", nullable=True),
        sa.Column("geo", pg.JSONB, nullable=True),
        sa.Column("registered_office", sa.Boolean, nullable=False),
        sa.Column("primary", sa.Boolean, nullable=False),
        sa.Column("valid_from", sa.Date, nullable=True),
        sa.Column("valid_to", sa.Date, nullable=True),
        sa.Column("evidence_refs", pg.JSONB, nullable=False),
    )
    _one_primary("address")
    make_table(
        "organization.municipality",
        Kind.CATALOGUE,
        text("code"),
        text("name"),
        text("category"),
        text("province"),
        text("district_code", nullable=True),
        sa.Column("valid_from", sa.Date, nullable=False),
        sa.Column("valid_to", sa.Date, nullable=True),
        unique=[("code",)],
    )


def _contacts() -> None:
    make_table(
        "organization.contact",
        Kind.PRIVATE,
        *_of_every_record(),
        text("kind"),
        text("name", nullable=True),
        text("position", nullable=True),
        text("email", nullable=True),
        text("phone", nullable=True),
        text("preferred_channel", nullable=True),
        text("language", nullable=True),
        sa.Column("primary", sa.Boolean, nullable=False),
        sa.Column("user_id", pg.UUID, nullable=True),
        sa.Column("valid_from", sa.Date, nullable=True),
        sa.Column("valid_to", sa.Date, nullable=True),
        text("reachability"),
        sa.Column("reachability_at", Instant, nullable=True),
        sa.Column("erased_at", Instant, nullable=True),
        indexes=[("organization_id", "name", "id")],
    )
    _one_primary("contact")
    op.execute(
        "CREATE UNIQUE INDEX contact_email_once ON organization.contact "
        "(organization_id, kind, lower(email)) WHERE email IS NOT NULL AND archived_at IS NULL"
    )


def _users() -> None:
    make_table(
        "organization.member_ref",
        Kind.PRIVATE,
        sa.Column("membership_id", pg.UUID, nullable=True),
        sa.Column("invitation_id", pg.UUID, nullable=True),
        sa.Column("user_id", pg.UUID, nullable=True),
        text("status"),
        text("membership_status", nullable=True),
        sa.Column("owner", sa.Boolean, nullable=False),
        sa.Column("source_sequence", sa.BigInteger, nullable=False),
        unique=[("organization_id", "membership_id"), ("organization_id", "invitation_id")],
        indexes=[("organization_id", "user_id")],
        deletes=True,  # an invitation's reference ends in the member's
    )
    make_table(
        "organization.organization_user",
        Kind.PRIVATE,
        *_of_every_record(),
        sa.Column("member_ref_id", pg.UUID, nullable=False),
        text("status"),
        text("job_title", nullable=True),
        text("department", nullable=True),
        sa.Column("bid_roles", pg.ARRAY(sa.Text), nullable=False),
        text("notes", nullable=True),
        sa.Column("signing_authority", pg.JSONB, nullable=True),
        references=[
            (
                ("organization_id", "member_ref_id"),
                "organization.member_ref",
                ("organization_id", "id"),
            )
        ],
    )
    op.execute(
        "CREATE UNIQUE INDEX organization_user_once ON organization.organization_user "
        "(organization_id, member_ref_id) WHERE archived_at IS NULL"
    )


def _of_every_record() -> tuple[sa.Column[Any], ...]:
    return (
        sa.Column("provenance", pg.JSONB, nullable=False),
        sa.Column("archived_at", Instant, nullable=True),
    )


def _one_primary(table: str) -> None:
    op.execute(
        f"CREATE UNIQUE INDEX {table}_primary_once ON organization.{table} "
        f'(organization_id, kind) WHERE "primary"'
    )


def _directors() -> None:
    make_table(
        "organization.director",
        Kind.PRIVATE,
        *_of_every_record(),
        text("given_names", nullable=True),
        text("surname", nullable=True),
        text("role"),
        text("id_type"),
        sa.Column("id_number", sa.LargeBinary, nullable=True),
        sa.Column("id_number_index", sa.LargeBinary, nullable=True),
        sa.Column("id_number_version", sa.BigInteger, nullable=False),
        text("id_number_masked", nullable=True),
        text("id_country", nullable=True),
        text("nationality", nullable=True),
        sa.Column("warnings", pg.ARRAY(sa.Text), nullable=False),
        sa.Column("shareholding_percent", sa.Numeric, nullable=True),
        sa.Column("beneficial_owner", sa.Boolean, nullable=False),
        sa.Column("appointed_on", sa.Date, nullable=True),
        sa.Column("resigned_on", sa.Date, nullable=True),
        sa.Column("user_id", pg.UUID, nullable=True),
        text("email", nullable=True),
        text("phone", nullable=True),
        text("verification_status"),
        text("status"),
        sa.Column("verified_until", Instant, nullable=True),
        sa.Column("erased_at", Instant, nullable=True),
    )
    # Numeric columns take NaN, which is more than any number.
    op.create_check_constraint(
        "director_share",
        "director",
        "shareholding_percent BETWEEN 0 AND 100",
        schema="organization",
    )
    op.execute(
        "CREATE UNIQUE INDEX director_id_number_once ON organization.director "
        "(organization_id, id_number_index) WHERE status = 'active' AND archived_at IS NULL"
    )
    _flags("flag_declaration", "declared")
    _flags("flag_finding", "found")


def _flags(table: str, how: str) -> None:
    """What is declared and what is found have tables of their own: origins share no column."""
    make_table(
        f"organization.{table}",
        Kind.PRIVATE,
        sa.Column("director_id", pg.UUID, nullable=False),
        text("flag"),
        text(f"{how}_value"),
        sa.Column(f"{how}_on", sa.Date, nullable=False),
        sa.Column("until", sa.Date, nullable=True),
        sa.Column("source", pg.JSONB, nullable=True),
        sa.Column("particulars", sa.LargeBinary, nullable=True),
        sa.Column(f"{how}_by", pg.UUID, nullable=True),
        indexes=[("organization_id", "director_id", "flag", "id")],
        references=[
            (("organization_id", "director_id"), "organization.director", ("organization_id", "id"))
        ],
        appends=True,
    )
