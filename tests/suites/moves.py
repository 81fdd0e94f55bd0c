"""The checkers of lifecycles: the table itself, and the doors that make its moves."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

import httpx2
import sqlalchemy as sa
from pydantic.alias_generators import to_camel
from sqlalchemy.dialects import postgresql as pg

from tests.factories.identity import Member
from thenga.kernel.actors import SYSTEM, Scope
from thenga.kernel.db.reader import Origin
from thenga.kernel.db.rows import Col, Row, rows
from thenga.kernel.db.work import Work
from thenga.kernel.documents.pages import reach
from thenga.kernel.errors import InvalidTransition, Problem
from thenga.kernel.host import Host
from thenga.kernel.http.operations import PREFIX, operations
from thenga.kernel.ids import new_id
from thenga.kernel.lifecycle import Lifecycle, Move
from thenga.kernel.manifest import Domain

NOON = datetime(2031, 6, 30, 12, tzinfo=UTC)
_ARROW = re.compile(r"^ +(\w+) --> (\w+): (\w+)$", re.MULTILINE)


@dataclass
class Swept:
    """What was tried, and what is wrong."""

    moves: int = 0
    made: int = 0
    refused: int = 0
    repeats: int = 0
    faults: list[str] = field(default_factory=list)


def sweep(lifecycles: Sequence[type[Lifecycle]]) -> Swept:
    """Every move from every state: made from its sources, refused from all others."""
    swept = Swept()
    for lifecycle in lifecycles:
        for move in lifecycle.moves.values():
            swept.moves += 1
            swept.faults += _declared_faults(lifecycle, move)
            for status in lifecycle.states:
                _try(swept, lifecycle, move, status)
    return swept


def _declared_faults(lifecycle: type[Lifecycle], move: Move) -> Iterator[str]:
    name = f"{lifecycle.__name__}.{move.verb}"
    for state in {*move.sources, move.to}:
        if not isinstance(state, lifecycle.states):
            yield f"{name}: {state!r} is not a state of it"
    if not move.sources or move.to in move.sources:
        yield f"{name}: leads from {sorted(map(str, move.sources))} to {move.to}"
    guard = getattr(move.guard, "__name__", "")
    if move.guard is not None and not re.fullmatch(r"[a-z]\w+", guard):
        yield f"{name}: its guard has no name"


def _try(swept: Swept, lifecycle: type[Lifecycle], move: Move, status: StrEnum) -> None:
    name = f"{lifecycle.__name__}.{move.verb} from {status}"
    row = bare_row(lifecycle, status)
    try:
        effect = move(row, at=NOON)
    except InvalidTransition as refusal:
        swept.refused += 1
        told = {"from": status, "operation": move.verb, "allowed": lifecycle.open(row)}
        if refusal.facts != told or status in move.sources or row.__dict__ != _bare(row, status):
            swept.faults.append(f"{name}: is refused with {refusal.facts}")
        return
    except Problem as refusal:  # a guard said no, which is for its own tests
        if status not in move.sources:
            swept.faults.append(f"{name}: {refusal.code} before the state was looked at")
        return
    now = getattr(row, lifecycle.axis)
    repeated = status is move.to and not effect
    swept.repeats += repeated
    swept.made += effect
    if now != move.to or (status not in move.sources and not repeated):
        swept.faults.append(f"{name}: is made and leads to {now}")


def row_of(lifecycle: type[Lifecycle]) -> type[Row]:
    """The row class whose status the lifecycle moves."""
    (found,) = (
        row
        for row in rows()
        for base in row.__mro__
        if isinstance(held := vars(base).get(lifecycle.axis), Col) and held.enum is lifecycle.states
    )
    return found


def bare_row(lifecycle: type[Lifecycle], status: StrEnum) -> Row:
    row = row_of(lifecycle)
    return row(**filled(row, {lifecycle.axis: status}))


def _bare(row: Row, status: StrEnum) -> dict[str, Any]:
    return row.__dict__ | {"status": status}


_VALUES: dict[type[Any], Any] = {
    sa.Text: "swept",
    sa.Integer: 1,
    sa.BigInteger: 1,
    sa.Boolean: False,
    sa.LargeBinary: b"swept",
    sa.Interval: timedelta(0),
    sa.Date: NOON.date(),
    sa.DateTime: NOON,
    pg.ARRAY: [],
    pg.JSONB: [],
}


def filled(row: type[Row], given: Mapping[str, Any]) -> dict[str, Any]:
    """A value for every column that needs one."""
    values = {
        str(c.name): new_id() if isinstance(c.type, sa.UUID) else _VALUES[type(c.type)]
        for c in row.__table__.columns
        if c.name not in row.__defaults__
    }
    return values | dict(given)


def document_faults(text: str, domains: Iterable[Domain]) -> list[str]:
    """Where the declared moves differ from those that docs/lifecycles.md promises."""
    faults = []
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    for domain in domains:
        for lifecycle in domain.lifecycles:
            title = f"{domain.name}: {lifecycle.__name__.removesuffix('Lifecycle')}"
            written = set(_ARROW.findall(sections.get(title, "")))
            declared = {
                (str(source), str(move.to), verb)
                for verb, move in lifecycle.moves.items()
                for source in move.sources
            }
            faults += [
                f"{title}: {source} --> {to}: {verb} is {'declared' if new else 'written'} only"
                for source, to, verb in sorted(declared ^ written)
                for new in [(source, to, verb) in declared]
            ]
    return faults


@dataclass(frozen=True)
class MovingDoor:
    """An operation on one named resource that makes one move."""

    domain: str
    name: str
    method: str
    path: str
    parameter: str
    lifecycle: type[Lifecycle]
    move: Move


def moving_doors(domains: Sequence[Domain]) -> list[MovingDoor]:
    """Read from the source which operation makes which move, and on which identifier."""
    found = []
    for one in operations(domains):
        module = one.function.__module__.split(".api.")[1].split(".")[0]
        made = reach(one.domain).of_route(module, one.name).moves
        for lifecycle in one.domain.lifecycles:
            parameter = to_camel(f"{row_of(lifecycle).__table__.name}_id")
            for move in lifecycle.moves.values():
                name = f"{lifecycle.__name__.removesuffix('Lifecycle')}.{move.verb}"
                if name in made and f"{{{parameter}}}" in one.path:
                    path = one.path.removeprefix(PREFIX)
                    door = (one.domain.name, one.name, one.method, path, parameter)
                    found.append(MovingDoor(*door, lifecycle, move))
    return found


async def knock(
    swept: Swept, api: httpx2.AsyncClient, host: Host, owner: Member, door: MovingDoor
) -> None:
    """Ask for the move over HTTP from every state, twice, and count what it told."""
    swept.moves += 1
    for status in door.lifecycle.states:
        row = await _stored(host, owner, door, status)
        first = await _ask(api, owner, door, row.id)
        second = await _ask(api, owner, door, row.id)
        told = await _told(host, door.domain, row.id)
        _judge(swept, door, status, row, first, second, told)


def _judge(
    swept: Swept,
    door: MovingDoor,
    status: StrEnum,
    row: Row,
    first: httpx2.Response,
    second: httpx2.Response,
    told: int,
) -> None:
    name, move = f"{door.name} from {status}", door.move
    axis = to_camel(door.lifecycle.axis)
    if status not in move.sources and status is not move.to:
        swept.refused += 1
        expected = {"from": status, "operation": move.verb, "allowed": door.lifecycle.open(row)}
        if first.status_code != 409 or not expected.items() <= first.json().items() or told:
            swept.faults.append(f"{name}: {first.status_code} {first.text}, told {told}")
        return
    swept.made += status in move.sources
    swept.repeats += 1
    effects = int(status in move.sources)
    if (first.status_code, second.status_code, told) != (200, 200, effects):
        swept.faults.append(f"{name}: {first.status_code}, {second.status_code}, told {told}")
    elif first.json() != second.json() or first.json()[axis] != move.to:
        swept.faults.append(f"{name}: {first.text} and then {second.text}")
    elif first.json()["version"] != 1 + effects:
        swept.faults.append(f"{name}: a repeat was written")


async def _ask(
    api: httpx2.AsyncClient, owner: Member, door: MovingDoor, row_id: UUID
) -> httpx2.Response:
    ids = {"organizationId": owner.organization_id, door.parameter: row_id}
    return await api.request(door.method, door.path.format(**ids), headers=owner.headers)


async def _stored(host: Host, owner: Member, door: MovingDoor, status: StrEnum) -> Row:
    row = row_of(door.lifecycle)
    holders = {"organization_id": owner.organization_id, "user_id": owner.user_id}
    given = {n: v for n, v in holders.items() if n in row.__columns__}
    scope = Scope(SYSTEM, organization_id=owner.organization_id, user_id=owner.user_id)
    work = Work(host, door.domain, scope, Origin("sweep", "sweep", "sweep"))
    made = await work.add(row(**filled(row, given | {door.lifecycle.axis: status})))
    await work.finish()
    return made


async def _told(host: Host, domain: str, row_id: UUID) -> int:
    async with host.engines.connection(domain, f"{domain}_system") as connection:
        found: int = await connection.fetchval(
            f"SELECT count(*) FROM {domain}.outbox WHERE aggregate LIKE '%/' || $1", str(row_id)
        )
    return found
