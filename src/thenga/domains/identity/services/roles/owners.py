"""An active organization always has an active owner with an active account (IDN-19)."""

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import select

from thenga.domains.identity.services import accounts
from thenga.domains.identity.services.organizations import Tenant
from thenga.domains.identity.services.roles import rights
from thenga.domains.identity.tables import Membership, MembershipStatus, RoleAssignment
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import Problem


class LastOwner(Problem):
    """An organization needs at least one owner. Make another member an owner first."""

    code, status, title = "identity-last-owner", 409, "The last owner cannot leave"


async def check_owner_remains(read: Reader, tenant: Tenant, *, without: UUID) -> None:
    """Refuse what would leave nobody; asked while the organization is held.

    An owner whose time ends does not count: when it ended, nobody would be left.
    """
    if tenant.status == "closed":
        return
    for user_id in await _others(read, tenant, without):
        one = await accounts.account_standing(read, user_id)
        if one is not None and one.is_active:
            return
    raise LastOwner()


async def _others(read: Reader, tenant: Tenant, without: UUID) -> list[UUID]:
    is_owner = sa.exists(
        select(RoleAssignment.id).where(
            RoleAssignment.organization_id == Membership.organization_id,
            RoleAssignment.membership_id == Membership.id,
            RoleAssignment.role_code == rights.OWNER,
            RoleAssignment.scope_type.is_(None),
            RoleAssignment.valid_to.is_(None),
            rights.in_force(RoleAssignment, tenant.now),
        )
    )
    return await read.values(
        select(Membership.user_id)
        .where(
            Membership.organization_id == tenant.id,
            Membership.id != without,
            Membership.status == MembershipStatus.ACTIVE.value,
            is_owner,
        )
        .order_by(Membership.id)
    )
