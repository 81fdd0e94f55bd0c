"""Entrances: the only ways from a route to the database.

`reads(p)` gives a `Reader`, `writes(p)` a `Work`, `uploads(p)` a `Work` and the body as a stream,
`signed(scheme)` a `Work` for a verified and deduplicated callback, `anyone(limit)` a `Work` for
nobody known, `perhaps(p, limit)` the same where whoever is signed in counts. A route has exactly
one; the application does not start otherwise.
"""

import hashlib
import re
from abc import ABC, abstractmethod
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from time import monotonic
from typing import Any, Protocol
from uuid import UUID, uuid5

from fastapi import Depends, Request

from thenga.kernel.access import gate as gates
from thenga.kernel.access.actors import NOBODY, Actor, ActorKind, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.crypto import sealing
from thenga.kernel.db.idempotency import Key
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import (
    MalformedRequest,
    PreconditionRequired,
    Problem,
    ValidationFailed,
)
from thenga.kernel.events.inbox import take
from thenga.kernel.http.bounds import check_length, stream_body, take_in
from thenga.kernel.http.limits import Rule
from thenga.kernel.http.observe import RequestFacts
from thenga.kernel.http.shared import Shared, shared_of
from thenga.kernel.ports.remote import CallContext, calling

Limit = Callable[[Shared], Rule]

_NOWHERE = UUID(int=0)  # an organization that nobody belongs to
_CALLBACKS = UUID("019a0000-0000-7000-8000-0000000ca11b")
_CALLBACK_BYTES = 256 * 1024
_CALLBACK_SECONDS = 3.0  # the sender is not known yet, so its body is not waited for as long
SLOW_SECONDS = 1.0  # for a body, after which the caller is asked for anew
_KEY = re.compile(r"[!-~]{1,255}")
_DIGEST = re.compile(r"(?:^|[,\s])sha-256=:([A-Za-z0-9+/]{43}=):")
_TAG = re.compile(r'(?:W/)?"([0-9]{1,18})(?:-[0-9a-f]{16})?"')


class Entrance(ABC):
    """One way in; FastAPI sees a dependency, the door calls `open` before anything else."""

    permission: str | None = None
    writing = False
    idempotent = False
    streams = False
    requires_version = False
    known_by: str | None = None  # asked of the gate only where a credential is sent
    raw = False  # the body is bytes of a stranger's own form, which nobody reads as JSON

    async def __call__(self) -> Any:
        """FastAPI reads this signature; the door opens the entrance itself, before all else."""
        raise RuntimeError("an entrance is opened by its door")

    @abstractmethod
    async def open(self, request: Request, domain: str) -> Reader:
        """Limit, authenticate, authorize; then a unit of work that has not touched anything."""


class _ByPermission(Entrance):
    unit: type[Reader] = Reader

    def __init__(self, permission: StrEnum, *, limit: Limit | None = None) -> None:
        self.permission = permission.value
        self.limit = limit or _of_actors

    async def open(self, request: Request, domain: str) -> Reader:
        shared, facts = shared_of(request), _facts(request)
        await shared.limits.hit_address(shared.rules.address, facts.network)
        assert self.permission is not None  # noqa: S101  # set by __init__
        asked = _organization_asked(request, facts)
        passed = await _let_in(shared, facts, self.permission, asked, self.limit(shared))
        unit = self.unit(
            shared.host,
            domain,
            Scope(
                actor=passed.actor,
                organization_id=passed.organization_id,
                user_id=passed.user_id,
                platform=passed.held_as is gates.HeldAs.PLATFORM,
                clock_offset=passed.clock_offset,
            ),
            _origin(facts, self.permission, passed.decision_id),
        )
        unit.held_as = passed.held_as
        unit.obligations = passed.obligations
        unit.proven_at, unit.proof_methods = passed.proven_at, passed.proof_methods
        if isinstance(unit, Work):
            self._prepare(request, shared, unit)
        return unit

    def _prepare(self, request: Request, shared: Shared, work: Work) -> None:
        work.if_match = _version_of(request.headers.get("if-match"))
        if work.if_match is None and self.requires_version:
            raise PreconditionRequired()


class _Writes(_ByPermission):
    unit = Work
    writing = True
    idempotent = True

    def __init__(
        self,
        permission: StrEnum,
        *,
        if_match: bool,
        keyed: bool = True,
        limit: Limit | None = None,
    ) -> None:
        super().__init__(permission, limit=limit)
        self.requires_version = if_match
        self.idempotent = keyed


class _Uploads(_Writes):
    streams = True

    def __init__(self, permission: StrEnum) -> None:
        # The body is not in memory, so it cannot be compared with the one of an earlier call.
        super().__init__(permission, if_match=False, keyed=False)

    def _prepare(self, request: Request, shared: Shared, work: Work) -> None:
        settings = shared.host.settings
        check_length(request.headers.get("content-length"), settings.upload_bytes)
        chunks = stream_body(
            request,
            shared.bounds,
            settings.upload_bytes,
            seconds=settings.upload_seconds,
            idle_seconds=settings.upload_idle_seconds,
        )
        work.upload = self._while_allowed(request, shared, chunks)
        work.upload_digest = _digest_of(request.headers.get("content-digest"))
        super()._prepare(request, shared, work)

    async def _while_allowed(
        self, request: Request, shared: Shared, chunks: AsyncIterator[bytes]
    ) -> AsyncIterator[bytes]:
        """The bytes; after a slow end the caller is asked for anew, as with every slow body."""
        begun, facts = monotonic(), _facts(request)
        async for chunk in chunks:
            yield chunk
        if monotonic() - begun > SLOW_SECONDS and self.permission is not None:
            asked = _organization_asked(request, facts)
            await _let_in(shared, facts, self.permission, asked, self.limit(shared))


class _Anyone(Entrance):
    writing = True

    def __init__(self, limit: Limit) -> None:
        self.limit = limit

    async def open(self, request: Request, domain: str) -> Work:
        shared, facts = shared_of(request), _facts(request)
        await shared.limits.hit_address(self.limit(shared), facts.network)
        return Work(shared.host, domain, Scope(actor=NOBODY), _origin(facts, "public", None))


class _Perhaps(Entrance):
    """Open to whoever brings the secret in the body; a credential that is sent must be good."""

    writing = True

    def __init__(self, permission: StrEnum, limit: Limit) -> None:
        self.known_by = permission.value
        self.limit = limit

    async def open(self, request: Request, domain: str) -> Work:
        shared, facts = shared_of(request), _facts(request)
        await shared.limits.hit_address(self.limit(shared), facts.network)
        scope, decision_id = Scope(actor=NOBODY), None
        if b"authorization" in facts.headers:
            assert self.known_by is not None  # noqa: S101  # set by __init__
            passed = await _let_in(shared, facts, self.known_by, None, shared.rules.actor)
            scope, decision_id = Scope(passed.actor, user_id=passed.user_id), passed.decision_id
        return Work(shared.host, domain, scope, _origin(facts, "public", decision_id))


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
        shared, facts = shared_of(request), _facts(request)
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
        work = Work(shared.host, domain, scope, _origin(facts, f"callback {path}", None))
        work.called = call.content
        if call.event_id is not None:
            # The provider's own event id is taken once, in the transaction of its effect (rule 40).
            event_id = uuid5(_CALLBACKS, f"{path}#{call.event_id}")
            work.first = take(domain, f"callback {path}", event_id, shared.host.now())
        return work

    async def _verified(self, request: Request, shared: Shared, facts: RequestFacts) -> SignedCall:
        """What the scheme says; calls that it does not believe are limited by their address."""
        body, by_address = await request.body(), shared.rules.callback_address
        try:
            call = await self.scheme.verify(shared.host, request.path_params, request.headers, body)
        except Problem:
            await shared.limits.hit_address(by_address, facts.network)
            raise
        if not call.verified:
            await shared.limits.hit_address(by_address, facts.network)
        return call


def reads(permission: StrEnum) -> Any:
    """A `Reader`, for whoever holds the permission."""
    return Depends(_ByPermission(permission))


def writes(
    permission: StrEnum, *, if_match: bool = False, keyed: bool = True, limit: Limit | None = None
) -> Any:
    """A `Work`, for whoever holds the permission; `if_match` where a lost update costs money.

    Not `keyed` is what has a single-use secret of its own (context-map, decision 14). A `limit`
    stands in the place of the one that holds for all actors.
    """
    return Depends(_Writes(permission, if_match=if_match, keyed=keyed, limit=limit))


def uploads(permission: StrEnum) -> Any:
    """A `Work` whose route reads the body from `work.upload`, part by part, limited as it comes."""
    return Depends(_Uploads(permission))


def signed(scheme: Scheme) -> Any:
    """A `Work` for a provider's callback that was verified and not seen before."""
    return Depends(_Signed(scheme))


def anyone(limit: Limit) -> Any:
    """A `Work` for sign-in and the like: nobody is known yet; limited by address."""
    return Depends(_Anyone(limit))


def perhaps(permission: StrEnum, limit: Limit) -> Any:
    """As `anyone`; who sends a credential is known by it, and refused if it is not good."""
    return Depends(_Perhaps(permission, limit))


def _of_actors(shared: Shared) -> Rule:
    return shared.rules.actor


async def _let_in(
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


def _facts(request: Request) -> RequestFacts:
    facts = request.scope["thenga"]
    assert isinstance(facts, RequestFacts)  # noqa: S101  # put there by the outermost layer
    return facts


def _origin(facts: RequestFacts, action: str, decision_id: UUID | None) -> Origin:
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


def _organization_asked(request: Request, facts: RequestFacts) -> UUID | None:
    """The path names it, else the header; both must agree, and another's is answered with 404.

    What cannot be anybody's is asked of the gate like the rest: who is unknown hears 401 first.
    """
    in_path = request.path_params.get("organizationId")
    header = facts.headers.get(b"x-organization-id")
    in_header = None if header is None else header.decode("latin-1")
    if in_path is not None and in_header is not None and in_path.lower() != in_header.lower():
        return _NOWHERE
    asked = in_path or in_header
    if asked is None:
        return None
    try:
        return UUID(asked)
    except ValueError:
        return _NOWHERE


def _digest_of(content_digest: str | None) -> str | None:
    """The SHA-256 in hex that the sender promises (RFC 9530); other algorithms are passed over."""
    found = None if content_digest is None else _DIGEST.search(content_digest)
    return None if found is None else b64decode(found[1]).hex()


def _version_of(if_match: str | None) -> int | None:
    if if_match is None or if_match.strip() == "*":
        return None
    written = _TAG.fullmatch(if_match.strip())
    if written is None:
        raise ValidationFailed(
            errors=[
                {
                    "pointer": "/header/If-Match",
                    "code": "version",
                    "detail": (
                        'Send the ETag exactly as you received it, or the version in quotes: "3".'
                    ),
                }
            ]
        )
    return int(written[1])


async def note_key(request: Request, shared: Shared, unit: Reader) -> None:
    """Note the `Idempotency-Key`, once the body is there that it is compared with."""
    key = request.headers.get("idempotency-key")
    if key is not None and isinstance(unit, Work):
        unit.idempotency = await _key_of(request, shared, key, unit)


async def _key_of(request: Request, shared: Shared, key: str, work: Work) -> Key:
    if _KEY.fullmatch(key) is None:
        raise MalformedRequest("An Idempotency-Key consists of 1 to 255 visible ASCII characters.")
    path = request.scope["path"]
    parts = (work.actor.id, work._scope.organization_id, request.method, path, key)
    digest = hashlib.sha256("\n".join(map(str, parts)).encode()).digest()
    # Bodies can hold secrets, so their hash is keyed (context-map, decision 14).
    body = await request.body()
    return Key(digest, sealing.mac(shared.host.key("idempotency"), body))
