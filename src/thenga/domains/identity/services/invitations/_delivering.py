"""Handing a letter over: its text is sealed in the link only until then (IDN-10)."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from thenga.domains.identity import public
from thenga.domains.identity.services import accounts, memberships, organizations
from thenga.domains.identity.services.invitations._telling import shown_status
from thenga.domains.identity.tables import (
    Invitation,
    InvitationStatus,
    Membership,
    MembershipStatus,
    OneTimeLink,
    UserStatus,
)
from thenga.domains.notification.public import as_fact
from thenga.kernel.crypto import tokens
from thenga.kernel.db import sealed
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub

PURPOSE = "invitation"

deliver_invitation = job_stub("identity.deliver_invitation", form=Form.OUTSIDE, key="{link_hash}")


@dataclass(frozen=True)
class LetterToDeliver:
    """What the letter needs; nobody keeps it. The inviter's message is not in it (SEC-66).

    `names` tells who invites and to which company; only an address that somebody has proved is
    told, because a stranger chooses both.
    """

    user_id: UUID | None  # none while nobody has proved the address
    email: str
    names: dict[str, str]
    text: str
    expires_at: datetime
    is_reminder: bool


async def add_link(work: Work, invitation: Invitation, text: str) -> None:
    """Keep a new link of an invitation and have its letter sent; earlier letters work too."""
    digest = tokens.digest(text)
    await work.present(digest)
    await work.add(
        OneTimeLink(
            hash=digest,
            purpose=PURPOSE,
            account_key=invitation.email_key,
            user_id=invitation.invited_by_user_id,
            organization_id=invitation.organization_id,
            invitation_id=invitation.id,
            sealed=sealed.seal(work.host, OneTimeLink, "sealed", text.encode(), hash=digest),
            expires_at=invitation.expires_at,
        )
    )
    work.enqueue(deliver_invitation, link_hash=digest.hex())


async def letter_to_deliver(read: Reader, link_hash: bytes) -> LetterToDeliver | None:
    """The letter of a link, unless it was handed over or nobody may use it any more."""
    await read.present(link_hash)
    link = await read.find(OneTimeLink, hash=link_hash)
    if link is None or link.sealed is None or link.invitation_id is None:
        return None
    invitation = await read.get(Invitation, link.invitation_id)
    live = shown_status(invitation, read.now) is InvitationStatus.PENDING
    if not live or invitation.link_hash != link_hash:
        return None
    text = sealed.unseal(read.host, link, "sealed").decode()
    user_id = await _holder(read, invitation)
    return LetterToDeliver(
        user_id=user_id,
        email=invitation.email,
        names={} if user_id is None else await _names(read, invitation),
        text=text,
        expires_at=invitation.expires_at,
        is_reminder=invitation.reminded_at is not None,
    )


async def _holder(read: Reader, invitation: Invitation) -> UUID | None:
    """Whoever has proved that the address is theirs."""
    name = await accounts.find_name(read, invitation.email_key)
    if name is None:
        return None
    cards = await memberships.describe_people(read.host, [name.user_id])
    unproven = UserStatus.PENDING_VERIFICATION.value
    return next((one.user_id for one in cards if one.status != unproven), None)


async def _names(read: Reader, invitation: Invitation) -> dict[str, str]:
    """Who invites, as colleagues see them, and to which company, as far as both are known."""
    card = await read.find(
        Membership,
        organization_id=invitation.organization_id,
        user_id=invitation.invited_by_user_id,
        status=MembershipStatus.ACTIVE,
    )
    company = await organizations.organization_name(read, invitation.organization_id)
    known = {"inviter": card.display_name if card else "", "organization": company or ""}
    return {name: as_fact(value) for name, value in known.items() if value}


async def mark_delivered(work: Work, link_hash: bytes) -> None:
    """The letter is out: its text is forgotten, and that it was sent is told, with the seat that it
    keeps (IDN-22)."""
    tenant = await organizations.lock_organization(work)
    await work.present(link_hash)
    link = await work.lock_by(OneTimeLink, hash=link_hash)
    link.sealed = None
    await work.save(link)
    assert link.invitation_id is not None  # noqa: S101  # it was there when it was read
    invitation = await work.lock(Invitation, link.invitation_id)
    invitation.delivered_at = work.now
    await work.touch(invitation)
    work.publish(
        public.InvitationSent(
            organization_id=invitation.organization_id,
            invitation_id=invitation.id,
            expires_at=invitation.expires_at,
            seats_used=await memberships.used(work, tenant),
        )
    )
