"""Checks: asked for by the company, made by others, over after a while (ORG-6, ORG-33)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
from sqlalchemy import select

from thenga.domains.organization import public, settings
from thenga.domains.organization.lifecycles import FactVerificationLifecycle
from thenga.domains.organization.services.facts import fact_types, fact_values, member_refs
from thenga.domains.organization.services.facts._holding import hold_fact
from thenga.domains.organization.services.facts._ledger import (
    Picture,
    digest_of,
    load_one,
    values_for,
)
from thenga.domains.organization.services.facts._settling import (
    Step,
    hold,
    note_version,
    rules_of,
    settle,
    tell,
)
from thenga.domains.organization.services.facts._writing import end_checks, sealed_for
from thenga.domains.organization.tables import (
    Fact,
    FactVersion,
    Origin,
    Outcome,
    Verification,
)
from thenga.kernel.access.actors import ActorKind
from thenga.kernel.db import configuration
from thenga.kernel.db.acting import same_person
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move
from thenga.kernel.errors import Problem, RuleViolated
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id

_LONGEST = timedelta(days=400)
_USUAL = timedelta(days=365)
_OF_METHOD = {"registry": timedelta(days=180)}
_AUTHORS_OF = 3  # versions back in which whoever wrote the value may not check it


class SelfVerification(Problem):
    """You cannot verify what you wrote yourself or your own company.

    Ask a verifier of the platform.
    """

    code, status, title = (
        "organization-self-verification",
        403,
        "Someone else must verify this",
    )


@dataclass(frozen=True)
class Check:
    """What a checker reports."""

    outcome: Outcome
    method: str
    source: dict[str, Any]
    value: Any = None
    valid_until: datetime | None = None
    note: str | None = None
    key: str | None = None  # of the command, where a port is asked


_MOVES: dict[Outcome, Move] = {
    Outcome.VERIFIED: FactVerificationLifecycle.verify,
    Outcome.FAILED: FactVerificationLifecycle.fail,
    Outcome.INCONCLUSIVE: FactVerificationLifecycle.leave_open,
}


async def request_check(work: Work, key: str) -> Picture:
    """Ask that the value be checked."""
    held = await hold_fact(work, key)
    picture = held.picture
    await tell(work, held.organization, held.changes)
    fact = await _fact_with_value(work, picture)
    _write_down_expiry(fact, work.now)
    if FactVerificationLifecycle.request(fact, at=work.now):
        await work.save(fact)
        await note_version(work, fact, "requested")
        work.publish(
            public.VerificationRequested(
                organization_id=fact.organization_id,
                subject_id=fact.id,
                subject_of=public.CheckedSubject(fact_key=key, version=fact.version),
            )
        )
    picture.fact = fact
    return picture


async def verify(work: Work, key: str, check: Check) -> tuple[Picture, Verification | None]:
    """Write down what a checker found; the check itself, or none where nothing was new."""
    held = await hold_fact(work, key)
    picture = held.picture
    await _only_others(work, key)
    known = await _made_before(work, check)
    if known is not None:
        await tell(work, held.organization, held.changes)
        return picture, known
    fact = await _fact_with_value(work, picture)
    ends = _ends(check, work.now)
    _write_down_expiry(fact, work.now)
    move = _MOVES[check.outcome]
    if fact.verification_status not in move.sources and not move(fact, at=work.now):
        await tell(work, held.organization, held.changes)
        return picture, None
    made = await _checked(work, picture, fact, check, ends)
    # Where somebody else holds the number, it is another outcome than was reported (ORG-33).
    _MOVES[made.outcome](fact, at=work.now)
    was = digest_of(picture.effective(work.now))
    if made.outcome is Outcome.VERIFIED:
        picture.checks.append(made)
        if made.canonical_hash != was:
            # What was found is another value: the one that counts did not pass.
            FactVerificationLifecycle.reset(fact, at=work.now)
            FactVerificationLifecycle.fail(fact, at=work.now)
    step = Step("verified", Origin.VERIFIED, was=was, current=was)
    change = await settle(work, picture, step, held.rules, locked=fact)
    await tell(work, held.organization, [*held.changes, change])
    return picture, made


async def _fact_with_value(work: Work, picture: Picture) -> Fact:
    if picture.fact is None or picture.effective(work.now) is None:
        raise RuleViolated("There is no value to verify yet. State one first.", rule="ORG-6")
    return await work.lock(Fact, picture.fact.id)


def _write_down_expiry(fact: Fact, now: datetime) -> None:
    if fact.verified_until is not None and fact.verified_until <= now:
        FactVerificationLifecycle.expire(fact, at=now)
        fact.verified_until = None


async def _only_others(work: Work, key: str) -> None:
    """Never the author of one of the last three versions, never a member (ORG-6)."""
    if work.actor.kind is not ActorKind.USER or work.actor.id is None:
        return
    members_may = await configuration.value(work, settings.VERIFY_MEMBERS)
    if not members_may and await member_refs.belongs(work, work.actor.id):
        raise SelfVerification("You belong to this company, so someone else must verify it.")
    statement = (
        select(FactVersion.changed_by)
        .where(
            FactVersion.organization_id == work.organization_id,
            FactVersion.fact_key == key,
            FactVersion.change != "verified",
            FactVersion.change != "requested",
            FactVersion.change != "expired",
        )
        .order_by(FactVersion.number.desc())
    )
    if same_person(work, *await work.values(statement, limit=_AUTHORS_OF)):
        raise SelfVerification(
            "You wrote one of its latest versions, so someone else must verify it."
        )


async def _made_before(work: Work, check: Check) -> Verification | None:
    if check.key is None:
        return None
    return await work.find(Verification, command_key=check.key)


def _ends(check: Check, now: datetime) -> datetime | None:
    """How long a check holds: a register 180 days, a document to its own end, else a year."""
    if check.outcome is not Outcome.VERIFIED:
        return None
    ends = check.valid_until or now + _OF_METHOD.get(check.method, _USUAL)
    if not now < ends <= now + _LONGEST:
        raise RuleViolated(
            "A verification can be valid for at most 400 days from now.", rule="ORG-6"
        )
    return ends


async def _checked(
    work: Work, picture: Picture, fact: Fact, check: Check, ends: datetime | None
) -> Verification:
    """The row of the check; where the number is verified elsewhere it is inconclusive."""
    found = await _found(work, picture, check)
    made = Verification(
        id=new_id(),
        organization_id=work.organization_id,
        fact_key=picture.key,
        subject_version=fact.version,
        outcome=check.outcome,
        method=check.method,
        source=check.source,
        note=check.note,
        checked_by=work.actor.id,
        valid_until=ends,
        next_check_at=ends,
        command_key=check.key,
    )
    if found is not None:
        host, tenant = work.host, work.organization_id
        made.canonical_hash = fact_values.digest(host, tenant, picture.key, found)
        await _keep_found(work, made, found)
    if check.outcome is not Outcome.VERIFIED:
        return await work.add(made)
    # A newer check of the same value takes the place of the older one.
    await end_checks(work, picture, of=made.canonical_hash)
    return await _once_verified(work, made)


async def _found(work: Work, picture: Picture, check: Check) -> Any:
    """What the checker found: a value of its own, or the one that it was shown."""
    if check.value is not None:
        read = fact_types.read(picture.key, check.value, pointer="/value")
        rules = await rules_of(work)
        made = fact_values.normal(
            {picture.key: read}, known={}, today=local_day(work.now), vat_luhn=rules.vat_luhn
        )
        return made[picture.key].value
    source = picture.effective(work.now)
    if check.outcome is not Outcome.VERIFIED or source is None:
        return None
    return (await values_for(work, [source])).plain(picture.key, source)


async def _keep_found(work: Work, made: Verification, found: Any) -> None:
    assert made.fact_key is not None  # noqa: S101  # made for a fact
    if not fact_values.is_sealed(made.fact_key):
        made.found_value = found
        return
    made.found_sealed = await sealed_for(work, made, made.fact_key, found)


async def _once_verified(work: Work, made: Verification) -> Verification:
    await work.run("SAVEPOINT one_holder")
    try:
        return await work.add(made)
    except asyncpg.UniqueViolationError:
        await work.run("ROLLBACK TO SAVEPOINT one_holder")
    made.outcome, made.held_elsewhere = Outcome.INCONCLUSIVE, True
    made.valid_until = made.next_check_at = None
    return await work.add(made)


async def lapse(work: Work, verification_id: UUID) -> None:
    """Write down that a check is over, and tell it once; views have shown it since."""
    organization = await hold(work)
    check = await work.lock(Verification, verification_id)
    if check.valid_until is None or check.ended_at is not None or check.valid_until > work.now:
        return
    check.ended_at, check.next_check_at = work.now, None
    await work.save(check)
    assert check.fact_key is not None  # noqa: S101  # checks of records lapse with their records
    picture = await load_one(work, check.fact_key)
    counted = picture.fact is not None and picture.fact.verification_id == check.id
    was = check.canonical_hash if counted else digest_of(picture.effective(work.now))
    step = Step("expired", Origin.VERIFIED, was=was, current=was)
    change = await settle(work, picture, step, await rules_of(work))
    work.publish(
        public.FactVerificationExpired(
            organization_id=check.organization_id,
            verification_id=check.id,
            subject_of=public.CheckedSubject(
                fact_key=check.fact_key, version=check.subject_version
            ),
            expired_at=check.valid_until,
        )
    )
    if digest_of(picture.effective(work.now)) != was:
        await tell(work, organization, [change])
