"""What the company's records mean together: the graph of what hangs on what, and its health."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Path, Query
from pydantic import Field

from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import graph, health, records
from thenga.domains.organization.services.graph import Asked
from thenga.domains.organization.services.health import Gap
from thenga.domains.organization.services.records import EdgeType, Node
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.values.fields import matching

router = make_router("Organization / Intelligence")


_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_OURS = "|".join(["organization", *graph.READ])
_OUTSIDE = "[a-z]{3,20}\\.[a-z][A-Za-z]{1,39}"
_TYPES = f"(?:{_OURS}|{_OUTSIDE})"
_RECORDS = "|".join(["organization", *(kind for kind in graph.READ if kind != graph.FACT)])
_KEY = ":[A-Za-z]{1,40}"
_NODE = "|".join(
    (
        f"(?:{_RECORDS}):{_UUID}",
        f"{graph.FACT}:{_UUID}{_KEY}",
        f"{_OUTSIDE}:{_UUID}(?:{_KEY})?",
    )
)
_EDGES = f"(?:{'|'.join(EdgeType)})"
Root = Annotated[str, matching(f"^(?:{_NODE})$", 140)]
NodeTypes = Annotated[str, matching(f"^{_TYPES}(?:,{_TYPES}){{0,19}}$", 1300)]
EdgeTypes = Annotated[str, matching(f"^{_EDGES}(?:,{_EDGES}){{0,11}}$", 250)]


class CitedView(View):
    """Reference to a record."""

    domain: str
    type: str
    id: str


class StaleView(View):
    """Why a node cannot be relied on."""

    reason: Annotated[
        str,
        Field(
            description=(
                "Reason: `not_confirmed`, `source_moved`, `evidence_expired`, "
                "`conflicted` or `target_erased`."
            )
        ),
    ]
    since: datetime | None


class NodeView(View):
    """A node of the graph."""

    key: Annotated[str, Field(description="Key of the node, as `type:id`. Edges refer to it.")]
    reference: CitedView
    label: Annotated[str | None, Field(description="Label. Null for records of other domains.")]
    version: int | None
    provenance: Annotated[dict[str, Any] | None, Field(description="Source and time.")]
    verification_status: str | None
    stale: StaleView | None


class EdgeView(View):
    """A connection between two nodes of the graph."""

    start: Annotated[str, Field(alias="from")]
    end: Annotated[str, Field(alias="to")]
    type: EdgeType
    provenance: Annotated[dict[str, Any], Field(description="Source and time.")]
    since: datetime
    until: datetime | None
    stale: Annotated[
        StaleView | None, Field(description="Why the connected node is stale, if it is.")
    ]

    @classmethod
    def of(cls, edge: Any, stale: Any) -> "EdgeView":
        return cls.shown(
            {
                "start": edge["from_key"],
                "end": edge["to_key"],
                "type": edge["edge_type"],
                "provenance": {"kind": edge["kind"], "recordedAt": edge["since"]},
                "since": edge["since"],
                "until": edge["until"],
                "stale": stale,
            }
        )


class GraphView(View):
    """Nodes and edges around one node, nearest first."""

    as_of: datetime
    root: str
    depth: int
    nodes: list[NodeView]
    edges: Annotated[list[EdgeView], Field(description="Edges between the returned nodes.")]
    truncated: Annotated[
        bool, Field(description="Whether the result was cut off. The farthest nodes are left out.")
    ]
    omitted: Annotated[
        dict[str, int],
        Field(description="Number of nodes that you cannot read, by type."),
    ]


async def _walking(
    organization_id: Annotated[UUID, Path(alias="organizationId")],
    root: Annotated[
        Root | None, Query(description="Node to start from, as `type:id`. Defaults to the company.")
    ] = None,
    depth: Annotated[
        int, Query(ge=1, le=3, description="Maximum number of edges from the root.")
    ] = 2,
    node_types: Annotated[
        NodeTypes | None,
        Query(alias="nodeTypes", description="Node types to follow, separated by commas."),
    ] = None,
    edge_types: Annotated[
        EdgeTypes | None,
        Query(alias="edgeTypes", description="Edge types to follow, separated by commas."),
    ] = None,
    stale_only: Annotated[
        bool, Query(alias="staleOnly", description="Show only nodes that are stale.")
    ] = False,
    limit: Annotated[
        int, Query(ge=1, le=graph.MOST_NODES, description="Maximum number of nodes.")
    ] = 200,
) -> Asked:
    return Asked(
        root=records.company(organization_id) if root is None else Node(*root.split(":", 1)),
        depth=depth,
        node_types=node_types.split(",") if node_types else (),
        edge_types=[EdgeType(one) for one in edge_types.split(",")] if edge_types else (),
        stale_only=stale_only,
        limit=limit,
    )


@router.get("/organizations/{organizationId}/intelligence-graph")
async def get_intelligence_graph(
    read: Annotated[Reader, reads(Permission.GRAPH_READ)],
    asked: Annotated[Asked, Depends(_walking)],
) -> GraphView:
    """Retrieve how the company's people, places, offers, evidence and facts are connected.

    The search starts at `root` and follows edges in both directions. It stops at 500 nodes, 2,000
    edges or 300 milliseconds: then `truncated` is true and the nearest nodes are returned. Nodes
    that you cannot read are counted in `omitted` and not followed.
    """
    found = await graph.explore(read, asked)
    stale = {node["key"]: node["stale"] for node in found.nodes}
    return GraphView.shown(
        {
            "as_of": read.now,
            "root": asked.root.key,
            "depth": asked.depth,
            "nodes": [NodeView.shown(node) for node in found.nodes],
            "edges": [
                EdgeView.of(edge, stale[edge["to_key"]] or stale[edge["from_key"]])
                for edge in found.edges
            ],
            "truncated": found.truncated,
            "omitted": found.omitted,
        }
    )


class ComponentView(View):
    """A component of the health score."""

    key: str
    weight: int
    value: Annotated[
        str | None, Field(description="Value from 0 to 100. Null if nothing is known.")
    ]
    why: Annotated[str, Field(description="Explanation of the value.")]


class PenaltyView(View):
    """A deduction from the health score."""

    code: str
    subjects: list[CitedView]
    points: str


class SubjectView(View):
    """Subject of a gap. `id` is null if it does not exist yet."""

    domain: str
    type: str
    id: str | None


class GapView(View):
    """A gap that can be fixed to improve the score."""

    code: str
    subject: SubjectView
    gain: Annotated[str, Field(description="Points that `scoreExact` gains when the gap is fixed.")]
    effort_minutes: Annotated[int, Field(description="Estimated time to fix it, in minutes.")]

    @classmethod
    def of(cls, gap: Gap, organization_id: UUID) -> "GapView":
        one = f"{organization_id}:{gap.id}" if gap.kind == "fact" else gap.id
        return cls(
            code=gap.code,
            subject=SubjectView(domain="organization", type=gap.kind, id=one),
            gain=health.shown(gap.gain),
            effort_minutes=gap.minutes,
        )


class TrendView(View):
    """Change of the score over a number of days. Null if no earlier score is stored."""

    d7: Decimal | None
    d30: Decimal | None
    d90: Decimal | None


class PointView(View):
    """Health score of one day."""

    day: date
    score: Decimal
    band: str


class HealthView(View):
    """How complete, verified and up to date the company's facts are. It restricts nothing."""

    score: Annotated[
        str, Field(description="Score from 0 to 100, rounded half up to one decimal place.")
    ]
    score_exact: str
    band: Annotated[
        str, Field(description="Band of the score: `strong`, `fair`, `weak` or `poor`.")
    ]
    formula_version: int
    as_of: datetime
    partial: Annotated[bool, Field(description="Whether a component is unknown and was left out.")]
    components: list[ComponentView]
    penalties: list[PenaltyView]
    gaps: Annotated[
        list[GapView], Field(description="Gaps to fix, by most gain per minute. At most 50.")
    ]
    next_best_action: GapView | None
    trend: TrendView
    series: Annotated[
        list[PointView] | None, Field(description="Score by day, if `trendDays` was sent.")
    ]


@router.get("/organizations/{organizationId}/health")
async def get_health(
    read: Annotated[Reader, reads(Permission.HEALTH_READ)],
    trend_days: Annotated[
        int | None,
        Query(alias="trendDays", ge=7, le=400, description="Number of days to return in `series`."),
    ] = None,
) -> HealthView:
    """Retrieve the health score of the company, its components and what to improve next.

    Each gap states the exact number of points that fixing it adds to the score.
    """
    seen = await health.current_health(read, trend_days=trend_days)
    found = [GapView.of(gap, read.organization_id) for gap in health.gaps(seen.company)[:50]]
    return HealthView(
        score=health.shown(seen.score, 1),
        score_exact=health.shown(seen.score),
        band=health.band(seen.score),
        formula_version=health.VERSION,
        as_of=read.now,
        partial=seen.company.readiness is None,
        components=[
            ComponentView(
                key=one.key,
                weight=one.weight,
                value=None if one.value is None else health.shown(one.value),
                why=one.why,
            )
            for one in health.components(seen.company)
        ],
        penalties=_penalties(seen.company, read.organization_id),
        gaps=found,
        next_best_action=next(iter(found), None),
        trend=TrendView.model_validate(seen.trend),
        series=None if seen.series is None else [PointView.model_validate(p) for p in seen.series],
    )


def _penalties(company: health.Company, organization_id: UUID) -> list[PenaltyView]:
    open_ones = [fact.key for fact in company.facts if fact.conflicted]
    if not open_ones:
        return []
    subjects = [
        CitedView(domain="organization", type="fact", id=f"{organization_id}:{key}")
        for key in open_ones
    ]
    points = f"{health.penalty(company)}.0"
    return [PenaltyView(code="conflict_open", subjects=subjects, points=points)]
