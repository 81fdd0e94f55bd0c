"""The checkers of lifecycles: the table itself, and the doors that make its moves."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import httpx2
import sqlalchemy as sa
from pydantic.alias_generators import to_camel
from sqlalchemy.dialects import postgresql as pg

from tests.factories import identity
from tests.factories.identity import Member
from tests.suites import allowed
from tests.suites.body_moves import moves_of_body
from thenga.domains.identity.tables import Membership
from thenga.domains.organization.tables import Equipment, PastProject
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.rows import Col, Row, rows
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.permission import Audience
from thenga.kernel.errors import InvalidTransition, Problem
from thenga.kernel.http.document.operations import PREFIX, Operation, operations
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id
from thenga.tooling.documents.pages import reach

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
        if status in move.sources and move.guard is not None:
            return  # a guard said no, as below
        swept.refused += 1
        told = {"from": status, "operation": move.verb, "allowed": lifecycle.open(row)}
        bare = row.__dict__ | {lifecycle.axis: status}
        if refusal.facts != told or status in move.sources or row.__dict__ != bare:
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


def rows_of(lifecycle: type[Lifecycle]) -> list[type[Row]]:
    """The row classes whose status the lifecycle moves; roles and permissions share theirs."""
    return [
        row
        for row in rows()
        for base in row.__mro__
        if isinstance(held := vars(base).get(lifecycle.axis), Col) and held.enum is lifecycle.states
    ]


def row_of(lifecycle: type[Lifecycle]) -> type[Row]:
    """The first of them, which stands for all where the table itself does not matter."""
    return rows_of(lifecycle)[0]


def bare_row(lifecycle: type[Lifecycle], status: StrEnum) -> Row:
    row = row_of(lifecycle)
    return row(**filled(row, {lifecycle.axis: status}))


_VALUES: dict[type[Any], Any] = {
    sa.Text: "swept",
    sa.CHAR: "ZAR",
    sa.Integer: 1,
    sa.BigInteger: 1,
    sa.Numeric: Decimal(1),
    sa.Boolean: False,
    sa.Interval: timedelta(0),
    sa.Date: NOON.date(),
    sa.DateTime: NOON,
    pg.ARRAY: [],
    pg.JSONB: [],
}


# Identifiers and hashes are mostly unique.
_NEW: dict[type[Any], Any] = {
    sa.UUID: new_id,
    pg.UUID: new_id,
    sa.LargeBinary: lambda: new_id().bytes,
}


def filled(row: type[Row], given: Mapping[str, Any]) -> dict[str, Any]:
    """A value for every column that needs one."""
    values = {
        str(c.name): _NEW[type(c.type)]() if type(c.type) in _NEW else _VALUES[type(c.type)]
        for c in row.__table__.columns
        if c.name not in row.__defaults__
    }
    return values | dict(given)


def document_faults(text: str, domains: Iterable[Domain]) -> list[str]:
    """Where the declared moves differ from those that docs/lifecycles.md promises."""
    faults = []
    # A lifecycle of another column than the status names that column behind its title.
    parts = re.compile(r"^## ([^\n]+?)(?: \(\w+\))?\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    sections = dict(parts.findall(text))
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


def uncallable(domains: Sequence[Domain]) -> set[str]:
    """Moves that callers are shown without an operation of that name, or a `move` of a body."""
    ends = {(one.domain.name, one.path.rpartition("/")[2]) for one in operations(domains)}
    ends |= {
        (one.domain.name, verb.replace("_", "-"))
        for one in operations(domains)
        for verb in moves_of_body(one)
    }
    return {
        f"{lifecycle.__name__.removesuffix('Lifecycle')}.{move.verb}"
        for domain in domains
        for lifecycle in domain.lifecycles
        for move in lifecycle.moves.values()
        if move.by is not By.SYSTEM and (domain.name, move.called.replace("_", "-")) not in ends
    }


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
    row: type[Row]
    by_person: bool  # the person's own move, whatever organization it is in
    body: dict[str, str] | None


def moving_doors(domains: Sequence[Domain]) -> list[MovingDoor]:
    """Read from the source which operation makes which move, and on which identifier."""
    found = []
    reaches = {domain.name: reach(domain) for domain in domains}  # reads all source: once
    for one in operations(domains):
        if one.permission is None:
            continue  # open by a secret of its own, which its own tests bring along
        if one.name in allowed.KNOCKED_ELSEWHERE:
            continue
        module = one.function.__module__.split(".api.")[1].split(".")[0]
        made = reaches[one.domain.name].of_route(module, one.name).moves
        for lifecycle, row in _moved_rows(one.domain):
            parameter = to_camel(f"{_NAMED.get(row.__table__.name, row.__table__.name)}_id")
            for move in lifecycle.moves.values():
                name = f"{lifecycle.__name__.removesuffix('Lifecycle')}.{move.verb}"
                if name in made and f"{{{parameter}}}" in one.path and _plain(one):
                    path = one.path.removeprefix(PREFIX)
                    door = (one.domain.name, one.name, one.method, path, parameter)
                    whose = (_is_persons(one), _body_of(one))
                    found.append(MovingDoor(*door, lifecycle, move, row, *whose))
    return found


# Where the path calls a resource otherwise than the table.
_NAMED = {"custom_role": "role"}


def _moved_rows(domain: Domain) -> list[tuple[type[Lifecycle], type[Row]]]:
    return [(lifecycle, row) for lifecycle in domain.lifecycles for row in rows_of(lifecycle)]


def _is_persons(one: Operation) -> bool:
    granted = [each for each in one.domain.permissions if each.code == one.permission]
    return all(each.audiences == (Audience.PERSON,) for each in granted)


def _body_of(one: Operation) -> dict[str, str] | None:
    """What a move must be told: a reason where the body has room for one, else nothing."""
    bodies = one.door.dependant.body_params
    if not bodies:
        return None
    model = bodies[0].field_info.annotation
    return {"reason": "swept"} if "reason" in getattr(model, "model_fields", {}) else {}


def _plain(one: Operation) -> bool:
    """Whether it does nothing but move; what must be told more than a reason has its own tests."""
    bodies = one.door.dependant.body_params
    fields = bodies[0].field_info.annotation.model_fields if bodies else {}
    needed = {name for name, field in fields.items() if field.is_required()}
    plain = one.door.status_code in (None, 200) and needed <= {"reason"}
    return plain and one.method == "POST"


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
    path = door.path.format(**ids)
    return await api.request(door.method, path, headers=owner.headers, json=door.body)


async def _stored(host: Host, owner: Member, door: MovingDoor, status: StrEnum) -> Row:
    row = door.row
    holders: dict[str, Any] = {
        "organization_id": owner.organization_id,
        "user_id": owner.user_id,
    }
    if row is Membership:
        # One belongs to an organization once: one's own is in another, a manager's is another's.
        stranger = new_id()
        holders |= {"organization_id": stranger} if door.by_person else {"user_id": stranger}
        await identity.mirror(host, holders["organization_id"])
    if "membership_id" in row.__columns__:
        holders["membership_id"] = owner.membership_id
    holders["code"] = f"swept_{new_id().hex[-12:]}"  # of a role, once in an organization
    given = {n: v for n, v in holders.items() if n in row.__columns__}
    scope = Scope(SYSTEM, organization_id=holders["organization_id"], user_id=holders["user_id"])
    work = Work(host, door.domain, scope, Origin("sweep", "sweep", "sweep"))
    ready = await READY.get(str(row.__table__.name), _nothing)(work)
    made = await work.add(row(**filled(row, given | ready | {door.lifecycle.axis: status})))
    await work.finish()
    return made


async def _nothing(work: Work) -> dict[str, Any]:
    return {}


async def _findable(work: Work) -> dict[str, Any]:
    areas = {"national": True, "provinces": [], "municipalities": []}
    return {"name": str(new_id()), "areas": areas}


async def _plated(work: Work) -> dict[str, Any]:
    return {"registration_number": str(new_id())}


async def _completed(work: Work) -> dict[str, Any]:
    return {"completed_on": NOON.date(), "value_minor": 1, "value_currency": "ZAR"}


async def _evidenced(work: Work) -> dict[str, Any]:
    machine = Equipment(organization_id=work.organization_id, name="Crane", quantity=1, expiries=[])
    await work.add(machine)
    return {
        "evidence_refs": [{"domain": "organization", "type": "equipment", "id": str(machine.id)}]
    }


async def _of_a_project(work: Work) -> dict[str, Any]:
    project = PastProject(
        organization_id=work.organization_id,
        title="Bridge",
        client_name="Client",
        started_on=NOON.date(),
    )
    await work.add(project)
    return {"past_project_id": project.id, "contact": b""}


# What a row must hold so that the guards of its moves let it pass, by table.
READY: dict[str, Callable[[Work], Awaitable[dict[str, Any]]]] = {
    "service": _findable,
    "product": _findable,
    "fleet_asset": _plated,
    "past_project": _completed,
    "capability": _evidenced,
    "client_reference": _of_a_project,
}


async def _told(host: Host, domain: str, row_id: UUID) -> int:
    async with host.engines.connection(domain, f"{domain}_system") as connection:
        found: int = await connection.fetchval(
            f"SELECT count(*) FROM {domain}.outbox WHERE aggregate LIKE '%/' || $1", str(row_id)
        )
    return found
