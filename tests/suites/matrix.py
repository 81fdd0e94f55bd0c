"""Two tenants, eleven actors, and every operation with every identifier, own, foreign or random."""

import asyncio
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import orjson

from tests.suites import calls
from tests.suites.actors import Actor, Tenant, plant
from tests.suites.straight import Answer, Straight
from thenga.kernel.declare.permission import Audience, Granted
from thenga.kernel.errors import Problem
from thenga.kernel.http.document.operations import Operation
from thenga.kernel.process.host import Host

OWN, FOREIGN, RANDOM, NONE = "own", "foreign", "random", "none"
HEADER = "X-Organization-Id"
_AT_ONCE = 12
_TRIES = 5
# What differs between two answers that say the same.
_VARYING = re.compile(rb'"(?:requestId|instance|decisionId|decidedAt)":"[^"]*"')
_VARYING_HEADERS = ("x-request-id", "date")
BODIES = ("right", "empty", "unknown")

Labels = Mapping[str, str]  # where an identifier stands -> whose it is


@dataclass(frozen=True)
class Seen:
    """One answer of the matrix."""

    operation: Operation
    actor: Actor
    labels: dict[str, str]
    body: str
    sent: calls.Sent
    answer: Answer

    @property
    def proof_refused(self) -> bool:
        """Whether it was let in and what it showed as proof was not right."""
        return b'"identity-proof-refused"' in self.answer.content and self.body != "right"

    @property
    def names_another(self) -> bool:
        """Whether the field that nobody asked for is one that is known here: an organization."""
        said = self.sent.body(self.sent.ids)
        return self.body == "unknown" and isinstance(said, dict) and "organizationId" in said

    def __str__(self) -> str:
        said = " ".join(f"{name}={label}" for name, label in self.labels.items())
        text = self.answer.text[:160]
        return (
            f"{self.operation.name} {self.actor.name} {said} body={self.body}: "
            f"{self.answer.status_code} {text}"
        )

    def told(self) -> tuple[int, bytes, list[tuple[str, str]]]:
        """Everything that the caller can compare."""
        headers = [(n, v) for n, v in self.answer.headers if n not in _VARYING_HEADERS]
        return self.answer.status_code, _VARYING.sub(b"", self.answer.content), sorted(headers)


@dataclass
class Tally:
    """What a walk through the matrix came to."""

    requests: int = 0
    leaks: list[str] = field(default_factory=list)
    oracles: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)  # answered with a defect of ours

    def __str__(self) -> str:
        return (
            f"requests={self.requests} leaks={len(self.leaks)} oracles={len(self.oracles)} "
            f"wrong_status={len(self.wrong)} server_errors={len(self.broken)}"
        )


@dataclass
class Matrix:
    """The walk; `granted` is the catalogue of permissions."""

    client: Straight
    host: Host
    tenants: Sequence[Tenant]
    granted: Mapping[str, Granted]
    small: bool = False
    random_id: UUID = field(default_factory=uuid4)
    made: dict[tuple[Tenant, str], calls.Sent] = field(default_factory=dict)

    async def prepare(self, operations: Iterable[Operation], admin: asyncpg.Connection) -> int:
        """Make something of each tenant, and mark it; how many columns took the marker."""
        for operation, tenant in itertools.product(operations, self.tenants):
            make = calls.MAKERS[operation.name]
            sent = await make(self.host, tenant.owner, tenant.organization_id)
            self.made[tenant, operation.name] = sent
        return min([await plant(admin, tenant) for tenant in self.tenants])

    async def walk(
        self,
        operations: Iterable[Operation],
        actors: Iterable[Actor],
        *,
        headers: Sequence[str],
        bodies: Sequence[str],
        judged: bool = True,
    ) -> Tally:
        tally = Tally()
        places = asyncio.Semaphore(_AT_ONCE)

        async def one(operation: Operation, actor: Actor) -> None:
            async with places:
                seen = await self._all_positions(operation, actor, headers, bodies)
            tally.requests += len(seen)
            tally.leaks += [str(each) for each in seen if self.leaks(each)]
            tally.oracles += _oracles(seen)
            tally.wrong += [str(each) for each in seen if judged and not self._is_right(each)]
            tally.broken += [str(each) for each in seen if each.answer.status_code == 500]

        await asyncio.gather(*(one(o, a) for o, a in itertools.product(operations, actors)))
        return tally

    async def _all_positions(
        self, operation: Operation, actor: Actor, headers: Sequence[str], bodies: Sequence[str]
    ) -> list[Seen]:
        own = await self._sent(operation, actor)
        if HEADER in own.headers:  # its organization is named by the header, never by none
            headers = list(dict.fromkeys(OWN if one == NONE else one for one in headers))
        seen = []
        for labels in self._positions(operation, actor, own.ids, headers):
            for body in bodies:
                sent = await self._sent(operation, actor) if own.ends_session else own
                answer = await self._request(operation, actor, labels, body, sent)
                seen.append(Seen(operation, actor, labels, body, sent, answer))
        return seen

    def _positions(
        self, operation: Operation, actor: Actor, ids: Iterable[str], headers: Sequence[str]
    ) -> list[dict[str, str]]:
        """Whose each identifier is, in every way.

        In `make check` at most one is not the actor's own, or all are of one kind; for who is
        refused before an identifier is looked at, only the latter.
        """
        every = _positions(ids, headers)
        if not self.small:
            return every
        enters = self._enters(operation, actor)
        return [one for one in every if _is_of_one_kind(one) or (enters and _has_one_odd(one))]

    async def _sent(self, operation: Operation, actor: Actor) -> calls.Sent:
        """What the actor calls with: something new, where being let in uses it up.

        Who is refused at the door uses up nothing. What Billing has of an organization (its plan,
        its account) there is only once, so a new one would take away what the next call needs.
        """
        if not self._enters(operation, actor) or operation.domain.name == "billing":
            return self.made[actor.home, operation.name]
        make = calls.MAKERS[operation.name]
        for _ in range(_TRIES):
            try:
                return await make(self.host, actor.who, actor.home.organization_id)
            except (asyncpg.PostgresError, Problem) as error:
                # Two calls that prepare the only one of its kind at the same time.
                print(f"prepared again: {operation.name}: {error!r}")
        return await make(self.host, actor.who, actor.home.organization_id)

    async def _request(
        self,
        operation: Operation,
        actor: Actor,
        labels: Labels,
        body: str,
        own: calls.Sent,
    ) -> Answer:
        other = next(tenant for tenant in self.tenants if tenant is not actor.home)
        chosen = {
            OWN: own.ids,
            FOREIGN: self.made[other, operation.name].ids,
            RANDOM: dict.fromkeys(own.ids, self.random_id),
        }
        ids = {name: chosen[labels[name]][name] for name in own.ids}
        asked = {
            OWN: {HEADER: str(actor.home.organization_id)},
            FOREIGN: {HEADER: str(other.organization_id)},
            RANDOM: {HEADER: str(self.random_id)},
            NONE: {},
        }[labels[HEADER]]
        content = content_of(own.body(ids), body)
        # A credential of its own stands for the actor's, all else is said besides. Who may end a
        # half session would end that of the actor, who is needed again.
        person = actor.lives and actor.scopes is None
        enters = (person or self._half_enters(operation, actor)) and not own.by_staff
        besides = {n: v for n, v in own.headers.items() if enters or n != "Authorization"}
        credential = actor.headers | besides
        return await self.client.request(
            operation.method,
            calls.path_of(operation, ids, own.parts),
            headers=credential | asked,
            content=content,
        )

    def _enters(self, operation: Operation, actor: Actor) -> bool:
        """Whether the call comes as far as to look at an identifier."""
        public = operation.permission is None
        return public or actor.lives or self._half_enters(operation, actor)

    def _half_enters(self, operation: Operation, actor: Actor) -> bool:
        granted = self.granted.get(operation.permission or "")
        return actor.refused_as == "mfa-required" and granted is not None and granted.half

    def leaks(self, seen: Seen) -> bool:
        """Whether the answer shows anything of a tenant that the actor does not belong to."""
        shown = seen.answer.content + repr(seen.answer.headers).encode()
        strangers = (tenant for tenant in self.tenants if tenant is not seen.actor.of)
        return any(tenant.marker.encode() in shown for tenant in strangers)

    def _is_right(self, seen: Seen) -> bool:
        """Whether the answer is one that the rules allow: 401, 403, 404 each in its place."""
        status = seen.answer.status_code
        permission = seen.operation.permission
        if permission is None:
            return status < 500
        granted = self.granted[permission]
        if self._half_enters(seen.operation, seen.actor):
            return status < 500  # a half session is here to become a whole one, or to end
        if not seen.actor.lives:
            return (status, seen.answer.json()["code"]) == (401, seen.actor.refused_as)
        asked = _asked(seen.labels)
        stranger = seen.actor.of is None and not seen.sent.stand_in
        if asked in (FOREIGN, RANDOM) or (asked == OWN and stranger):
            return status == 404
        if {Audience.PERSON, Audience.TENANT}.isdisjoint(granted.audiences):
            return status in (403, 404)  # staff's, and none of these actors has a platform role
        if not seen.actor.holds(granted):
            # Who acts for no organization hears that there is none.
            return status == (404 if asked == NONE and seen.actor.of is None else 403)
        if self.made[self.tenants[0], seen.operation.name].by_staff:
            # No member may, whatever right they hold; what is not well-formed is told first.
            return status in (403, 404) or (status == 422 and seen.body != "right")
        if any(label != OWN for label in _named(seen, in_path=True)):
            return status == 404 or (status == 422 and seen.body != "right")
        if any(label != OWN for label in _named(seen, in_path=False)):
            return status < 500 and status not in (401, 403)
        if seen.names_another:
            return status in (404, 422)
        return status < 500 and (status not in (401, 403, 404) or seen.proof_refused)


def _named(seen: Seen, *, in_path: bool) -> list[str]:
    """Whose the identifiers in the path are, or those in the body; but for the organization's."""
    return [
        label
        for name, label in seen.labels.items()
        if name not in (HEADER, "organizationId")
        and (f"{{{name}}}" in seen.operation.path) == in_path
    ]


def _asked(labels: Labels) -> str:
    """The organization that a request names; path and header must agree."""
    in_path, in_header = labels.get("organizationId", NONE), labels[HEADER]
    if NONE in (in_path, in_header):
        return in_path if in_header == NONE else in_header
    return in_path if in_path == in_header else RANDOM


def _positions(ids: Iterable[str], headers: Sequence[str]) -> list[dict[str, str]]:
    places: dict[str, Sequence[str]] = dict.fromkeys(ids, (OWN, FOREIGN, RANDOM))
    places[HEADER] = headers
    return [
        dict(zip(places, labels, strict=True)) for labels in itertools.product(*places.values())
    ]


def _is_of_one_kind(labels: Labels) -> bool:
    return len({label for name, label in labels.items() if name != HEADER}) <= 1


def _has_one_odd(labels: Labels) -> bool:
    return sum(label != OWN for name, label in labels.items() if name != HEADER) <= 1


def content_of(body: Any, form: str = "right") -> bytes:
    if body is None or isinstance(body, bytes):
        return body or b""
    if form == "right":
        return orjson.dumps(body)
    return b"{}" if form == "empty" else orjson.dumps(body | {"organizationId": str(uuid4())})


def _oracles(seen: Sequence[Seen]) -> list[str]:
    """Where what is another's is answered otherwise than what is not there."""
    known = {(_key(each.labels), each.body): each for each in seen}
    found = []
    for each in seen:
        twin = {n: RANDOM if label == FOREIGN else label for n, label in each.labels.items()}
        missing = known.get((_key(twin), each.body))
        if missing is None or _let_in(each, missing):
            continue
        if each.told() != missing.told():
            found.append(f"{each} / {missing}")
    return found


def _let_in(each: Seen, missing: Seen) -> bool:
    """Whether both reached what is the actor's own, which may have changed between the two."""
    if each.operation.permission is None:
        return True  # public: what it finds hangs on the secret in its body, not on who calls
    if 429 in (each.answer.status_code, missing.answer.status_code):
        return True  # a limit counts how often the actor called, whatever was named
    path = each.operation.path
    in_body = [
        name
        for name, label in each.labels.items()
        if name != HEADER and label != OWN and f"{{{name}}}" not in path
    ]
    return each.answer.is_success and missing.answer.is_success and not in_body


def _key(labels: Labels) -> tuple[str, ...]:
    return tuple(labels.values())
