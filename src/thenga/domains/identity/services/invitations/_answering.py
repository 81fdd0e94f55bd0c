"""The side of whoever holds the letter: look at it, accept, decline (IDN-21)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import select

from thenga.domains.identity import public
from thenga.domains.identity.lifecycles import InvitationLifecycle, MembershipLifecycle
from thenga.domains.identity.permissions import TENANT_ROLES, Permission
from thenga.domains.identity.services import (
    accounts,
    auth,
    memberships,
    organizations,
    roles,
    sessions,
)
from thenga.domains.identity.services.accounts import Standing
from thenga.domains.identity.services.invitations._delivering import PURPOSE
from thenga.domains.identity.services.invitations._telling import end, scope_of, shown_status
from thenga.domains.identity.services.organizations import Tenant
from thenga.domains.identity.tables import (
    Invitation,
    InvitationStatus,
    Membership,
    MembershipStatus,
    OneTimeLink,
    Password,
    UserStatus,
)
from thenga.kernel.access.actors import ActorKind
from thenga.kernel.crypto import tokens
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, Problem, Unauthenticated, ValidationFailed

_TWO_TABS = timedelta(seconds=30)  # how long a second tab of a newcomer is still the first one


class InvitationOver(Problem):
    """It was answered, withdrawn or has expired. Ask for a new invitation."""

    code, status, title = "identity-invitation-ended", 409, "This invitation is no longer valid"


class InvitationVoid(Problem):
    """The person who invited you can no longer grant these roles.

    Ask the organization to invite you again.
    """

    code, status, title = (
        "identity-invitation-void",
        409,
        "This invitation can no longer be accepted",
    )


class OtherAddress(Problem):
    """The invitation was sent to a different address from the one you are signed in with.

    Sign in with the invited address, or ask to be invited at this one.
    """

    code, status, title = "identity-other-address", 403, "This invitation is for another address"


@dataclass(frozen=True)
class Seen:
    """An invitation as its holder may see it."""

    invitation: Invitation
    status: InvitationStatus
    invited_by: str | None
    role_names: list[str]
    account: Standing | None  # who has the invited address
    now: datetime  # by the organization's clock
    organization_name: str | None = None  # where Organization could be asked


@dataclass(frozen=True)
class Accepted:
    """The membership, and for somebody new the session that begins with it."""

    membership: Membership
    signed_in: sessions.StartedSession | None = None


async def inspect(work: Work, *, token: str) -> Seen:
    """What the letter in one's hand is about; the token proves the address."""
    seen = await _look(work, tokens.digest(token), None)
    named = await organizations.organization_name(work, seen.invitation.organization_id)
    return replace(seen, organization_name=named)


async def accept(
    work: Work,
    invitation_id: UUID,
    *,
    token: str,
    display_name: str | None,
    password: str | None,
) -> Accepted:
    """Join: as the person signed in, or as somebody new whose address the letter proves."""
    digest = tokens.digest(token)
    seen = await _look(work, digest, invitation_id)
    if work.actor.kind is ActorKind.NOBODY:
        return await _accept_as_newcomer(work, digest, seen, display_name, password)
    one = await accounts.account_standing(work, work.user_id)
    if one is None or one.email_key != seen.invitation.email_key:
        raise OtherAddress()
    accounts.may_belong(one)
    link = await _hold_link(work, digest)
    await _spend(work, link)
    return Accepted(await _join(work, link, invitation_id, one))


async def decline(work: Work, invitation_id: UUID, *, token: str) -> Invitation:
    """Do not join; the organization is told, the seat is free."""
    digest = tokens.digest(token)
    link = await _hold_link(work, digest)
    tenant, invitation = await _hold(work, link, invitation_id)
    if shown_status(invitation, tenant.now) not in (
        InvitationStatus.PENDING,
        InvitationStatus.DECLINED,
    ):
        raise InvitationOver()
    await end(work, tenant, invitation, InvitationLifecycle.decline, by=work.actor.id)
    return invitation


async def _accept_as_newcomer(
    work: Work, digest: bytes, seen: Seen, display_name: str | None, password: str | None
) -> Accepted:
    if seen.account is not None and not _is_second_tab(seen, password):
        raise Unauthenticated(
            "There is already an account with this email address. Sign in with it, then accept."
        )
    if password is None or display_name is None:
        raise _newcomers_fields(display_name, password)
    invitation = seen.invitation
    phc = None
    if seen.account is None:
        phc = await auth.hashed(password, known=[display_name, invitation.email])
    link = await _hold_link(work, digest)
    if phc is None or link.used_at is not None:
        return await _again(work, link, password)
    await _spend(work, link)
    account = await auth.newcomer(work, email=invitation.email, display_name=display_name, phc=phc)
    # What belongs to the person comes first, by the base clock; then the organization's (IDN-51).
    signed_in = await sessions.start_session(work, account.id, methods=["password"])
    one = Standing(account.id, True, account.staff, invitation.email_key, account)
    return Accepted(await _join(work, link, invitation.id, one), signed_in)


def _is_second_tab(seen: Seen, password: str | None) -> bool:
    """Somebody new who pressed twice comes a moment after having become known."""
    invitation = seen.invitation
    return (
        password is not None
        and invitation.status is InvitationStatus.ACCEPTED
        and seen.account is not None
        and invitation.accepted_by_user_id == seen.account.user_id
        and invitation.status_changed_at is not None
        and seen.now - invitation.status_changed_at <= _TWO_TABS
    )


def _newcomers_fields(display_name: str | None, password: str | None) -> ValidationFailed:
    given = {"displayName": display_name, "password": password}
    said = (
        "There is no account with this email address. Send your name and a password to create one."
    )
    errors = [
        {"pointer": f"/{name}", "code": "missing", "detail": said}
        for name, value in given.items()
        if value is None
    ]
    return ValidationFailed(said, errors=errors)


async def _again(work: Work, link: OneTimeLink, password: str) -> Accepted:
    """The second of two tabs: the same membership, if the password is the one just set."""
    seen = await _look(work, link.hash, None)
    user_id, membership_id = seen.invitation.accepted_by_user_id, seen.invitation.membership_id
    if user_id is None or membership_id is None:
        raise InvitationOver()
    async with accounts.opened_for(work, user_id) as theirs:
        known = await theirs.find(Password, user_id=user_id)
        membership = await theirs.get(Membership, membership_id)
    # Rare, and nobody but a third tab waits for this link meanwhile.
    if not await auth.is_right(password, None if known is None else known.phc):
        raise Unauthenticated(
            "There is already an account with this email address. Sign in with it, then accept."
        )
    await work.become(user_id)
    return Accepted(membership, await sessions.start_session(work, user_id, methods=["password"]))


async def _join(work: Work, link: OneTimeLink, invitation_id: UUID, one: Standing) -> Membership:
    """Under the lock of the organization: everything is asked again, then one membership."""
    tenant, invitation = await _hold(work, link, invitation_id)
    if (
        invitation.status is InvitationStatus.ACCEPTED
        and invitation.accepted_by_user_id == one.user_id
    ):
        assert invitation.membership_id is not None  # noqa: S101  # written with the answer
        return await work.get(Membership, invitation.membership_id)
    if shown_status(invitation, tenant.now) is not InvitationStatus.PENDING:
        raise InvitationOver()
    await _ask_inviter_again(work, tenant, invitation)
    membership = await _membership(work, tenant, invitation, one)
    InvitationLifecycle.accept(invitation, at=tenant.now)
    invitation.next_check_at = None
    invitation.accepted_by_user_id, invitation.membership_id = one.user_id, membership.id
    invitation.status_changed_at, invitation.status_changed_by = tenant.now, one.user_id
    await work.save(invitation)
    work.publish(
        public.InvitationAccepted(
            organization_id=tenant.id,
            invitation_id=invitation.id,
            user_id=one.user_id,
            membership_id=membership.id,
            seats_used=await memberships.used(work, tenant),
        )
    )
    return membership


async def _membership(
    work: Work, tenant: Tenant, invitation: Invitation, one: Standing
) -> Membership:
    """A new one, or the one the person got meanwhile by another way, with these roles too."""
    known = await work.all(
        select(Membership).where(
            Membership.organization_id == tenant.id,
            Membership.user_id == one.user_id,
            Membership.status != MembershipStatus.REMOVED.value,
        )
    )
    if not known:
        return await memberships.join(
            work,
            tenant.id,
            user_id=one.user_id,
            role_codes=invitation.role_codes,
            origin="invitation",
            card=one,
            scope=scope_of(invitation),
            assigned_by=invitation.invited_by_user_id,
        )
    membership = await work.lock(Membership, known[0].id)
    previous = membership.status
    if previous is MembershipStatus.INACTIVE:
        raise InvitationVoid(
            "Your membership was deactivated. Ask an administrator of the organization to "
            "reactivate it."
        )
    await _give_missing(work, tenant, membership, invitation)
    if MembershipLifecycle.accept(membership, at=tenant.now):
        accounts.show(membership, one)
        membership.joined_at = membership.status_changed_at = tenant.now
        membership.status_code, membership.status_changed_by = "invitation", one.user_id
        await work.save(membership)
        await memberships.tell(work, tenant, membership, previous=previous)
    return membership


async def _give_missing(
    work: Work, tenant: Tenant, membership: Membership, invitation: Invitation
) -> None:
    codes = await roles.role_codes_of(work, [membership.id], tenant.now)
    for code in invitation.role_codes:
        if code not in codes.get(membership.id, []):
            await roles.give_role(
                work,
                membership,
                role_code=code,
                at=tenant.now,
                scope=scope_of(invitation),
                assigned_by=invitation.invited_by_user_id,
            )


async def _ask_inviter_again(work: Work, tenant: Tenant, invitation: Invitation) -> None:
    """An invitation is worth what its sender may give at the moment it is accepted."""
    if not tenant.is_active:
        raise InvitationVoid("This organization does not accept new members at the moment.")
    giver = await roles.giver_of(work, invitation.invited_by_user_id, tenant.now)
    try:
        granted = await roles.permissions_given_by(work, invitation.role_codes, tenant.now)
        giver.must_hold(
            {*granted.permissions, Permission.INVITATION_CREATE.value},
            owner=granted.includes_owner,
        )
    except Problem:
        raise InvitationVoid() from None


async def _look(work: Work, digest: bytes, invitation_id: UUID | None) -> Seen:
    """The invitation of a link, read aside: hashing a password must not hold a transaction."""
    async with work.separate_reader() as read:
        await read.present(digest)
        link = await read.find(OneTimeLink, hash=digest)
        if link is None or link.purpose != PURPOSE or link.organization_id is None:
            raise NotFound()
        if link.invitation_id is None or invitation_id not in (None, link.invitation_id):
            raise NotFound()
        await read.enter_organization(link.organization_id)
        invitation = await read.get(Invitation, link.invitation_id)
        tenant = await organizations.find_organization(read)
        inviter = await read.all(
            select(Membership).where(
                Membership.organization_id == tenant.id,
                Membership.user_id == invitation.invited_by_user_id,
            )
        )
        role_names = await _role_names(read, invitation.role_codes)
        name = await accounts.find_name(read, invitation.email_key)
    account = None if name is None else await accounts.account_standing(work, name.user_id)
    proved = account is not None and account.account.status is not UserStatus.PENDING_VERIFICATION
    return Seen(
        invitation=invitation,
        status=shown_status(invitation, tenant.now),
        invited_by=inviter[0].display_name or None if inviter else None,
        role_names=role_names,
        # An account that nobody proved is nobody's yet: the letter proves the address (IDN-9).
        account=account if proved else None,
        now=tenant.now,
    )


async def _role_names(read: Reader, codes: Sequence[str]) -> list[str]:
    customs = await roles.custom_roles(read, codes)
    return [
        customs[code].name if code in customs else code.replace("_", " ").capitalize()
        for code in codes
        if code in customs or code in TENANT_ROLES
    ]


async def _hold_link(work: Work, digest: bytes) -> OneTimeLink:
    """Two tabs come one after the other from here on."""
    await work.present(digest)
    link = await work.lock_by(OneTimeLink, hash=digest)
    if link.purpose != PURPOSE:
        raise NotFound()
    return link


async def _spend(work: Work, link: OneTimeLink) -> None:
    if link.used_at is None:
        link.used_at = work.now
        await work.save(link)


async def _hold(work: Work, link: OneTimeLink, invitation_id: UUID) -> tuple[Tenant, Invitation]:
    if link.organization_id is None or link.invitation_id != invitation_id:
        raise NotFound()
    await work.enter_organization(link.organization_id)
    tenant = await organizations.lock_organization(work)
    return tenant, await work.lock(Invitation, invitation_id)
