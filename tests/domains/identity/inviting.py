"""What tests of invitations and seats share: letters sent, answers, seats, a clock ahead."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import orjson

from tests.factories import identity as people
from tests.factories.identity import Member, Person
from thenga.domains.identity.services.invitations import _sending
from thenga.domains.identity.services.memberships import seats
from thenga.domains.identity.services.organizations.organization_lock import Tenant
from thenga.domains.identity.tables import EntitlementSignal, TenantMirror, UserAccount
from thenga.kernel.process.host import Host

PASSWORD = "wheel anvil mango thunder"


def address() -> str:
    return f"thabo.{uuid4().hex[:12]}@mokoena.co.za"


async def invite(
    api: httpx2.AsyncClient, by: Member, email: str, *roles: str, **more: Any
) -> httpx2.Response:
    body = {
        "organizationId": str(by.organization_id),
        "email": email,
        "roleCodes": list(roles or ("viewer",)),
    } | more
    return await api.post("/identity/invitations", json=body, headers=by.acting)


async def accept(
    api: httpx2.AsyncClient, key: str, token: str, who: Person | None = None, **more: str
) -> httpx2.Response:
    headers = {} if who is None else who.headers
    path = f"/identity/invitations/{key}/accept"
    return await api.post(path, json={"token": token} | more, headers=headers)


async def plan(host: Host, organization_id: UUID, limit: int) -> None:
    """What Billing would say of the seats."""
    work = people.working(host, organization_id)
    await work.add(
        EntitlementSignal(
            organization_id=organization_id,
            feature=seats.FEATURE,
            state="active",
            access="full",
            limit_count=limit,
            checked_at=work.now,
            source_sequence=10**9,  # newer than whatever Billing itself may say
        )
    )
    await work.finish()


async def seats_used(host: Host, organization_id: UUID) -> int:
    work = people.working(host, organization_id)
    try:
        mirror = await work.find(TenantMirror)
        assert mirror is not None
        tenant = Tenant(organization_id, mirror.status, work.now_in(mirror.ahead))
        return await seats.used(work, tenant)
    finally:
        await work.close()


async def told(host: Host, organization_id: UUID, name: str) -> list[dict[str, Any]]:
    """The data of all events of that name."""
    async with host.engines.connection("identity", "identity_system") as connection:
        rows = await connection.fetch(
            "SELECT envelope FROM identity.outbox WHERE organization_id = $1 ORDER BY position",
            organization_id,
        )
    envelopes = [orjson.loads(row["envelope"]) for row in rows]
    return [one["data"] for one in envelopes if one["type"] == f"identity.{name}.v1"]


async def with_address(host: Host, email: str) -> Person:
    """Somebody signed in whose account has that address."""
    who = await people.person(host)
    work = people.working(host, user_id=who.user_id)
    account = await work.lock(UserAccount, who.user_id)
    account.email = email
    await work.save(account)
    await work.finish()
    return who


async def moved(host: Host, organization_id: UUID, ahead: timedelta) -> None:
    """Let an organization's clock run ahead, as a sandbox's does."""
    work = people.working(host, organization_id)
    mirror = await work.lock_by(TenantMirror, organization_id=organization_id)
    mirror.ahead = ahead
    await work.save(mirror)
    await work.run(
        "INSERT INTO identity.clock_offset (organization_id, ahead, sequence) VALUES ($1, $2, 1) "
        "ON CONFLICT (organization_id) DO UPDATE SET ahead = excluded.ahead",
        organization_id,
        ahead,
    )
    await work.finish()


async def swept(host: Host, organization_id: UUID, invitation_id: UUID) -> None:
    """What the job does, by the organization's clock."""
    work = people.working(host, organization_id)
    await _sending.follow_time(work, invitation_id)
    await work.finish()
