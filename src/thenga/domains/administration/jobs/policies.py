"""Jobs of policies: publish, publish again, put into effect, and record acknowledgements."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.administration.jobs.declared import jobs
from thenga.domains.administration.permissions import Permission
from thenga.domains.administration.services import configuration, policies
from thenga.domains.administration.tables import PolicyConfiguration, PolicyStatus
from thenga.domains.identity.public import ActorRef, Decisions, ResourceRef
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.run import Run


@jobs.implements(policies.publish_policy)
async def publish_policy(run: Run, *, config_id: UUID) -> None:
    """Publish an approved policy if Identity still allows its approver to approve it (ADM-35)."""
    async with run.reading() as read:
        policy = await policies.to_publish(read, config_id)
    if policy is None or policy.approved_by is None:
        return
    allowed = await _may_approve(run, policy, policy.approved_by)
    async with run.working() as work:
        if allowed:
            await policies.publish(work, config_id)
        else:
            await policies.block(work, config_id, reason="approver_not_allowed")


async def _may_approve(run: Run, policy: PolicyConfiguration, approver: UUID) -> bool:
    decision = await run.port(Decisions).check(
        actor=ActorRef(type="user", id=approver),
        organization_id=None,
        action=Permission.POLICY_CONFIGURATION_APPROVE.value,
        resource=ResourceRef(type="administration.policy_configuration", id=str(policy.id)),
        channel="job",
        request_id=run.key,
    )
    return decision.decision == "allow"


@jobs.every(timedelta(seconds=30))
async def find_due_policies(work: Work) -> None:
    """Find policies that are to be published, are late or begin to apply."""
    for policy in await policies.due_policies(work):
        approved = policy.status is PolicyStatus.APPROVED
        job = policies.publish_policy if approved else policies.advance_policy
        work.enqueue(job, config_id=policy.id)


@jobs.implements(policies.advance_policy)
async def advance_policy(work: Work, *, config_id: UUID) -> None:
    """Publish a late policy again, or put an acknowledged one into effect."""
    await policies.advance(work, config_id)


@jobs.implements(policies.record_acknowledgement)
async def record_acknowledgement(
    work: Work,
    *,
    config_id: UUID,
    source: str,
    number: int,
    outcome: str,
    refusal_code: str | None,
) -> None:
    """Record what a domain answered to a setting or policy."""
    known = await configuration.acknowledge(
        work, config_id, domain=source, outcome=outcome, refusal_code=refusal_code
    )
    if not known:
        await policies.acknowledge(
            work,
            config_id,
            source=source,
            number=number,
            outcome=outcome,
            refusal_code=refusal_code,
        )
