"""`queued`: a service function that is also a job."""

from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec

from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Body, Form, Job, keep_queued

P = ParamSpec("P")


def queued(
    *,
    key: str = "",
    retries: int = 5,
    priority: int = 0,
    as_system: bool = False,
    domain: str | None = None,
) -> Callable[[Callable[Concatenate[Work, P], Awaitable[None]]], Job[Work, P]]:
    """Make a service function a job of its domain: `work.enqueue(function.call(…))`.

    It is done in one transaction with a `Work` of the organization that enqueued it. The domain
    is that of the module, unless one is named.
    """

    def declare(body: Callable[Concatenate[Work, P], Awaitable[None]]) -> Job[Work, P]:
        job = Job(
            domain or _domain_of(body),
            body.__name__,
            Form.QUEUED,
            body,
            key=key,
            retries=retries,
            priority=priority,
            as_system=as_system,
        )
        keep_queued(job)
        return job

    return declare


def _domain_of(body: Body) -> str:
    package, _, rest = body.__module__.partition(".domains.")
    if not rest:
        raise TypeError(f"{package} belongs to no domain; name it")
    return rest.partition(".")[0]
