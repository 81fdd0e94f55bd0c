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

OrganizationId = Annotated[UUID, Path(alias="organizationId")]

_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_OURS = "|".join(["organization", *graph.READ])
_OUTSIDE = "[a-z]{3,20}\\.[a-z][A-Za-z]{1,39}"
_TYPES = f"(?:{_OURS}|{_OUTSIDE})"
_EDGES = f"(?:{'|'.join(EdgeType)})"
Root = Annotated[str, matching(f"^{_TYPES}:{_UUID}(?::[A-Za-z]{{1,40}})?$", 140)]
NodeTypes = Annotated[str, matching(f"^{_TYPES}(?:,{_TYPES}){{0,19}}$", 1300)]
EdgeTypes = Annotated[str, matching(f"^{_EDGES}(?:,{_EDGES}){{0,11}}$", 250)]


class CitedView(View):
    domain: str
    type: str
    id: str


class StaleView(View):
    """Why something cannot be relied on as it stands."""

    reason: Annotated[
        str,
        Field(
            description=(
                "`not_confirmed`, `source_moved`, `evidence_expired`, `conflicted` or "
                "`target_erased`."
            )
        ),
    ]
    since: datetime | None


class NodeView(View):
    """A thing in the graph."""

    key: Annotated[str, Field(description="`type:id`; edges name their ends by it.")]
    reference: CitedView
    label: Annotated[str | None, Field(description="Null for what another domain keeps.")]
    version: int | None
    provenance: Annotated[dict[str, Any] | None, Field(description="Who said it, and when.")]
    verification_status: str | None
    stale: StaleView | None


class EdgeView(View):
    """That one thing hangs on another."""

    start: Annotated[str, Field(alias="from")]
    end: Annotated[str, Field(alias="to")]
    type: EdgeType
    provenance: Annotated[dict[str, Any], Field(description="Who said it, and when.")]
    since: datetime
    until: datetime | None
    stale: Annotated[StaleView | None, Field(description="As the end that is stale.")]

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
    """What hangs on what around one thing, nearest first."""

    as_of: datetime
    root: str
    depth: int
    nodes: list[NodeView]
    edges: Annotated[list[EdgeView], Field(description="Between the nodes shown.")]
    truncated: Annotated[
        bool, Field(description="There is more than fits into the bounds; the farthest is left out")
    ]
    omitted: Annotated[
        dict[str, int],
        Field(description="By type: how many nodes were met that you may not read."),
    ]


async def _walking(
    organization_id: OrganizationId,
    root: Annotated[
        Root | None, Query(description="Where to begin, as `type:id`; the company if left out.")
    ] = None,
    depth: Annotated[int, Query(ge=1, le=3, description="How many edges away.")] = 2,
    node_types: Annotated[
        NodeTypes | None,
        Query(alias="nodeTypes", description="Walk only over these, separated by commas."),
    ] = None,
    edge_types: Annotated[
        EdgeTypes | None,
        Query(alias="edgeTypes", description="Walk only along these, separated by commas."),
    ] = None,
    stale_only: Annotated[
        bool, Query(alias="staleOnly", description="Show only what cannot be relied on.")
    ] = False,
    limit: Annotated[int, Query(ge=1, le=graph.MOST_NODES, description="How many nodes.")] = 200,
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
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.GRAPH_READ)],
    asked: Annotated[Asked, Depends(_walking)],
) -> GraphView:
    """How the company's people, places, offers, proof and facts hang together.

    The walk begins at `root` and goes both ways along the edges. It ends at 500 nodes, 2,000 edges
    or 300 milliseconds: then `truncated` is true and the nearest are shown. What you may not read
    is not shown and not walked through, only counted in `omitted`.
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
    key: str
    weight: int
    value: Annotated[str | None, Field(description="0 to 100; null where nothing is known.")]
    why: Annotated[str, Field(description="What the value is made of, for a person.")]


class PenaltyView(View):
    code: str
    subjects: list[CitedView]
    points: str


class SubjectView(View):
    """What a gap is about; `id` is null where the thing is not there yet."""

    domain: str
    type: str
    id: str | None


class GapView(View):
    """Something that can be mended."""

    code: str
    subject: SubjectView
    gain: Annotated[str, Field(description="Points that `scoreExact` rises by when it is mended.")]
    effort_minutes: Annotated[int, Field(description="How long it takes about.")]

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
    """How the score differs from that of so many days ago; null where none was kept."""

    d7: Decimal | None
    d30: Decimal | None
    d90: Decimal | None


class PointView(View):
    day: date
    score: Decimal
    band: str


class HealthView(View):
    """How complete, proven and fresh the company's facts are. It refuses nobody anything."""

    score: Annotated[str, Field(description="0 to 100, rounded half-up to one place.")]
    score_exact: str
    band: Annotated[str, Field(description="`strong`, `fair`, `weak` or `poor`.")]
    formula_version: int
    as_of: datetime
    partial: Annotated[bool, Field(description="A part is not known and was left out.")]
    components: list[ComponentView]
    penalties: list[PenaltyView]
    gaps: Annotated[list[GapView], Field(description="Most gain a minute first; 50 at most.")]
    next_best_action: GapView | None
    trend: TrendView
    series: Annotated[
        list[PointView] | None, Field(description="Day by day, where `trendDays` was asked for.")
    ]


@router.get("/organizations/{organizationId}/health")
async def get_health(
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.HEALTH_READ)],
    trend_days: Annotated[
        int | None, Query(alias="trendDays", ge=7, le=400, description="Adds `series`.")
    ] = None,
) -> HealthView:
    """The company's health now, what it is made of, and what to mend next.

    Each gap says by how much the score rises when it is mended; that is reckoned, not guessed.
    """
    seen = await health.current_health(read, trend_days=trend_days)
    found = [GapView.of(gap, organization_id) for gap in health.gaps(seen.company)[:50]]
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
        penalties=_penalties(seen.company, organization_id),
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
