"""What an invitation is at a moment, and how its end is told."""

from datetime import datetime
from uuid import UUID

from thenga.domains.identity import public
from thenga.domains.identity.services import memberships
from thenga.domains.identity.services.organizations import Tenant
from thenga.domains.identity.tables import Invitation, InvitationStatus
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move


def shown_status(invitation: Invitation, now: datetime) -> InvitationStatus:
    """What time has made of it, also before the sweep has written it down."""
    if invitation.status is InvitationStatus.PENDING and now >= invitation.expires_at:
        return InvitationStatus.EXPIRED
    return invitation.status


def scope_of(invitation: Invitation) -> public.ScopeRef | None:
    """The resource that its roles will be limited to."""
    domain, kind, key = invitation.scope_domain, invitation.scope_type, invitation.scope_id
    if domain is None or kind is None or key is None:
        return None
    return public.ScopeRef(domain=domain, type=kind, id=key)


async def end(
    work: Work, tenant: Tenant, invitation: Invitation, move: Move, *, by: UUID | None
) -> None:
    """End a locked invitation once and tell it; its seat is free from then on."""
    if not move(invitation, at=tenant.now):
        return
    invitation.next_check_at = None
    invitation.status_changed_at, invitation.status_changed_by = tenant.now, by
    await work.save(invitation)
    work.publish(
        public.InvitationEnded(
            organization_id=tenant.id,
            invitation_id=invitation.id,
            outcome=invitation.status,
            seats_used=await memberships.used(work, tenant),
        )
    )
