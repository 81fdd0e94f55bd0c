"""Sessions: where a person is signed in, and ending one."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query

from thenga.domains.identity.lifecycles import SessionLifecycle
from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import sessions
from thenga.domains.identity.tables import Session, SessionStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import InvalidTransition
from thenga.kernel.http.bodies import PageOf, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.lifecycle import AllowedMove

router = make_router("Identity / Session")
SessionId = Annotated[UUID, Path(alias="sessionId")]


class SessionView(Stored):
    """One session; tokens are never shown."""

    user_id: UUID
    kind: str
    status: SessionStatus
    assurance: str
    methods: list[str]
    authenticated_at: datetime
    proven_at: datetime
    active_organization_id: UUID | None
    last_seen_at: datetime
    idle_expires_at: datetime
    expires_at: datetime
    network: str
    current: bool
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, session: Session, now: datetime, *, current: UUID | None) -> "SessionView":
        status = sessions.shown_status(session, now)
        return cls.model_validate(
            session.__dict__
            | {
                "status": status,
                "current": session.id == current,
                "allowed_moves": SessionLifecycle.allowed(session, now)
                if status is session.status
                else [],
            }
        )


@router.get("/identity/sessions")
async def list_sessions(
    read: Annotated[Reader, reads(Permission.SESSION_READ)],
    page: Annotated[Paged, paged("createdAt")],
    status: Annotated[SessionStatus | None, Query()] = None,
) -> PageOf[SessionView]:
    """Where you are signed in, newest first; the session that asks is marked `current`."""
    found = await sessions.list_own(read, page, status=status)
    now, current = read.now, read.actor.session_id
    return PageOf[SessionView].of(found, lambda s: SessionView.of(s, now, current=current))


@router.post("/identity/sessions/{sessionId}/revoke", responses=problems(InvalidTransition))
async def revoke_session(
    session_id: SessionId, work: Annotated[Work, writes(Permission.SESSION_REVOKE)]
) -> SessionView:
    """End one of your sessions, say of a lost phone; every later call with it is refused."""
    session = await sessions.revoke(work, session_id)
    return SessionView.of(session, work.now, current=work.actor.session_id)
