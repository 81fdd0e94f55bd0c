"""Policies as staff write and decide them."""

import hashlib
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg
import rfc8785
import sqlalchemy as sa
from sqlalchemy import select

from thenga.domains.administration.lifecycles import PolicyLifecycle
from thenga.domains.administration.services import actions, configuration
from thenga.domains.administration.services.configuration import ChangeInFlight
from thenga.domains.administration.services.policies.acknowledging import late_since
from thenga.domains.administration.tables import PolicyConfiguration, PolicyKind, PolicyStatus
from thenga.kernel.db.acting import same_person
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.declare.lifecycle import Move
from thenga.kernel.errors import Forbidden, Problem, SamePerson, ValidationFailed, extensions

publish_policy = job_stub(
    "administration.publish_policy", form=Form.OUTSIDE, key="{config_id}", as_system=True
)
_ACCESS = "identity.access"  # the one policy whose document is a Cedar text


class PolicyInvalid(Problem):
    """The target domain does not accept this document. `errors` says where and why; the document
    itself is not repeated."""

    code, status, title = "administration-policy-invalid", 422, "This document is not valid"
    members = extensions(**ValidationFailed.members)


async def create(
    work: Work,
    *,
    policy_key: str,
    document: Any,
    effective_from: datetime | None,
    note: str | None,
    reason: str,
) -> PolicyConfiguration:
    """Submit a document under the next number of its policy."""
    await actions.act_for_platform(work)
    declaration = await configuration.declared(work, policy_key, "policy")
    stored = await configuration.check_value(
        work, declaration, document, field="document", refusal=PolicyInvalid
    )
    newest = await _newest_number(work, policy_key)
    policy = PolicyConfiguration(
        policy_key=policy_key,
        policy_number=newest + 1,
        based_on=newest,
        target_domain=declaration.domains[0],
        kind=PolicyKind.ACCESS if policy_key == _ACCESS else PolicyKind.PARAMETERS,
        document=stored,
        document_hash=hashlib.sha256(rfc8785.dumps(stored)).hexdigest(),
        effective_from=configuration.effective_date(declaration, effective_from, now=work.now),
        note=note,
        created_by=actions.actor_of(work),
    )
    try:
        await work.add(policy)
    except asyncpg.UniqueViolationError:
        raise ChangeInFlight(f"Another change of `{policy_key}` is pending.") from None
    await actions.record(work, policy, reason=reason)
    return policy


async def approve(work: Work, config_id: UUID, *, reason: str) -> PolicyConfiguration:
    """Approve a policy; a job publishes it if the approver is still allowed to."""
    await actions.act_for_platform(work)
    policy, moved = await _decide(work, config_id, PolicyLifecycle.approve, reason)
    if moved:
        work.enqueue(publish_policy, config_id=policy.id)
    return policy


async def reject(work: Work, config_id: UUID, *, reason: str) -> PolicyConfiguration:
    """Reject a policy. The author can submit another one."""
    await actions.act_for_platform(work)
    policy, _ = await _decide(work, config_id, PolicyLifecycle.reject, reason)
    return policy


async def withdraw(work: Work, config_id: UUID, *, reason: str) -> PolicyConfiguration:
    """Take one's own policy back before it is published."""
    await actions.act_for_platform(work)
    policy = await work.lock(PolicyConfiguration, config_id)
    if not same_person(work, policy.created_by):
        raise Forbidden(
            "Only the author can withdraw a policy. Reject it instead.", reasonCode="not_the_author"
        )
    before = actions.shown(policy)
    if PolicyLifecycle.withdraw(policy, at=work.now):
        policy.due_at = None
        await work.save(policy)
        await actions.record(work, policy, reason=reason, before=before)
    return policy


async def list_policies(
    read: Reader,
    paged: Paged,
    *,
    policy_key: str | None,
    target_domain: str | None,
    status: PolicyStatus | None,
    in_force: bool | None,
    late: bool | None,
) -> Slice[PolicyConfiguration]:
    """Policies of every number."""
    row = PolicyConfiguration
    statement = where_given(
        select(row),
        (row.policy_key, policy_key),
        (row.target_domain, target_domain),
        (row.status, status),
    )
    if in_force is not None:
        effective = row.status == PolicyStatus.EFFECTIVE
        statement = statement.where(effective if in_force else ~effective)
    if late is not None:
        since = await late_since(read)
        is_late = sa.and_(row.status == PolicyStatus.PUBLISHED, row.published_at < since)
        statement = statement.where(is_late if late else sa.not_(sa.func.coalesce(is_late, False)))
    return await read.page(statement, paged)


async def _decide(
    work: Work, config_id: UUID, move: Move, reason: str
) -> tuple[PolicyConfiguration, bool]:
    policy = await work.lock(PolicyConfiguration, config_id)
    # The person who decides is not the author (ADM-5).
    if policy.status in move.sources and same_person(work, policy.created_by):
        raise SamePerson("You wrote this policy. Ask another person to approve or reject it.")
    before = actions.shown(policy)
    earlier = (policy.approved_by, policy.approved_at, policy.due_at)
    policy.approved_by, policy.approved_at = actions.actor_of(work), work.now
    # An approved policy is looked at again, also if the job that publishes it is lost.
    policy.due_at = work.now if move is PolicyLifecycle.approve else None
    if not move(policy, at=work.now):
        policy.approved_by, policy.approved_at, policy.due_at = earlier
        return policy, False
    await work.save(policy)
    await actions.record(work, policy, reason=reason, before=before)
    return policy, True


async def _newest_number(work: Work, policy_key: str) -> int:
    newest = select(sa.func.max(PolicyConfiguration.policy_number)).where(
        PolicyConfiguration.policy_key == policy_key
    )
    return await work.value(newest) or 0
