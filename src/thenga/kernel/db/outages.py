"""Whether an error of a unit of work lies in the moment, or in the work itself."""

import asyncpg

from thenga.kernel.errors import Problem

_OF_THE_MOMENT = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.TransactionRollbackError,
    asyncpg.LockNotAvailableError,
    asyncpg.InternalClientError,
    asyncpg.InvalidCachedStatementError,
)


def may_pass(error: Exception) -> bool:
    """Whether the same work may succeed later: a server is away, or others were in the way.

    A statement that took too long counts as the fault of the work.
    """
    if isinstance(error, Problem):
        return error.status >= 500
    if isinstance(error, asyncpg.QueryCanceledError):
        return False
    if isinstance(error, asyncpg.InterfaceError):
        return "closed" in str(error) or "released" in str(error)  # others are defects
    return isinstance(error, _OF_THE_MOMENT)
