"""What members decide about their facts: which of two counts, and that one is still right."""

from collections.abc import Sequence
from uuid import UUID

from thenga.domains.organization import public
from thenga.domains.organization.lifecycles import FactConflictLifecycle
from thenga.domains.organization.services.facts._choosing import Resolution
from thenga.domains.organization.services.facts._holding import activate_due, hold_fact
from thenga.domains.organization.services.facts._ledger import (
    Picture,
    digest_of,
    load,
    load_one,
    origin_of,
)
from thenga.domains.organization.services.facts._settling import (
    Step,
    confirm_freshness,
    hold,
    kind_of,
    rules_of,
    settle,
    tell,
    told,
)
from thenga.domains.organization.tables import (
    Fact,
    FactConflict,
    FactFreshness,
    Organization,
)
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated


async def resolve(work: Work, key: str, *, statement_id: UUID, reason: str) -> Picture:
    """A person decides which statement or check counts; the others stay readable (ORG-4)."""
    held = await hold_fact(work, key, naming=statement_id)
    picture = held.picture
    chosen = next(one for one in picture.live(work.now) if one.id == statement_id)
    assert picture.fact is not None  # noqa: S101  # something is said of it
    if picture.fact.conflict_status is not FactConflict.CONFLICTED:
        same = picture.fact.resolved_to == statement_id
        if picture.fact.conflict_status is FactConflict.RESOLVED and same:
            await tell(work, held.organization, held.changes)
            return picture
        _refuse_resolving(picture.fact, work)
    step = Step(
        "resolved",
        origin_of(chosen),
        was=digest_of(picture.effective(work.now)),
        current=digest_of(chosen),
        resolution=Resolution(chosen.id, work.now),
        reason=reason,
    )
    change = await settle(work, picture, step, held.rules)
    await tell(work, held.organization, [*held.changes, change])
    return picture


def _refuse_resolving(fact: Fact, work: Work) -> None:
    """There is nothing to decide; a decision stands until somebody says something new."""
    if not FactConflictLifecycle.resolve(fact, at=work.now):
        raise RuleViolated(
            "This conflict is already resolved. It reopens when someone states another value.",
            rule="ORG-4",
        )


async def confirm(work: Work, keys: Sequence[str]) -> tuple[Organization, dict[str, Picture]]:
    """Say that facts are still right; no value gets a new version by it (ORG-8)."""
    organization = await hold(work)
    pictures = await load(work, set(keys))
    empty = [key for key in keys if pictures[key].effective(work.now) is None]
    if empty:
        detail = f"There is no value to confirm for {', '.join(sorted(empty))}. State one first."
        raise RuleViolated(detail, rule="ORG-8")
    changes: list[public.FactChange] = []
    rules = await rules_of(work)
    for key in dict.fromkeys(keys):
        picture = pictures[key]
        changes += await activate_due(work, picture, rules)
        await confirm_freshness(work, picture)
        assert picture.fact is not None  # noqa: S101  # it has a value
        changes.append(told(picture.fact, "confirmed", kind_of(picture, work.now)))
    return await tell(work, organization, changes), pictures


async def mark_stale(work: Work, freshness_id: UUID) -> None:
    """Tell once that nobody has confirmed a fact for long; views have shown it since (ORG-8)."""
    held = await work.lock(FactFreshness, freshness_id)
    if held.next_check_at is None or held.stale_after >= work.now:
        return
    held.next_check_at = None
    await work.save(held)
    picture = await load_one(work, held.fact_key)
    if picture.fact is None:
        return
    work.publish(
        public.FactStale(
            organization_id=held.organization_id,
            freshness_id=held.id,
            subject_of=public.CheckedSubject(fact_key=held.fact_key, version=picture.fact.version),
            stale_after=held.stale_after,
        )
    )
