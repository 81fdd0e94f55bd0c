"""Signing in: one function, one hash, one answer for every refusal (IDN-5)."""

from thenga.domains.identity import public
from thenga.domains.identity.lifecycles import SessionLifecycle
from thenga.domains.identity.services import sessions
from thenga.domains.identity.services.auth import _hashing
from thenga.domains.identity.services.auth._names import account_key, find_name
from thenga.domains.identity.tables import Password, Session, UserAccount, UserStatus
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem


class SignInRefused(Problem):
    """The address and the password do not belong together. Try again, or reset the password."""

    code, status, title = "sign-in-refused", 401, "Address or password is not right"


async def sign_in(work: Work, *, email: str, password: str) -> sessions.SignedIn:
    """A session for whoever knows the password; the same refusal for every other case."""
    key = account_key(work.host, email)
    async with work.aside() as read:
        name = await find_name(read, key)
        account = known = None
        if name is not None:
            await read.become(name.user_id)
            account = await read.find(UserAccount, id=name.user_id)
            known = await read.find(Password)
    right = await _hashing.is_right(password, known.phc if known else None)
    if not right or account is None or account.status is not UserStatus.ACTIVE:
        raise SignInRefused()
    await work.become(account.id)
    held = await work.lock(UserAccount, account.id)
    if held.status is not UserStatus.ACTIVE:
        raise SignInRefused()
    held.last_sign_in_at = work.now
    await work.save(held)
    return await sessions.start(work, held.id, methods=["password"])


async def sign_out(work: Work) -> Session:
    """End the session that calls; every later check denies."""
    assert work.actor.session_id is not None  # noqa: S101  # only a session holds this permission
    session = await work.lock(Session, work.actor.session_id)
    if SessionLifecycle.sign_out(session, at=work.now):
        session.ended_cause = "signed_out"
        await work.save(session)
        work.publish(
            public.SessionRevoked(
                session_id=session.id,
                user_id=session.user_id,
                cause="signed_out",
                by=work.actor.id,
            )
        )
    return session
