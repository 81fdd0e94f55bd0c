"""Factors: turned on with a fresh proof, proved once, turned off with another."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import select

from thenga.domains.identity import public
from thenga.domains.identity.lifecycles import FactorLifecycle
from thenga.domains.identity.services import accounts, auth, sessions
from thenga.domains.identity.services.mfa import _codes, _totp
from thenga.domains.identity.tables import (
    FactorKind,
    FactorStatus,
    MfaFactor,
    Session,
    UserAccount,
)
from thenga.kernel.db import step_up
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, Problem, StepUpRequired
from thenga.kernel.values.ids import new_id

MOST = 10
PENDING = timedelta(minutes=10)


class FactorDemanded(Problem):
    """A role of yours needs a second factor, and this is the last one. Turn another on first."""

    code, status, title = "identity-factor-demanded", 409, "This factor cannot be turned off"


@dataclass(frozen=True)
class Made:
    """A new factor and what is shown of it once."""

    factor: MfaFactor
    secret: str | None = None
    otpauth_uri: str | None = None
    qr_svg: str | None = None
    codes: list[str] | None = None


async def register(work: Work, *, kind: FactorKind, label: str | None) -> Made:
    """Begin a factor. A code proves it afterwards; recovery codes count at once."""
    step_up.demand(work)
    account = await work.lock(UserAccount, work.user_id)
    known = await list_own(work)
    if kind is FactorKind.RECOVERY_CODES:
        return await _new_codes(work, account, label, known)
    if len(known) >= MOST:
        raise Duplicate(f"There are {MOST} factors already. Turn one off first.")
    factor = MfaFactor(
        id=new_id(),
        user_id=account.id,
        kind=kind,
        label=label or "Authenticator",
        status=FactorStatus.PENDING,
        expires_at=work.now + PENDING,
    )
    secret = _totp.new_secret()
    factor.secret_sealed = _totp.seal(work.host, factor, secret)
    await work.add(factor)
    uri = _totp.uri(secret, account.email)
    return Made(factor, _totp.as_text(secret), uri, _totp.picture(uri))


async def _new_codes(
    work: Work, account: UserAccount, label: str | None, known: list[MfaFactor]
) -> Made:
    for older in known:
        if older.kind is FactorKind.RECOVERY_CODES:
            await _close(work, await work.lock(MfaFactor, older.id))
    factor = await work.add(
        MfaFactor(
            id=new_id(),
            user_id=account.id,
            kind=FactorKind.RECOVERY_CODES,
            label=label or "Recovery codes",
            status=FactorStatus.ACTIVE,
        )
    )
    made = await _codes.make(work, factor)
    _tell(work, factor)
    await _show_on_account(work, account)
    return Made(factor, codes=made)


async def list_own(read: Reader) -> list[MfaFactor]:
    """The factors that count or wait for their first code; what waited too long is gone."""
    statement = select(MfaFactor).where(MfaFactor.status != FactorStatus.DISABLED)
    found = await read.all(statement.order_by(MfaFactor.id), limit=100)
    return [one for one in found if one.expires_at is None or one.expires_at > read.now]


async def verify(work: Work, factor_id: UUID, *, code: str) -> MfaFactor:
    """The first code of a new factor: from now on it counts, and this session has shown it."""
    account = await work.lock(UserAccount, work.user_id)
    factor = await work.lock(MfaFactor, factor_id)
    if factor.status is not FactorStatus.PENDING:
        FactorLifecycle.verify(factor, at=work.now)
        return factor
    late = factor.expires_at is None or factor.expires_at <= work.now
    step = _totp.step_of(work.host, factor, code, work.now)
    if late or step is None:
        raise auth.ProofRefused()
    FactorLifecycle.verify(factor, at=work.now)
    factor.expires_at, factor.last_step, factor.last_used_at = None, step, work.now
    await work.save(factor)
    _tell(work, factor)
    await _show_on_account(work, account)
    await mark_proven(work, method=factor.kind)
    return factor


async def disable(work: Work, factor_id: UUID) -> MfaFactor:
    """Turn a factor off; the person's other sessions end (IDN-4)."""
    step_up.demand(work)
    account = await work.lock(UserAccount, work.user_id)
    factor = await work.lock(MfaFactor, factor_id)
    if factor.status is FactorStatus.ACTIVE:
        await _must_hold_a_factor(work, account)
        _must_not_be_demanded(account, factor, await list_own(work))
    if await _close(work, factor):
        await _show_on_account(work, account)
        but = work.actor.session_id
        await sessions.end_all_sessions(work, account.id, cause="factor_disabled", but=but)
    return factor


async def _must_hold_a_factor(work: Work, account: UserAccount) -> None:
    """A factor is turned off by whoever has shown one, not by a password alone (IDN-15)."""
    assert work.actor.session_id is not None  # noqa: S101  # only a session holds this permission
    session = await work.get(Session, work.actor.session_id)
    if auth.STRONG & set(account.factor_kinds) and session.assurance != "aal2":
        raise StepUpRequired(
            maxAgeSeconds=int(step_up.MAX_AGE.total_seconds()), methods=account.factor_kinds
        )


def _must_not_be_demanded(account: UserAccount, factor: MfaFactor, known: list[MfaFactor]) -> None:
    others = [
        one
        for one in known
        if one.id != factor.id and one.status is FactorStatus.ACTIVE and one.kind in auth.STRONG
    ]
    if account.staff and factor.kind in auth.STRONG and not others:
        raise FactorDemanded()


async def mark_proven(work: Work, *, method: str) -> Session:
    """This session has shown a second factor just now."""
    assert work.actor.session_id is not None  # noqa: S101  # only a session holds this permission
    session = await work.lock(Session, work.actor.session_id)
    session.assurance, session.proven_at = "aal2", work.now
    session.methods = list(dict.fromkeys([*session.methods, method]))
    return await work.save(session)


async def _close(work: Work, factor: MfaFactor) -> bool:
    if not FactorLifecycle.disable(factor, at=work.now):
        return False
    factor.secret_sealed = None
    await work.save(factor)
    _tell(work, factor)
    return True


async def _show_on_account(work: Work, account: UserAccount) -> None:
    """The gate and sign-in look at the account only, so it says which kinds are active."""
    kinds = {one.kind for one in await list_own(work) if one.status is FactorStatus.ACTIVE}
    account.factor_kinds = sorted(kinds)
    await accounts.save_user(work, account)


def _tell(work: Work, factor: MfaFactor) -> None:
    work.publish(
        public.MfaFactorChanged(
            user_id=factor.user_id, factor_id=factor.id, kind=factor.kind, status=factor.status
        )
    )
