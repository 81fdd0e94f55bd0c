"""Where in the whole database a text stands readable, whatever table, column or encoding."""

from collections.abc import Sequence

import asyncpg

from thenga.kernel.process.settings import Settings

_TABLES = """
    SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
    WHERE schemaname = ANY ($1) ORDER BY 1
"""


async def sightings(settings: Settings, schemas: Sequence[str], *canaries: str) -> list[str]:
    """The table of every row that holds one, as text or as the bytes of a text."""
    found: list[str] = []
    shapes = [f"%{shape}%" for one in canaries for shape in (one, one.encode().hex())]
    connection = await asyncpg.connect(settings.admin_database.get_secret_value())
    try:
        for (table,) in await connection.fetch(_TABLES, schemas):
            text = f"SELECT count(*) FROM {table} AS t WHERE t::text LIKE ANY ($1)"
            found += [table] * await connection.fetchval(text, shapes)
    finally:
        await connection.close()
    return found
