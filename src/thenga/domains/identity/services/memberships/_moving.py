"""The moves of a membership: the person's own answers, and what a manager does."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.identity.lifecycles import MembershipLifecycle
from thenga.domains.identity.services import accounts, organizations, roles
from thenga.domains.identity.services.memberships import seats
from thenga.domains.identity.services.memberships._joining import tell
from thenga.domains.identity.services.organizations import Tenant
from thenga.domains.identity.services.roles import GrantAboveOwn
from thenga.domains.identity.tables import Membership, MembershipStatus, TenantMirror
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move, explain
from thenga.kernel.errors import NotFound, Problem


class MembershipVoid(Problem):
    """Whoever asked you to join may no longer give these roles. Ask the organization again."""

    code, status, title = "identity-membership-void", 409, "This request to join is void"


async def accept(work: Work, membership_id: UUID) -> Membership:
    """Join, as one was asked; from now on the others see one's card."""
    await work.get(Membership, membership_id)  # what is another's is not there, for anybody
    one = await accounts.account_standing(work, work.user_id)
    if one is None:
        raise NotFound()
    accounts.may_belong(one)
    tenant = await _own(work, membership_id)
    membership = await work.lock(Membership, membership_id)
    previous = membership.status
    if not MembershipLifecycle.accept(membership, at=tenant.now):
        return membership
    await _guard_assigners(work, tenant, membership)
    accounts.show(membership, one)
    membership.joined_at = tenant.now
    return await _saved(work, tenant, membership, previous, code="accepted")


async def decline(work: Work, membership_id: UUID) -> Membership:
    """Do not join."""
    tenant = await _own(work, membership_id)
    return await _out(work, tenant, membership_id, MembershipLifecycle.decline, code="declined")


async def leave(work: Work, membership_id: UUID) -> Membership:
    """Belong no longer; the last owner stays (IDN-19)."""
    tenant = await _own(work, membership_id)
    return await _out(work, tenant, membership_id, MembershipLifecycle.leave, code="left")


async def deactivate(work: Work, membership_id: UUID, *, reason: str) -> Membership:
    """Shut a member out for a while; their seat is free meanwhile."""
    tenant = await organizations.lock_organization(work)
    membership = await work.lock(Membership, membership_id)
    previous = membership.status
    if not MembershipLifecycle.deactivate(membership, at=tenant.now):
        return membership
    await _guard_owner(work, tenant, membership, previous)
    return await _saved(work, tenant, membership, previous, code="deactivated", text=reason)


async def reactivate(work: Work, membership_id: UUID, *, reason: str) -> Membership:
    """Let a member in again, if there is a seat (IDN-22)."""
    tenant = await organizations.lock_organization(work)
    membership = await work.lock(Membership, membership_id)
    previous = membership.status
    if not MembershipLifecycle.reactivate(membership, at=tenant.now):
        return membership
    await _guard_giver(work, tenant, membership)
    room = await seats.room(work, tenant)
    return await _saved(
        work, tenant, membership, previous, code="reactivated", text=reason, room=room
    )


async def remove(work: Work, membership_id: UUID, *, reason: str) -> Membership:
    """End a membership for good; who comes back gets a new one (IDN-18)."""
    tenant = await organizations.lock_organization(work)
    return await _out(
        work, tenant, membership_id, MembershipLifecycle.remove, code="removed", text=reason
    )


async def move_clock(work: Work, organization_id: UUID, *, ahead: timedelta, sequence: int) -> None:
    """The gate follows a sandbox's clock; a move that is not newer is ignored.

    Only a sandbox has a clock, whatever an event says (SEC-63).
    """
    mirror = await work.lock_by(TenantMirror, organization_id=organization_id)
    if not mirror.sandbox or sequence <= mirror.source_sequence:
        return
    mirror.ahead = ahead
    mirror.source_sequence = sequence
    await work.save(mirror)


async def _own(work: Work, membership_id: UUID) -> Tenant:
    """Go from one's own membership to the organization that it is in, and hold that."""
    membership = await work.get(Membership, membership_id)
    await work.enter_organization(membership.organization_id)
    return await organizations.lock_organization(work)


async def _out(
    work: Work,
    tenant: Tenant,
    membership_id: UUID,
    move: Move,
    *,
    code: str,
    text: str | None = None,
) -> Membership:
    membership = await work.lock(Membership, membership_id)
    previous = membership.status
    if not move(membership, at=tenant.now):
        return membership
    await _guard_owner(work, tenant, membership, previous)
    membership.ended_at = tenant.now
    await roles.end_role_assignments(work, membership, tenant.now)
    await roles.end_permission_assignments(work, membership, tenant.now)
    return await _saved(work, tenant, membership, previous, code=code, text=text)


async def _guard_owner(
    work: Work, tenant: Tenant, membership: Membership, previous: MembershipStatus
) -> None:
    """An owner is changed by owners only, and never the last one (IDN-19, SEC-57)."""
    if not await roles.is_or_becomes_owner(work, membership.id, tenant.now):
        return
    if previous is MembershipStatus.ACTIVE:
        await roles.check_owner_remains(work, tenant, without=membership.id)
    if membership.user_id != work.actor.id:
        giver = await roles.giver_of(work, work.user_id, tenant.now)
        giver.must_hold((), owner=True)


async def _guard_giver(work: Work, tenant: Tenant, membership: Membership) -> None:
    """To let a member in again is to give all that the member then holds (SEC-58)."""
    giver = await roles.giver_of(work, work.user_id, tenant.now)
    for gained in (await roles.awaiting(work, membership.id, tenant.now)).values():
        giver.must_hold(gained.permissions, owner=gained.includes_owner)


async def _guard_assigners(work: Work, tenant: Tenant, membership: Membership) -> None:
    """A request to join is worth what those who gave its roles may give now (SEC-58)."""
    for assigner, gained in (await roles.awaiting(work, membership.id, tenant.now)).items():
        if assigner is None:
            continue
        giver = await roles.giver_of(work, assigner, tenant.now)
        try:
            giver.must_hold(gained.permissions, owner=gained.includes_owner)
        except GrantAboveOwn:
            raise MembershipVoid() from None


async def _saved(
    work: Work,
    tenant: Tenant,
    membership: Membership,
    previous: MembershipStatus,
    *,
    code: str,
    text: str | None = None,
    room: seats.Room | None = None,
) -> Membership:
    explain(membership, at=tenant.now, by=work.actor.id, code=code, text=text)
    await work.save(membership)
    if room is not None:
        await seats.must_fit(work, tenant, room)
    await tell(work, tenant, membership, previous=previous)
    return membership
