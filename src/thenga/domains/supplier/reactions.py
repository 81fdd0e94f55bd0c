"""What Supplier does when Organization publishes an event."""

from thenga.domains.organization import public as organization
from thenga.domains.supplier.public import Verification
from thenga.domains.supplier.services import capabilities
from thenga.domains.supplier.services.tenants import TENANTS
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Event
from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("supplier", is_sandbox=TENANTS.is_sandbox)


@reactions.on(organization.OrganizationCreated)
async def know_organization(work: Work, event: organization.OrganizationCreated) -> None:
    """Store whether it is a sandbox, whose clock can be moved."""
    await TENANTS.know(work, sandbox=event.mode == "sandbox")


@reactions.on(
    organization.CapabilityVerified, organization.CapabilityChanged, organization.CapabilityLapsed
)
async def refresh_verification(
    work: Work,
    event: organization.CapabilityVerified
    | organization.CapabilityChanged
    | organization.CapabilityLapsed,
) -> None:
    """Show how far a capability of the profile is proven that the own supplier names (SUP-6)."""
    stated = None if _is_gone(event) else Verification.model_validate(event, from_attributes=True)
    sequence = work.envelope.sequence or 0
    await capabilities.refresh_verification(work, event.capability_id, stated, sequence)


def _is_gone(event: Event) -> bool:
    """Whether the company took the capability out of its profile."""
    if not isinstance(event, organization.CapabilityChanged):
        return False
    return event.status != "active" or event.change == "archived"
