"""The lease of a job: which attempt of which worker may write its effect."""

from dataclasses import dataclass
from functools import cache

from thenga.kernel.db.engine import Connection


class LeaseLost(Exception):  # not a failure: somebody else does the job
    """This job was handed to another worker; what was begun here is undone."""


@dataclass(frozen=True, slots=True)
class Lease:
    """One attempt of one worker at one job."""

    job_id: int
    attempt: int
    worker_id: int


@cache
def _hold_text(domain: str) -> str:
    return f"""
        SELECT set_config('idle_in_transaction_session_timeout', $4, true)
        FROM {domain}.procrastinate_jobs
        WHERE id = $1 AND status = 'doing' AND attempts = $2 AND worker_id = $3
        FOR SHARE
    """  # the domain's name is a constant of ours


async def hold(connection: Connection, domain: str, lease: Lease, idle_seconds: float) -> None:
    """Hold the job until this transaction ends, so that it cannot be handed on meanwhile.

    A process that is paused inside the transaction would hold it for ever; the server ends such a
    transaction after `idle_seconds`.
    """
    idle = f"{int(idle_seconds * 1000)}ms"
    held = await connection.fetchrow(
        _hold_text(domain), lease.job_id, lease.attempt, lease.worker_id, idle
    )
    if held is None:
        raise LeaseLost(f"job {lease.job_id}, attempt {lease.attempt}")
