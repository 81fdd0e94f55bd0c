"""Accounts of people: what each changes in their own, and staff in those of others."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import func, select

from thenga.domains.identity import public
from thenga.domains.identity.lifecycles import UserLifecycle
from thenga.domains.identity.services import accounts, auth, organizations, roles, sessions
from thenga.domains.identity.tables import (
    AccountCard,
    Membership,
    MembershipStatus,
    Password,
    PermissionEntry,
    Session,
    UserAccount,
    UserStatus,
)
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.acting import same_person
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, Erased, NotFound, Problem


class SamePerson(Problem):
    """You cannot do this to your own account. Ask a colleague with the same role."""

    code, status, title = "identity-same-person", 403, "Another person must do this"


@dataclass(frozen=True)
class Account:
    """An account with what stands beside it."""

    row: UserAccount
    has_password: bool
    recovery_codes_left: int


@dataclass(frozen=True)
class Me:
    """Who one is, where one is signed in, and what one may do there."""

    account: Account
    session: Session
    memberships: list[Membership]
    permissions: list[str]
    organization_id: UUID | None
    organization_names: dict[UUID, str]


async def whole(read: Reader, account: UserAccount) -> Account:
    """The account of the person of this work, with password and codes counted."""
    has_password = await read.find(Password) is not None
    return Account(account, has_password, await accounts.codes_left(read))


async def own(read: Reader, user_id: UUID) -> Account:
    """One's own account; anybody else's is not there."""
    if user_id != read.actor.id:
        raise NotFound()
    await read.switch_scope(user_id=user_id)
    return await whole(read, await read.get(UserAccount, user_id))


async def find(read: Reader, user_id: UUID) -> Account | Membership:
    """One's own account and, for staff, anybody's; of a colleague only the card."""
    if read.held_as == HeldAs.PLATFORM:
        await read.switch_scope(user_id=user_id)
        account = await read.get(UserAccount, user_id)
        if account.status is UserStatus.ERASED:
            raise Erased()
        return await whole(read, account)
    if read.held_as == HeldAs.TENANT and user_id != read.actor.id:
        return await _colleague(read, user_id)
    return await own(read, user_id)


async def _colleague(read: Reader, user_id: UUID) -> Membership:
    statement = select(Membership).where(
        Membership.organization_id == read.organization_id,
        Membership.user_id == user_id,
        Membership.status == MembershipStatus.ACTIVE,
    )
    found = await read.all(statement, limit=1)
    if not found:
        raise NotFound()
    return found[0]


async def me(read: Reader) -> Me:
    """Everything a client needs to show who is signed in."""
    user_id, session_id = read.actor.id, read.actor.session_id
    assert user_id is not None and session_id is not None  # noqa: S101  # a person's session
    organization_id = read.organization_id if read.held_as == HeldAs.TENANT else None
    permissions = await _permissions(read, organization_id)
    await read.switch_scope(user_id=user_id)
    account = await whole(read, await read.get(UserAccount, user_id))
    session = await read.get(Session, session_id)
    mine = select(Membership).where(
        Membership.user_id == user_id, Membership.status != MembershipStatus.REMOVED
    )
    memberships = await read.all(mine.order_by(Membership.id), limit=200)
    names = await organizations.organization_names(
        read, {membership.organization_id for membership in memberships}
    )
    return Me(account, session, memberships, permissions, organization_id, names)


async def _permissions(read: Reader, organization_id: UUID | None) -> list[str]:
    """The codes one holds as a person, and those one holds in the organization now."""
    own = select(PermissionEntry.code).where(
        PermissionEntry.status == "active",
        PermissionEntry.__table__.c.audiences.contains(["person"]),
    )
    held = set(await read.values(own, limit=2000))
    if organization_id is not None and read.actor.id is not None:
        held |= await roles.permissions_held(read, read.actor.id, read.now)
    return sorted(held)


async def change(work: Work, user_id: UUID, changes: dict[str, Any]) -> Account:
    """Change one's own account; colleagues see the new name at once."""
    if user_id != work.actor.id:
        raise NotFound()
    account = await work.lock(UserAccount, user_id)
    merge_patch(account, changes)
    await accounts.save_user(work, account)
    return await whole(work, account)


async def create(work: Work, *, email: str, display_name: str, staff: bool, reason: str) -> Account:
    """An account that staff make for somebody; whoever proves the address sets the password."""
    key = accounts.account_key(work.host, email)
    known = await accounts.find_name(work, key)
    if known is not None:
        existing = {"domain": "identity", "type": "user", "id": str(known.user_id)}
        raise Duplicate("There is already an account with this email address.", existing=existing)
    account = await accounts.add_user(
        work, key, email=email, display_name=display_name, locale="en-ZA", staff=staff
    )
    work.note("identity.user.made", ("user_account", account.id), {"reason": reason})
    await auth.invite(work, key, account)
    return await whole(work, account)


@dataclass(frozen=True)
class Sought:
    """What staff look for."""

    email: str | None = None
    status: str | None = None
    staff: bool | None = None
    locked: bool | None = None


_SIGNED_IN = func.coalesce(AccountCard.last_sign_in_at, AccountCard.created_at)


async def list_all(read: Reader, paged: Paged, sought: Sought) -> Slice[AccountCard]:
    """Accounts as staff find them: by address exactly, by state."""
    _only_staff(read)
    await read.switch_scope(organization_id=OPERATOR)
    statement = select(AccountCard).where(AccountCard.organization_id == OPERATOR)
    if sought.email is not None:
        key = accounts.account_key(read.host, sought.email)
        statement = statement.where(AccountCard.account_key == key)
    statement = where_given(
        statement, (AccountCard.status, sought.status), (AccountCard.staff, sought.staff)
    )
    if sought.locked is not None:
        locked = func.coalesce(AccountCard.locked_until > read.now, sa.false())
        statement = statement.where(locked if sought.locked else ~locked)
    by = _SIGNED_IN if paged.sort == "lastSignInAt" else None
    return await read.page(statement, paged, by)


async def disable(work: Work, user_id: UUID, *, code: str, reason: str) -> Account:
    """Close an account; its sessions end with it. Nobody closes their own."""
    account = await _of_another(work, user_id)
    if UserLifecycle.disable(account, at=work.now):
        _mark(work, account, code, reason)
        await accounts.save_user(work, account)
        work.publish(public.UserDisabled(user_id=account.id, code=code))
        await sessions.end_all_sessions(work, account.id, cause="account_disabled")
    return await whole(work, account)


async def enable(work: Work, user_id: UUID, *, reason: str) -> Account:
    """Back to the state before; who never proved the address must still do so."""
    account = await _of_another(work, user_id)
    proved = account.email_verified_at is not None
    move = UserLifecycle.enable if proved else UserLifecycle.reopen
    if move(account, at=work.now):
        _mark(work, account, "enabled", reason)
        await accounts.save_user(work, account)
        work.publish(public.UserEnabled(user_id=account.id))
    return await whole(work, account)


async def unlock(work: Work, user_id: UUID, *, reason: str) -> Account:
    """Lift a lock before its time; the state of the account is another matter (IDN-7)."""
    account = await _of_another(work, user_id)
    await auth.unlock(work, account)
    await accounts.save_user(work, account)
    work.note("identity.user.unlocked", ("user_account", user_id), {"reason": reason})
    return await whole(work, account)


def _only_staff(read: Reader) -> None:
    """A second wall behind the gate: whoever is not let in as staff finds nobody here."""
    if read.held_as != HeldAs.PLATFORM:
        raise NotFound()


async def _of_another(work: Work, user_id: UUID) -> UserAccount:
    _only_staff(work)
    if same_person(work, user_id):
        raise SamePerson()
    await work.switch_scope(user_id=user_id)
    return await work.lock(UserAccount, user_id)


def _mark(work: Work, account: UserAccount, code: str, reason: str) -> None:
    account.status_reason_code, account.status_reason_text = code, reason
    account.status_changed_at, account.status_changed_by = work.now, work.actor.id
