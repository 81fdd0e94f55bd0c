"""What an entrance is, and what all of them do: know the caller, and say where work comes from."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any
from uuid import UUID

from fastapi import Request

from thenga.kernel.access import gate as gates
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.limits import Rule
from thenga.kernel.http.observe import RequestFacts
from thenga.kernel.http.shared import Shared
from thenga.kernel.ports.remote import CallContext, calling

Limit = Callable[[Shared], Rule]


class Entrance(ABC):
    """One way in; FastAPI sees a dependency, the door calls `open` before anything else."""

    permission: str | None = None
    writing = False
    idempotent = False
    streams = False
    requires_version = False
    requires_reason = False  # of staff, why they look
    known_by: str | None = None  # asked of the gate only where a credential is sent
    raw = False  # the body is bytes of a stranger's own form, which nobody reads as JSON
    foreign_query = False  # a provider wrote the query: names that we do not know are passed over

    async def __call__(self) -> Any:
        """FastAPI reads this signature; the door opens the entrance itself, before all else."""
        raise RuntimeError("an entrance is opened by its door")

    @abstractmethod
    async def open(self, request: Request, domain: str) -> Reader:
        """Limit, authenticate, authorize; then a unit of work that has not touched anything."""


async def let_in(
    shared: Shared, facts: RequestFacts, permission: str, asked: UUID | None, limit: Rule
) -> gates.Passage:
    # A port that is asked on the way carries on under the same number.
    calling.set(CallContext("", facts.request_id, facts.traceparent or ""))
    passed = await shared.gate.enter(
        credential=_credential(facts),
        organization_id=asked,
        permission=permission,
        network=facts.network,
        request_id=facts.request_id,
    )
    if isinstance(passed, gates.Refusal):
        raise gates.problem_of(passed, permission)
    await shared.limits.hit(limit, str(passed.actor.id))
    return passed


def facts_of(request: Request) -> RequestFacts:
    facts = request.scope["thenga"]
    assert isinstance(facts, RequestFacts)  # noqa: S101  # put there by the outermost layer
    return facts


def origin_of(facts: RequestFacts, action: str, decision_id: UUID | None) -> Origin:
    return Origin(
        action=action,
        request_id=facts.request_id,
        correlation_id=facts.request_id,
        traceparent=facts.traceparent,
        network=facts.network,
        decision_id=decision_id,
        agent=facts.headers.get(b"user-agent", b"")[:400].decode("latin-1"),
    )


def _credential(facts: RequestFacts) -> str | None:
    scheme, _, credential = facts.headers.get(b"authorization", b"").partition(b" ")
    if scheme.lower() != b"bearer" or not credential:
        return None
    return credential.strip().decode("latin-1")
