"""Feature flags: rolled out by staff, evaluated by port, with the plan that Billing told."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx2
import pytest
from fastapi import FastAPI

from tests.factories import identity
from tests.factories import support as cases
from tests.factories.identity import Person
from tests.settling import Settle
from thenga.domains.administration.public import Flags
from thenga.domains.administration.services import flags
from thenga.domains.administration.tables import FlagRollout, TenantCard
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.declare.flag import DeclaredFlag
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day

PATH = "/administration/feature-flags"
REASON = "the feature is ready for everybody"


@pytest.fixture
async def operator(host: Host, seeded: None) -> Person:
    return await identity.staff(host, "platform_operator")


async def create(api: httpx2.AsyncClient, who: Person, **fields: Any) -> dict[str, Any]:
    body = {"key": f"bid.flag{uuid4().hex[:8]}", "description": "Explains prices"} | fields
    answer = await api.post(PATH, json=body | {"reason": REASON}, headers=who.headers)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def roll_out(
    api: httpx2.AsyncClient, who: Person, flag: dict[str, Any], **fields: Any
) -> httpx2.Response:
    path = f"{PATH}/{flag['id']}/rollout"
    return await api.post(path, json={"reason": REASON} | fields, headers=who.headers)


def platform(host: Host) -> Work:
    origin = Origin(action="test", request_id="test", correlation_id="test")
    return Work(host, "administration", Scope(actor=SYSTEM, platform=True), origin)


async def value(app: FastAPI, flag: dict[str, Any], organization_id: UUID, **more: Any) -> Any:
    port = app.state.shared.host.bindings.of(Flags)
    found = await port.evaluate(key=flag["key"], organization_id=organization_id, **more)
    return found and found.value


async def test_a_flag_is_rolled_out_and_every_rollout_is_kept(
    api: httpx2.AsyncClient, host: Host, operator: Person
) -> None:
    flag = await create(api, operator)

    first = await roll_out(api, operator, flag, mode="percentage", percentage="10.5")
    second = await roll_out(api, operator, flag, mode="on", reshuffle=True)
    read = await api.get(f"{PATH}/{flag['id']}", headers=operator.headers)

    assert (flag["rollout"]["number"], flag["rollout"]["mode"]) == (0, "off")
    assert flag["expectedEndDate"] == str(local_day(host.now()) + timedelta(days=90))
    assert first.json()["rollout"]["percentage"] == "10.50"
    assert read.json() == second.json()
    kept = [(one["number"], one["mode"]) for one in read.json()["rollouts"]]
    assert kept == [(2, "on"), (1, "percentage")]


@pytest.mark.parametrize(
    "fields",
    [
        {"mode": "percentage"},
        {"mode": "on", "percentage": "5"},
        {"mode": "targeted"},
        {"mode": "off", "include": {"planCodes": ["starter"]}},
    ],
)
async def test_a_rollout_that_means_nothing_is_refused(
    api: httpx2.AsyncClient, operator: Person, fields: dict[str, Any]
) -> None:
    flag = await create(api, operator)

    refused = await roll_out(api, operator, flag, **fields)

    assert (refused.status_code, refused.json()["code"]) == (422, "administration-rollout-invalid")


async def test_rollouts_at_once_get_one_number_each(
    api: httpx2.AsyncClient, operator: Person
) -> None:
    flag = await create(api, operator)

    answers = await asyncio.gather(
        *(roll_out(api, operator, flag, mode="percentage", percentage=str(n)) for n in range(5))
    )

    numbers = [one.json()["rollout"]["number"] for one in answers]
    assert sorted(numbers) == [1, 2, 3, 4, 5]


async def test_a_stale_rollout_is_refused(api: httpx2.AsyncClient, operator: Person) -> None:
    flag = await create(api, operator)
    await roll_out(api, operator, flag, mode="on")

    body = {"mode": "off", "reason": REASON}
    stale = await api.post(
        f"{PATH}/{flag['id']}/rollout",
        json=body,
        headers=operator.headers | {"If-Match": f'"{flag["version"]}"'},
    )

    assert stale.status_code == 412


@pytest.mark.rule("ADM-13")
async def test_a_flag_is_evaluated_by_port(
    api: httpx2.AsyncClient, app: FastAPI, host: Host, operator: Person
) -> None:
    ours, theirs = uuid4(), uuid4()
    await cases.tenant_card(host, theirs, plan_code="professional")
    flag = await create(api, operator, valueType="string", variants={"on": "new", "off": "old"})

    off = await value(app, flag, ours)
    await roll_out(api, operator, flag, mode="targeted", include={"planCodes": ["professional"]})
    by_plan = [await value(app, flag, one) for one in (ours, theirs)]
    await roll_out(api, operator, flag, mode="on", exclude={"organizationIds": [str(ours)]})
    excluded = [await value(app, flag, one) for one in (ours, theirs)]
    unknown = await value(app, {"key": "bid.unknown"}, ours)

    assert off == "old"
    assert by_plan == ["old", "new"]
    assert excluded == ["old", "new"]
    assert unknown is None


@pytest.mark.rule("ADM-12")
async def test_the_vectors_hold_through_the_port(
    api: httpx2.AsyncClient, app: FastAPI, host: Host, operator: Person
) -> None:
    ids = [UUID(f"01939e4c-7a10-7000-8000-00000000000{n}") for n in range(1, 6)]
    flag = await create(api, operator, key=f"bid.p{uuid4().hex[:6]}")

    on = {}
    for percentage in ("10", "25", "70"):
        await roll_out(api, operator, flag, mode="percentage", percentage=percentage)
        on[percentage] = {one for one in ids if await value(app, flag, one)}
    drawn = {one: flags.bucket(flag["key"], "1", str(one)) for one in ids}

    turned_off = len(on["10"] - on["25"]) + len(on["25"] - on["70"])
    print(f"organizations={len(ids)} turned_off={turned_off}")
    assert turned_off == 0
    for percentage, found in on.items():
        assert found == {one for one in ids if drawn[one] < int(percentage) * 100}


async def test_a_rollout_is_evaluated_as_it_was_at_an_instant(
    api: httpx2.AsyncClient, app: FastAPI, host: Host, operator: Person
) -> None:
    flag = await create(api, operator)
    before = host.now()
    await roll_out(api, operator, flag, mode="on")

    found = [await value(app, flag, uuid4(), at=at) for at in (before, None)]

    assert found == [False, True]


async def test_a_key_exists_once_and_variants_have_its_type(
    api: httpx2.AsyncClient, operator: Person
) -> None:
    flag = await create(api, operator)
    body = {"key": flag["key"], "description": "Again", "reason": REASON}

    twice = await api.post(PATH, json=body, headers=operator.headers)
    wrong = await api.post(
        PATH,
        json=body | {"key": "bid.other", "variants": {"on": "yes", "off": False}},
        headers=operator.headers,
    )

    large = await api.post(
        PATH,
        json=body | {"key": "bid.large", "variants": {"on": 2**60, "off": 1}},
        headers=operator.headers,
    )

    assert (large.status_code, large.json()["code"]) == (422, "validation-failed")
    assert (twice.status_code, twice.json()["code"]) == (409, "duplicate")
    assert (wrong.status_code, wrong.json()["rule"]) == (422, "flag-variants")


async def test_declared_flags_appear_off_and_keep_their_rollout(
    api: httpx2.AsyncClient, host: Host, operator: Person
) -> None:
    key = f"planted.flag{uuid4().hex[:8]}"
    declares = Domain(
        name="planted", home=Path(), flags=(DeclaredFlag(key, "Switches a planted feature"),)
    )

    await flags.sync_declared(host, [declares])
    found = await api.get(f"{PATH}?key={key}", headers=operator.headers)
    (flag,) = found.json()["items"]
    await roll_out(api, operator, flag, mode="on")
    await flags.sync_declared(host, [declares])
    again = await api.get(f"{PATH}?domain=planted&key={key}", headers=operator.headers)

    assert (flag["declared"], flag["rollout"]["mode"]) == (True, "off")
    assert [one["rollout"]["mode"] for one in again.json()["items"]] == ["on"]


def test_a_flag_of_another_domain_stops_the_start() -> None:
    with pytest.raises(TypeError):
        Domain(name="bid", home=Path(), flags=(DeclaredFlag("billing.flag", "Not ours"),))
    with pytest.raises(TypeError):
        DeclaredFlag("no-dots", "A wrong key")


async def test_rollouts_never_change_in_the_database(
    api: httpx2.AsyncClient, host: Host, operator: Person
) -> None:
    await roll_out(api, operator, await create(api, operator), mode="on")
    work = platform(host)

    with pytest.raises(asyncpg.PostgresError):
        await work.run(f"UPDATE {FlagRollout.__table__.fullname} SET mode = 'off'")
    await work.close()


async def test_the_newest_plan_of_an_organization_is_kept(host: Host, seeded: None) -> None:
    organization_id = uuid4()
    now = host.now()
    origin = Origin(action="test", request_id="test", correlation_id="test")
    scope = Scope(actor=SYSTEM, organization_id=organization_id)
    for plan_code, at in (("starter", now), ("older", now.replace(year=2020)), ("growth", now)):
        work = Work(host, "administration", scope, origin)
        await flags.keep_plan(work, plan_code=plan_code, at=at)
        await work.finish()
    work = Work(host, "administration", scope, origin)
    await flags.keep_mode(work, sandbox=True)
    await work.finish()

    work = Work(host, "administration", scope, origin)
    card = await work.get(TenantCard, organization_id)
    await work.close()

    assert (card.plan_code, card.sandbox) == ("growth", True)


class _Still:
    def set(self, at: Any) -> None: ...


@pytest.mark.settles("organization", "identity", "administration")
async def test_a_new_organization_gets_a_card(
    api: httpx2.AsyncClient, host: Host, settle: Settle
) -> None:
    who = await identity.person(host)
    body = {
        "organizationType": "enterprise",
        "mode": "sandbox",
        "profile": {"legalName": "Mokoena Plant Hire", "legalForm": "private_company"},
    }
    made = await api.post("/organizations", json=body, headers=who.headers)
    assert made.status_code == 201, made.text

    async def card() -> TenantCard | None:
        organization_id = UUID(made.json()["id"])
        origin = Origin(action="test", request_id="test", correlation_id="test")
        work = Work(host, "administration", Scope(SYSTEM, organization_id), origin)
        try:
            return await work.find(TenantCard, id=organization_id)
        finally:
            await work.close()

    assert (await settle(card)).sandbox is True


async def test_customers_and_other_staff_cannot_roll_out(
    api: httpx2.AsyncClient, host: Host, operator: Person
) -> None:
    flag = await create(api, operator)
    customer = await identity.member(host, uuid4(), role="owner")
    support = await cases.agent(host)

    refused = [
        await roll_out(api, customer, flag, mode="on"),
        await roll_out(api, support, flag, mode="on"),
        await api.get(PATH, headers=customer.acting),
    ]

    assert [one.status_code for one in refused] == [
        403,
        404,
        403,
    ]  # staff without the right belong nowhere
