"""What operators see of an organization's people and keys."""

from datetime import timedelta

from sqlalchemy import and_

from thenga.domains.identity.services import roles
from thenga.domains.identity.tables import (
    ApiKey,
    ApiKeyStatus,
    Invitation,
    InvitationStatus,
    Membership,
    MembershipStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.standing import panels
from thenga.kernel.standing.panels import Panel, PanelState

_SOON = timedelta(days=14)


async def summarize(read: Reader) -> Panel:
    """Members, owners, invitations and keys; without an owner nobody can manage it."""
    is_member = Membership.status == MembershipStatus.ACTIVE
    works = among(ApiKey.status, (ApiKeyStatus.ACTIVE, ApiKeyStatus.ROTATING))
    figures = await panels.count(
        read,
        members_active=(Membership, is_member),
        members_inactive=(Membership, Membership.status == MembershipStatus.INACTIVE),
        members_without_second_factor=(Membership, and_(is_member, ~Membership.aal2_ready)),
        owners=(Membership, and_(is_member, roles.has_role_clause(roles.OWNER, read.now))),
        invitations_open=(
            Invitation,
            and_(Invitation.status == InvitationStatus.PENDING, Invitation.expires_at > read.now),
        ),
        api_keys_active=(ApiKey, and_(works, ApiKey.expires_at > read.now)),
        api_keys_expiring=(
            ApiKey,
            and_(works, ApiKey.expires_at.between(read.now, read.now + _SOON)),
        ),
    )
    shown = {one.key: one.value for one in figures}
    if shown["members_active"] and not shown["owners"]:
        return Panel(figures=figures, state=PanelState.ALARM)
    state = PanelState.WARN if shown["api_keys_expiring"] else PanelState.OK
    return Panel(figures=figures, state=state)
