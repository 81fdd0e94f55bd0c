"""Facts: imported statements, checks, suggestions, versions, and the keys of sealed values."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.columns import ident, instant, json, number, octets, text
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_table

revision = "organization_0002"
down_revision = "organization_0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _organization()
    _catalogues()
    _data_keys()
    _statements()
    _checks()
    _facts()
    _suggestions()


def _organization() -> None:
    for column in (
        json("status_reason", nullable=True),
        instant("status_changed_at", nullable=True),
        ident("status_changed_by", nullable=True),
        sa.Column("platform_capabilities", pg.JSONB, nullable=False, server_default="{}"),
        ident("merged_into", nullable=True),
        json("offboarding", nullable=True),
    ):
        op.add_column("organization", column, schema="organization")
    make_table(
        "organization.organization_card",
        Kind.PUBLISHED,
        text("display_name"),
        text("legal_form", nullable=True),
        text("registration_number", nullable=True),
        json("provinces"),
        text("status"),
        json("verified_facts"),
        number("as_of_version"),
    )
    make_table(
        "organization.founding",
        Kind.PERSONAL,
        ident("founded_id"),
        text("registration_number", nullable=True),
        instant("ended_at", nullable=True),
    )
    op.execute(
        "CREATE UNIQUE INDEX founding_number_once ON organization.founding "
        "(user_id, registration_number) WHERE ended_at IS NULL"
    )


def _catalogues() -> None:
    # The primary key of `fact` has the name that the catalogue's table needs.
    op.execute("ALTER TABLE organization.fact RENAME CONSTRAINT fact_key TO fact_pkey")
    make_table(
        "organization.fact_key",
        Kind.CATALOGUE,
        text("key"),
        text("fact_group"),
        text("title"),
        text("value_type"),
        text("sensitivity"),
        sa.Column("fresh_days", sa.Integer, nullable=False),
        sa.Column("weight", sa.Integer, nullable=False),
        sa.Column("legal_forms", pg.ARRAY(sa.Text), nullable=False),
        unique=[("key",)],
    )
    make_table(
        "organization.policy_value",
        Kind.CATALOGUE,
        text("key"),
        json("value"),
        unique=[("key",)],
    )


def _data_keys() -> None:
    make_table(
        "organization.data_key",
        Kind.PRIVATE,
        text("subject_type"),
        ident("subject_id"),
        octets("sealed_key", nullable=True),
        sa.Column("destroy_on", sa.Date, nullable=True),
        instant("destroyed_at", nullable=True),
        unique=[("organization_id", "subject_type", "subject_id")],
    )


def _statements() -> None:
    # Nothing is deployed, so there are no statements yet that would lack what is needed now.
    op.alter_column("customer_statement", "value", nullable=True, schema="organization")
    for column in (
        octets("sealed", nullable=True),
        octets("canonical_hash"),
        sa.Column("warnings", pg.ARRAY(sa.Text), nullable=False),
        text("basis", nullable=True),
        json("source", nullable=True),
        instant("effective_from"),
        instant("next_check_at", nullable=True),
    ):
        op.add_column("customer_statement", column, schema="organization")
    # One that counts and one that is held back can stand side by side (ORG-37), never two of each.
    op.execute("DROP INDEX organization.customer_statement_live_once")
    op.execute(
        "CREATE UNIQUE INDEX customer_statement_live_once ON organization.customer_statement "
        "(organization_id, fact_key, (next_check_at IS NULL)) WHERE withdrawn_at IS NULL"
    )
    make_table(
        "organization.imported_statement",
        Kind.PRIVATE,
        text("fact_key"),
        text("register"),
        json("imported_value", nullable=True),
        octets("imported_sealed", nullable=True),
        octets("canonical_hash"),
        sa.Column("warnings", pg.ARRAY(sa.Text), nullable=False),
        json("source"),
        ident("stated_by", nullable=True),
        instant("effective_from"),
        instant("withdrawn_at", nullable=True),
    )
    op.execute(
        "CREATE UNIQUE INDEX imported_statement_live_once ON organization.imported_statement "
        "(organization_id, fact_key, register) WHERE withdrawn_at IS NULL"
    )
    _due("customer_statement")


def _checks() -> None:
    make_table(
        "organization.verification",
        Kind.PRIVATE,
        text("fact_key", nullable=True),
        text("record_type", nullable=True),
        ident("record_id", nullable=True),
        number("subject_version"),
        json("found_value", nullable=True),
        octets("found_sealed", nullable=True),
        octets("canonical_hash", nullable=True),
        text("outcome"),
        text("method"),
        json("source"),
        text("note", nullable=True),
        ident("checked_by", nullable=True),
        instant("valid_until", nullable=True),
        instant("ended_at", nullable=True),
        sa.Column("held_elsewhere", sa.Boolean, nullable=False),
        text("command_key", nullable=True),
        instant("next_check_at", nullable=True),
        unique=[("organization_id", "command_key")],
        indexes=[("organization_id", "fact_key"), ("organization_id", "record_id")],
    )
    op.create_check_constraint(
        "verification_of_one_subject",
        "verification",
        "num_nonnulls(fact_key, record_id) = 1 AND num_nonnulls(record_type, record_id) <> 1",
        schema="organization",
    )
    # ORG-33: one verified holder of a number, over all companies; a second check is inconclusive.
    op.execute(
        "CREATE UNIQUE INDEX verification_one_holder ON organization.verification "
        "(fact_key, canonical_hash) WHERE outcome = 'verified' AND ended_at IS NULL "
        "AND fact_key IN ('registrationNumber', 'csdNumber', 'vatNumber')"
    )
    _due("verification")


_POINTERS = ("customer_statement", "imported_statement", "verification")


def _facts() -> None:
    op.execute("ALTER TABLE organization.fact RENAME statement_id TO customer_statement_id")
    for column in (
        ident("imported_statement_id", nullable=True),
        ident("verification_id", nullable=True),
        text("verification_status"),
        instant("verified_until", nullable=True),
        text("conflict_status"),
        ident("resolved_to", nullable=True),
        instant("resolved_at", nullable=True),
        ident("resolved_by", nullable=True),
        text("resolution_reason", nullable=True),
    ):
        op.add_column("fact", column, schema="organization")
    for name in _POINTERS[1:]:
        op.create_foreign_key(
            f"fact_{name}_id_refers",
            "fact",
            name,
            ["organization_id", f"{name}_id"],
            ["organization_id", "id"],
            source_schema="organization",
            referent_schema="organization",
        )
    make_table(
        "organization.fact_version",
        Kind.PRIVATE,
        ident("fact_id"),
        text("fact_key"),
        number("number"),
        *(ident(f"{name}_id", nullable=True) for name in _POINTERS),
        text("verification_status"),
        text("conflict_status"),
        text("change"),
        ident("changed_by", nullable=True),
        unique=[("organization_id", "fact_key", "number")],
        references=[
            (("organization_id", "fact_id"), "organization.fact", ("organization_id", "id")),
            *(
                (
                    ("organization_id", f"{name}_id"),
                    f"organization.{name}",
                    ("organization_id", "id"),
                )
                for name in _POINTERS
            ),
        ],
    )
    for table in ("fact", "fact_version"):
        op.create_check_constraint(
            f"{table}_points_at_one",
            table,
            "num_nonnulls(customer_statement_id, imported_statement_id, verification_id) <= 1",
            schema="organization",
        )
    make_table(
        "organization.fact_freshness",
        Kind.PRIVATE,
        text("fact_key"),
        instant("confirmed_at", nullable=True),
        ident("confirmed_by", nullable=True),
        instant("stale_after"),
        instant("next_check_at", nullable=True),
        unique=[("organization_id", "fact_key")],
    )
    _due("fact_freshness")


def _suggestions() -> None:
    make_table(
        "organization.fact_suggestion",
        Kind.PRIVATE,
        text("fact_key", nullable=True),
        text("record_type", nullable=True),
        ident("record_id", nullable=True),
        text("field", nullable=True),
        json("proposed_value"),
        octets("proposed_hash"),
        number("base_version"),
        sa.Column("confidence_ppm", sa.Integer, nullable=False),
        json("sources"),
        json("produced_by"),
        text("guardrail_outcome", nullable=True),
        text("status"),
        instant("expires_at"),
        instant("next_check_at", nullable=True),
        ident("decided_by", nullable=True),
        instant("decided_at", nullable=True),
        json("decision_reason", nullable=True),
        ident("customer_statement_id", nullable=True),
        text("command_key", nullable=True),
        unique=[("organization_id", "command_key")],
        references=[
            (
                ("organization_id", "customer_statement_id"),
                "organization.customer_statement",
                ("organization_id", "id"),
            )
        ],
    )
    op.execute(
        "CREATE UNIQUE INDEX fact_suggestion_pending_once ON organization.fact_suggestion "
        "(organization_id, coalesce(fact_key, record_type), "
        "coalesce(record_id, '00000000-0000-0000-0000-000000000000'), coalesce(field, ''), "
        "proposed_hash) WHERE status = 'pending'"
    )
    _due("fact_suggestion")


def _due(table: str) -> None:
    """The two indexes by which sweeps find what is due."""
    waiting = f"ON organization.{table}"
    only = "WHERE next_check_at IS NOT NULL"
    op.execute(f"CREATE INDEX {table}_due {waiting} (organization_id, next_check_at) {only}")
    op.execute(f"CREATE INDEX {table}_due_any {waiting} (next_check_at) {only}")
