"""The lint of rights: what each login may do in each schema, asked of the database itself."""

from dataclasses import dataclass

import asyncpg

PRIVILEGES = (
    *("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"),
    *("USAGE", "CREATE", "EXECUTE"),
)

_LOGINS = """
    SELECT rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication,
           regexp_replace(rolname, '_(system|gate|owner)$', '') AS domain
    FROM pg_roles
    WHERE rolname <> current_user AND rolname NOT LIKE 'pg\\_%'
      AND (rolcanlogin OR rolname LIKE '%\\_owner')
"""
_SCHEMAS = """
    SELECT nspname FROM pg_namespace
    WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'
"""
# Every right of every login in every schema; `object` is empty for the schema itself.
_RIGHTS = """
    WITH login AS (
        SELECT oid, rolname::text FROM pg_roles
        WHERE rolcanlogin AND rolname <> current_user
    ), space AS (
        SELECT oid, nspname::text FROM pg_namespace
        WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'
    ), had AS (
        SELECT l.rolname, s.nspname, '' AS object, p.p
        FROM login l, space s, unnest(ARRAY['USAGE', 'CREATE']) AS p(p)
        WHERE has_schema_privilege(l.oid, s.oid, p.p)
        UNION ALL
        SELECT l.rolname, s.nspname, c.relname::text, p.p
        FROM login l, space s JOIN pg_class c ON c.relnamespace = s.oid,
            unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES',
                         'TRIGGER']) AS p(p)
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND (
            has_table_privilege(l.oid, c.oid, p.p)
            OR CASE WHEN p.p IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
               THEN has_any_column_privilege(l.oid, c.oid, p.p) ELSE false END
        )
        UNION ALL
        SELECT l.rolname, s.nspname, c.relname::text, p.p
        FROM login l, space s JOIN pg_class c ON c.relnamespace = s.oid,
            unnest(ARRAY['USAGE', 'SELECT', 'UPDATE']) AS p(p)
        WHERE c.relkind = 'S' AND has_sequence_privilege(l.oid, c.oid, p.p)
        UNION ALL
        -- Everybody may run a function, but only whoever may use its schema can name it.
        SELECT l.rolname, s.nspname, f.proname::text, 'EXECUTE'
        FROM login l, space s JOIN pg_proc f ON f.pronamespace = s.oid
        WHERE has_schema_privilege(l.oid, s.oid, 'USAGE')
          AND has_function_privilege(l.oid, f.oid, 'EXECUTE')
    )
    SELECT rolname, nspname, object, p AS privilege FROM had
"""
_MEMBERS = """
    SELECT m.rolname AS login, r.rolname AS role FROM pg_auth_members a
    JOIN pg_roles m ON m.oid = a.member JOIN pg_roles r ON r.oid = a.roleid
    WHERE m.rolcanlogin AND m.rolname <> current_user
"""
_OWNED = """
    SELECT n.nspname || '.' || c.relname AS name, r.rolname AS login
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_roles r ON r.oid = c.relowner
    WHERE r.rolcanlogin AND r.rolname <> current_user
"""
_DEFINERS = """
    SELECT n.nspname || '.' || f.proname AS name
    FROM pg_proc f JOIN pg_namespace n ON n.oid = f.pronamespace
    WHERE f.prosecdef AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
"""
_VIEWS = """
    SELECT n.nspname || '.' || c.relname AS name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
      AND (c.relkind = 'm' OR c.relkind = 'v'
           AND NOT coalesce(c.reloptions @> ARRAY['security_invoker=true'], false))
"""
# No login needs these, in its own schema neither.
_NOBODYS = ("TRUNCATE", "REFERENCES", "TRIGGER", "CREATE")


@dataclass
class Swept:
    """What was looked at, and what is wrong with it."""

    logins: int
    schemas: int
    rights: int
    foreign: list[str]
    faults: list[str]


async def sweep(connection: asyncpg.Connection) -> Swept:
    """Every login against every schema, and everything that goes round row security."""
    roles = await connection.fetch(_LOGINS)
    domain_of = {role["rolname"]: role["domain"] for role in roles}
    schemas = [row["nspname"] for row in await connection.fetch(_SCHEMAS)]
    foreign, faults, had = [], [], 0
    for login, schema, name, privilege in await connection.fetch(_RIGHTS):
        had += 1
        said = f"{login} has {privilege} on {schema}.{name}".rstrip(".")
        if domain_of[login] != schema:
            foreign.append(said)
        elif privilege in _NOBODYS:
            faults.append(said)
    for role in roles:
        powers = [power for power, has in role.items() if has is True]
        faults += [f"{role['rolname']} has {power}" for power in powers]
    for login, role in await connection.fetch(_MEMBERS):
        faults.append(f"{login} can become {role}")
    for name, login in await connection.fetch(_OWNED):
        faults.append(f"{login} owns {name}")
    faults += [f"{row['name']} is SECURITY DEFINER" for row in await connection.fetch(_DEFINERS)]
    faults += [f"{row['name']} asks as its owner" for row in await connection.fetch(_VIEWS)]
    logins = sum(not name.endswith("_owner") for name in domain_of)
    return Swept(logins, len(schemas), had, foreign, faults)
