"""Invitations: asking somebody by letter, and answering with what the letter holds."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.identity.api.auth import NewPassword, SignedInView, Token, by_link
from thenga.domains.identity.api.memberships import MembershipView
from thenga.domains.identity.api.scopes import (
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
from thenga.kernel.db.acting import on_behalf_of
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
from thenga.kernel.http.lists import OfOrganization, paged
from thenga.kernel.http.reference import problems
from thenga.kernel.http.shared import Shared, Sharing
from thenga.kernel.values.fields import Email, lines, text

router = make_router("Identity / Invitation")

InvitationId = Annotated[UUID, Path(alias="invitationId")]
LetterToken = Annotated[
    Token, Field(description="Code from the letter. It proves the email address.")
]


class Invite(Body):
    """Invitation to send."""

    organization_id: Annotated[UUID, Field(description="Organization that the request acts for.")]
    email: Annotated[Email, Field(examples=["thabo@mokoena.co.za"])]
    role_codes: RoleCodes
    scope: ScopeBody | None = None
    message: Annotated[
        Annotated[str, lines(1, 500)] | None,
        Field(
            description=(
                "Message shown to whoever opens the invitation. It is not part of the letter."
            )
        ),
    ] = None


class OfLetter(Body):
    """Code from an invitation letter."""

    token: LetterToken


class AcceptInvitation(Body):
    """Accept an invitation.

    A signed-in person sends only the code; a new person adds name and password.
    """

    token: LetterToken
    display_name: Annotated[str, text(1, 120)] | None = None
    password: NewPassword | None = None


class InvitationView(Stored):
    """An invitation as the organization sees it. The code in the letter is never shown."""

    organization_id: UUID
    email: str
    role_codes: list[str]
    scope: ScopeView
    message: str | None
    status: InvitationStatus
    status_changed_at: datetime | None
    status_changed_by: UUID | None
    invited_by_user_id: UUID
    sent_count: Annotated[int, Field(description="Number of letters requested, at most six.")]
    last_sent_at: datetime | None
    delivered_at: Annotated[
        datetime | None,
        Field(description="Time at which the last letter was handed to the mail server."),
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
    """What the holder of an invitation code can see before answering."""

    invitation_id: UUID
    organization_name: Annotated[
        str | None, Field(description="Name of the organization. Null while it is not available.")
    ]
    invited_by: str | None
    message: Annotated[str | None, Field(description="Message from the inviter.")]
    role_names: list[str]
    expires_at: datetime
    status: InvitationStatus
    account_exists: Annotated[
        bool,
        Field(
            description=(
                "Whether the invited address has an account. If so, sign in to accept; otherwise "
                "create one."
            )
        ),
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
    """The invitation after it was declined."""

    invitation_id: UUID
    status: InvitationStatus


class AcceptedView(View):
    """The membership, and for a new person the session that was started."""

    membership: MembershipView
    session: SignedInView | None


@router.post(
    "/identity/invitations",
    status_code=201,
    responses=problems(
        Duplicate, PlanLimitReached, GrantAboveOwn, StepUpRequired, RuleViolated, RateLimited
    ),
)
async def invite(
    body: Invite, work: Annotated[Work, writes(Permission.INVITATION_CREATE)], shared: Sharing
) -> InvitationView:
    """Invite an email address.

    A letter is sent; the invitation is open for seven days and takes a seat. An organization can
    send six of these letters a day to one address.

    A role with a sensitive permission needs recent proof of identity. The answer does not reveal
    whether the address has an account.
    """
    must_agree(body.organization_id, work.organization_id)
    invitation = await invitations.create(
        work,
        email=body.email,
        role_codes=body.role_codes,
        scope=scope_asked(body.scope),
        message=body.message,
    )
    await _count(shared, invitation)
    return InvitationView.of(invitation, work.now)


async def _count(shared: Shared, invitation: Invitation) -> None:
    """After the key was claimed: who repeats a call is not counted twice."""
    rule = shared.rules.invitation_account
    await shared.limits.hit(rule, str(invitation.organization_id), invitation.email_key.hex())


@router.get("/identity/invitations")
async def list_invitations(
    read: Annotated[Reader, reads(Permission.INVITATION_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    organization_id: OfOrganization = None,
    status: Annotated[InvitationStatus | None, Query()] = None,
    email: Annotated[Email | None, Query()] = None,
) -> PageOf[InvitationView]:
    """List the invitations of the organization, including ended ones."""
    await on_behalf_of(read, organization_id)
    found = await invitations.list_all(read, page, status=status, email=email)
    now = read.now
    return PageOf[InvitationView].of(found, lambda one: InvitationView.of(one, now))


@router.post("/identity/invitations/inspect", responses=problems(NotFound))
async def inspect_invitation(
    body: OfLetter, work: Annotated[Work, anyone(by_link)]
) -> InspectedView:
    """Show what an invitation is about: who invites, to which roles, and until when."""
    return InspectedView.of(await invitations.inspect(work, token=body.token))


@router.get("/identity/invitations/{invitationId}")
async def get_invitation(
    invitation_id: InvitationId, read: Annotated[Reader, reads(Permission.INVITATION_READ)]
) -> InvitationView:
    """Retrieve an invitation of the organization."""
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
    """Accept an invitation with the code from the letter.

    If you are signed in, your address must be the invited one. If not, and there is no account with
    that address, send your name and a password: you are signed in at once. If there is an account,
    sign in first. Accepting twice returns the same membership.
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
    """Decline an invitation with the code from the letter. No account is needed."""
    invitation = await invitations.decline(work, invitation_id, token=body.token)
    return AnsweredView(invitation_id=invitation.id, status=invitation.status)


@router.post(
    "/identity/invitations/{invitationId}/resend",
    responses=problems(InvalidTransition, RateLimited, GrantAboveOwn, StepUpRequired),
)
async def resend_invitation(
    invitation_id: InvitationId,
    work: Annotated[Work, writes(Permission.INVITATION_CREATE)],
    shared: Sharing,
) -> InvitationView:
    """Send the invitation again with a new code, and extend it to seven days from now.

    Earlier codes work until then too. This is possible five times, at least ten minutes apart. You
    become the inviter.
    """
    invitation = await invitations.resend(work, invitation_id)
    await _count(shared, invitation)
    return InvitationView.of(invitation, work.now)


@router.post("/identity/invitations/{invitationId}/revoke", responses=problems(InvalidTransition))
async def revoke_invitation(
    invitation_id: InvitationId, work: Annotated[Work, writes(Permission.INVITATION_REVOKE)]
) -> InvitationView:
    """Withdraw an invitation. Its code stops working and its seat becomes free."""
    return InvitationView.of(await invitations.revoke(work, invitation_id), work.now)
