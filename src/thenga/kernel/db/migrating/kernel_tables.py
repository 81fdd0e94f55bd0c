"""The tables that the kernel keeps in the schema of every domain."""

import sqlalchemy as sa
from alembic import op
from procrastinate.schema import SchemaManager
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating.constraints import append_only
from thenga.kernel.db.migrating.tables import Instant, grant, make_table, secure


def make_kernel_tables(domain: str) -> None:
    """What the kernel keeps in every domain's own schema: journals, keys, clock and jobs."""
    _make_journals(domain)
    _make_audit(domain)
    op.create_table(
        "idempotency",
        sa.Column("hash", sa.LargeBinary, primary_key=True),
        sa.Column("body_mac", sa.LargeBinary, nullable=False),
        sa.Column("status", sa.SmallInteger, nullable=True),
        sa.Column("headers", pg.JSONB, nullable=True),
        sa.Column("body", sa.LargeBinary, nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        schema=domain,
    )
    op.create_index("idempotency_created_at_by", "idempotency", ["created_at"], schema=domain)
    secure(f"{domain}.idempotency", Kind.BEARER)
    op.create_table(
        "clock_offset",
        sa.Column("organization_id", pg.UUID, primary_key=True),
        sa.Column("ahead", sa.Interval, nullable=False),
        sa.Column("sequence", sa.BigInteger, nullable=False),
        schema=domain,
    )
    secure(f"{domain}.clock_offset", Kind.PRIVATE)
    make_setting_values(domain)
    _make_jobs(domain)
    make_figures(domain)


def make_figures(domain: str) -> None:
    """The figures that workers write of themselves (`kernel/standing/figures.py`).

    A domain whose first migration is older has it by a later one, and only there.
    """
    if sa.inspect(op.get_bind()).has_table("figure", schema=domain):
        return
    op.create_table(
        "figure",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=True),
        sa.Column("instant", Instant, nullable=True),
        sa.Column("as_of", Instant, nullable=False),
        schema=domain,
    )
    secure(f"{domain}.figure", Kind.CATALOGUE)


def make_setting_values(domain: str) -> None:
    """The versions of the domain's settings; every row stays as its job has written it.

    A domain that is made anew has the table from its first migration on.
    """
    if sa.inspect(op.get_bind()).has_table("setting_value", schema=domain):
        return
    make_table(
        f"{domain}.setting_value",
        Kind.CATALOGUE,
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("effective_from", Instant, nullable=False),
        sa.Column("value", pg.JSONB, nullable=True),
        sa.Column("refusal_code", sa.Text, nullable=True),
        indexes=[("key", "effective_from", "number")],
    )
    append_only(f"{domain}.setting_value")


def make_series(domain: str) -> None:
    """The last number of each series of an organization, for a domain that calls `next_number`."""
    op.create_table(
        "series",
        sa.Column("organization_id", pg.UUID, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("last_number", sa.BigInteger, nullable=False),
        schema=domain,
    )
    secure(f"{domain}.series", Kind.PRIVATE)


def _make_journals(domain: str) -> None:
    op.create_table(
        "outbox",
        sa.Column("id", pg.UUID, primary_key=True),
        sa.Column("position", sa.BigInteger, sa.Identity(always=True), nullable=False),
        sa.Column("organization_id", pg.UUID, nullable=True),
        sa.Column("mesh_subject", sa.Text, nullable=False),
        sa.Column("aggregate", sa.Text, nullable=False),
        sa.Column("envelope", sa.Text, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("published_at", Instant, nullable=True),
        sa.Column("stream_sequence", sa.BigInteger, nullable=True),
        schema=domain,
    )
    # Found by "not yet published", never by "greater than the last" (SEC-12).
    op.execute(
        f"CREATE INDEX outbox_waiting ON {domain}.outbox (position) WHERE published_at IS NULL"
    )
    op.execute(
        f"CREATE INDEX outbox_sent ON {domain}.outbox (stream_sequence) "
        f"WHERE published_at IS NOT NULL"
    )
    secure(f"{domain}.outbox", Kind.LEDGER)
    op.create_table(
        "relay_state",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("organization_id", pg.UUID, nullable=True),
        sa.Column("epoch", sa.Text, nullable=False),
        schema=domain,
    )
    secure(f"{domain}.relay_state", Kind.LEDGER)
    _make_inbox(domain)


def _make_inbox(domain: str) -> None:
    op.create_table(
        "inbox",
        sa.Column("consumer", sa.Text, primary_key=True),
        sa.Column("event_id", pg.UUID, primary_key=True),
        sa.Column("organization_id", pg.UUID, nullable=True),
        sa.Column("at", Instant, nullable=False),
        schema=domain,
    )
    secure(f"{domain}.inbox", Kind.LEDGER)
    op.create_table(
        "parked_event",
        sa.Column("consumer", sa.Text, primary_key=True),
        sa.Column("event_id", pg.UUID, primary_key=True),
        sa.Column("organization_id", pg.UUID, nullable=True),
        sa.Column("envelope", sa.Text, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("at", Instant, nullable=False),
        schema=domain,
    )
    secure(f"{domain}.parked_event", Kind.LEDGER)


def _make_audit(domain: str) -> None:
    op.create_table(
        "audit_entry",
        sa.Column("id", pg.UUID, primary_key=True),
        sa.Column("organization_id", pg.UUID, nullable=True),
        sa.Column("chain", pg.UUID, nullable=False),
        sa.Column("entry", sa.Text, nullable=False),
        sa.Column("at", Instant, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=True),
        sa.Column("hash", sa.LargeBinary, nullable=True),
        schema=domain,
    )
    op.execute(f"CREATE INDEX audit_unsealed ON {domain}.audit_entry (id) WHERE seq IS NULL")
    op.execute(
        f"CREATE UNIQUE INDEX audit_chain ON {domain}.audit_entry (chain, seq) "
        f"WHERE seq IS NOT NULL"
    )
    op.create_index("audit_chain_at", "audit_entry", ["chain", "at", "id"], schema=domain)
    secure(f"{domain}.audit_entry", Kind.JOURNAL)
    # Append-only: nobody takes a row away, and only the place in the chain is ever written later.
    op.execute(f"REVOKE UPDATE, DELETE ON {domain}.audit_entry FROM {domain}_system")
    op.execute(f"GRANT UPDATE (seq, hash) ON {domain}.audit_entry TO {domain}_system")
    op.create_table(
        "audit_head",
        sa.Column("chain", pg.UUID, primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.LargeBinary, nullable=False),
        schema=domain,
    )
    secure(f"{domain}.audit_head", Kind.CHAIN)


JOB_TABLES = ("jobs", "events", "periodic_defers", "workers")


def _make_jobs(domain: str) -> None:
    # Procrastinate names its tables without a schema: it lives in the domain's own by search path.
    op.execute(f"SET LOCAL search_path = {domain}")
    # The driver reads `%` as a placeholder, also where there are no arguments.
    op.get_bind().exec_driver_sql(SchemaManager.get_schema().replace("%", "%%"))
    op.execute("RESET search_path")
    for name in JOB_TABLES:
        table = f"{domain}.procrastinate_{name}"
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(f"COMMENT ON TABLE {table} IS 'kind: jobs'")
        op.execute(f"CREATE POLICY system ON {table} TO {domain}_system USING (true)")
        grant(table, f"{domain}_system", "SELECT, INSERT, UPDATE, DELETE")
    # The application adds and cancels jobs; it reads no arguments.
    for name in ("jobs", "events"):
        table = f"{domain}.procrastinate_{name}"
        op.execute(f"CREATE POLICY adder ON {table} FOR INSERT TO {domain} WITH CHECK (true)")
        grant(table, domain, "INSERT")
    jobs = f"{domain}.procrastinate_jobs"
    op.execute(f"CREATE POLICY finder ON {jobs} FOR SELECT TO {domain} USING (true)")
    # Seen for the fence (FOR SHARE asks for the right to update); written to cancel, nothing else.
    op.execute(
        f"CREATE POLICY canceller ON {jobs} FOR UPDATE TO {domain} "
        f"USING (status IN ('todo', 'doing')) WITH CHECK (status = 'cancelled')"
    )
    seen = "id, status, queueing_lock, lock, attempts, worker_id, scheduled_at"
    op.execute(f"GRANT SELECT ({seen}) ON {jobs} TO {domain}")
    op.execute(f"GRANT UPDATE (status) ON {jobs} TO {domain}")
    # Fetching asks of each waiting job whether another one has its lock; Procrastinate's index for
    # that begins with the identifier, so that all of it is read each time.
    op.execute(f"DROP INDEX {domain}.procrastinate_jobs_id_lock_idx_v1")
    op.create_index("procrastinate_jobs_lock_by", "procrastinate_jobs", ["lock"], schema=domain)
    op.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {domain} TO {domain}, {domain}_system")


def show_job_schedule(domain: str) -> None:
    """Let the application see when a job is due, for domains whose tables were made before."""
    op.execute(f"GRANT SELECT (scheduled_at) ON {domain}.procrastinate_jobs TO {domain}")
