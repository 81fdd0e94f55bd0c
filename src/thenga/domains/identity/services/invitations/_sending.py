"""The organization's side: invite, send again, take back, and what time does."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ColumnElement, select

from thenga.domains.identity import public
from thenga.domains.identity.lifecycles import InvitationLifecycle
from thenga.domains.identity.services import accounts, memberships, organizations, roles
from thenga.domains.identity.services.invitations._delivering import add_link
from thenga.domains.identity.services.invitations._telling import end, shown_status
from thenga.domains.identity.services.organizations import Tenant
from thenga.domains.identity.tables import (
    Invitation,
    InvitationStatus,
    Membership,
    MembershipStatus,
)
from thenga.kernel.crypto import tokens
from thenga.kernel.db import step_up
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, InvalidTransition, RateLimited
from thenga.kernel.values.ids import new_id

LIVES = timedelta(days=7)
REMINDED_AFTER = timedelta(days=5)
APART = timedelta(minutes=10)
MOST_AGAIN = 5  # letters after the first


async def create(
    work: Work,
    *,
    email: str,
    role_codes: Sequence[str],
    scope: public.ScopeRef | None,
    message: str | None,
) -> Invitation:
    """Invite an address; nothing tells whether somebody has an account with it (IDN-52)."""
    tenant = await organizations.lock_organization(work)
    await _check_giver(work, tenant, role_codes)
    key = accounts.account_key(work.host, email)
    await _must_be_new(work, tenant, key)
    room = await memberships.room(work, tenant)
    text = tokens.mint(tokens.Prefix.LINK)
    invitation = Invitation(
        id=new_id(),
        organization_id=tenant.id,
        email=email,
        email_key=key,
        role_codes=sorted(set(role_codes)),
        message=message,
        status=InvitationStatus.PENDING,
        invited_by_user_id=work.user_id,
        expires_at=tenant.now + LIVES,
        status_changed_at=tenant.now,
        status_changed_by=work.actor.id,
    )
    if scope is not None:
        invitation.scope_domain, invitation.scope_type = scope.domain, scope.type
        invitation.scope_id = scope.id
    _plan(invitation, tenant.now, text)
    await work.add(invitation)
    await memberships.must_fit(work, tenant, room)
    await add_link(work, invitation, text)
    return invitation


async def resend(work: Work, invitation_id: UUID) -> Invitation:
    """A new letter with a new link; whoever sends it is the one who invites now (IDN-20)."""
    tenant = await organizations.lock_organization(work)
    invitation = await work.lock(Invitation, invitation_id)
    if shown_status(invitation, tenant.now) is not InvitationStatus.PENDING:
        told: dict[str, Any] = {
            "from": shown_status(invitation, tenant.now),
            "operation": "resend",
            "allowed": [],
        }
        raise InvalidTransition("Only an open invitation is sent again.", **told)
    await _check_giver(work, tenant, invitation.role_codes)
    _must_wait(invitation, tenant.now)
    text = tokens.mint(tokens.Prefix.LINK)
    invitation.invited_by_user_id = work.user_id
    invitation.expires_at = tenant.now + LIVES
    _plan(invitation, tenant.now, text)
    await work.save(invitation)
    await add_link(work, invitation, text)
    return invitation


async def revoke(work: Work, invitation_id: UUID) -> Invitation:
    """Take it back; the link in the letter is dead."""
    tenant = await organizations.lock_organization(work)
    invitation = await work.lock(Invitation, invitation_id)
    invitation.status = shown_status(invitation, tenant.now)
    await end(work, tenant, invitation, InvitationLifecycle.revoke, by=work.actor.id)
    return invitation


async def list_all(
    read: Reader, paged: Paged, *, status: InvitationStatus | None, email: str | None
) -> Slice[Invitation]:
    """The organization's invitations, answered and ended ones too."""
    statement = select(Invitation)
    if status is not None:
        statement = statement.where(_is_shown_as(status, read.now))
    if email is not None:
        statement = statement.where(Invitation.email_key == accounts.account_key(read.host, email))
    return await read.page(statement, paged)


async def follow_time(work: Work, invitation_id: UUID) -> None:
    """Remind once, on the fifth day; end it when its seven days are over."""
    tenant = await organizations.lock_organization(work)
    invitation = await work.lock(Invitation, invitation_id)
    due = invitation.next_check_at
    if due is None or due > tenant.now:
        return
    if (
        shown_status(invitation, tenant.now) is InvitationStatus.EXPIRED
        and invitation.status is InvitationStatus.PENDING
    ):
        await end(work, tenant, invitation, InvitationLifecycle.expire, by=None)
        return
    text = tokens.mint(tokens.Prefix.LINK)
    invitation.reminded_at = tenant.now
    invitation.next_check_at = invitation.expires_at
    invitation.link_hash = tokens.digest(text)
    await work.save(invitation)
    await add_link(work, invitation, text)


def _plan(invitation: Invitation, now: datetime, text: str) -> None:
    """One letter more, and the day on which it is remembered."""
    invitation.link_hash = tokens.digest(text)
    invitation.sent_count += 1
    invitation.last_sent_at = now
    invitation.reminded_at = None
    invitation.next_check_at = now + REMINDED_AFTER


def _must_wait(invitation: Invitation, now: datetime) -> None:
    if invitation.sent_count > MOST_AGAIN:
        raise RateLimited(
            "This invitation was sent as often as it can be. Revoke it and invite anew.",
            headers={"Retry-After": str(int(LIVES.total_seconds()))},
        )
    assert invitation.last_sent_at is not None  # noqa: S101  # it was sent when it was made
    wait = invitation.last_sent_at + APART - now
    if wait > timedelta(0):
        seconds = max(1, int(wait.total_seconds()))
        raise RateLimited(
            "Between two letters lie ten minutes.", headers={"Retry-After": str(seconds)}
        )


async def _check_giver(work: Work, tenant: Tenant, role_codes: Sequence[str]) -> None:
    giver = await roles.giver_of(work, work.user_id, tenant.now)
    granted = await roles.permissions_given_by(work, role_codes, tenant.now)
    giver.must_hold(granted.permissions, owner=granted.includes_owner)
    if granted.grave:
        step_up.demand(work)


async def _must_be_new(work: Work, tenant: Tenant, key: bytes) -> None:
    """Tells only of what the organization sent itself, and of cards that it sees (IDN-52)."""
    open_ones = await work.all(
        select(Invitation).where(
            Invitation.email_key == key, Invitation.status == InvitationStatus.PENDING.value
        )
    )
    for one in open_ones:
        if shown_status(one, tenant.now) is InvitationStatus.PENDING:
            raise _known("invitation", one.id, "This address has an open invitation already.")
        held = await work.lock(Invitation, one.id)  # over, and not yet written down
        await end(work, tenant, held, InvitationLifecycle.expire, by=None)
    members = await work.all(
        select(Membership).where(
            Membership.organization_id == tenant.id,
            Membership.email_key == key,
            Membership.email != "",
            Membership.status != MembershipStatus.REMOVED.value,
        )
    )
    for member in members:
        raise _known("membership", member.id, "Somebody with this address is a member already.")


def _known(kind: str, key: UUID, said: str) -> Duplicate:
    return Duplicate(said, existing={"domain": "identity", "type": kind, "id": str(key)})


def _is_shown_as(status: InvitationStatus, now: datetime) -> ColumnElement[bool]:
    column = Invitation.__table__.c.status
    pending = column == InvitationStatus.PENDING.value
    if status is InvitationStatus.PENDING:
        return sa.and_(pending, Invitation.expires_at > now)
    if status is InvitationStatus.EXPIRED:
        return sa.or_(column == status.value, sa.and_(pending, Invitation.expires_at <= now))
    return column == status.value
