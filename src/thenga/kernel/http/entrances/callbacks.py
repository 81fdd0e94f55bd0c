"""The entrance for callbacks: verified on the raw bytes, and each event of a provider once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID, uuid5

from fastapi import Depends, Request

from thenga.kernel.access.actors import Actor, ActorKind, Scope
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem
from thenga.kernel.events.inbox import take
from thenga.kernel.http.bounds import take_in
from thenga.kernel.http.entrances.entrance import Entrance, facts_of, origin_of
from thenga.kernel.http.observe import RequestFacts
from thenga.kernel.http.shared import Shared, shared_of

_CALLBACKS = UUID("019a0000-0000-7000-8000-0000000ca11b")
_CALLBACK_BYTES = 256 * 1024
_CALLBACK_SECONDS = 3.0  # the sender is not known yet, so its body is not waited for as long


@dataclass(frozen=True)
class SignedCall:
    """What a verified callback says of itself: its own identifier and whose it is.

    Without `event_id` the domain's own table knows what came before. `content` is what the scheme
    hands to the route. A call that is not `verified` is one that the route must refuse and leaves a
    note of; `content` is then the reason.
    """

    event_id: str | None
    organization_id: UUID | None = None
    content: Any = None
    verified: bool = True


class Scheme(Protocol):
    """A provider's own signature scheme, on the raw bytes; raises `Unauthenticated`."""

    async def verify(
        self, host: Any, path: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> SignedCall: ...


class _Signed(Entrance):
    writing = True
    raw = True

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme

    async def open(self, request: Request, domain: str) -> Work:
        shared, facts = shared_of(request), facts_of(request)
        path = request.url.path
        await shared.limits.hit_address(shared.rules.address, facts.network)
        await take_in(request, shared.bounds, _CALLBACK_BYTES, seconds=_CALLBACK_SECONDS)
        call = await self._verified(request, shared, facts)
        # One provider sends from many addresses, and none of them may crowd out another provider.
        # Only verified calls count, so that strangers cannot use it up (SEC-64).
        if call.verified:
            await shared.limits.hit(shared.rules.callback, path)
        actor = Actor(kind=ActorKind.SERVICE, id=uuid5(_CALLBACKS, path))
        scope = Scope(actor=actor, organization_id=call.organization_id)
        work = Work(shared.host, domain, scope, origin_of(facts, f"callback {path}", None))
        work.called = call.content
        if call.event_id is not None:
            # The provider's own event id is taken once, in the transaction of its effect.
            event_id = uuid5(_CALLBACKS, f"{path}#{call.event_id}")
            work.first = take(domain, f"callback {path}", event_id, shared.host.now())
        return work

    async def _verified(self, request: Request, shared: Shared, facts: RequestFacts) -> SignedCall:
        """What the scheme says; calls that it does not believe are limited by their address."""
        body, by_address = facts.body or b"", shared.rules.callback_address
        try:
            call = await self.scheme.verify(shared.host, request.path_params, request.headers, body)
        except Problem:
            await shared.limits.hit_address(by_address, facts.network)
            raise
        if not call.verified:
            await shared.limits.hit_address(by_address, facts.network)
        return call


def signed(scheme: Scheme) -> Any:
    """A `Work` for a provider's callback that was verified and not seen before."""
    return Depends(_Signed(scheme))
