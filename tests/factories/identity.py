"""People, sessions and memberships, made by Identity's own services."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from thenga.domains.identity.services import memberships, sessions
from thenga.domains.identity.tables import (
    Membership,
    Session,
    SessionStatus,
    TenantMirror,
    UserAccount,
    UserStatus,
)
from thenga.kernel.actors import SYSTEM, Scope
from thenga.kernel.db.reader import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.host import Host
from thenga.kernel.ids import new_id


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


def working(host: Host, organization_id: UUID | None = None, user_id: UUID | None = None) -> Work:
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    scope = Scope(actor=SYSTEM, organization_id=organization_id, user_id=user_id)
    return Work(host, "identity", scope, origin)


async def person(
    host: Host,
    *,
    status: UserStatus = UserStatus.ACTIVE,
    session: SessionStatus = SessionStatus.ACTIVE,
    staff: bool = False,
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
    signed_in = await sessions.start(work, user_id, methods=["password"])
    if session is not SessionStatus.ACTIVE:
        held = await work.lock(Session, signed_in.session.id)
        held.status = session
        await work.save(held)
    await work.finish()
    pair = signed_in.pair
    return Person(user_id, signed_in.session.id, pair.access_token, pair.refresh_token)


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
    work = working(host, organization_id)
    if await work.find(TenantMirror) is None:
        await work.add(
            TenantMirror(organization_id=organization_id, status=tenant_status, sandbox=sandbox)
        )
    joined: Membership = await memberships.join(
        work, organization_id, user_id=who.user_id, role_codes=[], origin="direct"
    )
    await memberships.assign(work, joined, role_code=role, valid_for=valid_for)
    await work.finish()
    return Member(
        who.user_id, who.session_id, who.token, who.refresh_token, organization_id, joined.id
    )
