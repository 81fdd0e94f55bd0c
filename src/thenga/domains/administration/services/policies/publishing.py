"""Publishing policies, publishing again what is late, and putting them into effect (ADM-35)."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import select

from thenga.domains.administration import public
from thenga.domains.administration.lifecycles import PolicyLifecycle
from thenga.domains.administration.tables import PolicyConfiguration, PolicyStatus
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub

advance_policy = job_stub(
    "administration.advance_policy", form=Form.QUEUED, key="{config_id}", as_system=True
)

_AGAIN = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60))
_LATER = timedelta(hours=1)
_MOST = 500


async def due_policies(work: Work) -> list[PolicyConfiguration]:
    """Policies that a job must look at now, earliest first."""
    row = PolicyConfiguration
    statement = select(row).where(row.due_at <= work.now).order_by(row.due_at)
    return await work.all(statement, limit=_MOST)


async def to_publish(read: Reader, config_id: UUID) -> PolicyConfiguration | None:
    """The policy, if it is still to be published."""
    policy = await read.find(PolicyConfiguration, id=config_id)
    if policy is None or policy.status is not PolicyStatus.APPROVED or policy.blocked:
        return None
    return policy


async def publish(work: Work, config_id: UUID) -> None:
    """Publish an approved policy; state and event commit together."""
    policy = await work.lock(PolicyConfiguration, config_id)
    if policy.status is not PolicyStatus.APPROVED or policy.blocked is not None:
        return
    PolicyLifecycle.publish(policy, at=work.now)
    policy.published_at = work.now
    await _announce(work, policy)


async def block(work: Work, config_id: UUID, *, reason: str) -> None:
    """Keep a policy unpublished because its approver is no longer allowed to approve."""
    policy = await work.lock(PolicyConfiguration, config_id)
    if policy.status is PolicyStatus.APPROVED:
        policy.blocked, policy.due_at = reason, None
        await work.save(policy)


async def advance(work: Work, config_id: UUID) -> None:
    """Publish again what its domain has not acknowledged, or put it into effect."""
    policy = await work.lock(PolicyConfiguration, config_id)
    if policy.due_at is None or policy.due_at > work.now:
        return
    if policy.status is PolicyStatus.PUBLISHED:
        await _announce(work, policy)
    elif policy.status is PolicyStatus.ACKNOWLEDGED:
        await _take_effect(work, policy)


async def _announce(work: Work, policy: PolicyConfiguration) -> None:
    done = policy.publish_attempts
    policy.publish_attempts += 1
    since = policy.published_at or work.now
    policy.due_at = since + _AGAIN[done] if done < len(_AGAIN) else work.now + _LATER
    await work.save(policy)
    work.publish(
        public.PolicyConfigurationChanged(
            config_id=policy.id,
            target_domain=policy.target_domain,
            policy_key=policy.policy_key,
            version=policy.policy_number,
            effective_from=policy.effective_from,
            kind=policy.kind.value,
            document=policy.document,
            document_hash=policy.document_hash,
        )
    )


async def _take_effect(work: Work, policy: PolicyConfiguration) -> None:
    """The greatest instant and number counts, as in the domain that enforces it (ADM-10)."""
    row = PolicyConfiguration
    others = await work.all(
        select(row)
        .where(
            row.policy_key == policy.policy_key,
            row.id != policy.id,
            row.effective_from <= work.now,
            among(row.status, (PolicyStatus.ACKNOWLEDGED, PolicyStatus.EFFECTIVE)),
        )
        .order_by(row.id)
    )
    newest = max([policy, *others], key=lambda one: (one.effective_from, one.policy_number))
    policy.due_at = None
    PolicyLifecycle.take_effect(policy, at=work.now)
    if newest is not policy:
        PolicyLifecycle.supersede(policy, at=work.now)
    await work.save(policy)
    for one in others:
        if newest is policy and one.status is PolicyStatus.EFFECTIVE:
            former = await work.lock(row, one.id)
            PolicyLifecycle.supersede(former, at=work.now)
            await work.save(former)
