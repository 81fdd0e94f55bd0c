"""Administration's reactions to events of other domains."""

from thenga.domains.administration import public
from thenga.domains.administration.services import flags, policies
from thenga.domains.bid import public as bid
from thenga.domains.billing import public as billing
from thenga.domains.compliance import public as compliance
from thenga.domains.contract import public as contract
from thenga.domains.identity import public as identity
from thenga.domains.marketplace import public as marketplace
from thenga.domains.notification import public as notification
from thenga.domains.opportunity import public as opportunity
from thenga.domains.organization import public as organization
from thenga.domains.supplier import public as supplier
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.declare.reaction import Reactions
from thenga.kernel.declare.setting import Acknowledged

reactions = Reactions("administration", is_sandbox=flags.is_sandbox)
_OVER = ("expired", "ended")

# Every domain with settings answers a change; its own event names the domain (ADM-35).
ACKNOWLEDGEMENTS: tuple[type[Acknowledged], ...] = (
    identity.PolicyAcknowledged,
    organization.PolicyAcknowledged,
    compliance.PolicyAcknowledged,
    opportunity.PolicyAcknowledged,
    bid.PolicyAcknowledged,
    contract.PolicyAcknowledged,
    supplier.PolicyAcknowledged,
    marketplace.PolicyAcknowledged,
    billing.PolicyAcknowledged,
    notification.PolicyAcknowledged,
    public.PolicyAcknowledged,
)


def _record_answers_of(kind: type[Acknowledged]) -> None:
    async def record(work: Work, envelope: Envelope) -> None:
        """Record that a domain applied or refused a setting or policy."""
        answer = kind.model_validate(envelope.data)
        work.enqueue(
            policies.record_acknowledgement,
            config_id=answer.config_id,
            source=kind.domain(),
            number=answer.number,
            outcome=answer.outcome,
            refusal_code=answer.refusal_code,
        )

    record.__name__ = f"record_answers_of_{kind.domain()}"
    reactions.on_type(kind.type)(record)


for _kind in ACKNOWLEDGEMENTS:
    _record_answers_of(_kind)


@reactions.on(organization.OrganizationCreated)
async def keep_mode(work: Work, event: organization.OrganizationCreated) -> None:
    """Keep whether an organization is a sandbox, for targeting."""
    await flags.keep_mode(work, sandbox=event.mode == "sandbox")


@reactions.on_type(billing.SubscriptionChanged.type)
async def keep_plan(work: Work, envelope: Envelope) -> None:
    """Keep the plan of an organization, for targeting. The newest change wins."""
    event = billing.SubscriptionChanged.model_validate(envelope.data)
    plan_code = None if event.change in _OVER else event.plan_code
    await flags.keep_plan(work, plan_code=plan_code, at=envelope.time)
