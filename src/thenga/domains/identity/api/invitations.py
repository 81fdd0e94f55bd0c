"""Invitations: asking somebody by letter, and answering with what the letter holds."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.identity.api.auth import NewPassword, SignedInView, Token, by_link
from thenga.domains.identity.api.memberships import MembershipView
from thenga.domains.identity.api.shapes import (
    RoleCodes,
    ScopeBody,
    ScopeView,
    must_agree,
    scope_asked,
)
from thenga.domains.identity.lifecycles import InvitationLifecycle
from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import invitations, memberships
from thenga.domains.identity.services.auth import PasswordWeak
from thenga.domains.identity.services.invitations import (
    InvitationOver,
    InvitationVoid,
    OtherAddress,
)
from thenga.domains.identity.services.roles import GrantAboveOwn
from thenga.domains.identity.tables import Invitation, InvitationStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import (
    Duplicate,
    InvalidTransition,
    NotFound,
    PlanLimitReached,
    RateLimited,
    RuleViolated,
    StepUpRequired,
    Unauthenticated,
)
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import anyone, perhaps, reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Email, lines, text

router = make_router("Identity / Invitation")

InvitationId = Annotated[UUID, Path(alias="invitationId")]
LetterToken = Annotated[Token, Field(description="The code of the letter; it proves the address.")]


class Invite(Body):
    organization_id: Annotated[
        UUID, Field(description="The organization that the request acts for.")
    ]
    email: Annotated[Email, Field(examples=["thabo@mokoena.co.za"])]
    role_codes: RoleCodes
    scope: ScopeBody | None = None
    message: Annotated[
        Annotated[str, lines(1, 500)] | None,
        Field(description="Shown to whoever opens the invitation; it is not in the letter."),
    ] = None


class OfLetter(Body):
    token: LetterToken


class AcceptInvitation(Body):
    """Who is signed in sends the code alone; somebody new gives a name and a password too."""

    token: LetterToken
    display_name: Annotated[str, text(1, 120)] | None = None
    password: NewPassword | None = None


class InvitationView(Stored):
    """An invitation as the organization sees it; the code of the letter is shown to nobody."""

    organization_id: UUID
    email: str
    role_codes: list[str]
    scope: ScopeView
    message: str | None
    status: InvitationStatus
    status_changed_at: datetime | None
    status_changed_by: UUID | None
    invited_by_user_id: UUID
    sent_count: Annotated[int, Field(description="Letters asked for; six at most.")]
    last_sent_at: datetime | None
    delivered_at: Annotated[
        datetime | None, Field(description="When the last letter was handed over.")
    ]
    expires_at: datetime
    accepted_by_user_id: UUID | None
    membership_id: UUID | None
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, invitation: Invitation, now: datetime) -> "InvitationView":
        status = invitations.shown_status(invitation, now)
        open_still = status is invitation.status
        return cls.shown(
            invitation.__dict__
            | {
                "status": status,
                "scope": ScopeView.of(invitations.scope_of(invitation)),
                "allowed_moves": InvitationLifecycle.allowed(invitation, now) if open_still else [],
            }
        )


class InspectedView(View):
    """What whoever holds the letter may know before answering."""

    invitation_id: UUID
    organization_name: Annotated[
        str | None, Field(description="Null while the organization's name cannot be asked.")
    ]
    invited_by: str | None
    message: Annotated[str | None, Field(description="What the inviter wrote.")]
    role_names: list[str]
    expires_at: datetime
    status: InvitationStatus
    account_exists: Annotated[
        bool, Field(description="Sign in with the invited address to accept; else join anew.")
    ]

    @classmethod
    def of(cls, seen: invitations.Seen) -> "InspectedView":
        return cls(
            invitation_id=seen.invitation.id,
            organization_name=seen.organization_name,
            invited_by=seen.invited_by,
            message=seen.invitation.message,
            role_names=seen.role_names,
            expires_at=seen.invitation.expires_at,
            status=seen.status,
            account_exists=seen.account is not None,
        )


class AnsweredView(View):
    invitation_id: UUID
    status: InvitationStatus


class AcceptedView(View):
    """The membership; for somebody new also the session that begins with it."""

    membership: MembershipView
    session: SignedInView | None


@router.post(
    "/identity/invitations",
    status_code=201,
    responses=problems(Duplicate, PlanLimitReached, GrantAboveOwn, StepUpRequired, RuleViolated),
)
async def invite(
    body: Invite, work: Annotated[Work, writes(Permission.INVITATION_CREATE)]
) -> InvitationView:
    """Invite an address. A letter goes out; the invitation is open for seven days and keeps a seat.

    A role with a sensitive permission asks for a fresh proof. Nothing tells whether the address
    has an account.
    """
    must_agree(body.organization_id, work.organization_id)
    invitation = await invitations.create(
        work,
        email=body.email,
        role_codes=body.role_codes,
        scope=scope_asked(body.scope),
        message=body.message,
    )
    return InvitationView.of(invitation, work.now)


@router.get("/identity/invitations")
async def list_invitations(
    read: Annotated[Reader, reads(Permission.INVITATION_READ)],
    page: Annotated[Paged, paged("createdAt")],
    organization_id: Annotated[UUID | None, Query(alias="organizationId")] = None,
    status: Annotated[InvitationStatus | None, Query()] = None,
    email: Annotated[Email | None, Query()] = None,
) -> PageOf[InvitationView]:
    """The invitations of the organization, ended ones too."""
    must_agree(organization_id, read.organization_id)
    found = await invitations.list_all(read, page, status=status, email=email)
    now = read.now
    return PageOf[InvitationView].of(found, lambda one: InvitationView.of(one, now))


@router.post("/identity/invitations/inspect", responses=problems(NotFound))
async def inspect_invitation(
    body: OfLetter, work: Annotated[Work, anyone(by_link)]
) -> InspectedView:
    """What the letter in your hand is about: who invites, to which roles, until when."""
    return InspectedView.of(await invitations.inspect(work, token=body.token))


@router.get("/identity/invitations/{invitationId}")
async def get_invitation(
    invitation_id: InvitationId, read: Annotated[Reader, reads(Permission.INVITATION_READ)]
) -> InvitationView:
    """One invitation of the organization."""
    return InvitationView.of(await read.get(Invitation, invitation_id), read.now)


@router.post(
    "/identity/invitations/{invitationId}/accept",
    responses=problems(
        InvitationOver, InvitationVoid, OtherAddress, Unauthenticated, PasswordWeak, RuleViolated
    ),
)
async def accept_invitation(
    invitation_id: InvitationId,
    body: AcceptInvitation,
    work: Annotated[Work, perhaps(Permission.MEMBERSHIP_ANSWER, by_link)],
) -> AcceptedView:
    """Join with the code of the letter.

    Signed in: your address is the invited one. Not signed in: if nobody has an account with the
    invited address, give your name and a password and you are signed in at once; if somebody has,
    sign in first. Accepting twice gives the same membership.
    """
    accepted = await invitations.accept(
        work,
        invitation_id,
        token=body.token,
        display_name=body.display_name,
        password=body.password,
    )
    shown = await memberships.shown(work, accepted.membership)
    session = accepted.signed_in
    return AcceptedView(
        membership=MembershipView.of(shown, work.now),
        session=None if session is None else SignedInView.of(session, work.now),
    )


@router.post(
    "/identity/invitations/{invitationId}/decline", responses=problems(InvitationOver, NotFound)
)
async def decline_invitation(
    invitation_id: InvitationId, body: OfLetter, work: Annotated[Work, anyone(by_link)]
) -> AnsweredView:
    """Do not join, with the code of the letter. No account is needed."""
    invitation = await invitations.decline(work, invitation_id, token=body.token)
    return AnsweredView(invitation_id=invitation.id, status=invitation.status)


@router.post(
    "/identity/invitations/{invitationId}/resend",
    responses=problems(InvalidTransition, RateLimited, GrantAboveOwn, StepUpRequired),
)
async def resend_invitation(
    invitation_id: InvitationId, work: Annotated[Work, writes(Permission.INVITATION_CREATE)]
) -> InvitationView:
    """Send the letter again with a new code; the older one is dead, and seven days begin anew.

    At most five times, ten minutes apart. From now on you are the one who invites.
    """
    return InvitationView.of(await invitations.resend(work, invitation_id), work.now)


@router.post("/identity/invitations/{invitationId}/revoke", responses=problems(InvalidTransition))
async def revoke_invitation(
    invitation_id: InvitationId, work: Annotated[Work, writes(Permission.INVITATION_REVOKE)]
) -> InvitationView:
    """Take an invitation back. The code in the letter is dead, the seat is free."""
    return InvitationView.of(await invitations.revoke(work, invitation_id), work.now)
