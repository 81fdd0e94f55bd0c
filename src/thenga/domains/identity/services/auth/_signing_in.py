"""Signing in: one function, one hash, one answer for every refusal (IDN-5)."""

from dataclasses import dataclass
from typing import Never
from uuid import UUID

from sqlalchemy import select

from thenga.domains.identity.lifecycles import SessionLifecycle
from thenga.domains.identity.services import accounts, sessions
from thenga.domains.identity.services.accounts import FoundAccount, account_key, find_account
from thenga.domains.identity.services.auth import _counting, _hashing
from thenga.domains.identity.services.auth._results import HalfSignedIn, SignedIn
from thenga.domains.identity.tables import (
    FactorStatus,
    KnownDevice,
    MfaFactor,
    Password,
    Session,
    UserAccount,
    UserStatus,
)
from thenga.kernel.crypto import sealing
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem

STRONG = {"totp", "passkey"}


class SignInRefused(Problem):
    """The email address and password do not match an account, or the provider did not confirm who
    you are. Try again, or reset your password."""

    code, status, title = "sign-in-refused", 401, "Sign-in failed"


@dataclass(frozen=True)
class Counted:
    """Under what an attempt is counted: the account, or the person's own device (IDN-7)."""

    account_key: bytes
    device: KnownDevice | None

    @property
    def counter(self) -> bytes:
        if self.device is None:
            return self.account_key
        return sealing.mac(self.account_key, self.device.id.bytes)

    @property
    def limit_key(self) -> str:
        return self.counter.hex()


async def counted_as(work: Work, *, email: str, device_token: str | None) -> Counted:
    """A device that the person signed in from before is counted apart from all strangers."""
    key = account_key(work.host, email)
    if device_token is None:
        return Counted(key, None)
    async with work.separate_reader() as read:
        return Counted(key, await sessions.recognize_device(read, key, device_token))


async def sign_in(
    work: Work, counted: Counted, *, password: str, organization_id: UUID | None
) -> SignedIn | HalfSignedIn:
    """A session for whoever knows the password; the same refusal for every other case."""
    async with work.separate_reader() as read:
        found = await find_account(read, counted.account_key)
        locked = await _counting.is_locked(read, counted.counter)
    known = counted.device is not None
    right = await _hashing.is_right(password, found.phc, on_known_device=known)
    account = found.account
    if not right or locked or account is None or account.status is not UserStatus.ACTIVE:
        await _refuse(work, counted, found)
    renewed = await _hashing.renewed(password, found.phc)
    result = await admit(
        work,
        account.id,
        method="password",
        counter=counted.counter,
        device=counted.device,
        organization_id=organization_id,
    )
    await _keep_hash(work, renewed)
    return result


async def admit(
    work: Work,
    user_id: UUID,
    *,
    method: str,
    counter: bytes | None = None,
    device: KnownDevice | None = None,
    organization_id: UUID | None = None,
) -> SignedIn | HalfSignedIn:
    """Begin the session of a person who has just proved who they are, whatever the method.

    A lock stops every method alike (IDN-7), and so does an account that is not active.
    """
    await work.become(user_id)
    held = await work.lock(UserAccount, user_id)
    locked = await _counting.is_locked(work, counter or account_key(work.host, held.email))
    if locked or held.status is not UserStatus.ACTIVE:
        raise SignInRefused()
    active_in = await _active_in(work, held, organization_id)
    await sessions.make_room(work, held.id)
    if STRONG & set(held.factor_kinds):
        return await _half(work, held, method, device, active_in)
    held.last_sign_in_at = work.now
    await accounts.save_user(work, held)
    arrived, token = await arriving(work, held.id, device)
    started = await sessions.start_session(
        work,
        held.id,
        methods=[method],
        lives=sessions.session_lifetimes(held),
        device=arrived,
        organization_id=active_in,
    )
    if token is not None:
        about = str(started.session.id)
        accounts.notify(work, held.id, topic=accounts.NEW_DEVICE, about=about)
    return SignedIn(started.session, started.pair, token)


async def _refuse(work: Work, counted: Counted, found: FoundAccount) -> Never:
    """Count, write down, refuse: the same statements for every kind of refusal (IDN-52)."""
    if found.account is not None:
        await work.become(found.user_id)  # the refusal stands on the person's own chain
    began = await _counting.count_failure(work, counted.counter)
    if began and counted.device is None:
        work.enqueue(_counting.note_lock, key=counted.account_key.hex())
    work.note(
        "identity.sign_in.refused",
        ("sign_in_name", counted.account_key.hex()),
        {"method": "password"},
        outcome="refused",
        reason_code="sign_in_refused",
    )
    raise SignInRefused().keeping()


async def _keep_hash(work: Work, phc: str | None) -> None:
    if phc is None:
        return
    held = await work.lock_by(Password)
    held.phc = phc
    await work.save(held)


async def _active_in(work: Work, account: UserAccount, asked: UUID | None) -> UUID | None:
    """The organization to begin in: the one asked for or the last one, while one is a member."""
    wanted = asked or account.active_organization_id
    if wanted is None or not await accounts.is_member(work, account.id, wanted):
        return None
    account.active_organization_id = wanted
    return wanted


async def _half(
    work: Work,
    account: UserAccount,
    method: str,
    device: KnownDevice | None,
    active_in: UUID | None,
) -> HalfSignedIn:
    await accounts.save_user(work, account)
    half = await sessions.start_half_session(
        work, account.id, method=method, device=device, organization_id=active_in
    )
    statement = select(MfaFactor).where(MfaFactor.status == FactorStatus.ACTIVE)
    factors = await work.all(statement.order_by(MfaFactor.id), limit=20)
    return HalfSignedIn(half.session, half.pending_token, half.session.expires_at, factors)


async def arriving(
    work: Work, user_id: UUID, known: KnownDevice | None
) -> tuple[KnownDevice, str | None]:
    """The device of a sign-in, and the token it gets where it was not known before."""
    if known is not None:
        return await sessions.record_device(work, known.id), None
    made = await sessions.remember_device(work, user_id)
    return made.device, made.token


async def sign_out(work: Work, *, scope: str) -> Session:
    """End the session that calls, the person's others, or all; every later check denies."""
    assert work.actor.session_id is not None  # noqa: S101  # only a session holds this permission
    assert work.actor.id is not None  # noqa: S101  # as above
    if scope != "this":
        await sessions.end_all_sessions(
            work, work.actor.id, cause="signed_out", but=work.actor.session_id
        )
    session = await work.lock(Session, work.actor.session_id)
    if scope != "others" and SessionLifecycle.sign_out(session, at=work.now):
        await sessions.close_session(work, session, cause="signed_out")
    return session
