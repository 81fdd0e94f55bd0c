"""Filters of a watchlist: those of the tender search, compiled into columns (OPP-41)."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Text, cast, func, literal_column, select

from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import Problem

_WORDS: ColumnElement[Any] = literal_column("'opportunity.za'")
_SAME = (
    "province",
    "municipality",
    "category",
    "classification",
    "buyer_id",
    "sphere",
    "method",
    "main_category",
    "cidb_class",
    "cidb_grade_max",
    "closing_from",
    "closing_to",
    "published_from",
    "briefing",
    "ocid",
    "source_id",
    "has_documents",
)


class WatchlistEmpty(Problem):
    """A watchlist without a filter would report every tender. Send at least one filter."""

    code, status, title = "opportunity-watchlist-empty", 422, "The watchlist has no filter"


async def compile_filters(
    read: Reader, filters: dict[str, Any], *, number_key: str | None
) -> dict[str, Any]:
    """The columns that percolation compares, from filters by their Python names."""
    given = {name: value for name, value in filters.items() if value is not None}
    if not given:
        raise WatchlistEmpty()
    columns: dict[str, Any] = {name: given.get(name) for name in _SAME}
    columns["query"] = await _query(read, given.get("q"))
    columns["buyer_query"] = await _query(read, given.get("buyer"))
    columns["number_key"] = number_key
    columns["value_min_minor"] = given.get("value_min")
    columns["value_max_minor"] = given.get("value_max")
    return columns


async def _query(read: Reader, words: str | None) -> str | None:
    """The words as search reads them; words that mean nothing to it find nothing."""
    if words is None:
        return None
    asked = func.websearch_to_tsquery(_WORDS, words)
    text = await read.value(select(cast(asked, Text)))
    if not text:
        raise WatchlistEmpty("Use more specific words, not only words like `and` or `the`.")
    return text


def stored(filters: dict[str, Any]) -> dict[str, Any]:
    """Filters as JSON, by the names that the search has for them."""
    return {name: _plain(value) for name, value in filters.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value
