"""Handing a letter over: its text is sealed in the link only until then (IDN-10)."""

from dataclasses import dataclass
from datetime import datetime

from thenga.domains.identity import public
from thenga.domains.identity.services import memberships, organizations
from thenga.domains.identity.services.invitations._telling import shown_status
from thenga.domains.identity.tables import Invitation, InvitationStatus, OneTimeLink
from thenga.kernel.crypto import tokens
from thenga.kernel.db import sealed
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub

PURPOSE = "invitation"

deliver_invitation = job_stub("identity.deliver_invitation", form=Form.OUTSIDE, key="{link_hash}")


@dataclass(frozen=True)
class LetterToDeliver:
    """What the letter needs; nobody keeps it. The inviter's message is not in it (SEC-66)."""

    email: str
    text: str
    expires_at: datetime
    is_reminder: bool


async def add_link(work: Work, invitation: Invitation, text: str) -> None:
    """Keep a new link of an invitation and have its letter sent; the older link is dead."""
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
    return LetterToDeliver(
        email=invitation.email,
        text=text,
        expires_at=invitation.expires_at,
        is_reminder=invitation.reminded_at is not None,
    )


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
