"""What hangs on what: the edges that each record means, written with its change (ORG-30).

A small table says for each type of record how it hangs on the company and which of its fields
refer to something. An edge belongs to the record that says it: when the record no longer says it,
the edge ends; it is not taken away.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from thenga.domains.organization.tables import Record
from thenga.kernel.db.work import Work
from thenga.kernel.values.ids import new_id


class EdgeType(StrEnum):
    DIRECTS = "directs"
    OWNS = "owns"
    LOCATED_AT = "located_at"
    OFFERS = "offers"
    CLAIMS = "claims"
    PROVES = "proves"
    PERFORMED_WITH = "performed_with"
    CONFIRMED_BY = "confirmed_by"
    EVIDENCED_BY = "evidenced_by"
    DERIVED_FROM = "derived_from"
    CONFLICTS_WITH = "conflicts_with"
    WORKS_FOR = "works_for"


@dataclass(frozen=True, slots=True)
class Node:
    """One end of an edge: `key` is `type:id`; what another domain keeps has a type with a dot."""

    type: str
    id: str

    @property
    def key(self) -> str:
        return f"{self.type}:{self.id}"


@dataclass(frozen=True, slots=True)
class Edge:
    type: EdgeType
    start: Node
    end: Node


# The company does it to the record.
HELD: Mapping[str, EdgeType] = {
    "address": EdgeType.LOCATED_AT,
    "service": EdgeType.OFFERS,
    "product": EdgeType.OFFERS,
    "capability": EdgeType.CLAIMS,
    "equipment": EdgeType.OWNS,
    "fleetAsset": EdgeType.OWNS,
}
# The record does it to the company.
SERVES: Mapping[str, EdgeType] = {
    "director": EdgeType.DIRECTS,
    "contact": EdgeType.WORKS_FOR,
    "organizationUser": EdgeType.WORKS_FOR,
    "pastProject": EdgeType.PERFORMED_WITH,
}
# The field of a record that names another record, the edge, and the type at its end.
LINKS: Mapping[str, tuple[EdgeType, str]] = {
    "location_address_id": (EdgeType.LOCATED_AT, "address"),
}
# As above, and the edge leads from the other one to the record.
LINKED_FROM: Mapping[str, tuple[EdgeType, str]] = {
    "past_project_id": (EdgeType.CONFIRMED_BY, "pastProject"),
}
# Fields that hold references: of another domain they are evidence, of our own they prove.
REFERENCES = ("evidence_refs", "document_refs")
# Whatever has come to one of these no longer hangs on anything.
OVER = frozenset({"resigned", "left", "withdrawn", "discontinued", "retired"})

_FIELDS = frozenset({"archived_at", "status", "contract_ref", *LINKS, *LINKED_FROM, *REFERENCES})


def company(organization_id: UUID) -> Node:
    return Node("organization", str(organization_id))


def of_reference(reference: Mapping[str, Any]) -> Node:
    """The node of a reference; ours go by their type alone."""
    kind = str(reference["type"])
    if reference["domain"] != "organization":
        kind = f"{reference['domain']}.{kind}"
    return Node(kind, str(reference["id"]))


def matters(changed: Iterable[str]) -> bool:
    """Whether a change of these fields can change what the record hangs on."""
    return not _FIELDS.isdisjoint(changed)


def of_record(row: Record, record_type: str, source: Mapping[str, Any] | None) -> list[Edge]:
    """What a record hangs on now; one that is over hangs on nothing."""
    values = row.__dict__
    if row.archived_at is not None or values.get("status") in OVER:
        return []
    here = Node(record_type, str(row.id))
    return [*_own(here, row.organization_id, values), *_referred(here, values, source)]


def _own(here: Node, organization_id: UUID, values: Mapping[str, Any]) -> Iterator[Edge]:
    home = company(organization_id)
    if here.type in HELD:
        yield Edge(HELD[here.type], home, here)
    if here.type in SERVES:
        yield Edge(SERVES[here.type], here, home)
    for field, (edge, other) in LINKS.items():
        if values.get(field) is not None:
            yield Edge(edge, here, Node(other, str(values[field])))
    for field, (edge, other) in LINKED_FROM.items():
        if values.get(field) is not None:
            yield Edge(edge, Node(other, str(values[field])), here)


def _referred(
    here: Node, values: Mapping[str, Any], source: Mapping[str, Any] | None
) -> Iterator[Edge]:
    for field in REFERENCES:
        for reference in values.get(field) or ():
            there = of_reference(reference)
            ours = "." not in there.type
            yield (
                Edge(EdgeType.PROVES, there, here)
                if ours
                else Edge(EdgeType.EVIDENCED_BY, here, there)
            )
    for origin in (values.get("contract_ref"), source):
        if origin and {"domain", "type", "id"} <= origin.keys():
            yield Edge(EdgeType.DERIVED_FROM, here, of_reference(origin))


def claimed(fact: Node, organization_id: UUID) -> Edge:
    """The company says so."""
    return Edge(EdgeType.CLAIMS, company(organization_id), fact)


def denied(fact: Node, statement_id: UUID) -> Edge:
    """Another statement or check says otherwise."""
    return Edge(EdgeType.CONFLICTS_WITH, fact, Node("statement", str(statement_id)))


def taken_from(fact: Node, source: Mapping[str, Any] | None, *, checked: bool) -> Iterator[Edge]:
    """Where a statement was taken from, or what a check looked at, where that is a reference."""
    for named in (source, *(source or {}).values()):
        if isinstance(named, Mapping) and {"domain", "type", "id"} <= named.keys():
            kind = EdgeType.EVIDENCED_BY if checked else EdgeType.DERIVED_FROM
            yield Edge(kind, fact, of_reference(named))


async def save_edges(
    work: Work, owner: Node, edges: Iterable[Edge], *, kind: str, first: bool = False
) -> None:
    """Write what a record hangs on now; what it no longer says ends with this change."""
    now = {(edge.type.value, edge.start.key, edge.end.key): edge for edge in edges}
    listed = list(now.values())
    await work.run(
        _FIRST if first else _KEEP,
        work.organization_id,
        owner.key,
        kind,
        work.now,
        [new_id() for _ in listed],
        [edge.type.value for edge in listed],
        [edge.start.key for edge in listed],
        [edge.start.type for edge in listed],
        [edge.end.key for edge in listed],
        [edge.end.type for edge in listed],
    )
    await _note(work, {n.key: n for edge in listed for n in (edge.start, edge.end)}.values())


async def _note(work: Work, nodes: Iterable[Node]) -> None:
    """Remember what other domains keep and a record refers to."""
    outside = [node for node in nodes if "." in node.type]
    if not outside:
        return
    kinds = [node.type.partition(".") for node in outside]
    await work.run(
        _NOTE,
        work.organization_id,
        work.now,
        [new_id() for _ in outside],
        [node.key for node in outside],
        [domain for domain, _, _ in kinds],
        [kind for _, _, kind in kinds],
        [node.id for node in outside],
    )


# One statement, so that a record with thirty references costs one round trip. The graph is made
# of what the records say, whose own changes are told in the audit; it has no audit of its own.
_GIVEN = """
    WITH given AS (
        SELECT * FROM unnest($5::uuid[], $6::text[], $7::text[], $8::text[], $9::text[],
                             $10::text[])
            AS said(id, edge_type, from_key, from_type, to_key, to_type)
    )"""
_ENDED = """, ended AS (
        UPDATE organization.graph_edge AS edge
        SET until = $4, updated_at = $4, version = edge.version + 1
        WHERE edge.organization_id = $1 AND edge.owner_key = $2 AND edge.until IS NULL
            AND NOT EXISTS (
                SELECT 1 FROM given
                WHERE given.edge_type = edge.edge_type AND given.from_key = edge.from_key
                    AND given.to_key = edge.to_key
            )
    )"""
_ADDED = """
    INSERT INTO organization.graph_edge AS edge
        (id, organization_id, created_at, updated_at, version, owner_key, kind, since,
         edge_type, from_key, from_type, to_key, to_type)
    SELECT id, $1, $4, $4, 1, $2, $3, $4, edge_type, from_key, from_type, to_key, to_type
    FROM given
    ON CONFLICT (organization_id, owner_key, edge_type, from_key, to_key) DO UPDATE
    SET until = NULL, since = $4, kind = $3, updated_at = $4, version = edge.version + 1
    WHERE edge.until IS NOT NULL
"""
_FIRST = _GIVEN + _ADDED  # a new record has said nothing before
_KEEP = _GIVEN + _ENDED + _ADDED

_NOTE = """
    INSERT INTO organization.external_ref
        (id, organization_id, created_at, updated_at, version, node_key, domain, ref_type, ref_id)
    SELECT id, $1, $2, $2, 1, node_key, domain, ref_type, ref_id
    FROM unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[])
        AS said(id, node_key, domain, ref_type, ref_id)
    ON CONFLICT (organization_id, node_key) DO NOTHING
"""
