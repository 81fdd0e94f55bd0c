"""Administration's reactions to events of other domains."""

from thenga.domains.administration.services import flags
from thenga.domains.billing import public as billing
from thenga.domains.organization import public as organization
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("administration")
_OVER = ("expired", "ended")


@reactions.on(organization.OrganizationCreated)
async def keep_mode(work: Work, event: organization.OrganizationCreated) -> None:
    """Keep whether an organization is a sandbox, for targeting."""
    work.enqueue(flags.note_mode, sandbox=event.mode == "sandbox")


@reactions.on_type(billing.SubscriptionChanged.type)
async def keep_plan(work: Work, envelope: Envelope) -> None:
    """Keep the plan of an organization, for targeting. The newest change wins."""
    event = billing.SubscriptionChanged.model_validate(envelope.data)
    plan_code = None if event.change in _OVER else event.plan_code
    work.enqueue(flags.note_plan, plan_code=plan_code, at=envelope.time)
