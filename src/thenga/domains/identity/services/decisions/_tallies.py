"""All decisions are tallied by shape, in the process, and written every five seconds (IDN-36)."""

import hashlib
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson

from thenga.domains.identity.services.buffered_writes import gathering
from thenga.domains.identity.services.decisions._facts import Facts, Question
from thenga.domains.identity.services.decisions._outcome import Outcome
from thenga.domains.identity.services.decisions._stages import context
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db import step_up
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

EVERY = timedelta(seconds=5)
MOST_SHAPES = 10_000
_QUARTER = 15
_FRESH = int(step_up.MAX_AGE.total_seconds())

# Organization, hour, actor, action, reason, and the context as sorted pairs.
Shape = tuple[UUID | None, datetime, str, UUID | None, str, str, tuple[tuple[str, Any], ...]]
Counted = list[Any]  # how often, and the last decision that is kept; changed in place

_ADD = """
    INSERT INTO {table} (id, created_at, updated_at, version, {holder} hour, shape, actor_kind,
        actor_id, action, resource_type, reason_code, context, count, last_decision_id)
    SELECT t.id, $1, $1, 1, {value} t.hour, t.shape, t.actor_kind, t.actor_id, t.action,
        t.resource_type, t.reason_code, t.context::jsonb, t.count, t.last_decision_id
    FROM unnest($2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::uuid[], $7::text[],
                $8::text[], $9::text[], $10::text[], $11::bigint[], $12::uuid[])
        AS t(id, hour, shape, actor_kind, actor_id, action, resource_type, reason_code, context,
             count, last_decision_id)
    ON CONFLICT ({key} hour, shape) DO UPDATE SET
        count = {name}.count + excluded.count, updated_at = excluded.updated_at,
        version = {name}.version + 1, last_decision_id = excluded.last_decision_id
"""
_IN_TENANT = _ADD.format(
    table="identity.decision_tally",
    name="decision_tally",
    holder="organization_id,",
    value="$13::uuid,",
    key="organization_id,",
)
_ELSEWHERE = _ADD.format(
    table="identity.platform_tally", name="platform_tally", holder="", value="", key=""
)


def note(
    host: Host,
    facts: Facts,
    question: Question,
    outcome: Outcome,
    *,
    decided_at: datetime,
    decision_id: UUID | None,
) -> None:
    """Count one decision; an allow that is not kept one by one has no record to name."""
    shape = _shape(facts, question, outcome, decided_at)
    tallies = gathering(host, "identity decisions", every=EVERY, most=MOST_SHAPES, write=write)
    known = tallies.get(shape)
    if known is None:
        tallies.put(shape, [1, decision_id])
        return
    known[0] += 1
    known[1] = decision_id or known[1]


def _shape(facts: Facts, question: Question, outcome: Outcome, now: datetime) -> Shape:
    seen = context(facts, question, now)
    seen["minuteOfDay"] -= seen["minuteOfDay"] % _QUARTER
    age = seen["proofAge"]
    seen["proofAge"] = -1 if age < 0 else 0 if age <= _FRESH else _FRESH + 1
    return (
        facts.tenant_id,
        now.replace(minute=0, second=0, microsecond=0),
        facts.kind,
        facts.key_id or facts.user_id,
        facts.permission,
        outcome.reason,
        tuple(seen.items()),
    )


async def write(host: Host, taken: dict[Shape, Counted]) -> None:
    """Add what was counted to the tables, one transaction for each organization."""
    by_tenant: dict[UUID | None, dict[Shape, Counted]] = {}
    for shape, counted in taken.items():
        by_tenant.setdefault(shape[0], {})[shape] = counted
    for organization_id, counts in by_tenant.items():
        scope = Scope(
            actor=SYSTEM, organization_id=organization_id, platform=organization_id is None
        )
        origin = Origin("identity tally", request_id="tally", correlation_id="tally")
        work = Work(host, "identity", scope, origin)
        try:
            columns = _columns(counts)
            if organization_id is None:
                await work.run(_ELSEWHERE, host.now(), *columns)
            else:
                await work.run(_IN_TENANT, host.now(), *columns, organization_id)
            await work.finish()
        finally:
            await work.close()


def _columns(counts: dict[Shape, Counted]) -> list[list[Any]]:
    rows = []
    for shape, (count, last) in counts.items():
        _, hour, kind, actor_id, action, reason, pairs = shape
        seen = orjson.dumps(dict(pairs)).decode()
        named = "|".join(map(str, (kind, actor_id, action, reason, seen)))
        digest = hashlib.sha256(named.encode()).hexdigest()
        resource = dict(pairs)["resourceType"]
        rows.append(
            (new_id(), hour, digest, kind, actor_id, action, resource, reason, seen, count, last)
        )
    return [list(column) for column in zip(*rows, strict=True)]
