"""Staff give no platform role above their own, and bring none of theirs into an organization."""

from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.domains.identity.deciding.held import held
from tests.domains.identity.test_roles import BECAUSE
from tests.factories import identity as people
from tests.factories.identity import Member, Person
from tests.planting import plant
from thenga.domains.identity.permissions import PLATFORM_ROLES
from thenga.domains.identity.services.roles import platform_roles
from thenga.kernel.process.host import Host

POLICY_ROLES = {"platform_policy_author", "platform_policy_approver"}
MANAGERS = {
    "platform_operator": {"platform_operator", "platform_support"},
    "platform_security": {"platform_security"},
}


async def given(
    api: httpx2.AsyncClient, by: Person, to: Person, role: str, **headers: str
) -> httpx2.Response:
    body = {"userId": str(to.user_id), "roleCode": role, **BECAUSE}
    return await api.post("/identity/role-assignments", json=body, headers=by.headers | headers)


async def escalated(api: httpx2.AsyncClient, host: Host) -> set[tuple[str, str]]:
    """Every pair of a staff role and a role that its holder could give to a colleague."""
    found = set()
    for own in PLATFORM_ROLES:
        giver = await people.staff(host, own)
        for role in PLATFORM_ROLES:
            answer = await given(api, giver, await people.staff(host), role)
            assert answer.status_code in (201, 403, 404), answer.text
            if answer.status_code == 201:
                found.add((own, role))
    return found


@pytest.mark.rule("SEC-58")
async def test_staff_give_only_roles_within_their_own(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    found = await escalated(api, host)

    within = {(own, role) for own, roles in MANAGERS.items() for role in roles}
    print(f"staff_roles={len(PLATFORM_ROLES)} given={len(found)} beyond={len(found - within)}")
    assert found == within


async def test_a_planted_giving_of_any_platform_role_is_found(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    async def unchecked(*_: Any) -> None: ...

    plant(monkeypatch, platform_roles, "_must_hold", unchecked)

    assert ("platform_security", "platform_operator") in await escalated(api, host)


@pytest.mark.rule("SEC-58")
async def test_staff_give_no_rights_inside_an_organization(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    owner = await people.member(host, uuid4(), role="owner")
    everything = await people.staff(host, *sorted(PLATFORM_ROLES.keys() - POLICY_ROLES))
    there = {"X-Organization-Id": str(owner.organization_id)}
    inside = Member(
        everything.user_id,
        everything.session_id,
        everything.token,
        everything.refresh_token,
        owner.organization_id,
        owner.membership_id,
    )

    tenant_role = await given(api, everything, everything, "owner", **there)
    on_member = await api.post(
        "/identity/role-assignments",
        json={"membershipId": str(owner.membership_id), "roleCode": "viewer", **BECAUSE},
        headers=everything.headers | there,
    )
    joined = await api.post(
        "/identity/memberships",
        json={
            "organizationId": str(owner.organization_id),
            "userId": str(everything.user_id),
            "roleCodes": ["viewer"],
            **BECAUSE,
        },
        headers=owner.acting,
    )

    assert (tenant_role.status_code, on_member.status_code) == (422, 422)
    assert joined.status_code == 422
    assert await held(host, inside) == frozenset()
