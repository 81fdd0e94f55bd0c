"""How a membership begins: with the organization, by invitation, or by asking a known person."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import select

from thenga.domains.identity import public
from thenga.domains.identity.services import accounts, organizations, roles
from thenga.domains.identity.services.accounts import Standing
from thenga.domains.identity.services.memberships import seats
from thenga.domains.identity.services.organizations import Tenant
from thenga.domains.identity.tables import Membership, MembershipStatus, TenantMirror
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, NotFound
from thenga.kernel.values.ids import new_id


async def found(
    work: Work, organization_id: UUID, *, founder: UUID, status: str, sandbox: bool, sequence: int
) -> None:
    """A new organization gets its mirror, and its founder becomes the active owner.

    The event is in the past and cannot be refused, so staff who founded it get no membership.
    """
    one = await accounts.account_standing(work, founder)
    await work.add(
        TenantMirror(
            organization_id=organization_id,
            status=status,
            sandbox=sandbox,
            source_sequence=sequence,
        )
    )
    if one is not None and one.staff:
        return
    await join(
        work, organization_id, user_id=founder, role_codes=["owner"], origin="founder", card=one
    )


async def join(
    work: Work,
    organization_id: UUID,
    *,
    user_id: UUID,
    role_codes: Sequence[str],
    origin: str,
    card: Standing | None = None,
    scope: public.ScopeRef | None = None,
    assigned_by: UUID | None = None,
) -> Membership:
    """An active membership with its roles; never of staff (IDN-18)."""
    if card is not None:
        accounts.may_belong(card)
    tenant = await organizations.find_organization(work)
    membership = _new(organization_id, user_id, origin, tenant.now, by=user_id)
    membership.status, membership.joined_at = MembershipStatus.ACTIVE, tenant.now
    if card is not None:
        accounts.show(membership, card)
    await work.add(membership)
    for role_code in role_codes:
        await roles.give_role(
            work,
            membership,
            role_code=role_code,
            at=tenant.now,
            scope=scope,
            assigned_by=assigned_by,
        )
    await tell(work, tenant, membership, previous=None)
    return membership


async def ask(
    work: Work, *, user_id: UUID, role_codes: Sequence[str], title: str | None, reason: str
) -> Membership:
    """Ask a person who has an account to join; it takes a seat while the answer is open."""
    one = await accounts.account_standing(work, user_id)
    if one is None or not one.is_active:
        raise NotFound()
    accounts.may_belong(one)
    tenant = await organizations.lock_organization(work)
    giver = await roles.giver_of(work, work.user_id, tenant.now)
    granted = await roles.permissions_given_by(work, role_codes, tenant.now)
    giver.must_hold(granted.permissions, owner=granted.includes_owner)
    await _must_be_new(work, user_id)
    room = await seats.room(work, tenant)
    membership = _new(tenant.id, user_id, "direct", tenant.now, by=work.actor.id)
    membership.title, membership.email_key = title, one.email_key
    await work.add(membership)
    await seats.must_fit(work, tenant, room)
    for role_code in dict.fromkeys(role_codes):
        await roles.give_role(
            work,
            membership,
            role_code=role_code,
            at=tenant.now,
            reason=reason,
            assigned_by=work.actor.id,
        )
    await tell(work, tenant, membership, previous=None)
    return membership


async def tell(
    work: Work, tenant: Tenant, membership: Membership, *, previous: MembershipStatus | None
) -> None:
    """Tell what became of a membership, and how many seats are used since."""
    codes = await roles.role_codes_of(work, [membership.id], tenant.now)
    work.publish(
        public.MembershipChanged(
            organization_id=membership.organization_id,
            membership_id=membership.id,
            user_id=membership.user_id,
            status=membership.status,
            previous_status=previous,
            role_codes=codes.get(membership.id, []),
            seats_used=await seats.used(work, tenant),
        )
    )


def _new(
    organization_id: UUID, user_id: UUID, origin: str, at: datetime, *, by: UUID | None
) -> Membership:
    return Membership(
        id=new_id(),
        organization_id=organization_id,
        user_id=user_id,
        status=MembershipStatus.PENDING,
        origin=origin,
        status_code=origin,
        status_changed_at=at,
        status_changed_by=by,
    )


async def _must_be_new(work: Work, user_id: UUID) -> None:
    known = await work.all(
        select(Membership).where(
            Membership.organization_id == work.organization_id,
            Membership.user_id == user_id,
            Membership.status != MembershipStatus.REMOVED.value,
        )
    )
    for one in known:
        reference = {"domain": "identity", "type": "membership", "id": str(one.id)}
        raise Duplicate(f"This person already has a membership: {one.status}.", existing=reference)
