"""Match runs: one tender with every company, in chunks of 500 as the system (OPP-34).

The rows of other organizations are reached by constant statements under the system login only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from thenga.domains.opportunity import settings
from thenga.domains.opportunity.services.matching.features import ProfileFeatures
from thenga.domains.opportunity.services.matching.matches import (
    Computed,
    compute,
    weights_in_force,
)
from thenga.domains.opportunity.services.matching.tenders import tender_features
from thenga.domains.opportunity.tables import MatchRun, MatchRunStatus, TenderOpportunity
from thenga.kernel.db import configuration
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.errors import NotFound
from thenga.kernel.values.ids import new_id

CHUNK = 500

begin_matching = job_stub(
    "opportunity.begin_matching",
    form=Form.QUEUED,
    key="{tender_opportunity_id}:{occasion}",
    as_system=True,
)
match_chunk = job_stub(
    "opportunity.match_chunk", form=Form.QUEUED, key="{run_id}:{chunk}", as_system=True
)
alert_company = job_stub(
    "opportunity.alert_company",
    form=Form.QUEUED,
    key="{tender_opportunity_id}:{material_revision}",
)

_BOUNDS = """
    SELECT organization_id FROM (
        SELECT organization_id, row_number() OVER (ORDER BY organization_id) AS place
        FROM opportunity.match_profile
    ) AS placed WHERE place % $1 = 0 ORDER BY organization_id
"""
_PROFILES = """
    SELECT profile.organization_id, profile.features, profile.revision, ahead
    FROM opportunity.match_profile AS profile
    LEFT JOIN opportunity.clock_offset USING (organization_id)
    WHERE profile.matching_on AND revision > 0
        AND ($1::uuid IS NULL OR organization_id > $1)
        AND ($2::uuid IS NULL OR organization_id <= $2)
"""
_ATTENDED = """
    SELECT attended.organization_id, briefing_id, state
    FROM opportunity.attendance AS attended
    JOIN opportunity.briefing AS held
        ON held.id = briefing_id AND held.starts_at = attended.starts_at
    WHERE attended.tender_opportunity_id = $1
        AND ($2::uuid IS NULL OR attended.organization_id > $2)
        AND ($3::uuid IS NULL OR attended.organization_id <= $3)
"""
_HITS = """
    SELECT DISTINCT organization_id FROM opportunity.watchlist_hit
    WHERE tender_opportunity_id = $1 AND material_revision = $2
        AND ($3::uuid IS NULL OR organization_id > $3)
        AND ($4::uuid IS NULL OR organization_id <= $4)
"""
_STORED = "SELECT organization_id FROM opportunity.match WHERE tender_opportunity_id = $1"
# A match made from newer inputs stays.
_STORE = """
    WITH made AS (
        SELECT * FROM jsonb_to_recordset($1) AS made(
            id uuid, organization_id uuid, score_tenths int, band text, coverage_hundredths int,
            eligible boolean, factors jsonb, gates jsonb, failed_gates text[],
            profile_revision int, below boolean
        )
    )
    INSERT INTO opportunity.match AS known (
        id, organization_id, created_at, updated_at, version, tender_opportunity_id, score_tenths,
        band, coverage_hundredths, eligible, factors, gates, failed_gates, weights_version,
        opportunity_version, match_revision, profile_revision, computed_at, below_since
    )
    SELECT id, organization_id, $2::timestamptz, $2::timestamptz, 1, $3::uuid, score_tenths, band,
        coverage_hundredths, eligible, factors, gates, failed_gates, $4::int, $5::bigint, $6::int,
        profile_revision, $2::timestamptz, CASE WHEN below THEN $2::timestamptz END
    FROM made
    ON CONFLICT (organization_id, tender_opportunity_id) DO UPDATE SET
        updated_at = excluded.updated_at, version = known.version + 1,
        score_tenths = excluded.score_tenths, band = excluded.band,
        coverage_hundredths = excluded.coverage_hundredths, eligible = excluded.eligible,
        factors = excluded.factors, gates = excluded.gates, failed_gates = excluded.failed_gates,
        weights_version = excluded.weights_version,
        opportunity_version = excluded.opportunity_version,
        match_revision = excluded.match_revision, profile_revision = excluded.profile_revision,
        computed_at = excluded.computed_at,
        below_since = coalesce(excluded.below_since, known.below_since)
    WHERE known.match_revision <= excluded.match_revision
        AND known.profile_revision <= excluded.profile_revision
"""
_COUNT = """
    UPDATE opportunity.match_run SET
        done = done + 1,
        status = CASE WHEN done + 1 >= total THEN 'succeeded' ELSE 'running' END,
        finished_at = CASE WHEN done + 1 >= total THEN $2::timestamptz END,
        counts = jsonb_build_object(
            'scored', coalesce((counts ->> 'scored')::int, 0) + $3::int,
            'alerts', coalesce((counts ->> 'alerts')::int, 0) + $4::int
        ),
        updated_at = $2, version = version + 1
    WHERE id = $1
"""


@dataclass(frozen=True, slots=True)
class Chunk:
    """The organizations of one chunk: those above one and up to another."""

    run_id: UUID
    tender_opportunity_id: UUID
    above: UUID | None
    up_to: UUID | None


async def request_all(work: Work, tender_id: UUID) -> MatchRun:
    """Staff have a shared tender matched again with every company."""
    tender = await work.get(TenderOpportunity, tender_id)
    if not tender.shared or tender.organization_id != work.organization_id:
        raise NotFound()
    run = await work.add(_run(tender, alerts=True))
    work.enqueue(
        begin_matching,
        tender_opportunity_id=tender.id,
        occasion=str(run.id),
        run_id=run.id,
        alerts=True,
    )
    return run


async def begin(work: Work, tender: TenderOpportunity, run_id: UUID | None, *, alerts: bool) -> int:
    """Cut the companies into chunks and have each matched."""
    bounds = [record[0] for record in await work.query(_BOUNDS, CHUNK)]
    if run_id is None:
        run_id = (await work.add(_run(tender, alerts=alerts))).id
    edges = [None, *bounds, None]
    total = len(edges) - 1
    await work.run(
        "UPDATE opportunity.match_run SET total = $2, status = 'running' WHERE id = $1",
        run_id,
        total,
    )
    for chunk in range(total):
        work.enqueue(
            match_chunk,
            run_id=run_id,
            chunk=chunk,
            tender_opportunity_id=tender.id,
            above=edges[chunk],
            up_to=edges[chunk + 1],
        )
    return total


async def run_chunk(work: Work, chunk: Chunk) -> None:
    """Match, store and alert the companies of one chunk; safe to run again."""
    tender = await work.get(TenderOpportunity, chunk.tender_opportunity_id)
    run = await work.query("SELECT alerts FROM opportunity.match_run WHERE id = $1", chunk.run_id)
    asked = await tender_features(work, tender)
    weights, number = await weights_in_force(work)
    attended = await _attended(work, chunk) if asked.briefings else {}
    scored = [
        _scored(
            record,
            compute(
                asked,
                ProfileFeatures.of_row(record["features"]),
                attended.get(record["organization_id"], {}),
                weights,
                now=_now(work.now, record["ahead"]),
            ),
        )
        for record in await work.query(_PROFILES, chunk.above, chunk.up_to)
    ]
    # Below the floor only what is stored already is kept up to date.
    floor = await configuration.value(work, settings.STORE_FLOOR)
    stored = {record[0] for record in await work.query(_STORED, tender.id)}
    kept = [one.row() for one in scored if one.tenths >= floor * 10 or one.company in stored]
    await work.run(_STORE, kept, work.now, tender.id, number, tender.version, tender.match_revision)
    told = 0
    if run and run[0]["alerts"]:
        wanted = {one.company for one in scored if one.is_wanted}
        told = await _enqueue_alerts(work, tender, chunk, wanted)
    await work.run(_COUNT, chunk.run_id, work.now, len(scored), told)


@dataclass(frozen=True, slots=True)
class _Scored:
    """A company with its match, before it is stored."""

    company: UUID
    profile_revision: int
    computed: Computed
    is_wanted: bool

    @property
    def tenths(self) -> int:
        return self.computed.score.tenths

    def row(self) -> dict[str, Any]:
        return self.computed.columns() | {
            "id": str(new_id()),
            "organization_id": str(self.company),
            "profile_revision": self.profile_revision,
            "below": not self.is_wanted,
        }


def _scored(record: Mapping[str, Any], computed: Computed) -> _Scored:
    wanted = computed.is_alerted_from(record["features"]["min_score"])
    return _Scored(record["organization_id"], record["revision"], computed, wanted)


async def _enqueue_alerts(
    work: Work, tender: TenderOpportunity, chunk: Chunk, matched: set[UUID]
) -> int:
    hits = await work.query(_HITS, tender.id, tender.material_revision, chunk.above, chunk.up_to)
    companies = sorted(matched | {record[0] for record in hits})
    for organization_id in companies:
        work.enqueue(
            alert_company,
            organization_id=organization_id,
            tender_opportunity_id=tender.id,
            material_revision=tender.material_revision,
        )
    return len(companies)


async def _attended(work: Work, chunk: Chunk) -> dict[UUID, dict[UUID, str]]:
    found: dict[UUID, dict[UUID, str]] = {}
    for record in await work.query(
        _ATTENDED, chunk.tender_opportunity_id, chunk.above, chunk.up_to
    ):
        found.setdefault(record[0], {})[record[1]] = record[2]
    return found


def _run(tender: TenderOpportunity, *, alerts: bool) -> MatchRun:
    return MatchRun(
        organization_id=tender.organization_id,
        tender_opportunity_id=tender.id,
        scope="all",
        alerts=alerts,
        material_revision=tender.material_revision,
        match_revision=tender.match_revision,
        status=MatchRunStatus.QUEUED,
        counts={},
    )


def _now(base: datetime, ahead: timedelta | None) -> datetime:
    return base if ahead is None else base + ahead
