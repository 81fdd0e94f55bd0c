"""Sessions: started by proof, ended by their owner, by managers, by rules or by time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, and_, or_, select

from thenga.domains.identity import public
from thenga.domains.identity.lifecycles import SessionLifecycle
from thenga.domains.identity.services.sessions import session_uses
from thenga.domains.identity.tables import (
    AccessToken,
    KnownDevice,
    RefreshToken,
    Session,
    SessionStatus,
    UserAccount,
)
from thenga.kernel.crypto import tokens
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.values import networks
from thenga.kernel.values.ids import new_id

ACCESS = timedelta(minutes=15)  # IDN-2
MOST = 20  # sessions of a person; the longest unseen makes room
_ALIVE = (SessionStatus.ACTIVE, SessionStatus.PENDING_MFA)


@dataclass(frozen=True)
class Lives:
    """How long a session lives unused, and at all."""

    idle: timedelta
    longest: timedelta


CUSTOMER = Lives(timedelta(days=14), timedelta(days=30))
STAFF = Lives(timedelta(minutes=30), timedelta(hours=8))
HALF = Lives(timedelta(minutes=10), timedelta(minutes=10))


@dataclass(frozen=True)
class TokenPair:
    """The tokens of a session as the client gets them, once."""

    access_token: str
    access_expires_at: datetime
    refresh_token: str

    def as_texts(self) -> list[str]:
        return [self.access_token, self.access_expires_at.isoformat(), self.refresh_token]

    @classmethod
    def of_texts(cls, texts: list[str]) -> "TokenPair":
        return cls(texts[0], datetime.fromisoformat(texts[1]), texts[2])


@dataclass(frozen=True)
class StartedSession:
    """A session and its first or next pair of tokens."""

    session: Session
    pair: TokenPair


@dataclass(frozen=True)
class StartedHalf:
    """A session that waits for a second factor; it has one short token and no refresh."""

    session: Session
    pending_token: str


def session_lifetimes(account: UserAccount) -> Lives:
    """Staff are signed in for a working day, customers for a month."""
    return STAFF if account.staff else CUSTOMER


async def start_session(
    work: Work,
    user_id: UUID,
    *,
    methods: list[str],
    lives: Lives = CUSTOMER,
    device: KnownDevice | None = None,
    organization_id: UUID | None = None,
) -> StartedSession:
    """A new session of a person who has just proved to be that person."""
    made = _made(work, user_id, methods, lives, device, organization_id)
    session = await work.add(made)
    pair = await mint_pair(work, session, generation=1)
    await session_uses.begin(work, session)
    _tell_started(work, session)
    return StartedSession(session, pair)


async def start_half_session(
    work: Work,
    user_id: UUID,
    *,
    method: str,
    device: KnownDevice | None,
    organization_id: UUID | None,
) -> StartedHalf:
    """The first proof was right and a factor is still to be shown: good for ten minutes."""
    made = _made(work, user_id, [method], HALF, device, organization_id)
    made.status = SessionStatus.PENDING_MFA
    session = await work.add(made)
    token, _ = await _mint_access(work, session, session.expires_at)
    return StartedHalf(session, token)


async def complete_session(
    work: Work, session: Session, *, method: str, lives: Lives, device: KnownDevice
) -> StartedSession:
    """The second factor was shown: the half session becomes a whole one."""
    SessionLifecycle.complete(session, at=work.now)
    session.assurance = "aal2"
    session.methods = [*session.methods, method]
    session.authenticated_at = session.proven_at = session.last_seen_at = work.now
    session.idle_for, session.expires_at = lives.idle, work.now + lives.longest
    session.idle_expires_at = work.now + lives.idle
    session.device_id = device.id
    await work.save(session)
    pair = await mint_pair(work, session, generation=1)
    await session_uses.begin(work, session)
    _tell_started(work, session)
    return StartedSession(session, pair)


def _made(
    work: Work,
    user_id: UUID,
    methods: list[str],
    lives: Lives,
    device: KnownDevice | None,
    organization_id: UUID | None,
) -> Session:
    return Session(
        id=new_id(),
        user_id=user_id,
        status=SessionStatus.ACTIVE,
        assurance="aal1",
        methods=methods,
        authenticated_at=work.now,
        proven_at=work.now,
        active_organization_id=organization_id,
        last_seen_at=work.now,
        idle_expires_at=work.now + lives.idle,
        expires_at=work.now + lives.longest,
        idle_for=lives.idle,
        network=networks.cut(work.origin.network) or "",
        device_id=device.id if device else None,
        device_label=device.label if device else "",
        device_family=device.family if device else "",
    )


def _tell_started(work: Work, session: Session) -> None:
    work.publish(
        public.SessionStarted(
            session_id=session.id,
            user_id=session.user_id,
            kind=session.kind,
            assurance=session.assurance,
            methods=session.methods,
        )
    )


async def mint_pair(work: Work, session: Session, *, generation: int) -> TokenPair:
    """The next access and refresh token; only their hashes stay."""
    until = min(work.now + ACCESS, session.expires_at)
    access, expires_at = await _mint_access(work, session, until)
    refresh = tokens.mint(tokens.Prefix.REFRESH)
    await work.present(tokens.digest(refresh))
    await work.add(
        RefreshToken(
            hash=tokens.digest(refresh),
            session_id=session.id,
            user_id=session.user_id,
            generation=generation,
        )
    )
    return TokenPair(access, expires_at, refresh)


async def _mint_access(work: Work, session: Session, until: datetime) -> tuple[str, datetime]:
    access = tokens.mint(tokens.Prefix.ACCESS)
    digest = tokens.digest(access)
    await work.present(digest)
    await work.add(
        AccessToken(hash=digest, session_id=session.id, user_id=session.user_id, expires_at=until)
    )
    return access, until


async def make_room(work: Work, user_id: UUID) -> None:
    """A person has at most twenty sessions; the longest unseen ends for the newest (IDN-2)."""
    for number, session_id in enumerate(await _alive(work, user_id)):
        if number >= MOST - 1:
            await end_session(work, await work.lock(Session, session_id), cause="superseded")


async def _alive(work: Work, user_id: UUID) -> list[UUID]:
    statement = (
        select(Session.id)
        .where(Session.user_id == user_id, _is_shown_as(*_ALIVE, now=work.now))
        .order_by(Session.last_seen_at.desc(), Session.id.desc())
    )
    return await work.values(statement)


async def list_sessions(
    read: Reader, paged: Paged, *, status: SessionStatus | None, kind: str | None
) -> Slice[Session]:
    """Where the person of this work is signed in, or was."""
    statement = select(Session)
    if status is not None:
        statement = statement.where(_is_shown_as(status, now=read.now))
    statement = where_given(statement, (Session.kind, kind))
    by = Session.last_seen_at if paged.sort == "lastSeenAt" else None
    return await read.page(statement, paged, by)


def _is_shown_as(*statuses: SessionStatus, now: datetime) -> ColumnElement[bool]:
    """As `session_status`, in the database."""
    alive = or_(*(Session.status == one for one in _ALIVE))
    over = and_(alive, or_(Session.expires_at <= now, Session.idle_expires_at <= now))
    if SessionStatus.EXPIRED in statuses:
        return or_(Session.status == SessionStatus.EXPIRED, over)
    return and_(or_(*(Session.status == one for one in statuses)), ~over)


def session_status(session: Session, now: datetime) -> SessionStatus:
    """What time has made of it, also before the sweep has written it down."""
    if session.status in _ALIVE and _is_over(session, now):
        return SessionStatus.EXPIRED
    return session.status


def _is_over(session: Session, now: datetime) -> bool:
    return now >= session.expires_at or now >= session.idle_expires_at


async def end_session(work: Work, session: Session, *, cause: str) -> None:
    """Revoke a locked session and tell it; every check that starts later denies (IDN-4)."""
    if SessionLifecycle.revoke(session, at=work.now):
        await close_session(work, session, cause=cause)


async def close_session(work: Work, session: Session, *, cause: str) -> None:
    """Write down and tell that a session was ended by a move that has just been made."""
    session.ended_cause = cause
    await work.save(session)
    await session_uses.end(work, session)
    work.publish(
        public.SessionRevoked(
            session_id=session.id, user_id=session.user_id, cause=cause, by=work.actor.id
        )
    )


async def end_all_sessions(
    work: Work, user_id: UUID, *, cause: str, but: UUID | None = None
) -> int:
    """End every session of a person, but the one that acts where one is named; how many."""
    found = [one for one in await _alive(work, user_id) if one != but]
    for session_id in found:
        await end_session(work, await work.lock(Session, session_id), cause=cause)
    return len(found)


async def expire_session(work: Work, session_id: UUID) -> None:
    """Write down that a session's time is over; the gate has refused it since."""
    session = await work.lock(Session, session_id)
    if session.status not in _ALIVE or not _is_over(session, work.now):
        return
    SessionLifecycle.expire(session, at=work.now)
    await work.save(session)
    await session_uses.end(work, session)


_OVER = """
    SELECT user_id, id FROM identity.session
    WHERE status IN ('active', 'pending_mfa') AND least(idle_expires_at, expires_at) <= $1
    ORDER BY idle_expires_at LIMIT $2
"""


async def session_over(work: Work, *, limit: int) -> list[tuple[UUID, UUID]]:
    """Person and session of what time has ended, over all people, as the system login."""
    return [(row[0], row[1]) for row in await work.query(_OVER, work.now, limit)]
