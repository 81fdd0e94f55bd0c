"""Refreshing: one conditional UPDATE; within the grace the same pair again (IDN-3)."""

from datetime import timedelta
from uuid import UUID

import orjson

from thenga.domains.identity.services import sessions
from thenga.domains.identity.tables import Session, SessionStatus
from thenga.kernel.crypto import sealing, tokens
from thenga.kernel.db.work import Work
from thenga.kernel.errors import SessionExpired, SessionRevoked

GRACE = timedelta(seconds=30)
_INFO = b"thenga-refresh-successor-v1"

_USE = """
    UPDATE identity.refresh_token SET used_at = $2, updated_at = $2, version = version + 1
    WHERE hash = $1 AND used_at IS NULL
    RETURNING session_id, user_id, generation
"""
_FIND = """
    SELECT session_id, user_id, used_at, successor_sealed
    FROM identity.refresh_token WHERE hash = $1
"""
_KEEP = """
    UPDATE identity.refresh_token SET successor_sealed = $2 WHERE hash = $1
"""


async def refresh(work: Work, *, refresh_token: str) -> sessions.StartedSession:
    """The next pair of a session; who repeats a spent token after the grace ends the session."""
    if tokens.parse(refresh_token) is not tokens.Prefix.REFRESH:
        raise SessionRevoked()
    digest = tokens.digest(refresh_token)
    await work.present(digest)
    used = await work.query(_USE, digest, work.now)
    if not used:
        return await _again(work, refresh_token, digest)
    session_id, user_id, generation = used[0]
    await work.become(user_id)
    session = await work.lock(Session, session_id)
    _must_live(work, session)
    session.last_seen_at = work.now
    session.idle_expires_at = min(work.now + session.idle_for, session.expires_at)
    await work.save(session)
    pair = await sessions.mint_pair(work, session, generation=generation + 1)
    key = _key(refresh_token, session_id)
    plain = orjson.dumps(pair.as_texts())
    await work.present(digest)
    await work.run(_KEEP, digest, sealing.seal(key, plain, aad=digest))
    return sessions.StartedSession(session, pair)


async def _again(work: Work, refresh_token: str, digest: bytes) -> sessions.StartedSession:
    found = await work.query(_FIND, digest)
    if not found:
        raise SessionRevoked()
    session_id, user_id, used_at, sealed = found[0]
    await work.become(user_id)
    if used_at is not None and sealed is not None and work.now <= used_at + GRACE:
        session = await work.get(Session, session_id)
        _must_live(work, session)
        plain = sealing.unseal(_key(refresh_token, session_id), sealed, aad=digest)
        return sessions.StartedSession(session, sessions.TokenPair.of_texts(orjson.loads(plain)))
    # Somebody else has the token: the whole chain ends, whoever it is.
    session = await work.lock(Session, session_id)
    await sessions.end_session(work, session, cause="token_reuse")
    raise SessionRevoked().keeping()


def _must_live(work: Work, session: Session) -> None:
    if session.status is SessionStatus.REVOKED or session.status is SessionStatus.SIGNED_OUT:
        raise SessionRevoked()
    over = work.now >= session.expires_at or work.now >= session.idle_expires_at
    if session.status is SessionStatus.EXPIRED or over:
        raise SessionExpired()


def _key(refresh_token: str, session_id: UUID) -> bytes:
    return sealing.derive(refresh_token.encode(), _INFO, salt=session_id.bytes)
