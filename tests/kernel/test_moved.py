"""Moves with a reason, views with moves, answers by annotation, and staff as the operator."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Opening, Time
from tests.factories import identity as people
from tests.kernel import tickets_domain
from tests.kernel.serving import serving
from tests.kernel.tickets_domain import PATH, TicketView
from tests.planting import plant
from tests.probe import Thing, ThingLifecycle, ThingStatus, Ticket, TicketLifecycle
from tests.suites.calls import keys
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.work import Work
from thenga.kernel.declare import lifecycle
from thenga.kernel.http.doors import Door
from thenga.kernel.http.entrances import permitted
from thenga.kernel.http.moved import Moved
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings


@pytest.fixture(scope="module")
async def selling(settings: Settings, seeded: None) -> AsyncIterator[httpx2.AsyncClient]:
    apart = {"actor_per_minute": 1_000_000, "redis": settings.redis.replace("/0", "/2")}
    async with serving(settings.model_copy(update=apart), tickets_domain.DOMAIN) as client:
        yield client


@pytest.fixture
async def owner(host: Host, selling: httpx2.AsyncClient) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


async def made(
    selling: httpx2.AsyncClient, who: people.Person, name: str, path: str = PATH
) -> httpx2.Response:
    return await selling.post(path, json={"name": name}, headers=acting(who))


def acting(who: people.Person) -> dict[str, str]:
    return who.acting if isinstance(who, people.Member) else who.headers


async def names(selling: httpx2.AsyncClient, who: people.Person) -> list[str]:
    found = await selling.get(PATH, headers=acting(who))
    assert found.status_code == 200, found.text
    return [ticket["name"] for ticket in found.json()["items"]]


async def test_the_annotation_says_status_and_location(
    selling: httpx2.AsyncClient, owner: people.Member
) -> None:
    new = await made(selling, owner, "Crane")
    known = await made(selling, owner, "Crane")
    later = await made(selling, owner, "Large")
    begun = await made(selling, owner, "Hoist", f"{PATH}/begin")

    assert [a.status_code for a in (new, known, later, begun)] == [201, 200, 202, 202]
    assert known.json() == new.json()
    for answer in (new, later, begun):
        assert answer.headers["location"] == f"/v1{PATH}/{answer.json()['id']}"


def test_the_document_has_each_answer_of_the_annotation() -> None:
    routes = [route for route in tickets_domain.router.routes if isinstance(route, Door)]
    shown = {
        route.name: (route.status_code, route.response_model, _models(route)) for route in routes
    }

    assert shown["make_ticket"] == (201, TicketView, {200: TicketView, 202: TicketView})
    assert shown["begin_ticket"] == (202, TicketView, {})
    assert shown["use_ticket"] == (None, TicketView, {})


def _models(route: Door) -> dict[Any, Any]:
    return {
        s: r["model"] for s, r in route.responses.items() if isinstance(s, int) and "model" in r
    }


async def test_a_repeat_by_its_key_keeps_status_and_location(
    selling: httpx2.AsyncClient, owner: people.Member
) -> None:
    headers = owner.acting | {"Idempotency-Key": str(uuid4())}

    first, again = [
        await selling.post(PATH, json={"name": "Large"}, headers=headers) for _ in range(2)
    ]

    assert (first.status_code, again.status_code) == (202, 202)
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["location"] == first.headers["location"]


async def test_a_move_keeps_who_why_and_when(
    selling: httpx2.AsyncClient, owner: people.Member, host: Host, opening: Opening, clock: Time
) -> None:
    ticket = (await made(selling, owner, "Crane")).json()
    key = await keys.key(host, owner, owner.organization_id, [tickets_domain.Permission.MAKE])
    path = f"{PATH}/{ticket['id']}/use"
    bearer = {"Authorization": f"Bearer {key}"}

    used = await selling.post(path, json={"name": "It rains"}, headers=bearer)
    again = await selling.post(path, json={"name": "It still rains"}, headers=owner.acting)

    row = await opening.reader(owner.organization_id).get(Ticket, UUID(ticket["id"]))
    assert (used.json()["status"], used.json()["version"]) == ("used", 2), used.text
    assert (row.status_code, row.status_text) == ("needed", "It rains")
    assert row.status_changed_by == owner.user_id  # who answers for the key
    assert row.status_changed_at == row.updated_at
    assert again.json() == used.json()  # a repeat moves nothing


def test_a_move_without_a_code_keeps_its_verb(opening: Opening) -> None:
    work = opening.work(uuid4())
    ticket = Ticket(organization_id=work.organization_id, name="Crane")

    first, second = (TicketLifecycle.use.make(work, ticket) for _ in range(2))

    assert (first, second) == (True, False)
    assert (ticket.status, ticket.status_code) == (ThingStatus.USED, "use")
    assert ticket.status_changed_at == work.now


def test_a_row_that_keeps_no_reason_is_given_none(opening: Opening) -> None:
    work = opening.work(uuid4())
    thing = Thing(organization_id=work.organization_id, name="Crane")

    with pytest.raises(TypeError, match="Explained"):
        ThingLifecycle.use.make(work, thing, text="It rains")
    assert ThingLifecycle.use.make(work, thing)
    assert thing.status is ThingStatus.USED


def test_a_planted_move_that_explains_a_repeat_is_found(
    opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    def always(self: lifecycle.Move, work: Work, row: Any, *, code: str, text: str) -> bool:
        moved = self(row, at=work.now)
        lifecycle.explain(row, at=work.now, by=None, code=code, text=text)
        return moved

    work = opening.work(uuid4())
    ticket = Ticket(organization_id=work.organization_id, name="Crane")
    TicketLifecycle.use.make(work, ticket, code="needed", text="It rains")
    plant(monkeypatch, lifecycle.Move, "make", always)  # type: ignore[arg-type]  # a class will do

    TicketLifecycle.use.make(work, ticket, code="again", text="It still rains")

    assert ticket.status_text == "It still rains"


async def test_a_view_has_the_moves_of_the_readers_side(
    selling: httpx2.AsyncClient, owner: people.Member, host: Host
) -> None:
    staff = await people.staff(host, "platform_operator")
    mine = (await made(selling, owner, "Crane")).json()
    guarded = (await made(selling, owner, "Nameless")).json()
    theirs = (await made(selling, staff, f"Of the operator {uuid4()}")).json()

    assert mine["allowedMoves"] == [{"move": "use", "possible": True, "reason": None}]
    assert [move["possible"] for move in guarded["allowedMoves"]] == [False]
    assert [move["move"] for move in theirs["allowedMoves"]] == ["use", "drop"]


def test_a_view_shows_the_axis_of_its_lifecycle() -> None:
    with pytest.raises(TypeError, match="status"):

        class Bare(Moved, lifecycle=TicketLifecycle):
            name: str

    with pytest.raises(TypeError, match="no lifecycle"):

        class Idle(Moved):
            status: ThingStatus


async def test_moves_are_the_last_field_of_a_view(
    selling: httpx2.AsyncClient, owner: people.Member
) -> None:
    class LongView(TicketView):
        note: str

    ticket = (await made(selling, owner, "Crane")).json()

    for kind in (TicketView, LongView):
        schema = kind.model_json_schema(mode="serialization")
        assert [*schema["properties"]][-1] == schema["required"][-1] == "allowedMoves"
    assert [*ticket][-1] == "allowedMoves"


async def test_staff_enter_as_the_operator(
    selling: httpx2.AsyncClient, owner: people.Member, host: Host
) -> None:
    staff, name = await people.staff(host, "platform_operator"), f"Crane {uuid4()}"
    customer = {"X-Organization-Id": str(owner.organization_id)}
    await made(selling, owner, "Hoist")

    created = await made(selling, staff, name)
    named = await selling.get(PATH, headers=staff.headers | customer)

    assert created.status_code == 201, created.text
    assert name in await names(selling, staff)
    assert name in [ticket["name"] for ticket in named.json()["items"]]  # not as the customer
    assert await names(selling, owner) == ["Hoist"]
    row = (await tickets_named(host, name))[0]
    assert row["organization_id"] == OPERATOR


async def tickets_named(host: Host, name: str) -> list[Any]:
    async with host.engines.connection("probe", "probe_system") as connection:
        text = "SELECT organization_id FROM probe.ticket WHERE name = $1"
        return list(await connection.fetch(text, name))


async def test_staff_act_by_the_operators_clock(
    selling: httpx2.AsyncClient, host: Host, opening: Opening
) -> None:
    staff = await people.staff(host, "platform_operator")
    sandbox = await people.member(host, uuid4(), role="owner", sandbox=True)
    async with host.engines.connection("identity", "identity_system") as connection:
        await connection.execute(
            "UPDATE identity.tenant_mirror SET ahead = $2 WHERE organization_id = $1",
            sandbox.organization_id,
            timedelta(days=40),
        )
    header = {"X-Organization-Id": str(sandbox.organization_id)}
    body = {"name": f"Crane {uuid4()}"}

    created = await selling.post(PATH, json=body, headers=staff.headers | header)
    theirs = await made(selling, sandbox, "Crane")

    late = opening.work(uuid4()).now + timedelta(days=30)
    assert created.json()["createdAt"] < late.isoformat()
    assert theirs.json()["createdAt"] > late.isoformat()


async def test_a_planted_entrance_that_leaves_staff_outside_is_found(
    selling: httpx2.AsyncClient,
    owner: people.Member,
    host: Host,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    staff = await people.staff(host, "platform_operator")
    monkeypatch.setattr(permitted, "OPERATOR", owner.organization_id)
    await made(selling, owner, "Hoist")

    assert await names(selling, staff) == ["Hoist"]
