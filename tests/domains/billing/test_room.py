"""Room in a plan by the asking domain's own count: the last free place is taken once."""

import asyncio
from uuid import UUID

import pytest
from fastapi import FastAPI
from sqlalchemy import func, select

from tests.conftest import Opening
from tests.factories import held
from tests.probe import Effect, Thing
from thenga.domains.billing.public import Entitlements, check_room
from thenga.kernel.db.work import Work
from thenga.kernel.errors import EntitlementRequired, PlanLimitReached
from thenga.kernel.values.ids import new_id

PLACES, PARALLEL = 4, 20
FREE = 1  # what the free plan has of them


@pytest.fixture
def asking(app: FastAPI, seeded: None) -> Opening:
    """The probe asks: a domain that keeps what it counts itself, with Billing's port bound."""
    return Opening(app.state.shared.host)


async def shelf(asking: Opening, *, taken: int) -> Thing:
    """An organization with `PLACES` places in its plan, some taken; its row is what is locked."""
    organization_id = new_id()
    await held.granted(asking.host, organization_id, held.SEATS, PLACES - FREE)
    work = asking.work(organization_id)
    made = await work.add(Thing(organization_id=organization_id, name="shelf"))
    for _ in range(taken):
        await put(work, made)
    await work.finish()
    return made


async def put(work: Work, on: Thing) -> None:
    await work.add(Effect(organization_id=on.organization_id, thing_id=on.id, cause="put"))


async def used(work: Work, on: Thing) -> int:
    counted = select(func.count()).select_from(Effect).where(Effect.thing_id == on.id)
    return await work.value(counted) or 0


async def create(asking: Opening, on: Thing) -> str:
    """One create as a service writes it: lock, count, ask for room, write."""
    work = asking.work(on.organization_id)
    try:
        await work.lock(Thing, on.id)
        await check_room(work, held.SEATS, await used(work, on))
        await put(work, on)
        await work.finish()
    except PlanLimitReached as refused:
        return f"{refused.code} {refused.facts['used']} of {refused.facts['limit']}"
    finally:
        await work.close()
    return "created"


async def create_unlocked(asking: Opening, on: Thing, everybody: asyncio.Barrier) -> str:
    """As `create` without the lock, so that all count before anybody writes."""
    work = asking.work(on.organization_id)
    try:
        await check_room(work, held.SEATS, await used(work, on))
        await everybody.wait()
        await put(work, on)
        await work.finish()
    finally:
        await work.close()
    return "created"


async def create_by_gauge(asking: Opening, on: Thing) -> str:
    """As `create`, by what Billing counts: it hears of each place a moment later."""
    work = asking.work(on.organization_id)
    try:
        await work.lock(Thing, on.id)
        said = await work.port(Entitlements).signal(
            organization_id=on.organization_id, feature=held.SEATS
        )
        if said.entitled:
            await put(work, on)
        await work.finish()
    finally:
        await work.close()
    return "created" if said.entitled else "refused"


async def test_the_last_free_place_is_taken_once(asking: Opening) -> None:
    on = await shelf(asking, taken=PLACES - 1)

    answers = await asyncio.gather(*(create(asking, on) for _ in range(PARALLEL)))

    refused = [one for one in answers if one != "created"]
    print(f"parallel={PARALLEL} created={PARALLEL - len(refused)} refused={len(refused)}")
    assert len(refused) == PARALLEL - 1
    assert set(refused) == {f"plan-limit-reached {PLACES} of {PLACES}"}


async def test_a_planted_count_without_a_lock_is_found(asking: Opening) -> None:
    on, both = await shelf(asking, taken=PLACES - 1), asyncio.Barrier(2)

    answers = await asyncio.gather(*(create_unlocked(asking, on, both) for _ in range(2)))

    assert answers == ["created"] * 2


async def test_a_planted_count_of_billing_instead_of_ones_own_is_found(asking: Opening) -> None:
    on = await shelf(asking, taken=PLACES - 1)

    answers = await asyncio.gather(*(create_by_gauge(asking, on) for _ in range(PARALLEL)))

    print(f"planted: created={answers.count('created')} of {PARALLEL} at the last place")
    assert answers.count("created") > 1


@pytest.mark.parametrize(
    ("feature", "refusal"),
    [("learning.no_such_feature", PlanLimitReached), (held.SEATS, EntitlementRequired)],
    ids=["unknown feature", "no account"],
)
async def test_what_no_plan_gives_has_no_room(
    asking: Opening, feature: str, refusal: type[Exception]
) -> None:
    organization_id: UUID = new_id()
    if refusal is PlanLimitReached:
        organization_id = (await shelf(asking, taken=0)).organization_id
    work = asking.work(organization_id)

    with pytest.raises(refusal):
        await check_room(work, feature, 0)
    await work.close()
