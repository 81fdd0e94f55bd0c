"""Retention of usage: records for 13 months, daily sums for five years (BIL-19)."""

from uuid import UUID

from dateutil.relativedelta import relativedelta

from thenga.domains.billing.services import catalogue
from thenga.domains.billing.tables import MeterKind
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.values.calendar import local_day

RECORDS, DAYS = relativedelta(months=13), relativedelta(years=5)
_PORTION = 20_000

compact_usage = job_stub("billing.compact_usage", form=Form.QUEUED, key="usage", as_system=True)

# By each organization's clock. The first condition uses the index.
_DUE = """
    SELECT DISTINCT r.organization_id FROM billing.usage_record r
    LEFT JOIN billing.clock_offset c ON c.organization_id = r.organization_id
    WHERE r.created_at < $1::timestamptz
            + (SELECT coalesce(max(ahead), '0') FROM billing.clock_offset)
        AND r.created_at < $1::timestamptz + coalesce(c.ahead, '0')
    LIMIT $2
"""
# Reported numbers are not summed: the largest of a day is kept.
_COMPACT = """
    WITH gone AS (
        DELETE FROM billing.usage_record WHERE organization_id = $2 AND (meter, key) IN (
            SELECT meter, key FROM billing.usage_record
            WHERE organization_id = $2 AND created_at < $3 LIMIT $4
        )
        RETURNING meter, operation, quantity,
            (occurred_at AT TIME ZONE 'Africa/Johannesburg')::date AS day
    ), summed AS (
        SELECT meter, operation, day, count(*) AS records, CASE WHEN meter = ANY ($5::text[])
            THEN max(quantity) ELSE sum(quantity) END::bigint AS quantity
        FROM gone GROUP BY meter, operation, day
    ), kept AS (
        INSERT INTO billing.usage_day AS known (id, created_at, updated_at, version,
            organization_id, meter, operation, day, quantity, records)
        SELECT gen_random_uuid(), $1, $1, 1, $2, meter, operation, day, quantity, records
        FROM summed
        ON CONFLICT (organization_id, meter, operation, day) DO UPDATE
        SET quantity = CASE WHEN known.meter = ANY ($5::text[])
            THEN greatest(known.quantity, excluded.quantity)
            ELSE known.quantity + excluded.quantity END,
            records = known.records + excluded.records, updated_at = $1,
            version = known.version + 1
    )
    SELECT count(*) AS records FROM gone
"""
_FORGET = """
    DELETE FROM billing.usage_day WHERE (organization_id, id) IN (
        SELECT organization_id, id FROM billing.usage_day WHERE day < $1 LIMIT $2)
"""


async def due_for_compaction(work: Work, *, limit: int) -> list[UUID]:
    """Organizations with records older than 13 months."""
    found = await work.query(_DUE, work.now - RECORDS, limit)
    return [record["organization_id"] for record in found]


async def compact(work: Work, *, portion: int = _PORTION) -> int:
    """Compact old records of one organization into daily sums, in batches."""
    kinds = await catalogue.meter_kinds(work)
    reported = [key for key, kind in kinds.items() if kind is MeterKind.TOLD]
    before = work.now - RECORDS
    here = (work.now, work.organization_id, before, portion, reported)
    folded = int((await work.query(_COMPACT, *here))[0]["records"])
    if folded == portion:
        work.enqueue(compact_usage)
    return folded


async def delete_old_days(work: Work) -> None:
    """Delete daily sums after five years, like the documents they explain."""
    await work.run(_FORGET, local_day(work.now) - DAYS, _PORTION)
