"""What Identity does when others tell something."""

from datetime import timedelta

from thenga.domains.administration import public as administration
from thenga.domains.billing import public as billing
from thenga.domains.identity.services import memberships, organizations, providers
from thenga.domains.organization import public as organization
from thenga.kernel.db.work import Work
from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("identity", is_sandbox=organizations.is_sandbox)


@reactions.on(organization.OrganizationCreated)
async def make_founder_owner(work: Work, event: organization.OrganizationCreated) -> None:
    """The founder of an organization becomes its first owner, once."""
    await memberships.found(
        work,
        event.organization_id,
        founder=event.created_by_user_id,
        status=event.status,
        sandbox=event.mode == "sandbox",
        sequence=0,
    )


@reactions.on(organization.SandboxClockMoved)
async def let_gate_follow_clock(work: Work, event: organization.SandboxClockMoved) -> None:
    """The gate compares validity by the organization's own clock (IDN-51)."""
    await memberships.move_clock(
        work,
        event.organization_id,
        ahead=timedelta(seconds=event.ahead_seconds),
        sequence=event.move_number,
    )


@reactions.on(billing.EntitlementChanged)
async def follow_entitlements(work: Work, event: billing.EntitlementChanged) -> None:
    """What the gate remembers of a plan is moved at once (IDN-32)."""
    await organizations.refresh_entitlements(work, event)


@reactions.on(administration.IntegrationConfigurationChanged)
async def follow_providers(
    work: Work, event: administration.IntegrationConfigurationChanged
) -> None:
    """A provider is copied with its keys; one that is paused starts no sign-in (IDN-16).

    People sign in once for all their organizations, so only live integrations count.
    """
    if event.kind == providers.KIND and event.environment == "live":
        work.enqueue(providers.follow_integration, integration_id=event.integration_id)
