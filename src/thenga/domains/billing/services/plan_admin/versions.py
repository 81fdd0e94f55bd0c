"""Plan versions for operators: draft, publish, retire.

A draft is a platform row. After publishing, the system login copies it into the catalogue, which
nobody else can write (docs/decisions/0020).
"""

from datetime import date, timedelta
from typing import Any
from uuid import UUID

import asyncpg
from sqlalchemy import select

from thenga.domains.billing.lifecycles import PlanVersionLifecycle, SubscriptionLifecycle
from thenga.domains.billing.services import entitlements
from thenga.domains.billing.tables import (
    Feature,
    OfferedPlan,
    PlanStatus,
    PlanVersion,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import Duplicate, NotFound, Problem, RuleViolated, extensions
from thenga.kernel.values.calendar import local_day

offer_plan = job_stub(
    "billing.offer_plan", form=Form.QUEUED, key="{plan_version_id}", as_system=True
)

_TERMS = (
    *("plan_code", "plan_version", "name", "description", "kind", "rank", "public"),
    *("trial_eligible", "prices", "entitlements", "effective_from", "retired_at"),
)
# Pending changes count too, including a scheduled one behind an unpaid one.
_HOLDERS = """
    SELECT count(*) AS counted FROM billing.subscription,
        jsonb_build_object('planCode', $1::text, 'planVersion', $2::int) AS wanted
    WHERE status = ANY($3) AND (
        (plan_code = $1 AND plan_version = $2)
        OR pending_change @> wanted
        OR pending_change -> 'former' @> wanted
    )
"""


class EffectiveTooEarly(Problem):
    """A new version can be sold from tomorrow, and later than the version before it; a new plan
    from today. Choose the day in `earliest` or a later one."""

    code, status, title = "billing-effective-too-early", 422, "This day is too early"
    members = extensions(earliest=(date, "Earliest possible day."))


async def create_plan(work: Work, *, fields: dict[str, Any]) -> PlanVersion:
    """Draft the first version of a new plan."""
    made = PlanVersion(authors=[_actor(work)], plan_version=1, **fields)
    await _check_terms(work, made)
    return await _add(work, made)


async def draft_version(work: Work, plan_code: str, *, fields: dict[str, Any]) -> PlanVersion:
    """Draft another version. A plan has one draft at a time."""
    newest = await _newest(work, plan_code)
    if newest.status is PlanStatus.DRAFT:
        raise _known(newest)
    known = {"plan_code": plan_code, "plan_version": newest.plan_version + 1}
    known["kind"] = fields["kind"] or newest.kind
    made = PlanVersion(authors=[_actor(work)], **fields | known)
    _check_kind(made, newest)
    await _check_terms(work, made)
    return await _add(work, made)


async def change_draft(
    work: Work, plan_code: str, number: int, *, fields: dict[str, Any]
) -> PlanVersion:
    """Change a draft. The editor becomes one of its authors (BIL-1)."""
    held = await _lock_version(work, plan_code, number)
    if held.status is not PlanStatus.DRAFT:
        raise not_possible(
            "A published version cannot be changed. Draft a new version instead.",
            status=held.status,
            operation="change",
            allowed=PlanVersionLifecycle.open(held),
        )
    merge_patch(held, fields)
    _check_kind(held, await work.find(PlanVersion, plan_code=plan_code, plan_version=number - 1))
    await _check_terms(work, held)
    if work.changes(held) and (me := _actor(work)) not in held.authors:
        held.authors = [*held.authors, me]
    return await work.save(held)


async def publish_version(work: Work, plan_code: str, number: int, *, reason: str) -> PlanVersion:
    """Sell a version from its day on. The previous version ends on that day."""
    held = await _lock_version(work, plan_code, number)
    if held.status is PlanStatus.ACTIVE:
        return held
    former = await _former(work, held)
    held.published_by = _actor(work)
    held.published_at = work.now
    PlanVersionLifecycle.publish(held, at=work.now)
    _check_day(held, former, local_day(work.now))
    _check_kind(held, former)
    await _check_terms(work, held)
    await work.save(held)
    if former is not None:
        former.effective_to = held.effective_from
        await work.save(former)
    _note_reason(work, "publish", held, reason)
    work.enqueue(offer_plan, plan_version_id=held.id)
    return held


async def retire_version(work: Work, plan_code: str, number: int, *, reason: str) -> PlanVersion:
    """Retire a version without holders. It stays readable."""
    held = await _lock_version(work, plan_code, number)
    if PlanVersionLifecycle.retire(held, at=work.now):
        held.retired_at = work.now
        await work.save(held)
        _note_reason(work, "retire", held, reason)
        work.enqueue(offer_plan, plan_version_id=held.id)
    return held


async def publish_to_catalogue(work: Work, plan_version_id: UUID) -> None:
    """Copy the published terms to the catalogue, as the system login."""
    version = await work.get(PlanVersion, plan_version_id)
    await _bring(work, version)
    statement = select(PlanVersion).where(
        PlanVersion.plan_code == version.plan_code,
        PlanVersion.plan_version == version.plan_version - 1,
    )
    for former in await work.all(statement, limit=1):
        await _bring(work, former)
        if former.effective_to is not None:
            await entitlements.end_fallback_plan(work, former.plan_code, former.effective_to)


async def _bring(work: Work, version: PlanVersion) -> None:
    shown = {name: getattr(version, name) for name in _TERMS}
    if await work.find(OfferedPlan, id=version.id) is None:
        await work.add(OfferedPlan(id=version.id, effective_to=version.effective_to, **shown))
        return
    held = await work.lock(OfferedPlan, version.id)
    held.effective_to, held.retired_at = version.effective_to, version.retired_at
    held.migrates_to, held.migrates_after = version.migrates_to, version.migrates_after
    await work.save(held)


async def refresh_versions(work: Work) -> None:
    """Update the status of versions and count their holders, as the system login.

    A version that is no longer sold only loses holders, so a count of 0 stays true. It is counted
    anyway, because a purchase of the last moment may commit later. Operators cannot see
    subscriptions, so retiring uses this count.
    """
    today = local_day(work.now)
    over = select(PlanVersion).where(
        PlanVersion.status == PlanStatus.ACTIVE, PlanVersion.effective_to <= today
    )
    for version in await work.all(over, limit=100):
        held = await work.lock(PlanVersion, version.id)
        PlanVersionLifecycle.supersede(held, at=work.now)
        held.live_subscriptions = await _holders(work, held)
        await work.save(held)
    kept = select(PlanVersion).where(PlanVersion.status == PlanStatus.GRANDFATHERED)
    for version in await work.all(kept, limit=1000):
        held = await work.lock(PlanVersion, version.id)
        held.live_subscriptions = await _holders(work, held)
        await work.save(held)


async def _holders(work: Work, version: PlanVersion) -> int:
    """How many use it, are buying it, or will change to it."""
    named = (version.plan_code, version.plan_version)
    (found,) = await work.query(
        _HOLDERS, *named, [status.value for status in SubscriptionLifecycle.HOLDING]
    )
    return int(found["counted"])


async def _add(work: Work, made: PlanVersion) -> PlanVersion:
    try:
        return await work.add(made)
    except asyncpg.UniqueViolationError:
        raise _known(made) from None


def _known(version: PlanVersion) -> Duplicate:
    return Duplicate(
        f"Version {version.plan_version} of {version.plan_code} already exists. Draft the next "
        "one.",
        existing={"planCode": version.plan_code, "planVersion": version.plan_version},
    )


async def _lock_version(work: Work, plan_code: str, number: int) -> PlanVersion:
    return await work.lock_by(PlanVersion, plan_code=plan_code, plan_version=number)


async def _former(work: Work, version: PlanVersion) -> PlanVersion | None:
    if version.plan_version == 1:
        return None
    return await _lock_version(work, version.plan_code, version.plan_version - 1)


async def _newest(read: Reader, plan_code: str) -> PlanVersion:
    statement = (
        select(PlanVersion)
        .where(PlanVersion.plan_code == plan_code)
        .order_by(PlanVersion.plan_version.desc())
    )
    found = await read.all(statement, limit=1)
    if not found:
        raise NotFound()
    return found[0]


def _check_day(version: PlanVersion, former: PlanVersion | None, today: date) -> None:
    # Today's offer stays valid today. A new plan was not offered before.
    earliest = today
    if former is not None:
        earliest = max(today, former.effective_from) + timedelta(days=1)
    if version.effective_from < earliest:
        raise EffectiveTooEarly(
            f"This version can be sold from {earliest}. Set `effectiveFrom` to that day or later.",
            earliest=earliest.isoformat(),
        )


def _check_kind(version: PlanVersion, former: PlanVersion | None) -> None:
    """A later version has the kind of the earlier one, because holders can be migrated (BIL-1)."""
    if former is not None and version.kind is not former.kind:
        raise RuleViolated(
            f"The kind of {version.plan_code} is {former.kind} and cannot change. Create a new "
            "plan for another kind.",
            rule="plan-kind",
            kind=former.kind,
        )


async def _check_terms(read: Reader, version: PlanVersion) -> None:
    """What the schema cannot check: known keys, each once; prices for soft limits; no
    duplicates."""
    known = {feature.key: feature.type for feature in await read.all(select(Feature))}
    features = version.entitlements
    keys = [item["key"] for item in features]
    intervals = [item["interval"] for item in version.prices]
    wrong = [item["key"] for item in features if known.get(item["key"]) != item["type"]]
    wrong += [key for key in keys if keys.count(key) > 1]
    wrong += [item["key"] for item in features if not _is_priced_where_soft(item)]
    if wrong or len(set(intervals)) < len(intervals):
        raise RuleViolated(
            "Use each entitlement key of the catalogue once, with its own type. A `soft` "
            "entitlement needs `overageUnitPrice`, a `hard` one must not have it. Price each "
            "interval once.",
            rule="plan-terms",
            keys=sorted(set(wrong)),
        )


def _is_priced_where_soft(item: dict[str, Any]) -> bool:
    return (item.get("mode") == "soft") == (item.get("overageUnitPrice") is not None)


def _actor(work: Work) -> UUID:
    if work.actor.id is None:
        raise LookupError("only a person can draft a plan")
    return work.actor.id


def _note_reason(work: Work, verb: str, version: PlanVersion, reason: str) -> None:
    target = ("plan_version", version.id)
    work.note(f"billing.plan_version.{verb}", target, {"reason": reason})
