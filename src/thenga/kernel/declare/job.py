"""How a domain declares what is done later: `queued`, `every` and `outside`.

A periodic job finds, keyed jobs do; a job that talks to the outside reads, calls, records, so that
no transaction waits for a stranger.
"""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from string import Formatter
from typing import Any, Concatenate, Generic
from uuid import UUID

from pydantic import TypeAdapter
from typing_extensions import ParamSpec, TypeVar  # those that have defaults

from thenga.kernel.access.actors import Actor, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.values.ids import new_id

Body = Callable[..., Awaitable[None]]
U = TypeVar("U", default=Any)  # the `Work` or `Run` of a job
P = ParamSpec("P", default=...)


class Form(StrEnum):
    """The three ways to be done later."""

    QUEUED = "queued"
    EVERY = "every"
    OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class Enqueued:
    """One job row on its way into the database."""

    queue: str
    task: str
    priority: int
    lock: str | None
    key: str | None
    arguments: dict[str, Any]
    after: datetime | None


@dataclass(frozen=True)
class Job(Generic[U, P]):
    """One declared job. Calling it runs its body at once, in the caller's own unit of work."""

    domain: str
    name: str
    form: Form
    body: Callable[Concatenate[U, P], Awaitable[None]]
    key: str = ""
    retries: int = 5
    priority: int = 0
    rhythm: timedelta | None = None
    as_system: bool = False  # sees beyond its organization: sweeps, catalogues, number series

    @property
    def task(self) -> str:
        return f"{self.domain}.{self.name}"

    async def __call__(self, unit: U, *args: P.args, **kwargs: P.kwargs) -> None:
        await self.body(unit, *args, **kwargs)

    def call(self, *args: P.args, **kwargs: P.kwargs) -> "Call":
        """The job with its arguments, for `Work.enqueue`."""
        bound = inspect.signature(self.body).bind(None, *args, **kwargs)
        _, *named = bound.arguments
        return Call(self, {name: bound.arguments[name] for name in named})

    def enqueued(
        self, arguments: dict[str, Any], scope: Scope, origin: Origin, after: datetime | None
    ) -> Enqueued:
        """The row of one job; arguments are checked against the function's own signature."""
        if self.body is not _elsewhere:
            inspect.signature(self.body).bind(None, **arguments)
        plain = _plain(arguments)
        key = self.key_of(arguments, scope.organization_id)
        carried = {
            "arguments": plain,
            "id": str(new_id()),
            "organization_id": str(scope.organization_id) if scope.organization_id else None,
            "user_id": str(scope.user_id) if scope.user_id else None,
            "actor": _ACTOR.dump_python(scope.actor, mode="json"),
            "correlation_id": origin.correlation_id,
            "causation_id": origin.causation_id,
            "traceparent": origin.traceparent,
        }
        # The same key is never done twice at once (lock) and waits at most once (queueing lock).
        return Enqueued(self.domain, self.task, self.priority, key, key, carried, after)

    def key_of(self, arguments: dict[str, Any], organization_id: UUID | None) -> str | None:
        """The key of a job; two organizations never share one, whatever the arguments are."""
        if not self.key:
            return None
        return f"{self.name}:{organization_id or ''}:{self.key.format(**_plain(arguments))}"

    def read_arguments(self, plain: dict[str, Any]) -> dict[str, Any]:
        """The typed arguments again, by the annotations of the function."""
        hints = inspect.get_annotations(self.body, eval_str=True)
        return {name: TypeAdapter(hints[name]).validate_python(v) for name, v in plain.items()}


@dataclass(frozen=True, slots=True)
class Call:
    """A job and the arguments it is enqueued with."""

    job: Job
    arguments: dict[str, Any]


async def _elsewhere(*_: object) -> None:
    raise RuntimeError("the body of a job stub is declared in its domain's jobs.py")


def job_stub(
    task: str, *, form: Form, key: str = "", retries: int = 8, as_system: bool = False
) -> Job:
    """A job that a service enqueues and `jobs.py` carries out, named `domain.job`."""
    domain, name = task.split(".")
    return Job(domain, name, form, _elsewhere, key=key, retries=retries, as_system=as_system)


_ACTOR = TypeAdapter(Actor)
_PLAIN: TypeAdapter[Any] = TypeAdapter(UUID | datetime | timedelta | int | str | bool | None)


def _plain(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: _PLAIN.dump_python(value, mode="json") for name, value in arguments.items()}


_QUEUED: dict[str, dict[str, Job]] = {}  # by domain and name


def keep_queued(job: Job) -> None:
    """Remember a `queued` function for `Jobs.declared_in`."""
    known = _QUEUED.setdefault(job.domain, {})
    _check_key(job)
    if job.name in known and known[job.name].body.__module__ != job.body.__module__:
        raise TypeError(f"job {job.task!r} is declared twice")
    known[job.name] = job


def _check_key(job: Job) -> None:
    """The key names arguments of the job."""
    _, *arguments = inspect.signature(job.body).parameters
    unknown = {name for _, name, _, _ in Formatter().parse(job.key) if name} - set(arguments)
    if unknown:
        raise TypeError(f"the key of job {job.task!r} names no argument: {', '.join(unknown)}")


class Jobs:
    """The jobs of one domain: `jobs = Jobs("billing")` in its `jobs.py`."""

    def __init__(self, domain: str) -> None:
        self.domain = domain
        self.declared: dict[str, Job] = {}
        self.moved: dict[type, tuple[Job, str]] = {}  # by the row that time moves, and its name

    @classmethod
    def declared_in(cls, domain: str, *more: "Jobs") -> "Jobs":
        """The `queued` functions of a domain, and those that its `jobs.py` declares."""
        jobs = cls(domain)
        for declared in (_QUEUED.get(domain, {}), *(other.declared for other in more)):
            for job in declared.values():
                jobs._keep(job)
        for other in more:
            jobs.moved |= other.moved
        return jobs

    def queued(
        self, *, key: str = "", retries: int = 5, priority: int = 0, as_system: bool = False
    ) -> Callable[[Body], Job]:
        """Done in one transaction with a `Work` of the organization that enqueued it."""
        return self._declaring(
            Form.QUEUED, key=key, retries=retries, priority=priority, as_system=as_system
        )

    def outside(self, *, key: str = "", retries: int = 8) -> Callable[[Body], Job]:
        """Talks to the outside: gets a `Run` with `reading()`, `working()` and `adapter()`."""
        return self._declaring(Form.OUTSIDE, key=key, retries=retries)

    def every(self, rhythm: timedelta) -> Callable[[Body], Job]:
        """Finds what is due, over all organizations, and enqueues keyed jobs.

        A few retries, soon: a database that restarts must not cost a daily sweep its day, and a
        sweep that waits long for its retry would keep the next one away.
        """
        return self._declaring(Form.EVERY, rhythm=rhythm, retries=3, as_system=True)

    def implements(self, job: Job) -> Callable[[Body], Job]:
        """The body of a job stub that a service hands out (calls go down, so it names it there)."""

        def declare(body: Body) -> Job:
            if body.__name__ != job.name or job.domain != self.domain:
                raise TypeError(f"{body.__name__} does not carry out {job.task}")
            return self._keep(replace(job, body=body))

        return declare

    def _keep(self, job: Job) -> Job:
        if job.name in self.declared:
            raise TypeError(f"job {job.task!r} is declared twice")
        _check_key(job)
        self.declared[job.name] = job
        return job

    def _declaring(self, form: Form, **more: Any) -> Callable[[Body], Job]:
        def declare(body: Body) -> Job:
            return self._keep(Job(self.domain, body.__name__, form, body, **more))

        return declare
