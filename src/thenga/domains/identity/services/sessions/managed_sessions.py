"""Sessions as the caller may see and end them: one's own, those used in the organization, all.

By which right the permission was held decides: a person sees their own sessions, a member manager
what was used in the organization, staff those of anybody.
"""

from uuid import UUID

from thenga.domains.identity.services import accounts
from thenga.domains.identity.services.sessions import session_uses, sessions
from thenga.domains.identity.tables import Session, SessionUse, UserAccount
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db import step_up
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, ValidationFailed


async def find_session(read: Reader, session_id: UUID) -> Session | SessionUse:
    """The session whole where it is one's own or staff ask, else as the organization sees it."""
    seen_here = None
    if read.held_as == HeldAs.TENANT:
        seen_here = await _seen_in_organization(read, session_id)
    if seen_here is not None and seen_here.user_id != read.actor.id:
        return seen_here
    await _turn_to_holder(read, session_id)
    return await read.get(Session, session_id)


async def revoke_session(
    work: Work, session_id: UUID, *, reason: str | None
) -> Session | SessionUse:
    """End a session; of another person only with a fresh proof and a reason (IDN-4, IDN-15).

    A manager is shown no more of it than before: not where else the member works.
    """
    holder = await _holder(work, session_id)
    if holder == work.actor.id:
        await work.switch_scope(user_id=holder)
        session = await work.lock(Session, session_id)
        await sessions.end_session(work, session, cause="revoked_by_owner")
        return session
    step_up.demand(work)
    if reason is None:
        raise ValidationFailed(errors=[_REASON_MISSING])
    by_staff = work.held_as == HeldAs.PLATFORM
    # What a manager does stands on the chain of the organization, what staff do on the person's.
    where = None if by_staff else work.organization_id
    await work.switch_scope(user_id=holder, organization_id=where)
    session = await work.lock(Session, session_id)
    cause = "revoked_by_staff" if by_staff else "revoked_by_manager"
    await sessions.end_session(work, session, cause=cause)
    told = {"reason": reason, "cause": cause, "userId": holder}
    work.note("identity.session.revoked", ("session", session_id), told)
    return session if by_staff else await session_uses.find_in(work, session_id)


_REASON_MISSING = {
    "pointer": "/reason",
    "code": "missing",
    "detail": "Say why you end the session of another person.",
}


async def switch_organization(work: Work, session_id: UUID, organization_id: UUID) -> Session:
    """Work for another of one's organizations from now on; a foreign one is not there."""
    session = await work.lock(Session, session_id)
    if not await accounts.is_member(work, session.user_id, organization_id):
        raise NotFound()
    session.active_organization_id = organization_id
    await work.save(session)
    await session_uses.begin(work, session)
    account = await work.lock(UserAccount, session.user_id)
    account.active_organization_id = organization_id
    await accounts.save_user(work, account)
    return session


async def _turn_to_holder(read: Reader, session_id: UUID) -> None:
    await read.switch_scope(user_id=await _holder(read, session_id))


async def _holder(read: Reader, session_id: UUID) -> UUID:
    """Whose session it is, as far as the caller may know; oneself where nothing else is known."""
    assert read.actor.id is not None  # noqa: S101  # a person or staff
    if read.held_as == HeldAs.PLATFORM:
        await read.switch_scope(organization_id=OPERATOR)
        return (await session_uses.find_in(read, session_id)).user_id
    if read.held_as == HeldAs.TENANT:
        seen = await _seen_in_organization(read, session_id)
        if seen is not None:
            return seen.user_id
    return read.actor.id


async def _seen_in_organization(read: Reader, session_id: UUID) -> SessionUse | None:
    try:
        return await session_uses.find_in(read, session_id)
    except NotFound:
        return None
