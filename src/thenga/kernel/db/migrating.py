"""Making tables: the only way a migration may create one.

Each is of a named kind, has forced row security with one policy for the application's login and
one for the system login, and keys that begin with the tenant (security rules 2 to 4).
"""

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op
from procrastinate.schema import SchemaManager
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind

Instant = sa.DateTime(timezone=True)
Columns = tuple[str, ...]


def make_table(
    table: str,
    kind: Kind,
    *columns: sa.Column[Any],
    key: Columns | None = None,
    unique: Iterable[Columns] = (),
    indexes: Iterable[Columns] = (),
    references: Iterable[tuple[Columns, str, Columns]] = (),
    deletes: bool = False,
    appends: bool = False,  # never changed again by the application's login
    partitions: int = 0,  # by hash of the key's first column, where a table grows very large
) -> None:
    """A table of `domain.name` with the columns every row has, its kind's keys and policies."""
    domain, name = table.split(".")
    op.create_table(
        name,
        sa.Column("id", pg.UUID, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        *_holders(kind, {column.name for column in columns}),
        *columns,
        sa.PrimaryKeyConstraint(*(key or kind.key), name=f"{name}_key"),
        *(sa.UniqueConstraint(*u, name=f"{name}_{'_'.join(u[-2:])}_once") for u in unique),
        *(_refers(name, *reference) for reference in references),
        schema=domain,
        **_parted((key or kind.key)[0] if partitions else None),
    )
    for index in indexes:
        op.create_index(f"{name}_{'_'.join(index[-2:])}_by", name, list(index), schema=domain)
    secure(table, kind, deletes=deletes, appends=appends)
    for number in range(partitions):
        _part(table, kind, number, partitions)


def _refers(name: str, here: Columns, target: str, there: Columns) -> sa.ForeignKeyConstraint:
    named = f"{name}_{here[-1]}_refers"
    return sa.ForeignKeyConstraint(here, [f"{target}.{column}" for column in there], name=named)


def _holders(kind: Kind, known: set[str]) -> list[sa.Column[Any]]:
    """The columns that say whose a row is, where the table does not name them itself."""
    return [
        sa.Column(h, sa.LargeBinary if h == "hash" else pg.UUID, nullable=False)
        for h in kind.value.holder
        if h not in known
    ]


def _parted(column: str | None) -> dict[str, Any]:
    return {} if column is None else {"postgresql_partition_by": f"HASH ({column})"}


def _part(table: str, kind: Kind, number: int, of: int) -> None:
    """One partition: reached through its table only, so no login of ours has a right to it."""
    op.execute(
        f"CREATE TABLE {table}_{number} PARTITION OF {table} "
        f"FOR VALUES WITH (MODULUS {of}, REMAINDER {number})"
    )
    _force(f"{table}_{number}", kind)
    for policy in _policies(table, kind):
        op.execute(policy.replace(f" ON {table} ", f" ON {table}_{number} "))


def secure(table: str, kind: Kind, *, deletes: bool = False, appends: bool = False) -> None:
    """Force row security on a table and give the two logins of its domain what its kind allows."""
    domain, _ = table.split(".")
    guard = kind.value
    _force(table, kind)
    for policy in _policies(table, kind):
        op.execute(policy)
    if guard.reads == guard.writes:
        _grant(table, domain, "SELECT, INSERT" if appends else "SELECT, INSERT, UPDATE")
    else:
        if guard.reads is not None:
            _grant(table, domain, "SELECT")
        if guard.writes is not None:
            _grant(table, domain, "INSERT")
        if guard.writes is not None and guard.reads is not None and not guard.appends:
            _grant(table, domain, "UPDATE")
    if deletes:
        _grant(table, domain, "DELETE")
    _grant(table, f"{domain}_system", "SELECT, INSERT, UPDATE, DELETE")


def _force(table: str, kind: Kind) -> None:
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(f"COMMENT ON TABLE {table} IS 'kind: {kind.name.lower()}'")


def _policies(table: str, kind: Kind) -> list[str]:
    """What a kind means for the two logins of its domain."""
    domain, _ = table.split(".")
    guard = kind.value
    made = [f"CREATE POLICY system ON {table} TO {domain}_system USING (true) WITH CHECK (true)"]
    if guard.reads == guard.writes:
        made.append(
            f"CREATE POLICY holder ON {table} TO {domain} "
            f"USING ({guard.reads}) WITH CHECK ({guard.writes})"
        )
        return made
    if guard.reads is not None:
        made.append(f"CREATE POLICY reader ON {table} FOR SELECT TO {domain} USING ({guard.reads})")
    if guard.writes is not None:
        made.append(
            f"CREATE POLICY adder ON {table} FOR INSERT TO {domain} WITH CHECK ({guard.writes})"
        )
    if guard.writes is not None and guard.reads is not None and not guard.appends:
        made.append(
            f"CREATE POLICY changer ON {table} FOR UPDATE TO {domain} "
            f"USING ({guard.writes}) WITH CHECK ({guard.writes})"
        )
    return made


def _grant(table: str, login: str, rights: str) -> None:
    op.execute(f"GRANT {rights} ON {table} TO {login}")


def let_gate_read(table: str, columns: Sequence[str]) -> None:
    """Let `<domain>_gate` read named columns: the one listed exception of the lint (IDN-30)."""
    domain, _ = table.split(".")
    op.execute(f"CREATE POLICY gate ON {table} FOR SELECT TO {domain}_gate USING (true)")
    let_gate_read_more(table, columns)


def let_gate_read_more(table: str, columns: Sequence[str]) -> None:
    """Further columns of a table that the gate reads already."""
    domain, _ = table.split(".")
    op.execute(f"GRANT SELECT ({', '.join(columns)}) ON {table} TO {domain}_gate")


def append_only(*tables: str) -> None:
    """What is written stays: nobody changes or removes a row, the owner of the table neither."""
    domain, _ = tables[0].split(".")
    refuse = _refusing(domain)
    for table in tables:
        op.execute(
            f"CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW {refuse}"
        )
        op.execute(f"CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON {table} {refuse}")
        op.execute(f"REVOKE UPDATE, DELETE ON {table} FROM {domain}, {domain}_system")


def _refusing(domain: str) -> str:
    op.execute(
        f"CREATE OR REPLACE FUNCTION {domain}.refuse_change() RETURNS trigger LANGUAGE plpgsql "
        f"AS $$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
    )
    return f"EXECUTE FUNCTION {domain}.refuse_change()"


def frozen(table: str, *, once: str, besides: Sequence[str]) -> None:
    """What was issued stays: as soon as the column `once` holds something, nobody changes any
    other column than `besides`, and nobody removes the row."""
    domain, _ = table.split(".")
    refuse = _refusing(domain)
    held = "string_to_array(TG_ARGV[1], ',')"
    op.execute(
        f"CREATE OR REPLACE FUNCTION {domain}.refuse_thaw() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"BEGIN IF (to_jsonb(OLD) ->> TG_ARGV[0]) IS NOT NULL AND (TG_OP = 'DELETE' "
        f"OR (to_jsonb(OLD) - {held}) <> (to_jsonb(NEW) - {held})) THEN "
        f"RAISE EXCEPTION '% was issued and stays as it is', TG_TABLE_NAME; END IF; "
        f"IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $$"
    )
    moving = ",".join(("updated_at", "version", *besides))
    op.execute(
        f"CREATE TRIGGER refuse_thaw BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW "
        f"EXECUTE FUNCTION {domain}.refuse_thaw('{once}', '{moving}')"
    )
    op.execute(f"CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON {table} {refuse}")


def joins_only_while(lines: str, column: str, parent: str, *, unset: str) -> None:
    """A row of `lines` joins its parent only while the parent's column `unset` holds nothing."""
    domain, _ = lines.split(".")
    name = f"{domain}.refuse_joining_{parent.split('.')[1]}"
    op.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"BEGIN IF NOT EXISTS (SELECT 1 FROM {parent} WHERE organization_id = NEW.organization_id "
        f"AND id = NEW.{column} AND {unset} IS NULL) THEN "
        f"RAISE EXCEPTION 'a line joins only what was not issued yet'; END IF; RETURN NEW; END $$"
    )
    op.execute(
        f"CREATE TRIGGER refuse_joining BEFORE INSERT ON {lines} FOR EACH ROW "
        f"EXECUTE FUNCTION {name}()"
    )


def balanced(entries: str, lines: str) -> None:
    """A journal: at commit each entry has lines that sum to 0 in each currency, and a line joins
    only an entry of its own transaction; `lines` has `entry_id`, `amount_minor`, `currency`."""
    domain, _ = entries.split(".")
    same = "organization_id = NEW.organization_id"
    op.execute(
        f"CREATE FUNCTION {domain}.refuse_unbalanced() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"DECLARE entry uuid := to_jsonb(NEW) ->> TG_ARGV[0]; counted bigint; even boolean; "
        f"BEGIN SELECT sum(n), bool_and(total = 0) INTO counted, even FROM ("
        f"SELECT count(*) AS n, sum(amount_minor) AS total FROM {lines} "
        f"WHERE {same} AND entry_id = entry GROUP BY currency) AS by_currency; "
        # Lines that row security hides would count as none: refused as well.
        f"IF coalesce(counted, 0) < 2 OR NOT even THEN "
        f"RAISE EXCEPTION 'entry % of {entries} does not sum to 0', entry; END IF; "
        f"RETURN NULL; END $$"
    )
    op.execute(
        f"CREATE FUNCTION {domain}.refuse_late_line() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"BEGIN IF NOT EXISTS (SELECT 1 FROM {entries} WHERE {same} AND id = NEW.entry_id "
        f"AND xmin = pg_current_xact_id()::xid) THEN "
        f"RAISE EXCEPTION 'a line joins only an entry of its own transaction'; END IF; "
        f"RETURN NEW; END $$"
    )
    for table, column in ((entries, "id"), (lines, "entry_id")):
        op.execute(
            f"CREATE CONSTRAINT TRIGGER refuse_unbalanced AFTER INSERT ON {table} "
            f"DEFERRABLE INITIALLY DEFERRED FOR EACH ROW "
            f"EXECUTE FUNCTION {domain}.refuse_unbalanced('{column}')"
        )
    op.execute(
        f"CREATE TRIGGER refuse_late_line BEFORE INSERT ON {lines} FOR EACH ROW "
        f"EXECUTE FUNCTION {domain}.refuse_late_line()"
    )


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
    _make_jobs(domain)


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
    # Found by «not yet published», never by «greater than the last» (security rule 12).
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
        _grant(table, f"{domain}_system", "SELECT, INSERT, UPDATE, DELETE")
    # The application adds and cancels jobs; it reads no arguments.
    for name in ("jobs", "events"):
        table = f"{domain}.procrastinate_{name}"
        op.execute(f"CREATE POLICY adder ON {table} FOR INSERT TO {domain} WITH CHECK (true)")
        _grant(table, domain, "INSERT")
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
