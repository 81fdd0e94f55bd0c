"""A fresh proof by password, for who has no second factor (IDN-15)."""

from thenga.domains.identity.services.auth import _counting, _hashing
from thenga.domains.identity.services.auth._signing_in import STRONG
from thenga.domains.identity.tables import Password, Session, UserAccount
from thenga.kernel.crypto import sealing
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem


class ProofRefused(Problem):
    """This does not prove who you are: it is wrong, was used before, or came too late."""

    code, status, title = "identity-proof-refused", 401, "This is not proof"


class FactorNeeded(Problem):
    """You have a second factor, so a password is not enough. Use `POST /identity/mfa/challenges`
    with purpose `step_up`.
    """

    code, status, title = "identity-factor-needed", 409, "Prove it with your second factor"


async def step_up(work: Work, *, password: str) -> Session:
    """Show the password again; failures are counted apart from those of strangers (IDN-7)."""
    counter = sealing.mac(work.host.key("step-up"), work.user_id.bytes)
    async with work.separate_reader() as read:
        account = await read.get(UserAccount, work.user_id)
        known = await read.find(Password)
        locked = await _counting.is_locked(read, counter)
    if STRONG & set(account.factor_kinds):
        raise FactorNeeded()
    if not await _hashing.is_right(password, known.phc if known else None) or locked:
        await _counting.count_failure(work, counter)
        raise ProofRefused().keeping()
    assert work.actor.session_id is not None  # noqa: S101  # only a session holds this permission
    session = await work.lock(Session, work.actor.session_id)
    session.proven_at = work.now
    return await work.save(session)
