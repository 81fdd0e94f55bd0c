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
    """Device of a session."""

    label: str
    family: str


class SessionView(Stored):
    """A session. Its tokens are never shown."""

    shown_as: Annotated[Literal["holder"], Field(description="Whole, for its holder.")] = "holder"
    user_id: UUID
    kind: str
    status: SessionStatus
    assurance: Annotated[
        str, Field(description="Assurance level. `aal2` if a second factor was used.")
    ]
    methods: list[str]
    authenticated_at: datetime
    proven_at: Annotated[
        datetime, Field(description="Time at which the person last proved their identity.")
    ]
    active_organization_id: UUID | None
    last_seen_at: Annotated[
        datetime, Field(description="Time of the last request, accurate to a minute.")
    ]
    idle_expires_at: datetime
    expires_at: datetime
    device: DeviceName
    network: Annotated[str, Field(description="Network address without its last part.")]
    current: Annotated[
        bool, Field(description="Whether this is the session that makes the request.")
    ]
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
    """A member's session as the organization it was used in sees it."""

    shown_as: Annotated[
        Literal["organization"], Field(description="What the organization may see.")
    ] = "organization"
    id: Annotated[UUID, Field(description="ID of the session.")]
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


AnySession = Annotated[SessionView | SessionUseView, Field(discriminator="shown_as")]


class SessionPage(PageOf[AnySession]):
    """One page of sessions, all of them shown alike."""


class RevokeSession(Body):
    """Reason for ending a session."""

    reason: Annotated[
        Annotated[str, text(1, 500)] | None,
        Field(description="Reason. Required to end another person's session."),
    ] = None


class SwitchOrganization(Body):
    """Organization to switch to."""

    organization_id: UUID


@router.get("/identity/sessions")
async def list_sessions(
    read: Annotated[Reader, reads(Permission.SESSION_READ)],
    page: Annotated[Paged, paged("createdAt", "lastSeenAt", default="-createdAt")],
    user_id: Annotated[UUID | None, Query(alias="userId")] = None,
    organization_id: Annotated[UUID | None, Query(alias="organizationId")] = None,
    status: Annotated[SessionStatus | None, Query()] = None,
    kind: Annotated[Literal["interactive", "support"] | None, Query()] = None,
) -> SessionPage:
    """List your sessions. The session that makes the request is marked `current`.

    A member manager sends `organizationId`, and `userId` for one member, and sees the sessions that
    were used in the organization. Staff send `userId`.
    """
    current = read.actor.session_id
    in_organization = organization_id is not None or user_id not in (None, read.actor.id)
    if in_organization and read.held_as != HeldAs.PLATFORM:
        return await _of_organization(read, page, organization_id, user_id, status)
    await read.switch_scope(user_id=user_id or read.actor.id)
    found = await sessions.list_sessions(read, page, status=status, kind=kind)
    now = read.now
    items = [SessionView.of(session, now, current=current) for session in found.items]
    return SessionPage.model_construct(items=items, next_cursor=found.next_cursor)


async def _of_organization(
    read: Reader,
    page: Paged,
    organization_id: UUID | None,
    user_id: UUID | None,
    status: SessionStatus | None,
) -> SessionPage:
    asked_elsewhere = read.held_as == HeldAs.TENANT and organization_id not in (
        None,
        read.organization_id,
    )
    if read.held_as != HeldAs.TENANT or asked_elsewhere:
        raise NotFound()
    alive = None if status is None else status is SessionStatus.ACTIVE
    found = await sessions.list_managed_sessions(read, page, user_id=user_id, alive=alive)
    items = [SessionUseView.of(use) for use in found.items]
    return SessionPage.model_construct(items=items, next_cursor=found.next_cursor)


@router.get("/identity/sessions/{sessionId}")
async def get_session(
    session_id: SessionId, read: Annotated[Reader, reads(Permission.SESSION_READ)]
) -> AnySession:
    """Retrieve one session: your own in full, a member's as the organization sees it."""
    found = await sessions.find_session(read, session_id)
    if isinstance(found, SessionUse):
        return SessionUseView.of(found)
    return SessionView.of(found, read.now, current=read.actor.session_id)


@router.post("/identity/sessions/{sessionId}/revoke", responses=problems(InvalidTransition))
async def revoke_session(
    session_id: SessionId,
    body: RevokeSession,
    work: Annotated[Work, writes(Permission.SESSION_REVOKE)],
) -> AnySession:
    """End a session, for example of a lost phone. Later requests with it are refused.

    You can end your own sessions. Ending a member's session that was used in the organization, or
    as staff any session, needs recent proof of identity and a `reason`.
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
    """Switch the active organization of your session.

    Requests that name none use it from now on.
    """
    session = await sessions.switch_organization(work, session_id, body.organization_id)
    return SessionView.of(session, work.now, current=work.actor.session_id)
