"""Accounts: one's own, those of colleagues as cards, and all of them for staff."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.identity.api.auth import LOCALES, LinkSent, NewPassword
from thenga.domains.identity.api.scopes import StatusReason
from thenga.domains.identity.api.sessions import SessionView
from thenga.domains.identity.lifecycles import UserLifecycle
from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import accounts, auth, users
from thenga.domains.identity.services.auth import PasswordWeak
from thenga.domains.identity.services.users import Account, SamePerson
from thenga.domains.identity.tables import AccountCard, Membership, UserStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Duplicate, Erased, InvalidTransition, NotFound, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.http.shared import Sharing
from thenga.kernel.values.fields import Email, PhoneNumber, TimeZoneName, text

router = make_router("Identity / User")
UserId = Annotated[UUID, Path(alias="userId")]
DisplayName = Annotated[str, text(1, 120)]
Reason = Annotated[str, text(1, 500)]


class CreateUser(Body):
    """Account to create."""

    email: Email
    display_name: DisplayName
    staff: Annotated[
        bool,
        Field(description="Whether this is a staff account. Staff cannot join an organization."),
    ] = False
    reason: Reason


class ChangeUser(Body):
    """Account fields to update. Omitted fields stay unchanged; null clears the phone."""

    display_name: DisplayName = "unchanged"
    phone: Annotated[
        PhoneNumber | None,
        Field(
            description="Phone number, stored in international format. +27 can be left out.",
            examples=["082 123 4567", "+27821234567"],
        ),
    ] = None
    locale: LOCALES = "en-ZA"
    time_zone: TimeZoneName = "Africa/Johannesburg"


class DisableUser(Body):
    """Reason for disabling an account."""

    reason: Reason
    code: Literal["fraud", "abuse", "request", "left"]


class WithReason(Body):
    """Reason for a change."""

    reason: Reason


class ChangePassword(Body):
    """New password."""

    new_password: NewPassword
    reason: Reason | None = None


class ChangeAddress(Body):
    """New email address."""

    email: Annotated[Email, Field(description="New email address. The link is sent to it.")]
    reason: Reason | None = None


class LockView(View):
    """Lock that blocks sign-in."""

    until: datetime
    cause: str


class FactorsView(View):
    """Second factors of the account."""

    totp: bool
    recovery_codes_left: int


class AccountView(Stored):
    """An account in full, for its holder and for staff."""

    shown_as: Annotated[Literal["holder"], Field(description="Whole, for its holder.")] = "holder"
    email: str
    email_verified_at: datetime | None
    display_name: str
    phone: str | None
    locale: str
    time_zone: str
    status: UserStatus
    status_reason: StatusReason | None
    status_changed_at: datetime | None
    lock: Annotated[
        LockView | None, Field(description="Lock that blocks sign-in, if there is one.")
    ]
    staff: bool
    has_password: bool
    factors: FactorsView
    last_sign_in_at: datetime | None
    active_organization_id: UUID | None
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, account: Account, now: datetime) -> "AccountView":
        row = account.row
        locked = row.locked_until is not None and row.locked_until > now
        reason = row.status_reason_code
        return cls.model_validate(
            row.__dict__
            | {
                "lock": LockView(until=row.locked_until or now, cause=row.lock_cause or "")
                if locked
                else None,
                "has_password": account.has_password,
                "factors": FactorsView(
                    totp="totp" in row.factor_kinds,
                    recovery_codes_left=account.recovery_codes_left,
                ),
                "status_reason": reason and StatusReason(code=reason, text=row.status_reason_text),
                "allowed_moves": UserLifecycle.allowed(row, now),
            }
        )


class ColleagueView(View):
    """What members of the same organization see of each other."""

    shown_as: Annotated[Literal["colleague"], Field(description="What colleagues may see.")] = (
        "colleague"
    )
    id: UUID
    display_name: str
    membership_id: UUID
    joined_at: datetime | None

    @classmethod
    def of(cls, membership: Membership) -> "ColleagueView":
        return cls(
            id=membership.user_id,
            display_name=membership.display_name,
            membership_id=membership.id,
            joined_at=membership.joined_at,
        )


class AccountCardView(View):
    """An account as staff see it in a list."""

    id: UUID
    email: str
    display_name: str
    status: UserStatus
    staff: bool
    locked_until: datetime | None
    email_verified_at: datetime | None
    last_sign_in_at: datetime | None
    created_at: datetime

    @classmethod
    def of(cls, card: AccountCard) -> "AccountCardView":
        return cls.model_validate(card)


class MyMembership(View):
    """One of your memberships."""

    id: UUID
    organization_id: UUID
    organization_name: Annotated[
        str | None, Field(description="Display name of the organization. Null if it is closed.")
    ]
    status: str
    joined_at: datetime | None

    @classmethod
    def of(cls, membership: Membership, name: str | None) -> "MyMembership":
        return cls.shown(membership.__dict__ | {"organization_name": name})


class MeView(View):
    """Your account, memberships and permissions."""

    account: AccountView
    session: SessionView
    memberships: list[MyMembership]
    organization_id: Annotated[
        UUID | None, Field(description="Organization that this request acts for.")
    ]
    permissions: Annotated[
        list[str],
        Field(description="Permission codes you hold in that organization and for yourself."),
    ]


@router.get("/identity/me")
async def get_me(read: Annotated[Reader, reads(Permission.USER_READ)]) -> MeView:
    """Retrieve your account, your memberships and your permissions in the active organization."""
    found = await users.me(read)
    return MeView(
        account=AccountView.of(found.account, read.now),
        session=SessionView.of(found.session, read.now, current=found.session.id),
        memberships=[
            MyMembership.of(membership, found.organization_names.get(membership.organization_id))
            for membership in found.memberships
        ],
        organization_id=found.organization_id,
        permissions=found.permissions,
    )


@router.post("/identity/users", status_code=201, responses=problems(Duplicate))
async def create_user(
    body: CreateUser, work: Annotated[Work, writes(Permission.USER_CREATE)]
) -> AccountView:
    """Create an account for someone.

    A link is sent to the address. Only this call creates staff.
    """
    made = await users.create(
        work,
        email=body.email,
        display_name=body.display_name,
        staff=body.staff,
        reason=body.reason,
    )
    return AccountView.of(made, work.now)


@router.get("/identity/users")
async def list_users(
    read: Annotated[Reader, reads(Permission.USER_LIST)],
    page: Annotated[Paged, paged("createdAt", "lastSignInAt")],
    email: Annotated[Email | None, Query(description="Filter by exact email address.")] = None,
    status: Annotated[UserStatus | None, Query()] = None,
    staff: Annotated[bool | None, Query()] = None,
    locked: Annotated[bool | None, Query()] = None,
) -> PageOf[AccountCardView]:
    """List accounts. Staff only."""
    sought = users.Sought(email=email, status=status, staff=staff, locked=locked)
    return PageOf[AccountCardView].of(await users.list_all(read, page, sought), AccountCardView.of)


@router.get("/identity/users/{userId}", responses=problems(Erased))
async def get_user(
    user_id: UserId, read: Annotated[Reader, reads(Permission.USER_READ)]
) -> Annotated[AccountView | ColleagueView, Field(discriminator="shown_as")]:
    """Retrieve your own account in full, or the card of a colleague in the active organization."""
    found = await users.find(read, user_id)
    if isinstance(found, Membership):
        return ColleagueView.of(found)
    return AccountView.of(found, read.now)


@router.patch("/identity/users/{userId}", responses=problems(RuleViolated))
async def change_user(
    user_id: UserId, body: ChangeUser, work: Annotated[Work, writes(Permission.USER_UPDATE)]
) -> AccountView:
    """Update your name, phone, language or time zone. Colleagues see the new name at once."""
    return AccountView.of(await users.change(work, user_id, body.changes()), work.now)


@router.post("/identity/users/{userId}/disable", responses=problems(SamePerson, InvalidTransition))
async def disable_user(
    user_id: UserId, body: DisableUser, work: Annotated[Work, writes(Permission.USER_DISABLE)]
) -> AccountView:
    """Disable an account, with a reason. Its sessions end at once."""
    found = await users.disable(work, user_id, code=body.code, reason=body.reason)
    return AccountView.of(found, work.now)


@router.post("/identity/users/{userId}/enable", responses=problems(SamePerson, InvalidTransition))
async def enable_user(
    user_id: UserId, body: WithReason, work: Annotated[Work, writes(Permission.USER_ENABLE)]
) -> AccountView:
    """Enable a disabled account. It becomes active, or waits for confirmation of its address."""
    return AccountView.of(await users.enable(work, user_id, reason=body.reason), work.now)


@router.post("/identity/users/{userId}/unlock", responses=problems(SamePerson))
async def unlock_user(
    user_id: UserId, body: WithReason, work: Annotated[Work, writes(Permission.USER_UNLOCK)]
) -> AccountView:
    """Lift the lock that wrong passwords caused. A disabled account stays disabled."""
    return AccountView.of(await users.unlock(work, user_id, reason=body.reason), work.now)


@router.post("/identity/users/{userId}/password", responses=problems(PasswordWeak))
async def change_password(
    user_id: UserId,
    body: ChangePassword,
    work: Annotated[Work, writes(Permission.PASSWORD_CHANGE)],
    shared: Sharing,
) -> AccountView:
    """Change your password. Needs recent proof of identity. Your other sessions end."""
    if user_id != work.actor.id:
        raise NotFound()
    await shared.limits.hit(shared.rules.hashing)
    row = await auth.change_password(work, new_password=body.new_password)
    return AccountView.of(await users.whole(work, row), work.now)


@router.post("/identity/users/{userId}/address-changes", status_code=202)
async def ask_address_change(
    user_id: UserId,
    body: ChangeAddress,
    work: Annotated[Work, writes(Permission.ADDRESS_CHANGE)],
    shared: Sharing,
) -> LinkSent:
    """Request a new email address for sign-in. Needs recent proof of identity.

    A link is sent to the new address and a notice to the old one. Confirm it with `POST
    /identity/auth/address-changes/confirm`.
    """
    if user_id != work.actor.id:
        raise NotFound()
    await auth.ask_change(work, email=body.email)
    # After the key was claimed: who repeats a call is not counted twice.
    account = accounts.limit_key(work, body.email)
    await shared.limits.hit(shared.rules.address_change_account, account)
    return LinkSent()
