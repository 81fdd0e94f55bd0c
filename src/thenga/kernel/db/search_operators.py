"""Search operators belong on tables without a tenant policy.

Row security runs before operators that could leak what they see (`@@`, `%`, `ILIKE`), so on a
tenant's table none of them uses an index, and each search reads every row. A statement that does
so is refused when it is first composed.
"""

from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.sql import operators, visitors
from sqlalchemy.sql.elements import BinaryExpression
from sqlalchemy.sql.expression import ClauseElement
from sqlalchemy.sql.functions import FunctionElement

from thenga.kernel.db.rows import known_row

FUNCTIONS = frozenset({"similarity", "word_similarity", "to_tsvector", "ts_rank", "ts_rank_cd"})
_SYMBOLS = frozenset({"@@", "%", "%%", "<%", "%>", "<->"})
_NAMED = frozenset(
    {
        *(operators.match_op, operators.ilike_op, operators.icontains_op, operators.iendswith_op),
        *(operators.contains_op, operators.endswith_op),
    }
)


def check(statement: ClauseElement) -> None:
    """Refuse a search on a table whose rows a policy hides."""
    for element in visitors.iterate(statement):
        for table in _searched(element):
            row = known_row(table)
            if row is not None and row.__kind__.value.reads != "true":
                raise TypeError(
                    f"{table} is of kind {row.__kind__.name.lower()}: search a published table"
                )


def _searched(element: visitors.ExternallyTraversible) -> Iterator[sa.Table]:
    if _is_search(element):
        for part in visitors.iterate(element):
            if isinstance(part, sa.Column) and isinstance(part.table, sa.Table):
                yield part.table


def _is_search(element: visitors.ExternallyTraversible) -> bool:
    if isinstance(element, FunctionElement):
        return getattr(element, "name", "") in FUNCTIONS
    if not isinstance(element, BinaryExpression):
        return False
    symbol = getattr(element.operator, "opstring", None)
    return symbol in _SYMBOLS or element.operator in _NAMED
