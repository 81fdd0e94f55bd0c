"""Making tables: the only way a migration may create one.

Each is of a named kind, has forced row security with one policy for the application's login and
one for the system login, and keys that begin with the tenant.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op
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
    due: bool = False,  # moved by time: `next_check_at`, and the indexes of `jobs/due.py`
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
        *([sa.Column("next_check_at", Instant, nullable=True)] if due else []),
        sa.PrimaryKeyConstraint(*(key or kind.key), name=f"{name}_key"),
        *(sa.UniqueConstraint(*u, name=f"{name}_{'_'.join(u[-2:])}_once") for u in unique),
        *(_refers(name, *reference) for reference in references),
        schema=domain,
        **_parted((key or kind.key)[0] if partitions else None),
    )
    for index in (*indexes, *([kind.value.index] if kind.value.index else [])):
        op.create_index(f"{name}_{'_'.join(index[-2:])}_by", name, list(index), schema=domain)
    if due:
        _index_due(table, owned="organization_id" in kind.value.holder + kind.value.beside)
    secure(table, kind, deletes=deletes, appends=appends)
    if kind.value.beside:
        _keep_parties(table, kind)
    for number in range(partitions):
        _part(table, kind, number, partitions)


def _index_due(table: str, *, owned: bool) -> None:
    """Found by the base clock over all organizations, and ahead of it in one sandbox."""
    name = table.split(".")[1]
    where = "WHERE next_check_at IS NOT NULL"
    if owned:
        op.execute(f"CREATE INDEX {name}_due ON {table} (organization_id, next_check_at) {where}")
    op.execute(f"CREATE INDEX {name}_due_any ON {table} (next_check_at) {where}")


def _keep_parties(table: str, kind: Kind) -> None:
    """No party of a row can replace another; one that is missing can be set once."""
    domain, _ = table.split(".")
    op.execute(
        f"CREATE OR REPLACE FUNCTION {domain}.keep_parties() RETURNS trigger LANGUAGE plpgsql "
        f"AS $$ DECLARE party text; was text; BEGIN FOREACH party IN ARRAY TG_ARGV LOOP "
        f"was := to_jsonb(OLD) ->> party; "
        f"IF was IS NOT NULL AND was IS DISTINCT FROM (to_jsonb(NEW) ->> party) THEN "
        f"RAISE EXCEPTION '% of % cannot be replaced', party, TG_TABLE_NAME; END IF; "
        f"END LOOP; RETURN NEW; END $$"
    )
    parties = (*kind.value.holder, *kind.value.beside)
    named = ", ".join(f"'{one}'" for one in parties)
    op.execute(
        f"CREATE TRIGGER keep_parties BEFORE UPDATE OF {', '.join(parties)} ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION {domain}.keep_parties({named})"
    )


def _refers(name: str, here: Columns, target: str, there: Columns) -> sa.ForeignKeyConstraint:
    named = f"{name}_{here[-1]}_refers"
    return sa.ForeignKeyConstraint(here, [f"{target}.{column}" for column in there], name=named)


def _holders(kind: Kind, known: set[str]) -> list[sa.Column[Any]]:
    """The columns that say whose a row is, where the table does not name them itself."""
    guard = kind.value
    return [
        sa.Column(name, _HOLDERS.get(name, pg.UUID), nullable=name in guard.beside)
        for name in (*guard.holder, *guard.beside)
        if name not in known
    ]


_HOLDERS = {"hash": sa.LargeBinary, "shared": sa.Boolean}


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
        grant(table, domain, "SELECT, INSERT" if appends else "SELECT, INSERT, UPDATE")
    else:
        if guard.reads is not None:
            grant(table, domain, "SELECT")
        if guard.writes is not None:
            grant(table, domain, "INSERT")
        if guard.writes is not None and guard.reads is not None and not guard.appends:
            grant(table, domain, "UPDATE")
    if deletes:
        grant(table, domain, "DELETE")
    grant(table, f"{domain}_system", "SELECT, INSERT, UPDATE, DELETE")


def keeper_removes(table: str) -> None:
    """Let who writes a published row remove it too; `deletes=True` alone removes nothing there."""
    domain, _ = table.split(".")
    op.execute(
        f"CREATE POLICY remover ON {table} FOR DELETE TO {domain} "
        f"USING ({Kind.PUBLISHED.value.writes})"
    )


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


def grant(table: str, login: str, rights: str) -> None:
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
