"""Events that resolve escalations (`autoResolveOn` of a policy, NOT-41)."""

from thenga.domains.administration import public as administration
from thenga.domains.billing import public as billing
from thenga.domains.notification.reactions.declared import reactions
from thenga.domains.notification.services import escalations
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.work import Work


@reactions.on(billing.PaymentRecovered)
async def resolve_open_payment(work: Work, event: billing.PaymentRecovered) -> None:
    """Nobody else is told about a payment that was made."""
    await escalations.resolve_on_event(work, event.type, "billing", event.failure_id)


@reactions.on(administration.SupportCaseResolved)
async def resolve_support_breach(work: Work, event: administration.SupportCaseResolved) -> None:
    """Staff are not told again about a case that is resolved. The escalation is the platform's."""
    await work.switch_scope(organization_id=OPERATOR)
    await escalations.resolve_on_event(work, event.type, "administration", event.case_id)
