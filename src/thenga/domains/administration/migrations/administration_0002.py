"""Settings, policies and integrations."""

from alembic import op

from thenga.kernel.db.columns import flag, ident, instant, json, octets, text, texts, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_table

revision = "administration_0002"
down_revision = "administration_0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _settings()
    _policies()
    _integrations()


def _settings() -> None:
    make_table(
        "administration.declaration",
        Kind.CATALOGUE,
        text("kind"),
        text("key"),
        texts("domains"),
        json("schema"),
        json("default_value", nullable=True),
        text("schema_hash"),
        text("approval"),
        text("title"),
        flag("retroactive"),
        text("status"),
        unique=[("key",)],
    )
    make_table(
        "administration.configuration_version",
        Kind.PLATFORM,
        text("key"),
        whole("number"),
        json("value", nullable=True),
        whole("base_version"),
        instant("effective_from"),
        text("note", nullable=True),
        text("schema_hash"),
        text("status"),
        ident("created_by"),
        ident("decided_by", nullable=True),
        instant("decided_at", nullable=True),
        json("acknowledgements"),
        unique=[("key", "number")],
        indexes=[("key", "effective_from", "number")],
    )
    _two_persons("configuration_version", "decided_by")
    _one_in_flight("configuration_version", "key", "'pending_approval'")


def _policies() -> None:
    make_table(
        "administration.policy_configuration",
        Kind.PLATFORM,
        text("policy_key"),
        whole("policy_number"),
        whole("based_on"),
        text("target_domain"),
        text("kind"),
        json("document", nullable=True),
        text("document_hash"),
        instant("effective_from"),
        text("note", nullable=True),
        text("status"),
        ident("created_by"),
        ident("approved_by", nullable=True),
        instant("approved_at", nullable=True),
        text("blocked", nullable=True),
        instant("published_at", nullable=True),
        whole("publish_attempts"),
        instant("acknowledged_at", nullable=True),
        text("refusal_code", nullable=True),
        whole("ignored_acknowledgements"),
        instant("due_at", nullable=True),
        unique=[("policy_key", "policy_number")],
        indexes=[("due_at",)],
    )
    _two_persons("policy_configuration", "approved_by")
    _one_in_flight("policy_configuration", "policy_key", "'submitted', 'approved'")


def _integrations() -> None:
    make_table(
        "administration.integration_configuration",
        Kind.PLATFORM,
        text("kind"),
        text("name"),
        text("environment"),
        text("target_domain"),
        json("settings"),
        whole("settings_version"),
        text("status"),
        ident("created_by"),
        unique=[("kind", "environment", "name")],
    )
    make_table(
        "administration.integration_secret",
        Kind.PLATFORM,
        ident("integration_id"),
        text("name"),
        whole("secret_version"),
        octets("bound_to"),
        octets("sealed"),
        text("fingerprint"),
        instant("set_at"),
        instant("valid_until", nullable=True),
        unique=[("integration_id", "name", "secret_version")],
        indexes=[("valid_until",)],
        references=[
            (("integration_id",), "administration.integration_configuration", ("id",)),
        ],
        deletes=True,
    )


def _two_persons(table: str, decided_by: str) -> None:
    op.execute(
        f"ALTER TABLE administration.{table} ADD CONSTRAINT {table}_two_persons "
        f"CHECK ({decided_by} <> created_by)"
    )


def _one_in_flight(table: str, key: str, statuses: str) -> None:
    op.execute(
        f"CREATE UNIQUE INDEX {table}_in_flight_once ON administration.{table} ({key}) "
        f"WHERE status IN ({statuses})"
    )
