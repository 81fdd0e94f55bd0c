"""What other domains ask about members: the same in this process and over the wire."""

from collections.abc import AsyncIterator
from typing import Any, TypeVar
from uuid import UUID, uuid4

import httpx2
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette

from tests.domains.identity.inviting import address, told
from tests.factories import identity as people
from tests.factories.identity import Member
from tests.planting import plant
from tests.through_json import through_json
from thenga.domains.identity import public
from thenga.domains.identity.services.memberships import _listing
from thenga.domains.identity.services.roles.rights import GrantAboveOwn
from thenga.kernel.declare.port import Port
from thenga.kernel.http.port_routes import routes
from thenga.kernel.ports.remote import remote
from thenga.kernel.process.host import Host

P = TypeVar("P", bound=Port)
SECRET = b"k" * 32
PORTS = (public.Members, public.Memberships)


class Asked:
    """The ports by one of the two bindings."""

    def __init__(self, host: Host, client: httpx2.AsyncClient | None) -> None:
        self._host, self._client = host, client

    def of(self, port: type[P]) -> P:
        if self._client is None:
            return through_json(port, self._host.bindings.of(port))
        now = self._host.now
        return remote(port, "http://ports.test", secret=SECRET, client=self._client, now=now)


@pytest.fixture(params=["in_process", "remote"])
async def asked(request: pytest.FixtureRequest, app: FastAPI) -> AsyncIterator[Asked]:
    host: Host = app.state.shared.host
    if request.param == "in_process":
        yield Asked(host, None)
        return
    served = Starlette(routes=routes(host.bindings, PORTS, SECRET, now=host.now))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=served)) as client:
        yield Asked(host, client)


@pytest.fixture
async def owner(host: Host, seeded: None) -> Member:
    return await people.member(host, uuid4(), role="owner")


async def test_who_holds_a_permission_or_a_role(asked: Asked, host: Host, owner: Member):
    viewer = await people.member(host, owner.organization_id, role="viewer")
    members = asked.of(public.Members)
    here = owner.organization_id

    readers = await members.holding(organization_id=here, permission="organization:equipment:read")
    writers = await members.holding(
        organization_id=here, permission="organization:equipment:create"
    )
    viewers = await members.holding(organization_id=here, role_code="viewer")
    first = await members.holding(
        organization_id=here, permission="organization:equipment:read", limit=1
    )
    nowhere = await members.holding(organization_id=uuid4(), role_code="viewer")

    assert readers == [owner.user_id, viewer.user_id]
    assert (writers, viewers) == ([owner.user_id], [viewer.user_id])
    assert (first, nowhere) == ([owner.user_id], [])


async def walked(members: public.Members, here: UUID) -> list[UUID]:
    """Everybody who reads the equipment, by as many answers as it takes."""
    found: list[UUID] = []
    for _ in range(3):
        found += await members.holding(
            organization_id=here,
            permission="organization:equipment:read",
            limit=500,
            after=found[-1] if found else None,
        )
    return found


async def test_more_people_than_one_answer_holds_are_walked_by_id(
    asked: Asked, host: Host, owner: Member, monkeypatch: pytest.MonkeyPatch
):
    # Who joins last does not come last.
    first = await people.person(host)
    others = [await people.member(host, owner.organization_id, role="viewer") for _ in range(3)]
    await people.member(host, owner.organization_id, role="viewer", who=first)
    plant(monkeypatch, _listing, "HOLDERS_MOST", 2)

    found = await walked(asked.of(public.Members), owner.organization_id)

    ids = [owner.user_id, first.user_id, *(one.user_id for one in others)]
    assert found == sorted(ids)


async def test_a_planted_walk_that_begins_anew_is_found(
    asked: Asked, host: Host, owner: Member, monkeypatch: pytest.MonkeyPatch
):
    known = _listing.holding

    async def from_the_start(*given: Any, after: Any, **named: Any) -> list[UUID]:
        return await known(*given, **named)

    plant(monkeypatch, _listing, "holding", from_the_start)

    found = await walked(asked.of(public.Members), owner.organization_id)

    assert found == [owner.user_id] * 3


async def test_belonging_is_brought_about_once_for_a_key(asked: Asked, host: Host, owner: Member):
    memberships = asked.of(public.Memberships)
    email, somebody = address(), await people.person(host)

    async def ensure(key: str, **whom: object) -> public.Belonging:
        whom = {"email": None, "user_id": None} | whom
        return await memberships.ensure(
            organization_id=owner.organization_id,
            role_codes=["viewer"],
            requested_by=owner.user_id,
            key=key,
            **whom,  # type: ignore[arg-type]  # the two are named above
        )

    invited = await ensure("a", email=email)
    again = await ensure("a", email=email)
    other_key = await ensure("b", email=email)
    asked_to_join = await ensure("c", user_id=somebody.user_id)
    repeated = await ensure("c", user_id=somebody.user_id)

    assert (invited.kind, invited.status) == ("invitation", "pending")
    assert invited == again == other_key
    assert (asked_to_join.kind, asked_to_join.status) == ("membership", "pending")
    assert repeated == asked_to_join
    changed = await told(host, owner.organization_id, "MembershipChanged")
    assert [one["status"] for one in changed].count("pending") == 1


async def test_nobody_gives_by_port_what_they_do_not_hold(asked: Asked, host: Host, owner: Member):
    viewer = await people.member(host, owner.organization_id, role="viewer")

    with pytest.raises(GrantAboveOwn):
        await asked.of(public.Memberships).ensure(
            organization_id=owner.organization_id,
            email=address(),
            user_id=None,
            role_codes=["owner"],
            requested_by=viewer.user_id,
            key="above",
        )


async def test_staff_are_found_by_platform_roles_in_force(asked: Asked, host: Host, owner: Member):
    triage = "administration:support_case:triage"
    made = [
        await people.staff(host, role)
        for role in ("platform_support", "platform_operator", "platform_auditor")
    ]
    support, operator, auditor = (one.user_id for one in made)
    among = [support, operator, auditor, owner.user_id]
    members = asked.of(public.Members)

    holders = await members.staff_holding(permission=triage, user_ids=among)
    first = await members.staff_holding(permission=triage, user_ids=among, limit=1)
    rest = await members.staff_holding(permission=triage, user_ids=among, after=first[-1])
    operators = await members.staff_holding(role_code="platform_operator", user_ids=among)
    staff = await members.staff_holding(user_ids=among)
    tenants = await members.staff_holding(permission="organization:equipment:read", user_ids=among)

    assert holders == sorted([support, operator])
    assert (first + rest, operators) == (holders, [operator])
    assert (staff, tenants) == (sorted([support, operator, auditor]), [])
