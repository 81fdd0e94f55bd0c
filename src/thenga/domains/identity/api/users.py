"""Accounts: one's own, those of colleagues as cards, and all of them for staff."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.identity.api.auth import LOCALES, LinkSent, NewPassword
from thenga.domains.identity.api.sessions import SessionView
from thenga.domains.identity.lifecycles import UserLifecycle
from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import accounts, auth, phones, users
from thenga.domains.identity.services.auth import PasswordWeak
from thenga.domains.identity.services.phones import PhoneUnknown
from thenga.domains.identity.services.users import Account, SamePerson
from thenga.domains.identity.tables import AccountCard, Membership, UserStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Duplicate, Erased, InvalidTransition, NotFound
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.http.shared import Sharing
from thenga.kernel.values.fields import Email, TimeZoneName, matching, text

router = make_router("Identity / User")
UserId = Annotated[UUID, Path(alias="userId")]
DisplayName = Annotated[str, text(1, 120)]
Reason = Annotated[str, text(1, 500)]
Phone = Annotated[str, matching(r"^\+[1-9][0-9]{6,14}$", 16)]


class CreateUser(Body):
    email: Email
    display_name: DisplayName
    staff: Annotated[bool, Field(description="Staff of the platform; they join no company.")] = (
        False
    )
    reason: Reason


class ChangeUser(Body):
    """A merge patch: what is left out stays; null empties the phone."""

    display_name: DisplayName = "unchanged"
    phone: Annotated[
        Phone | None, Field(description="With the country in front.", examples=["+27821234567"])
    ] = None
    locale: LOCALES = "en-ZA"
    time_zone: TimeZoneName = "Africa/Johannesburg"


class DisableUser(Body):
    reason: Reason
    code: Literal["fraud", "abuse", "request", "left"]


class WithReason(Body):
    reason: Reason


class ChangePassword(Body):
    new_password: NewPassword
    reason: Reason | None = None


class ChangeAddress(Body):
    email: Annotated[Email, Field(description="The new address; the link goes there.")]
    reason: Reason | None = None


class LockView(View):
    until: datetime
    cause: str


class FactorsView(View):
    totp: bool
    recovery_codes_left: int


class StatusReason(View):
    code: str
    text: str | None


class AccountView(Stored):
    """An account, whole: for its holder and for staff."""

    email: str
    email_verified_at: datetime | None
    display_name: str
    phone: str | None
    locale: str
    time_zone: str
    status: UserStatus
    status_reason: StatusReason | None
    status_changed_at: datetime | None
    lock: Annotated[LockView | None, Field(description="Signing in is closed until then.")]
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
    """What members of one organization see of each other."""

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
    """An account in the list of staff."""

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
    id: UUID
    organization_id: UUID
    status: str
    joined_at: datetime | None


class MeView(View):
    account: AccountView
    session: SessionView
    memberships: list[MyMembership]
    organization_id: Annotated[
        UUID | None, Field(description="The organization that this request acts for.")
    ]
    permissions: Annotated[list[str], Field(description="What you may do, there and for yourself.")]


@router.get("/identity/me")
async def get_me(read: Annotated[Reader, reads(Permission.USER_READ)]) -> MeView:
    """Who you are, where you belong, and what you may do in the organization you work for now."""
    found = await users.me(read)
    return MeView(
        account=AccountView.of(found.account, read.now),
        session=SessionView.of(found.session, read.now, current=found.session.id),
        memberships=[MyMembership.model_validate(one) for one in found.memberships],
        organization_id=found.organization_id,
        permissions=found.permissions,
    )


@router.post("/identity/users", status_code=201, responses=problems(Duplicate))
async def create_user(
    body: CreateUser, work: Annotated[Work, writes(Permission.USER_CREATE)]
) -> AccountView:
    """Make an account for somebody; a link goes to the address. The only way to make staff."""
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
    email: Annotated[Email | None, Query(description="Exactly this address.")] = None,
    status: Annotated[UserStatus | None, Query()] = None,
    staff: Annotated[bool | None, Query()] = None,
    locked: Annotated[bool | None, Query()] = None,
) -> PageOf[AccountCardView]:
    """Find accounts, as staff."""
    sought = users.Sought(email=email, status=status, staff=staff, locked=locked)
    return PageOf[AccountCardView].of(await users.list_all(read, page, sought), AccountCardView.of)


@router.get("/identity/users/{userId}", responses=problems(Erased))
async def get_user(
    user_id: UserId, read: Annotated[Reader, reads(Permission.USER_READ)]
) -> AccountView | ColleagueView:
    """Your own account whole; of a colleague in the organization you work for, the card."""
    found = await users.find(read, user_id)
    if isinstance(found, Membership):
        return ColleagueView.of(found)
    return AccountView.of(found, read.now)


@router.patch("/identity/users/{userId}", responses=problems(PhoneUnknown))
async def change_user(
    user_id: UserId, body: ChangeUser, work: Annotated[Work, writes(Permission.USER_UPDATE)]
) -> AccountView:
    """Change your name, phone, language or time zone. Colleagues see the new name at once."""
    changes = body.changes()
    if changes.get("phone") is not None:
        changes["phone"] = phones.settled(changes["phone"])
    return AccountView.of(await users.change(work, user_id, changes), work.now)


@router.post("/identity/users/{userId}/disable", responses=problems(SamePerson, InvalidTransition))
async def disable_user(
    user_id: UserId, body: DisableUser, work: Annotated[Work, writes(Permission.USER_DISABLE)]
) -> AccountView:
    """Close an account, with a reason; its sessions end at once."""
    found = await users.disable(work, user_id, code=body.code, reason=body.reason)
    return AccountView.of(found, work.now)


@router.post("/identity/users/{userId}/enable", responses=problems(SamePerson, InvalidTransition))
async def enable_user(
    user_id: UserId, body: WithReason, work: Annotated[Work, writes(Permission.USER_ENABLE)]
) -> AccountView:
    """Open a closed account again: active, or waiting for its address where it never was proved."""
    return AccountView.of(await users.enable(work, user_id, reason=body.reason), work.now)


@router.post("/identity/users/{userId}/unlock", responses=problems(SamePerson))
async def unlock_user(
    user_id: UserId, body: WithReason, work: Annotated[Work, writes(Permission.USER_UNLOCK)]
) -> AccountView:
    """Lift the lock that wrong passwords brought; a disabled account stays disabled."""
    return AccountView.of(await users.unlock(work, user_id, reason=body.reason), work.now)


@router.post("/identity/users/{userId}/password", responses=problems(PasswordWeak))
async def change_password(
    user_id: UserId,
    body: ChangePassword,
    work: Annotated[Work, writes(Permission.PASSWORD_CHANGE)],
    shared: Sharing,
) -> AccountView:
    """Set another password, with a fresh proof. Your other sessions end."""
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
    """Ask to sign in with another address, with a fresh proof.

    A link goes to the new address, a notice to the old one. Confirm it with
    `POST /identity/auth/address-changes/confirm`.
    """
    if user_id != work.actor.id:
        raise NotFound()
    await auth.ask_change(work, email=body.email)
    # After the key was claimed: who repeats a call is not counted twice.
    await shared.limits.hit(shared.rules.mail_account, accounts.limit_key(work, body.email))
    return LinkSent()
