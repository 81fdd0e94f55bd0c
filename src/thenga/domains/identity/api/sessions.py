"""Sessions: where people are signed in, and ending one."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.identity.lifecycles import SessionLifecycle
from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import sessions
from thenga.domains.identity.tables import Session, SessionStatus, SessionUse
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import InvalidTransition, NotFound
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import text

router = make_router("Identity / Session")
SessionId = Annotated[UUID, Path(alias="sessionId")]


class DeviceName(View):
    label: str
    family: str


class SessionView(Stored):
    """One session; tokens are never shown."""

    user_id: UUID
    kind: str
    status: SessionStatus
    assurance: Annotated[str, Field(description="`aal2` where a second factor was shown.")]
    methods: list[str]
    authenticated_at: datetime
    proven_at: Annotated[datetime, Field(description="When the person last showed who they are.")]
    active_organization_id: UUID | None
    last_seen_at: Annotated[datetime, Field(description="To the minute.")]
    idle_expires_at: datetime
    expires_at: datetime
    device: DeviceName
    network: Annotated[str, Field(description="The address without its last part.")]
    current: Annotated[bool, Field(description="Whether this is the session that asks.")]
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, session: Session, now: datetime, *, current: UUID | None) -> "SessionView":
        status = sessions.session_status(session, now)
        return cls.model_validate(
            session.__dict__
            | {
                "status": status,
                "device": DeviceName(label=session.device_label, family=session.device_family),
                "current": session.id == current,
                "allowed_moves": SessionLifecycle.allowed(session, now)
                if status is session.status
                else [],
            }
        )


class SessionUseView(View):
    """A member's session as the organization in which it was used sees it."""

    id: Annotated[UUID, Field(description="The session's.")]
    organization_id: UUID
    user_id: UUID
    status: Literal["active", "ended"]
    device: DeviceName
    network: str
    last_seen_at: datetime

    @classmethod
    def of(cls, use: SessionUse) -> "SessionUseView":
        return cls(
            id=use.session_id,
            organization_id=use.organization_id,
            user_id=use.user_id,
            status="active" if use.ended_at is None else "ended",
            device=DeviceName(label=use.device_label, family=use.device_family),
            network=use.network,
            last_seen_at=use.last_seen_at,
        )


class RevokeSession(Body):
    reason: Annotated[
        Annotated[str, text(1, 500)] | None,
        Field(description="Required for the session of another person."),
    ] = None


class SwitchOrganization(Body):
    organization_id: UUID


@router.get("/identity/sessions")
async def list_sessions(
    read: Annotated[Reader, reads(Permission.SESSION_READ)],
    page: Annotated[Paged, paged("createdAt", "lastSeenAt")],
    user_id: Annotated[UUID | None, Query(alias="userId")] = None,
    organization_id: Annotated[UUID | None, Query(alias="organizationId")] = None,
    status: Annotated[SessionStatus | None, Query()] = None,
    kind: Annotated[Literal["interactive", "support"] | None, Query()] = None,
) -> PageOf[SessionView] | PageOf[SessionUseView]:
    """Where you are signed in; the session that asks is marked `current`.

    A member manager names `organizationId`, and `userId` for one member, and sees the sessions
    that were used in the organization. Staff name `userId`.
    """
    current = read.actor.session_id
    in_organization = organization_id is not None or user_id not in (None, read.actor.id)
    if in_organization and read.held_as != HeldAs.PLATFORM:
        return await _of_organization(read, page, organization_id, user_id, status)
    await read.switch_scope(user_id=user_id or read.actor.id)
    found = await sessions.list_sessions(read, page, status=status, kind=kind)
    now = read.now
    return PageOf[SessionView].of(found, lambda s: SessionView.of(s, now, current=current))


async def _of_organization(
    read: Reader,
    page: Paged,
    organization_id: UUID | None,
    user_id: UUID | None,
    status: SessionStatus | None,
) -> PageOf[SessionUseView]:
    asked_elsewhere = read.held_as == HeldAs.TENANT and organization_id not in (
        None,
        read.organization_id,
    )
    if read.held_as != HeldAs.TENANT or asked_elsewhere:
        raise NotFound()
    alive = None if status is None else status is SessionStatus.ACTIVE
    found = await sessions.list_managed_sessions(read, page, user_id=user_id, alive=alive)
    return PageOf[SessionUseView].of(found, SessionUseView.of)


@router.get("/identity/sessions/{sessionId}")
async def get_session(
    session_id: SessionId, read: Annotated[Reader, reads(Permission.SESSION_READ)]
) -> SessionView | SessionUseView:
    """One session: your own whole, a member's as the organization sees it."""
    found = await sessions.find_session(read, session_id)
    if isinstance(found, SessionUse):
        return SessionUseView.of(found)
    return SessionView.of(found, read.now, current=read.actor.session_id)


@router.post("/identity/sessions/{sessionId}/revoke", responses=problems(InvalidTransition))
async def revoke_session(
    session_id: SessionId,
    body: RevokeSession,
    work: Annotated[Work, writes(Permission.SESSION_REVOKE)],
) -> SessionView | SessionUseView:
    """End a session, say of a lost phone; every later call with it is refused.

    Your own at once. A member's session that was used in the organization, or as staff anybody's,
    with a fresh proof and a `reason`.
    """
    ended = await sessions.revoke_session(work, session_id, reason=body.reason)
    if isinstance(ended, SessionUse):
        return SessionUseView.of(ended)
    return SessionView.of(ended, work.now, current=work.actor.session_id)


@router.post("/identity/sessions/{sessionId}/switch-organization")
async def switch_organization(
    session_id: SessionId,
    body: SwitchOrganization,
    work: Annotated[Work, writes(Permission.SESSION_SWITCH)],
) -> SessionView:
    """Work for another of your organizations: what names none is meant for this one from now on."""
    session = await sessions.switch_organization(work, session_id, body.organization_id)
    return SessionView.of(session, work.now, current=work.actor.session_id)
