"""What a call of an operation is, and the words makers share."""

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from tests.factories import identity
from tests.factories.accounts import PASSWORD
from tests.factories.identity import Person
from thenga.domains.identity.services.sessions import sessions
from thenga.kernel.declare.permission import Audience
from thenga.kernel.http.document.operations import Operation
from thenga.kernel.process.host import Host

__all__ = ["PASSWORD", "Body", "Ids", "Maker", "Sent", "is_staffs"]

_MACHINES = {Audience.SERVICE, Audience.SANDBOX}

Ids = Mapping[str, UUID]
Body = dict[str, Any] | bytes | None  # bytes are sent as they are


@dataclass(frozen=True)
class Sent:
    """A request that its rightful caller may send now; `ids` are all that it names."""

    ids: dict[str, UUID] = field(default_factory=dict)
    body: Callable[[Ids], Body] = lambda _: None
    headers: dict[str, str] = field(default_factory=dict)
    ends_session: bool = False  # it is refused from then on, so each call needs another
    parts: dict[str, str] = field(default_factory=dict)  # of the path, that are no identifiers
    by_staff: bool = False  # `headers` are those of staff, whom nobody else can stand in for
    stand_in: bool = False  # `headers` are those of another member, who calls for the caller


Maker = Callable[[Host, Person, UUID], Awaitable[Sent]]


def is_staffs(operation: Operation) -> bool:
    """Whether only staff may call it: services ask by ports, not at the door."""
    granted = [g for g in operation.domain.permissions if g.code == operation.permission]
    return any({*g.audiences} - _MACHINES == {Audience.PLATFORM} for g in granted)


async def spare_session(host: Host, who: Person) -> sessions.StartedSession:
    """Another session of the same person."""
    work = identity.working(host, user_id=who.user_id)
    signed_in = await sessions.start_session(work, who.user_id, methods=["password"])
    await work.finish()
    return signed_in


async def of_person(host: Host, who: Person, organization_id: UUID) -> Sent:
    return Sent()


async def of_organization(host: Host, who: Person, organization_id: UUID) -> Sent:
    return Sent({"organizationId": organization_id})


def stating(given: dict[str, Any]) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        body = filled(given)
        return Sent({"organizationId": organization_id}, lambda _: body)

    return make


def filled(given: dict[str, Any]) -> dict[str, Any]:
    """A new body each time: `*` becomes a text, a range a number that were not there before."""
    return {name: _chosen(value) for name, value in given.items()}


def _chosen(value: Any) -> Any:
    if isinstance(value, range):
        return random.choice(value)
    return value.replace("*", uuid4().hex[:12]) if isinstance(value, str) else value
