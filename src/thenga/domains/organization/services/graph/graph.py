"""The intelligence graph: what hangs on what, walked from one thing outwards (ORG-30).

The walk goes level by level. What was met is not met again, so a cycle ends; the nearest come
first, so what a bound cuts off is the farthest. A level is one statement with a bound of its own.
"""

from asyncio import get_running_loop
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import asyncpg
from asyncpg import Record
from sqlalchemy import ColumnElement, Subquery, func, literal, or_, select, union_all
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.identity import public as identity
from thenga.domains.organization.services.graph import nodes
from thenga.domains.organization.services.records import EdgeType, Node
from thenga.domains.organization.tables import GraphEdge
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.errors import NotFound

MOST_NODES, MOST_EDGES = 500, 2000
MOST_MS = 300
_MOST_HIDDEN = 5000  # of one level; more are not counted one by one


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody wants to see of the graph."""

    root: Node
    depth: int = 2
    node_types: Collection[str] = ()
    edge_types: Collection[EdgeType] = ()
    stale_only: bool = False
    limit: int = 200


@dataclass
class Graph:
    """What was found, nearest first."""

    nodes: list[dict[str, Any]] = field(default_factory=list)
    edges: Sequence[Record] = ()
    truncated: bool = False
    omitted: dict[str, int] = field(default_factory=dict)


@dataclass
class _Walk:
    asked: Asked
    hidden_types: Collection[str]
    now: datetime
    met: dict[str, str] = field(default_factory=dict)  # key -> type, in the order of meeting
    hidden: dict[str, str] = field(default_factory=dict)
    truncated: bool = False


async def explore(read: Reader, asked: Asked) -> Graph:
    """The graph around the root, as far as the caller may see and the bounds allow."""
    hidden_types = await _unreadable(read)
    if asked.root.type in hidden_types:
        raise NotFound()
    known = await nodes.describe(read, [asked.root])
    if asked.root.key not in known:
        raise NotFound()
    walk = _Walk(asked, hidden_types, read.now, met={asked.root.key: asked.root.type})
    async with read.separate_reader() as aside:
        await _walk(aside, walk)
    found = known | await nodes.describe(read, _parsed(list(walk.met)[1:]))
    shown = {
        key: found[key] | {"key": key}
        for key in walk.met
        if key in found and (found[key]["stale"] or not asked.stale_only or key == asked.root.key)
    }
    edges = await _between(read, walk, list(shown))
    return Graph(
        nodes=list(shown.values()),
        edges=edges[:MOST_EDGES],
        truncated=walk.truncated or len(edges) > MOST_EDGES,
        omitted=_counted(walk.hidden),
    )


async def _unreadable(read: Reader) -> set[str]:
    """The types of node whose records the caller may not read; one question for all."""
    actor = identity.ActorRef.model_validate(
        {"type": read.actor.kind, "id": read.actor.id, "session_id": read.actor.session_id}
    )
    questions = [
        identity.Question(
            actor=actor,
            organization_id=read.organization_id,
            action=permission,
            resource=identity.ResourceRef(type=f"organization.{kind}"),
            channel="http",
            request_id=read.origin.request_id,
        )
        for kind, permission in nodes.READ.items()
    ]
    decisions = await read.port(identity.Decisions).check_many(questions=questions)
    return {
        kind for kind, made in zip(nodes.READ, decisions, strict=True) if made.decision != "allow"
    }


async def _walk(read: Reader, walk: _Walk) -> None:
    loop = get_running_loop()
    ends_at = loop.time() + MOST_MS / 1000
    frontier = list(walk.met)
    for _ in range(walk.asked.depth):
        left = int((ends_at - loop.time()) * 1000)
        if left <= 0 or walk.truncated or not frontier:
            walk.truncated |= bool(frontier)
            return
        try:
            # What takes longer than is left of the time is given up; what was met stays.
            await read.value(select(func.set_config("statement_timeout", str(left), True)))
            frontier = await _step(read, walk, frontier)
        except asyncpg.QueryCanceledError:
            walk.truncated = True
            return


async def _step(read: Reader, walk: _Walk, frontier: Sequence[str]) -> list[str]:
    """Meet the neighbours of the frontier; those that may not be seen are only counted."""
    around = _around(read, walk, frontier)
    if walk.hidden_types:
        unseen = select(around).where(among(around.c.type, walk.hidden_types)).distinct()
        for record in await read.records(unseen.limit(_MOST_HIDDEN)):
            walk.hidden[record["key"]] = record["type"]
    places = walk.asked.limit - len(walk.met)
    met = _keys(walk.met, "met")
    new = select(around).where(
        ~among(around.c.type, walk.hidden_types),
        ~select(met.c.key).where(met.c.key == around.c.key).exists(),
    )
    if walk.asked.node_types:
        new = new.where(among(around.c.type, walk.asked.node_types))
    # By bytes: a language's order of letters costs more here than all the rest.
    by = (around.c.type.collate("C"), around.c.key.collate("C"))
    in_order = new.group_by(around.c.key, around.c.type).order_by(*by).limit(places + 1)
    found = [(record["key"], record["type"]) for record in await read.records(in_order)]
    walk.truncated |= len(found) > places
    walk.met |= dict(found[:places])
    return [key for key, _ in found[:places]]


def _around(read: Reader, walk: _Walk, frontier: Sequence[str]) -> Subquery:
    """Key and type of whatever an edge that holds now leads to, in either direction."""
    begun = _keys(frontier, "frontier")
    ways = (
        (GraphEdge.from_key, GraphEdge.to_key, GraphEdge.to_type),
        (GraphEdge.to_key, GraphEdge.from_key, GraphEdge.from_type),
    )
    return union_all(
        *(
            select(there.label("key"), kind.label("type")).where(
                *_live(read, walk), here == begun.c.key
            )
            for here, there, kind in ways
        )
    ).subquery("around")


async def _between(read: Reader, walk: _Walk, keys: Sequence[str]) -> Sequence[Record]:
    """The edges among what is shown; one more than may be shown where there are more."""
    starts, ends = _keys(keys, "starts"), _keys(keys, "ends")
    shown = (
        GraphEdge.edge_type,
        GraphEdge.from_key,
        GraphEdge.to_key,
        GraphEdge.kind,
        GraphEdge.since,
        GraphEdge.until,
    )
    statement = select(*shown).where(
        *_live(read, walk), GraphEdge.from_key == starts.c.key, GraphEdge.to_key == ends.c.key
    )
    in_order = statement.order_by(*(one.collate("C") for one in shown[:3]))
    return await read.records(in_order.limit(MOST_EDGES + 1))


def _keys(keys: Collection[str], name: str) -> Any:
    """Keys as a table to join with: five hundred in an array would be compared one by one."""
    given = literal([*keys], pg.ARRAY(pg.TEXT))
    return func.unnest(given).table_valued("key", name=name).render_derived()


def _live(read: Reader, walk: _Walk) -> list[ColumnElement[bool]]:
    """An edge of this organization that holds now and is of a type asked for."""
    mine = [
        GraphEdge.organization_id == read.organization_id,
        or_(GraphEdge.until.is_(None), GraphEdge.until > walk.now),
    ]
    if walk.asked.edge_types:
        mine.append(among(GraphEdge.edge_type, map(str, walk.asked.edge_types)))
    return mine


def _parsed(keys: Sequence[str]) -> list[Node]:
    return [Node(kind, rest) for kind, _, rest in (key.partition(":") for key in keys)]


def _counted(hidden: dict[str, str]) -> dict[str, int]:
    kinds = list(hidden.values())
    return {kind: kinds.count(kind) for kind in sorted(set(kinds))}
