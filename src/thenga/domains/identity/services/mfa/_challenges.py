"""Challenges: a question to one session, answered once by a factor (IDN-11, IDN-14)."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Never
from uuid import UUID

from thenga.domains.identity.lifecycles import ChallengeLifecycle
from thenga.domains.identity.services import accounts, auth, sessions
from thenga.domains.identity.services.mfa import _codes, _factors, _totp
from thenga.domains.identity.tables import (
    STOP_LASTS,
    ChallengeStatus,
    FactorKind,
    FactorStatus,
    KnownDevice,
    MfaChallenge,
    MfaFactor,
    Session,
    SessionStatus,
    UserAccount,
)
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, Problem, RuleViolated
from thenga.kernel.values.ids import new_id

LIVES = timedelta(minutes=5)
WRONG_ENDS = 3  # wrong codes end a challenge
STOPS = 5  # failures in a row stop a factor, over all challenges and sign-ins

_FAIL = """
    UPDATE identity.mfa_factor SET failures = failures + 1, updated_at = $3, version = version + 1,
        stopped_at = CASE WHEN failures + 1 >= $4 AND (stopped_at IS NULL OR stopped_at <= $5)
            THEN $3 ELSE stopped_at END
    WHERE user_id = $1 AND id = $2
"""
# A success with one factor or a recovery code lifts the stop of the others.
_LIFT = """
    UPDATE identity.mfa_factor SET failures = 0, stopped_at = NULL, updated_at = $2,
        version = version + 1
    WHERE user_id = $1 AND (failures > 0 OR stopped_at IS NOT NULL)
"""


class FactorStopped(Problem):
    """There were too many wrong codes in a row.

    Use another factor or a recovery code to unblock it, or try again a day later.
    """

    code, status, title = "identity-factor-stopped", 409, "This factor is blocked"


@dataclass(frozen=True)
class Proven:
    """A challenge was answered: `signed_in` where that completed a sign-in."""

    session: Session
    signed_in: auth.SignedIn | None


async def challenge(
    work: Work, *, purpose: str, factor_id: UUID | None, kind: FactorKind
) -> MfaChallenge:
    """Ask the session that calls for a factor; also for one that it does not have (IDN-52)."""
    session = await _session(work)
    half = session.status is SessionStatus.PENDING_MFA
    if half != (purpose == "sign_in"):
        needed = "sign_in" if half else "step_up"
        raise RuleViolated(f"This session needs a challenge with purpose {needed}.", rule="IDN-5")
    factor = await _asked_for(work, factor_id, kind)
    return await work.add(
        MfaChallenge(
            id=new_id(),
            user_id=work.user_id,
            session_id=session.id,
            factor_id=factor.id if factor else None,
            kind=factor.kind if factor else kind,
            purpose=purpose,
            status=ChallengeStatus.ISSUED,
            expires_at=work.now + LIVES,
        )
    )


async def _session(work: Work) -> Session:
    assert work.actor.session_id is not None  # noqa: S101  # only a session holds this permission
    return await work.get(Session, work.actor.session_id)


async def _asked_for(work: Work, factor_id: UUID | None, kind: FactorKind) -> MfaFactor | None:
    fits = [
        one
        for one in await _factors.list_own(work)
        if one.status is FactorStatus.ACTIVE
        and (one.kind is kind if factor_id is None else one.id == factor_id)
    ]
    ready = [one for one in fits if not one.is_stopped(work.now)]
    if fits and not ready:
        raise FactorStopped()
    return ready[0] if ready else None


async def answer(
    work: Work, challenge_id: UUID, *, code: str | None, recovery_code: str | None
) -> Proven:
    """Show the factor: a half session becomes whole, a whole one has a fresh proof."""
    asked = await work.lock(MfaChallenge, challenge_id)
    if asked.session_id != work.actor.session_id:
        raise NotFound()
    if asked.status is not ChallengeStatus.ISSUED or asked.expires_at <= work.now:
        raise auth.ProofRefused()
    if asked.factor_id is None:
        await _refuse(work, asked)
    factor = await work.get(MfaFactor, asked.factor_id)
    if factor.kind is FactorKind.TOTP:
        await _prove_code(work, asked, factor, code or "")
    elif not await _codes.consume(work, factor.id, recovery_code or ""):
        await _refuse(work, asked)
    ChallengeLifecycle.verify(asked, at=work.now)
    await work.save(asked)
    await work.run(_LIFT, work.user_id, work.now)
    return await _finish(work, method=factor.kind)


async def _prove_code(work: Work, asked: MfaChallenge, factor: MfaFactor, code: str) -> None:
    if factor.is_stopped(work.now):
        raise FactorStopped()
    step = _totp.step_of(work.host, factor, code, work.now)
    if step is None:
        ended = work.now - STOP_LASTS
        await work.run(_FAIL, factor.user_id, factor.id, work.now, STOPS, ended)
        await _refuse(work, asked)
    # A right code that was used before is refused too, but nobody guesses by it.
    elif not await _totp.take(work, factor, step):
        await _refuse(work, asked)


async def _refuse(work: Work, asked: MfaChallenge) -> Never:
    asked.failures += 1
    if asked.failures >= WRONG_ENDS:
        ChallengeLifecycle.fail(asked, at=work.now)
    await work.save(asked)
    work.note(
        "identity.challenge.refused",
        ("mfa_challenge", asked.id),
        {"purpose": asked.purpose, "kind": asked.kind},
        outcome="refused",
        reason_code="proof_refused",
    )
    raise auth.ProofRefused().keeping()


async def _finish(work: Work, *, method: str) -> Proven:
    session = await _session(work)
    if session.status is not SessionStatus.PENDING_MFA:
        return Proven(await _factors.mark_proven(work, method=method), None)
    account = await work.lock(UserAccount, work.user_id)
    account.last_sign_in_at = work.now
    await accounts.save_user(work, account)
    known = session.device_id and await work.get(KnownDevice, session.device_id)
    device, token = await auth.arriving(work, account.id, known or None)
    held = await work.lock(Session, session.id)
    held.device_label, held.device_family = device.label, device.family
    started = await sessions.complete_session(
        work, held, method=method, lives=sessions.session_lifetimes(account), device=device
    )
    if token is not None:
        accounts.notify(work, account.id, topic=accounts.NEW_DEVICE, about=str(held.id))
    return Proven(held, auth.SignedIn(started.session, started.pair, token))
