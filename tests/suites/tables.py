"""The lint of tables: what the database's own catalogue says, against what each kind means."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
from sqlalchemy.dialects import postgresql

from tests.suites import allowed
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Row
from thenga.kernel.declare.manifest import Domain

JOBS = "jobs"
_HELD = {
    Kind.PRIVATE: "organization_id",
    Kind.PUBLISHED: "organization_id",
    Kind.TWO_PARTY: "organization_id",
    Kind.BETWEEN: "organization_id",
    Kind.NOTICE: "organization_id",
    Kind.SPONSORED: "user_id",
    Kind.PERSONAL: "user_id",
    Kind.BEARER: "hash",
    Kind.CHAIN: "chain",
}
_NOBODYS = (Kind.CATALOGUE, Kind.PLATFORM, Kind.INTAKE)

_TABLES = """
    SELECT n.nspname AS schema, c.relname AS name, c.relrowsecurity AS enabled,
           c.relforcerowsecurity AS forced, c.relispartition AS part,
           obj_description(c.oid, 'pg_class') AS comment
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p', 'f')
    ORDER BY 1, 2
"""
_POLICIES = """
    SELECT schemaname AS schema, tablename AS name, policyname, permissive,
           array_to_string(roles, ',') AS roles, cmd, qual, with_check
    FROM pg_policies WHERE schemaname = ANY ($1) OR schemaname LIKE 'pg_temp%'
"""
_KEYS = """
    SELECT n.nspname AS schema, c.relname AS name, x.relname AS key, x.first FROM (
        SELECT i.indrelid AS of, ic.relname,
               (SELECT a.attname::text FROM pg_attribute a
                WHERE a.attrelid = i.indrelid AND a.attnum = i.indkey[0]) AS first
        FROM pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid WHERE i.indisunique
        UNION ALL
        SELECT f.conrelid, f.conname,
               (SELECT a.attname::text FROM pg_attribute a
                WHERE a.attrelid = f.conrelid AND a.attnum = f.conkey[1])
        FROM pg_constraint f WHERE f.contype = 'f'
    ) x JOIN pg_class c ON c.oid = x.of JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY ($1)
"""
_INDEXES = """
    SELECT n.nspname AS schema, c.relname AS name, i.indisunique AS is_unique, ARRAY(
        SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY AS k(number, place)
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number ORDER BY k.place
    ) AS columns
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ANY ($1)
"""
_COLUMNS = """
    SELECT n.nspname AS schema, c.relname AS name, a.attname AS column,
           format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS needed
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
"""


class Policy(NamedTuple):
    """One policy as the server writes it; `roles` without the domain's name."""

    name: str
    permissive: str
    roles: str
    command: str
    reads: str | None
    writes: str | None


@dataclass
class Swept:
    """What was looked at, and what is wrong with it."""

    tables: int
    forced: int
    keys: int
    drifting: int
    faults: list[str]


async def sweep(
    connection: asyncpg.Connection, domains: Sequence[str], rows: Iterable[type[Row]]
) -> Swept:
    """Every table of these schemas against its kind, its keys and its row class."""
    meant = await _meant(connection)
    tables = await connection.fetch(_TABLES, domains)
    policies = await _policies(connection, domains)
    columns = await _columns(connection, domains)
    faults = await _key_faults(connection, domains, _kinds(tables))
    keys_wrong = len(faults)
    faults += await _index_faults(connection, domains, _kinds(tables), columns)
    faults += await _option_faults(connection, domains, rows)
    for table in tables:
        if _is_allowed(table["schema"], table["name"], allowed.TABLES):
            continue
        faults += _table_faults(table, policies[table["schema"], table["name"]], meant, columns)
    # A partition has the columns of its table, of which the class is compared.
    whole = {(t["schema"], t["name"]) for t in tables if not t["part"]}
    drift = _drift(rows, columns, whole, domains)
    forced = sum(t["enabled"] and t["forced"] for t in tables)
    return Swept(len(tables), forced, keys_wrong, len(drift), faults + drift)


def _is_allowed(schema: str, name: str, listed: Mapping[str, str]) -> bool:
    return f"{schema}.{name}" in listed or f"*.{name}" in listed


def _kinds(tables: Iterable[asyncpg.Record]) -> dict[tuple[str, str], str]:
    return {
        (t["schema"], t["name"]): (t["comment"] or "").removeprefix("kind: ").upper()
        for t in tables
    }


def _table_faults(
    table: asyncpg.Record,
    policies: set[Policy],
    meant: Mapping[str, set[Policy]],
    columns: Mapping[tuple[str, str], dict[str, tuple[str, bool]]],
) -> list[str]:
    name = f"{table['schema']}.{table['name']}"
    comment = table["comment"] or ""
    kind = comment.removeprefix("kind: ").upper()
    faults = []
    if not (table["enabled"] and table["forced"]):
        faults.append(f"{name}: row security is not enabled and forced")
    if not comment.startswith("kind: ") or kind not in {*meant, JOBS.upper()}:
        return [*faults, f"{name}: is of no named kind ({comment!r})"]
    # The one listed exception: the gate's login reads named columns (IDN-30).
    gate = Policy("gate", "PERMISSIVE", "_gate", "SELECT", "true", None)
    expected = _of_jobs(table["name"]) if kind == JOBS.upper() else meant[kind]
    # By `keeper_removes`, the keeper of a published row may remove it as well as change it.
    changers = {p for p in expected if p.name == "changer" and kind == Kind.PUBLISHED.name}
    removers = {p._replace(name="remover", command="DELETE", writes=None) for p in changers}
    for policy in policies - expected - removers - {gate}:
        faults.append(f"{name}: has a policy that its kind does not mean: {policy}")
    for policy in expected - policies:
        faults.append(f"{name}: lacks the policy {policy}")
    if kind in Kind.__members__:
        known, guard = columns[table["schema"], table["name"]], Kind[kind].value
        for holder in guard.holder:
            if not known.get(holder, ("", False))[1]:
                faults.append(f"{name}: {holder} is missing or may be null")
        faults += [f"{name}: {one} is missing" for one in guard.beside if one not in known]
    return faults


async def _meant(connection: asyncpg.Connection) -> dict[str, set[Policy]]:
    """What each kind means, written down by the same server, so that texts can be compared."""
    transaction = connection.transaction()
    await transaction.start()
    try:
        for kind in Kind:
            table = f"pg_temp.meant_{kind.name.lower()}"
            await connection.execute(
                f"CREATE TABLE {table} (id uuid, organization_id uuid, user_id uuid, "
                "hash bytea, chain uuid, counterparty_id uuid, shared boolean)"
            )
            for text in _policies_of(kind, table):
                await connection.execute(text)
        found = await _policies(connection, [])
    finally:
        await transaction.rollback()
    return {
        name.removeprefix("meant_").upper(): {
            p._replace(roles="_system" if p.name == "system" else "") for p in policies
        }
        for (_, name), policies in found.items()
    }


def _policies_of(kind: Kind, table: str) -> list[str]:
    guard = kind.value
    made = [f"CREATE POLICY system ON {table} USING (true) WITH CHECK (true)"]
    if guard.reads == guard.writes:
        text = f"USING ({guard.reads}) WITH CHECK ({guard.writes})"
        return [*made, f"CREATE POLICY holder ON {table} {text}"]
    if guard.reads is not None:
        made.append(f"CREATE POLICY reader ON {table} FOR SELECT USING ({guard.reads})")
    if guard.writes is not None:
        made.append(f"CREATE POLICY adder ON {table} FOR INSERT WITH CHECK ({guard.writes})")
    if guard.reads is not None and guard.writes is not None and not guard.appends:
        text = f"USING ({guard.writes}) WITH CHECK ({guard.writes})"
        made.append(f"CREATE POLICY changer ON {table} FOR UPDATE {text}")
    return made


def _of_jobs(name: str) -> set[Policy]:
    system = Policy("system", "PERMISSIVE", "_system", "ALL", "true", None)
    adder = Policy("adder", "PERMISSIVE", "", "INSERT", None, "true")
    finder = Policy("finder", "PERMISSIVE", "", "SELECT", "true", None)
    status = "::procrastinate_job_status"
    canceller = Policy(
        *("canceller", "PERMISSIVE", "", "UPDATE"),
        f"(status = ANY (ARRAY['todo'{status}, 'doing'{status}]))",
        f"(status = 'cancelled'{status})",
    )
    return {
        "procrastinate_jobs": {system, adder, finder, canceller},
        "procrastinate_events": {system, adder},
    }.get(name, {system})


async def _policies(
    connection: asyncpg.Connection, domains: Sequence[str]
) -> defaultdict[tuple[str, str], set[Policy]]:
    found: defaultdict[tuple[str, str], set[Policy]] = defaultdict(set)
    for row in await connection.fetch(_POLICIES, domains):
        schema = row["schema"]
        found[schema, row["name"]].add(
            Policy(
                row["policyname"],
                row["permissive"],
                re.sub(rf"^{schema}(?=_system$|_gate$|$)", "", row["roles"]),
                row["cmd"],
                *(_unqualified(row[part], schema) for part in ("qual", "with_check")),
            )
        )
    return found


def _unqualified(text: str | None, schema: str) -> str | None:
    return None if text is None else text.replace(f"::{schema}.", "::")


async def _key_faults(
    connection: asyncpg.Connection, domains: Sequence[str], kinds: Mapping[tuple[str, str], str]
) -> list[str]:
    faults = []
    for key in await connection.fetch(_KEYS, domains):
        if _is_allowed(key["schema"], key["name"], allowed.TABLES):
            continue
        kind = Kind.__members__.get(kinds[key["schema"], key["name"]])
        holder = _HELD.get(kind) if kind is not None else None
        listed = _is_allowed(key["schema"], f"{key['name']}.{key['key']}", allowed.KEYS)
        # Everybody finds a notice by its identifier, which is the first of its kind's key.
        begins = (holder, kind.key[0]) if kind is not None and holder is not None else ()
        if kind not in _NOBODYS and not listed and key["first"] not in begins:
            faults.append(
                f"{key['schema']}.{key['name']}: key {key['key']} begins with {key['first']}"
            )
    return faults


# By which `jobs/due.py` finds what time moves.
_DUE = (("next_check_at",), ("organization_id", "next_check_at"))


async def _index_faults(
    connection: asyncpg.Connection,
    domains: Sequence[str],
    kinds: Mapping[tuple[str, str], str],
    columns: Mapping[tuple[str, str], dict[str, tuple[str, bool]]],
) -> list[str]:
    """Where the other side of a row, or the sweep of what is due, would read the whole table."""
    found = await connection.fetch(_INDEXES, domains)
    known = {(one["schema"], one["name"], *one["columns"]) for one in found}
    faults = []
    for table, kind in kinds.items():
        meant = [Kind[kind].value.index] if kind in Kind.__members__ else []
        due = _DUE if "organization_id" in columns[table] else _DUE[:1]
        meant += due if "next_check_at" in columns[table] else []
        faults += [
            f"{'.'.join(table)}: lacks the index {', '.join(index)}"
            for index in meant
            if index and (*table, *index) not in known
        ]
    return faults


async def _option_faults(
    connection: asyncpg.Connection, domains: Sequence[str], rows: Iterable[type[Row]]
) -> list[str]:
    """Indexes and unique keys that a class line names and no migration made."""
    found = await connection.fetch(_INDEXES, domains)
    known = {(one["schema"], one["name"], *one["columns"]) for one in found}
    unique = {(one["schema"], one["name"], *one["columns"]) for one in found if one["is_unique"]}
    faults = []
    for row in rows:
        table, options = row.__table__, row.__options__
        if table.schema not in domains:
            continue
        for what, named, made in (
            ("index", options.indexes, known),
            ("unique key", options.unique, unique),
        ):
            faults += [
                f"{table.fullname}: lacks the {what} {', '.join(columns)} of its class"
                for columns in named
                if (table.schema, table.name, *columns) not in made
            ]
    return faults


async def _columns(
    connection: asyncpg.Connection, domains: Sequence[str]
) -> defaultdict[tuple[str, str], dict[str, tuple[str, bool]]]:
    found: defaultdict[tuple[str, str], dict[str, tuple[str, bool]]] = defaultdict(dict)
    for row in await connection.fetch(_COLUMNS, domains):
        found[row["schema"], row["name"]][row["column"]] = (row["type"], row["needed"])
    return found


# What the kernel makes in every schema and reads by statements of its own.
_WITHOUT_ROWS = re.compile(
    r"outbox|relay_state|inbox|parked_event|audit_entry|audit_head|idempotency|clock_offset"
    r"|figure|series|setting_value|migration|procrastinate_\w+"
)
_DIALECT: Any = postgresql.dialect()  # type: ignore[no-untyped-call]  # upstream


def _drift(
    rows: Iterable[type[Row]],
    columns: Mapping[tuple[str, str], dict[str, tuple[str, bool]]],
    tables: set[tuple[str, str]],
    domains: Sequence[str],
) -> list[str]:
    """Where the declared classes and the database's columns differ."""
    declared = {
        (row.__table__.schema or "", row.__table__.name): row
        for row in rows
        if row.__table__.schema in domains
    }
    faults = [f"{'.'.join(name)}: is declared and not made" for name in declared.keys() - tables]
    for schema, name in tables - declared.keys():
        if _WITHOUT_ROWS.fullmatch(name) is None:
            faults.append(f"{schema}.{name}: is made and has no row class")
    for key in declared.keys() & tables:
        said = {
            c.name: (_as_made(c.type.compile(_DIALECT)), not c.nullable)
            for c in declared[key].__table__.columns
        }
        faults += [
            f"{'.'.join(key)}.{name}: declared {said.get(name)}, made {columns[key].get(name)}"
            for name in sorted(said.keys() | columns[key].keys())
            if said.get(name) != columns[key].get(name)
        ]
    return faults


def _as_made(declared: str) -> str:
    """The type as the server writes it."""
    return re.sub(r"^char\(", "character(", declared.lower())


_FORBIDDEN = re.compile(
    r"op\.create_table|CREATE\s+(?:\w+\s+)*(?:TABLE|VIEW|POLICY|FUNCTION|TRIGGER)\b"
    r"|\bGRANT\b|\bREVOKE\b|ROW\s+LEVEL\s+SECURITY|SECURITY\s+DEFINER|SET\s+ROLE",
    re.IGNORECASE,
)


def migration_faults(domains: Iterable[Domain]) -> list[str]:
    """Migrations make tables through the kernel only, so that no table is made without a kind."""
    return [fault for domain in domains for fault in folder_faults(domain.migrations)]


def folder_faults(folder: Path) -> list[str]:
    return [
        f"{path.name}: `{found[0]}` belongs to make_table or secure"
        for path in sorted(folder.glob("*.py"))
        for found in _FORBIDDEN.finditer(path.read_text())
    ]
