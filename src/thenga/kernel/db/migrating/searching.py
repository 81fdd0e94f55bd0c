"""Text search: the words of a language, and the indexes that find them.

Row security keeps the planner from indexes whose operators could leak (`@@`, `LIKE`), so indexed
search lives in tables of kind `published` (`kernel/db/search_operators.py` refuses any other).
"""

from alembic import op


def make_search_configuration(domain: str, name: str) -> None:
    """English words without their accents, as the configuration `domain.name`."""
    op.execute(f"CREATE TEXT SEARCH CONFIGURATION {domain}.{name} (COPY = pg_catalog.english)")
    op.execute(
        f"ALTER TEXT SEARCH CONFIGURATION {domain}.{name} "
        f"ALTER MAPPING FOR hword, hword_part, word WITH public.unaccent, pg_catalog.english_stem"
    )


def make_search_index(table: str, column: str) -> None:
    """Finds the words of a `tsvector` column."""
    _make_index(table, column, column)


def make_part_index(table: str, column: str) -> None:
    """Finds texts by any part of them, with `ILIKE`."""
    _make_index(table, column, f"{column} public.gin_trgm_ops")


def _make_index(table: str, column: str, indexed: str) -> None:
    _, name = table.split(".")
    op.execute(
        f"CREATE INDEX {name}_{column}_found ON {table} USING gin ({indexed}) "
        f"WITH (fastupdate = off)"
    )
