"""People, sessions and memberships, made by Identity's own services."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from thenga.domains.identity.services import memberships
from thenga.domains.identity.services.accounts import member_cards
from thenga.domains.identity.services.roles import role_assignments
from thenga.domains.identity.services.sessions import sessions
from thenga.domains.identity.tables import (
    AssignmentStatus,
    Membership,
    PermissionAssignment,
    PlatformRoleAssignment,
    Session,
    SessionStatus,
    TenantMirror,
    UserAccount,
    UserStatus,
)
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

_ORIGIN = Origin(action="factory", request_id="factory", correlation_id="factory")


@dataclass(frozen=True)
class Person:
    """Somebody who is signed in."""

    user_id: UUID
    session_id: UUID
    token: str
    refresh_token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


@dataclass(frozen=True)
class Member(Person):
    """Somebody who is signed in and belongs to an organization."""

    organization_id: UUID
    membership_id: UUID

    @property
    def acting(self) -> dict[str, str]:
        """The headers of somebody who acts for the organization, where no path names it."""
        return self.headers | {"X-Organization-Id": str(self.organization_id)}


def working(host: Host, organization_id: UUID | None = None, user_id: UUID | None = None) -> Work:
    scope = Scope(actor=SYSTEM, organization_id=organization_id, user_id=user_id)
    return Work(host, "identity", scope, _ORIGIN)


async def person(
    host: Host,
    *,
    status: UserStatus = UserStatus.ACTIVE,
    session: SessionStatus = SessionStatus.ACTIVE,
    staff: bool = False,
    assurance: str = "aal1",
) -> Person:
    """A person with an account and a session in the states named."""
    user_id = new_id()
    work = working(host, user_id=user_id)
    await work.add(
        UserAccount(
            id=user_id,
            user_id=user_id,
            email=f"{user_id}@example.test",
            display_name="Lindiwe Mokoena",
            locale="en-ZA",
            time_zone="Africa/Johannesburg",
            status=status,
            staff=staff,
        )
    )
    signed_in = await sessions.start_session(work, user_id, methods=["password"])
    if session is not SessionStatus.ACTIVE or assurance != "aal1":
        held = await work.lock(Session, signed_in.session.id)
        held.status = session
        held.assurance = assurance
        await work.save(held)
    await work.finish()
    pair = signed_in.pair
    return Person(user_id, signed_in.session.id, pair.access_token, pair.refresh_token)


async def staff(host: Host, *roles: str) -> Person:
    """A member of staff who proved a second factor, with platform roles."""
    who = await person(host, staff=True, assurance="aal2")
    await give_platform_roles(host, who, *roles)
    return who


async def become_staff(host: Host, who: Person, *roles: str) -> None:
    """As if a person who belongs to an organization had become staff; no service does that."""
    work = working(host, user_id=who.user_id)
    account = await work.lock(UserAccount, who.user_id)
    account.staff = True
    await work.save(account)
    await work.finish()
    await give_platform_roles(host, who, *roles)


async def give_platform_roles(host: Host, who: Person, *roles: str) -> None:
    """Platform roles without the service that assigns them."""
    work = Work(host, "identity", Scope(actor=SYSTEM, platform=True), _ORIGIN)
    for role in roles:
        await work.add(
            PlatformRoleAssignment(
                user_id=who.user_id,
                role_code=role,
                status=AssignmentStatus.ACTIVE,
                valid_from=work.now,
                reason="made by a factory",
            )
        )
    await work.finish()


async def vacate_roles(host: Host) -> None:
    """As in a new installation: nobody with a second factor has a platform role."""
    work = Work(host, "identity", Scope(actor=SYSTEM), _ORIGIN, login="identity_system")
    await work.run(
        "UPDATE identity.platform_role_assignment SET status = 'revoked' WHERE user_id IN "
        "(SELECT user_id FROM identity.user_account WHERE factor_kinds <> '{}')"
    )
    await work.finish()


async def permission(work: Work, who: "Member", code: str, *, effect: str, **more: Any) -> None:
    """One permission given or denied to a member."""
    await work.add(
        PermissionAssignment(
            organization_id=who.organization_id,
            target_type="membership",
            target_id=who.membership_id,
            permission=code,
            effect=effect,
            status=AssignmentStatus.ACTIVE,
            valid_from=work.now,
            **more,
        )
    )


async def aged(host: Host, who: Person, age: timedelta) -> None:
    """Let the person's last proof be some time ago."""
    work = working(host, user_id=who.user_id)
    session = await work.lock(Session, who.session_id)
    session.proven_at -= age
    await work.save(session)
    await work.finish()


async def mirror(
    host: Host, organization_id: UUID, *, status: str = "active", sandbox: bool = False
) -> None:
    """What Identity knows of an organization, made if it is not there."""
    work = working(host, organization_id)
    if await work.find(TenantMirror) is None:
        await work.add(
            TenantMirror(organization_id=organization_id, status=status, sandbox=sandbox)
        )
    await work.finish()


async def member(
    host: Host,
    organization_id: UUID,
    *,
    role: str,
    tenant_status: str = "active",
    sandbox: bool = False,
    who: Person | None = None,
    valid_for: timedelta | None = None,
) -> Member:
    """A person with one role in an organization; the mirror is made if it is not there."""
    who = who or await person(host)
    await mirror(host, organization_id, status=tenant_status, sandbox=sandbox)
    work = working(host, organization_id)
    joined: Membership = await memberships.join(
        work,
        organization_id,
        user_id=who.user_id,
        role_codes=[],
        origin="direct",
        card=await member_cards.account_standing(work, who.user_id),
    )
    ends = None if valid_for is None else work.now + valid_for
    await role_assignments.give_role(work, joined, role_code=role, at=work.now, valid_to=ends)
    await work.finish()
    await _open(host, who, organization_id)
    return Member(
        who.user_id, who.session_id, who.token, who.refresh_token, organization_id, joined.id
    )


async def _open(host: Host, who: Person, organization_id: UUID) -> None:
    """The session acts for the first organization, where a request names none."""
    work = working(host, user_id=who.user_id)
    session = await work.lock(Session, who.session_id)
    if session.active_organization_id is None:
        session.active_organization_id = organization_id
        await work.save(session)
    await work.finish()
