"""Escalations: one step after the other until somebody resolves the matter (NOT-41).

Steps and resolving lock the same row, so after a resolution nobody else is told.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg
import sqlalchemy as sa
from sqlalchemy import ColumnElement, func, literal_column, select

from thenga.domains.notification import public
from thenga.domains.notification.lifecycles import EscalationLifecycle
from thenga.domains.notification.public import Target
from thenga.domains.notification.public.escalations import ResolutionCode
from thenga.domains.notification.services import recipients, requests
from thenga.domains.notification.services.escalations.policies import Policy, Step, policies
from thenga.domains.notification.services.requests import Asked
from thenga.domains.notification.tables import (
    Escalation,
    EscalationOpening,
    EscalationStatus,
    Notification,
)
from thenga.kernel.access.actors import OPERATOR, ActorKind
from thenga.kernel.db import configuration
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Instant
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.law import EXTRA_HOLIDAYS
from thenga.kernel.errors import NotFound
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.references import Reference

_MOST_NAMED = 20
_NEVER: ColumnElement[datetime] = literal_column("timestamptz '9999-12-31 00:00Z'", Instant)
_BY: dict[str, ColumnElement[datetime]] = {
    "createdAt": Escalation.created_at,
    "nextStepAt": func.coalesce(Escalation.next_check_at, _NEVER),
}


@dataclass(frozen=True, slots=True)
class EscalationFilters:
    """Which escalations are listed; None is no filter."""

    status: EscalationStatus | None = None
    level: int | None = None
    about_type: str | None = None
    about_id: UUID | None = None
    mine: bool = False


def holder_of(policy_key: str, organization_id: UUID) -> UUID:
    """Whose escalation it is: those with a policy of the platform belong to the operator."""
    return OPERATOR if _policy(policy_key).owner == "platform" else organization_id


async def open_escalation(
    work: Work, *, key: str, policy_key: str, about: Reference, facts: Mapping[str, str]
) -> Escalation:
    """The escalation of this key, or the unresolved one about this, or a new one.

    Its first step is taken at once if the policy says so.
    """
    named = await work.find(EscalationOpening, key=key)
    if named is not None:
        return await work.get(Escalation, named.escalation_id)
    policy = _policy(policy_key)
    await requests.check_facts(work, _asked(policy, policy.steps[0], about, facts))
    escalation = await _insert_or_find(work, policy, about, facts)
    await work.run("SAVEPOINT named")
    try:
        await work.add(
            EscalationOpening(
                organization_id=work.organization_id, key=key, escalation_id=escalation.id
            )
        )
    except asyncpg.UniqueViolationError:
        await work.run("ROLLBACK TO SAVEPOINT named")
        named = await work.find(EscalationOpening, key=key)
        if named is None:
            raise
        return await work.get(Escalation, named.escalation_id)
    return escalation


async def _insert_or_find(
    work: Work, policy: Policy, about: Reference, facts: Mapping[str, str]
) -> Escalation:
    """Insert first: of those who race, one opens it and the others get that one."""
    extra = await configuration.value(work, EXTRA_HOLIDAYS)
    escalation = Escalation(
        id=new_id(),
        organization_id=work.organization_id,
        policy_key=policy.key,
        policy_snapshot=policy.model_dump(mode="json"),
        about=about.model_dump(mode="json"),
        about_key=_about_key(about),
        facts=dict(facts),
        request_ids=[],
        log=[{"kind": "opened", "at": work.now.isoformat(), "level": 0}],
        next_check_at=policy.step_at(0, work.now, extra=extra),
    )
    await work.run("SAVEPOINT opened")
    try:
        await work.add(escalation)
    except asyncpg.UniqueViolationError:
        await work.run("ROLLBACK TO SAVEPOINT opened")
        statement = select(Escalation).where(
            Escalation.organization_id == work.organization_id,
            Escalation.policy_key == policy.key,
            Escalation.about_key == _about_key(about),
            Escalation.status != EscalationStatus.RESOLVED.value,
        )
        found = await work.all(statement, limit=1)
        if found:
            return found[0]
        # It was resolved in between, so a new one can be opened.
        return await _insert_or_find(work, policy, about, facts)
    await work.hold(escalation)
    if escalation.next_check_at is not None and escalation.next_check_at <= work.now:
        await _take_step(work, escalation)
    else:
        _publish_raised(work, escalation, [])
    return escalation


async def step_escalation(work: Work, escalation_id: UUID) -> None:
    """Tell the next people, unless somebody resolved it before."""
    escalation = await work.lock(Escalation, escalation_id)
    due = escalation.next_check_at
    if escalation.status is not EscalationStatus.OPEN or due is None or due > work.now:
        return
    await _take_step(work, escalation)


async def _take_step(work: Work, escalation: Escalation) -> None:
    policy = policy_of(escalation)
    step = policy.step(escalation.level)
    if step is None:
        raise LookupError("this escalation has no step left")
    about = Reference.model_validate(escalation.about)
    key = f"escalation {escalation.id} {escalation.level + 1}"
    request = await requests.accept_event(
        work, _asked(policy, step, about, escalation.facts, key=key)
    )
    escalation.level += 1
    escalation.request_ids = [*escalation.request_ids, str(request.id)]
    _log(work, escalation, "step")
    extra = await configuration.value(work, EXTRA_HOLIDAYS)
    escalation.next_check_at = policy.step_at(escalation.level, work.now, extra=extra)
    if escalation.next_check_at is None:
        EscalationLifecycle.exhaust(escalation, at=work.now)
    await work.save(escalation)
    _publish_raised(work, escalation, step.targets)


async def resolve_escalation(
    work: Work, escalation_id: UUID, *, code: ResolutionCode, note: str | None
) -> Escalation:
    """End an escalation. One that is resolved already stays as it is."""
    escalation = await work.lock(Escalation, escalation_id)
    if not EscalationLifecycle.resolve(escalation, at=work.now):
        return escalation
    is_person = work.actor.kind is ActorKind.USER
    escalation.resolved_by = work.actor.id if is_person else None
    escalation.resolved_at, escalation.next_check_at = work.now, None
    escalation.resolution_code, escalation.resolution_note = code, note
    _log(work, escalation, "resolved")
    await work.save(escalation)
    work.publish(
        public.EscalationResolved(
            organization_id=escalation.organization_id,
            escalation_id=escalation.id,
            about=Reference.model_validate(escalation.about),
            resolution=code,
            resolved_by=escalation.resolved_by,
        )
    )
    return escalation


async def resolve_by_key(work: Work, *, key: str, code: ResolutionCode) -> bool:
    """Resolve what was opened under this key; whether there is such an escalation."""
    named = await work.find(EscalationOpening, key=key)
    if named is not None:
        await resolve_escalation(work, named.escalation_id, code=code, note=None)
    return named is not None


async def resolve_on_event(work: Work, event_type: str, domain: str, about_id: UUID) -> None:
    """Resolve what an event settles, for policies that name the event (`autoResolveOn`)."""
    statement = select(Escalation.id).where(
        Escalation.organization_id == work.organization_id,
        Escalation.status != EscalationStatus.RESOLVED.value,
        Escalation.about["domain"].as_string() == domain,
        Escalation.about["id"].as_string() == str(about_id),
    )
    for escalation_id in await work.values(statement.order_by(Escalation.id)):
        escalation = await work.get(Escalation, escalation_id)
        if event_type in policy_of(escalation).auto_resolve_on:
            await resolve_escalation(work, escalation_id, code="automatic", note=None)


async def list_escalations(
    read: Reader, paged: Paged, filters: EscalationFilters
) -> Slice[Escalation]:
    """The escalations of the organization; `mine` are those of which the caller was told."""
    statement = where_given(
        select(Escalation),
        (Escalation.status, filters.status and filters.status.value),
        (Escalation.level, filters.level),
        (Escalation.about["type"].as_string(), filters.about_type),
        (Escalation.about["id"].as_string(), filters.about_id and str(filters.about_id)),
    )
    if filters.mine:
        told = select(Notification.id).where(
            Notification.organization_id == Escalation.organization_id,
            Notification.user_id == read.actor.id,
            sa.cast(Notification.request_id, sa.Text) == sa.any_(Escalation.request_ids),
        )
        statement = statement.where(told.exists())
    return await read.page(statement, paged, _BY[paged.sort])


async def next_people(read: Reader, escalation: Escalation) -> dict[UUID, str]:
    """The names of those who are told next, at most 20."""
    step = policy_of(escalation).step(escalation.level)
    if step is None or escalation.status is not EscalationStatus.OPEN:
        return {}
    found, _ = await recipients.audience(
        read, escalation.organization_id, step.targets, limit=_MOST_NAMED
    )
    cards = await recipients.ask_people(read, found)
    return {user_id: card.display_name for user_id, card in cards.items()}


def policy_of(escalation: Escalation) -> Policy:
    """The policy as it was when the matter was opened."""
    return Policy.model_validate(escalation.policy_snapshot)


def _policy(key: str) -> Policy:
    found = policies().get(key)
    if found is None:
        raise NotFound(f"There is no escalation policy {key}.")
    return found


def _about_key(about: Reference) -> str:
    return f"{about.domain}/{about.type}/{about.id}"


def _asked(
    policy: Policy,
    step: Step,
    about: Reference,
    facts: Mapping[str, str],
    *,
    key: str | None = None,
) -> Asked:
    return Asked(
        topic_code=policy.topic_code,
        source_domain="notification",
        facts=facts,
        audience=step.targets,
        about=about,
        dedupe_key=key,
        exclude_actor=False,
        channel_kinds=step.channel_kinds,
    )


def _log(work: Work, escalation: Escalation, kind: str) -> None:
    entry: dict[str, Any] = {
        "kind": kind,
        "at": work.now.isoformat(),
        "level": escalation.level,
    }
    escalation.log = [*escalation.log, entry]


def _publish_raised(work: Work, escalation: Escalation, targets: list[Target]) -> None:
    work.publish(
        public.EscalationRaised(
            organization_id=escalation.organization_id,
            escalation_id=escalation.id,
            policy_key=escalation.policy_key,
            about=Reference.model_validate(escalation.about),
            level=escalation.level,
            targets=targets,
            next_step_at=escalation.next_check_at,
        )
    )
