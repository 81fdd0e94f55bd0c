"""Asking inside columns of JSON by paths of SQL/JSON; they compare, they search no text.

A path is a constant of the code; what it compares with is bound, by the names after `$`.
"""

from typing import Any

from sqlalchemy import ColumnElement, func, literal, literal_column
from sqlalchemy.dialects.postgresql import JSONB


def holds(column: ColumnElement[Any], path: str, **values: Any) -> ColumnElement[bool]:
    """Whether the path finds something in the column."""
    written: ColumnElement[Any] = literal_column(f"'{path}'::jsonpath")
    return func.jsonb_path_exists(column, written, literal(values, JSONB))
