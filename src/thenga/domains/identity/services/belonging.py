"""Having somebody belong to an organization, asked by another domain and repeated at will."""

from uuid import UUID

from sqlalchemy import select

from thenga.domains.identity import public
from thenga.domains.identity.services import accounts, invitations, memberships
from thenga.domains.identity.tables import Invitation, Membership
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, NotFound, RuleViolated


async def ensure(
    work: Work, *, email: str | None, user_id: UUID | None, role_codes: list[str]
) -> public.Belonging:
    """Ask a known person, or invite an address; what is there already is the answer."""
    try:
        if user_id is not None:
            asked = await memberships.ask(
                work, user_id=user_id, role_codes=role_codes, title=None, reason="asked by port"
            )
            return public.Belonging(kind="membership", id=asked.id, status=asked.status)
        if email is None:
            raise RuleViolated("Name an email address or a user.", rule="email-or-user")
        sent = await invitations.create(
            work, email=email, role_codes=role_codes, scope=None, message=None
        )
        return public.Belonging(kind="invitation", id=sent.id, status=sent.status)
    except Duplicate as known:
        return await _existing(work, known)


async def ensured(read: Reader, *, email: str | None, user_id: UUID | None) -> public.Belonging:
    """What an earlier call of the same key came to, whatever became of it since."""
    if user_id is not None:
        found = await read.all(
            select(Membership)
            .where(
                Membership.organization_id == read.organization_id, Membership.user_id == user_id
            )
            .order_by(Membership.id.desc())
        )
        for membership in found:
            return _of_membership(membership)
    if email is not None:
        key = accounts.account_key(read.host, email)
        sent = await read.all(
            select(Invitation).where(Invitation.email_key == key).order_by(Invitation.id.desc())
        )
        for invitation in sent:
            return _of_invitation(read, invitation)
    raise NotFound()


async def _existing(work: Work, known: Duplicate) -> public.Belonging:
    reference = known.facts["existing"]
    key = UUID(reference["id"])
    if reference["type"] == "membership":
        return _of_membership(await work.get(Membership, key))
    return _of_invitation(work, await work.get(Invitation, key))


def _of_membership(one: Membership) -> public.Belonging:
    return public.Belonging(kind="membership", id=one.id, status=one.status)


def _of_invitation(read: Reader, one: Invitation) -> public.Belonging:
    status = invitations.shown_status(one, read.now)
    return public.Belonging(kind="invitation", id=one.id, status=status)
