"""What the target domain answers to a published policy (ADM-35)."""

from datetime import datetime, timedelta
from uuid import UUID

from thenga.domains.administration.lifecycles import PolicyLifecycle
from thenga.domains.administration.settings import ACKNOWLEDGE_SECONDS
from thenga.domains.administration.tables import PolicyConfiguration, PolicyStatus
from thenga.kernel.db import configuration as settings
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub

record_acknowledgement = job_stub(
    "administration.record_acknowledgement",
    form=Form.QUEUED,
    key="{config_id}:{source}:{number}",
    as_system=True,
)


async def late_since(read: Reader) -> datetime:
    """What was published before this instant and is not acknowledged is late."""
    seconds = await settings.value(read, ACKNOWLEDGE_SECONDS)
    return read.now - timedelta(seconds=seconds)


def is_late(policy: PolicyConfiguration, since: datetime) -> bool:
    """Whether the acknowledgement of its domain is overdue."""
    if policy.status is not PolicyStatus.PUBLISHED or policy.published_at is None:
        return False
    return policy.published_at < since


def lag_seconds(policy: PolicyConfiguration) -> int | None:
    """Seconds from publishing to the acknowledgement."""
    if policy.acknowledged_at is None or policy.published_at is None:
        return None
    return int((policy.acknowledged_at - policy.published_at).total_seconds())


async def acknowledge(
    work: Work,
    config_id: UUID,
    *,
    source: str,
    number: int,
    outcome: str,
    refusal_code: str | None,
) -> None:
    """Record the answer of the target domain. Any other answer is counted and changes nothing."""
    if await work.find(PolicyConfiguration, id=config_id) is None:
        return
    policy = await work.lock(PolicyConfiguration, config_id)
    if not _is_answer(policy, source, number):
        policy.ignored_acknowledgements += 1
        await work.save(policy)
        return
    policy.acknowledged_at = work.now
    if outcome == "applied":
        PolicyLifecycle.acknowledge(policy, at=work.now)
        policy.due_at = max(policy.effective_from, work.now)
    else:
        PolicyLifecycle.refuse(policy, at=work.now)
        policy.refusal_code, policy.due_at = refusal_code, None
    await work.save(policy)


def _is_answer(policy: PolicyConfiguration, source: str, number: int) -> bool:
    awaited = policy.status is PolicyStatus.PUBLISHED
    return awaited and source == policy.target_domain and number == policy.policy_number
