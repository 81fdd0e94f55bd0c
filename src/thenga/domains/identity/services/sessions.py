"""Sessions: started by proof, ended by their owner, by rules or by time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import select

from thenga.domains.identity import public
from thenga.domains.identity.lifecycles import SessionLifecycle
from thenga.domains.identity.tables import AccessToken, RefreshToken, Session, SessionStatus
from thenga.kernel import tokens
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.ids import new_id

ACCESS = timedelta(minutes=15)  # IDN-2
IDLE = timedelta(days=14)
LONGEST = timedelta(days=30)


@dataclass(frozen=True)
class Pair:
    """The tokens of a session as the client gets them, once."""

    access_token: str
    access_expires_at: datetime
    refresh_token: str

    def as_texts(self) -> list[str]:
        return [self.access_token, self.access_expires_at.isoformat(), self.refresh_token]

    @classmethod
    def of_texts(cls, texts: list[str]) -> "Pair":
        return cls(texts[0], datetime.fromisoformat(texts[1]), texts[2])


@dataclass(frozen=True)
class SignedIn:
    """What a successful sign-in or refresh gives."""

    session: Session
    pair: Pair


async def start(work: Work, user_id: UUID, *, methods: list[str]) -> SignedIn:
    """A new session of a person who has just proved to be that person."""
    session = await work.add(
        Session(
            id=new_id(),
            user_id=user_id,
            status=SessionStatus.ACTIVE,
            assurance="aal1",
            methods=methods,
            authenticated_at=work.now,
            proven_at=work.now,
            last_seen_at=work.now,
            idle_expires_at=work.now + IDLE,
            expires_at=work.now + LONGEST,
            network=work.origin.network or "",
        )
    )
    pair = await mint_pair(work, session, generation=1)
    work.publish(
        public.SessionStarted(
            session_id=session.id,
            user_id=user_id,
            kind=session.kind,
            assurance=session.assurance,
            methods=methods,
        )
    )
    return SignedIn(session, pair)


async def mint_pair(work: Work, session: Session, *, generation: int) -> Pair:
    """The next access and refresh token; only their hashes stay."""
    access = tokens.mint(tokens.Prefix.ACCESS)
    refresh = tokens.mint(tokens.Prefix.REFRESH)
    expires_at = min(work.now + ACCESS, session.expires_at)
    await work.present(tokens.digest(access))
    await work.add(
        AccessToken(
            hash=tokens.digest(access),
            session_id=session.id,
            user_id=session.user_id,
            expires_at=expires_at,
        )
    )
    await work.present(tokens.digest(refresh))
    await work.add(
        RefreshToken(
            hash=tokens.digest(refresh),
            session_id=session.id,
            user_id=session.user_id,
            generation=generation,
        )
    )
    return Pair(access, expires_at, refresh)


async def list_own(read: Reader, paged: Paged, *, status: SessionStatus | None) -> Slice[Session]:
    """Where the person is signed in, or was."""
    statement = select(Session)
    if status is not None:
        statement = statement.where(Session.status == status)
    return await read.page(statement, paged)


def shown_status(session: Session, now: datetime) -> SessionStatus:
    """What time has made of it, also before the sweep has written it down."""
    alive = session.status in (SessionStatus.ACTIVE, SessionStatus.PENDING_MFA)
    if alive and (now >= session.expires_at or now >= session.idle_expires_at):
        return SessionStatus.EXPIRED
    return session.status


async def revoke(work: Work, session_id: UUID) -> Session:
    """End one of one's own sessions; every check that starts after the answer denies (IDN-4)."""
    session = await work.lock(Session, session_id)
    await end(work, session, cause="revoked_by_owner")
    return session


async def end(work: Work, session: Session, *, cause: str) -> None:
    """Revoke a locked session and tell it; a session that is over already stays as it is."""
    if not SessionLifecycle.revoke(session, at=work.now):
        return
    session.ended_cause = cause
    await work.save(session)
    work.publish(
        public.SessionRevoked(
            session_id=session.id, user_id=session.user_id, cause=cause, by=work.actor.id
        )
    )
