"""Reservations: a hard limit holds exactly, whoever asks at the same time."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import billing, held
from tests.factories import identity as people
from tests.factories.held import RUNS
from tests.planting import plant
from tests.through_json import through_json
from thenga.domains.billing import public
from thenga.domains.billing.provider import LocalEntitlements, LocalUsage
from thenga.domains.billing.services.usage import reservations
from thenga.domains.billing.tables import Reservation, ReservationStatus
from thenga.kernel.errors import InvalidTransition, PlanLimitReached
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day


@pytest.fixture
async def organization_id(host: Host, seeded: None) -> UUID:
    made = uuid4()
    await held.subscribed(host, made)
    return made


@pytest.fixture
async def reporter(host: Host, organization_id: UUID) -> dict[str, str]:
    await people.mirror(host, organization_id)
    staff = await people.staff(host, "platform_operator")
    return staff.headers | {"X-Organization-Id": str(organization_id)}


async def taken(host: Host, organization_id: UUID, ahead: timedelta = timedelta(0)) -> int:
    work = billing.working(host, organization_id, ahead=ahead)
    said = await reservations.entitlements.signal(work, RUNS)
    await work.close()
    return said.used or 0


async def race(host: Host, organization_id: UUID, count: int) -> list[bool]:
    """So many reservations of one at the same time: who gets one."""
    port = LocalUsage(host)

    async def one(number: int) -> bool:
        try:
            await port.reserve(
                organization_id=organization_id, meter=RUNS, quantity=1, key=f"run-{number}"
            )
        except PlanLimitReached:
            return False
        return True

    return await asyncio.gather(*(one(number) for number in range(count)))


@pytest.mark.rule("BIL-22")
async def test_a_hundred_at_once_at_99_of_100_are_one_yes(host: Host, organization_id: UUID):
    await held.used(host, organization_id, [held.entry(quantity=99, at=host.now())])

    answers = await race(host, organization_id, 100)

    told = await held.told(host, organization_id, "UsageLimitReached")
    print(f"parallel=100 at=99/100 yes={sum(answers)} no={answers.count(False)}")
    assert sum(answers) == 1
    assert await taken(host, organization_id) == 100
    assert [one["thresholdPct"] for one in told] == [80, 100]


async def test_planted_check_before_reserve_race_is_found(
    host: Host, organization_id: UUID, monkeypatch: pytest.MonkeyPatch
):
    await held.used(host, organization_id, [held.entry(quantity=99, at=host.now())])
    real, everybody = reservations._reserve, asyncio.Barrier(5)

    async def looking(work: Any, of: Any, meter: str, quantity: int, limit: int, ttl: Any) -> Any:
        said = await reservations.entitlements.signal(work, meter, quantity)
        await everybody.wait()
        return await real(work, of, meter, quantity, None if said.entitled else limit, ttl)

    plant(monkeypatch, reservations, "_reserve", looking)

    assert sum(await race(host, organization_id, 5)) == 5


@pytest.mark.rule("BIL-22")
async def test_what_is_settled_is_booked_and_the_rest_is_free(
    api: httpx2.AsyncClient, host: Host, organization_id: UUID, reporter: dict[str, str]
):
    body = {"meter": RUNS, "quantity": 40, "key": "run:1"}
    made = await api.post("/billing/usage/reservations", json=body, headers=reporter)
    again = await api.post("/billing/usage/reservations", json=body, headers=reporter)
    other = await api.post(
        "/billing/usage/reservations", json=body | {"quantity": 41}, headers=reporter
    )
    held_now = await taken(host, organization_id)
    path = "/billing/usage/reservations/run:1/settle"
    above = await api.post(path, json={"quantity": 41}, headers=reporter)
    settled = await api.post(path, json={"quantity": 25}, headers=reporter)
    repeated = await api.post(path, json={"quantity": 25}, headers=reporter)
    refused = await api.post(
        "/billing/usage/reservations", json=body | {"key": "b", "quantity": 76}, headers=reporter
    )

    assert [made.status_code, again.status_code, other.status_code] == [201, 200, 409]
    assert "Location" not in made.headers
    assert again.json()["id"] == made.json()["id"]
    assert (held_now, above.status_code, above.json()["code"]) == (40, 422, "rule-violated")
    assert above.json()["rule"] == "settle-within-reserved"
    assert (settled.json()["status"], settled.json()["settledQuantity"]) == ("settled", 25)
    assert repeated.json() == settled.json()
    assert await taken(host, organization_id) == 25
    assert (refused.status_code, refused.json()["code"]) == (402, "plan-limit-reached")
    assert (refused.json()["limit"], refused.json()["used"]) == (100, 25)
    assert refused.json()["remedy"]["planCode"] == "professional"


@pytest.mark.rule("BIL-22")
async def test_unsettled_reservation_is_free_after_15_minutes(host: Host, organization_id: UUID):
    work = billing.working(host, organization_id)
    made, _ = await reservations.reserve_usage(work, meter=RUNS, quantity=100, key="long")
    await work.finish()
    later = timedelta(minutes=15, seconds=1)

    before = await taken(host, organization_id, timedelta(minutes=14))
    after = await taken(host, organization_id, later)
    second = billing.working(host, organization_id, ahead=later)
    await reservations.reserve_usage(second, meter=RUNS, quantity=100, key="next")
    await second.finish()
    sweep = billing.working(host, organization_id, ahead=later)
    await reservations.expire_reservation(sweep, made.id)
    await sweep.finish()

    assert (before, after) == (100, 0)
    assert await taken(host, organization_id, later) == 100
    read = billing.working(host, organization_id)
    released = await read.get(Reservation, made.id)
    await read.close()
    assert (released.status, released.next_check_at) == (ReservationStatus.RELEASED, None)


async def test_a_lapsed_one_is_not_settled_any_more(host: Host, organization_id: UUID):
    work = billing.working(host, organization_id)
    await reservations.reserve_usage(work, meter=RUNS, quantity=5, key="slow")
    await work.finish()

    late = billing.working(host, organization_id, ahead=timedelta(minutes=16))
    with pytest.raises(InvalidTransition, match="Record the usage") as refused:
        await reservations.settle_reservation(late, "slow", 5)
    await late.close()
    assert refused.value.facts["operation"] == "settle"


@pytest.mark.rule("BIL-19")
async def test_a_settled_run_and_its_event_are_one_use(host: Host, organization_id: UUID):
    port = through_json(public.Usage, LocalUsage(host))
    asked = {"organization_id": organization_id}
    await port.reserve(**asked, meter=RUNS, quantity=3, key="execution-1")
    await port.settle(**asked, key="execution-1", quantity=2)
    by_event = held.entry(key="execution-1", quantity=2, at=host.now())

    said = await port.record(**asked, records=[by_event])

    assert said.accepted == 0
    used = await LocalEntitlements(host).signal(**asked, feature=RUNS)
    assert used.used == 2


async def reserve(
    host: Host, organization_id: UUID, key: str, quantity: int = 1, ahead: timedelta = timedelta(0)
) -> Reservation:
    work = billing.working(host, organization_id, ahead=ahead)
    try:
        made, _ = await reservations.reserve_usage(work, meter=RUNS, quantity=quantity, key=key)
        await work.finish()
    finally:
        await work.close()
    return made


LAPSED = timedelta(minutes=15, seconds=1)


@pytest.mark.rule("BIL-22")
async def test_a_key_that_lapsed_is_refused_where_others_took_the_room(
    api: httpx2.AsyncClient,
    host: Host,
    organization_id: UUID,
    reporter: dict[str, str],
    clock: Time,
):
    await held.used(host, organization_id, [held.entry(quantity=99, at=host.now())])
    body = {"meter": RUNS, "quantity": 1, "ttlSeconds": 60}

    async def ask(key: str) -> int:
        answer = await api.post(
            "/billing/usage/reservations", json=body | {"key": key}, headers=reporter
        )
        return answer.status_code

    first, again = await ask("K"), await ask("K")
    await api.post("/billing/usage/reservations/K/settle", json={"quantity": 0}, headers=reporter)
    settled, second = await ask("K"), await ask("L")
    clock.set(host.now() + timedelta(seconds=50))
    held_still = await ask("L")
    clock.set(host.now() + timedelta(seconds=11))
    other = await ask("M")

    assert [first, again, settled, second, held_still, other] == [201, 200, 200, 201, 200, 201]
    assert await ask("L") == 402
    assert await taken(host, organization_id) == 100


@pytest.mark.rule("BIL-22")
async def test_a_key_that_lapsed_is_held_anew_where_there_is_room(
    host: Host, organization_id: UUID
):
    made = await reserve(host, organization_id, "K", 60)
    swept = await reserve(host, organization_id, "L", 40)
    sweep = billing.working(host, organization_id, ahead=LAPSED)
    await reservations.expire_reservation(sweep, swept.id)
    await sweep.finish()

    anew = [
        await reserve(host, organization_id, key, n, LAPSED) for key, n in (("K", 60), ("L", 40))
    ]

    assert [one.id for one in anew] == [made.id, swept.id]
    assert [one.status for one in anew] == [ReservationStatus.HELD] * 2
    assert all(one.expires_at > made.expires_at for one in anew)
    assert await taken(host, organization_id, LAPSED) == 100


@pytest.mark.rule("BIL-22")
async def test_one_key_asked_for_twice_at_once_is_one_reservation(
    host: Host, organization_id: UUID
):
    await held.used(host, organization_id, [held.entry(quantity=99, at=host.now())])

    made = await asyncio.gather(*(reserve(host, organization_id, "K") for _ in range(8)))

    assert len({one.id for one in made}) == 1
    assert await taken(host, organization_id) == 100


@pytest.mark.rule("BIL-22")
async def test_whoever_may_only_read_reserves_nothing(host: Host, seeded: None):
    organization_id, yesterday = uuid4(), local_day(host.now()) - timedelta(days=1)
    await held.subscribed(
        host, organization_id, status="paused", paused_on=yesterday, banked_days=3
    )

    with pytest.raises(PlanLimitReached) as refused:
        await reserve(host, organization_id, "K")

    assert refused.value.facts["remedy"]["kind"] == "resume"


@pytest.mark.rule("BIL-21")
async def test_what_lapsed_is_told_when_it_leaves_the_limit(host: Host, organization_id: UUID):
    await reserve(host, organization_id, "K", 100)

    await reserve(host, organization_id, "L", 10, LAPSED)

    told = await held.told(host, organization_id, "EntitlementChanged")
    states = [one["after"]["state"] for event in told[1:] for one in event["changes"]]
    assert states == ["exhausted", "granted"]


async def test_sweeps_and_new_reservations_do_not_wait_in_a_circle(
    host: Host, organization_id: UUID
):
    lapsed = [await reserve(host, organization_id, f"old-{n}", 10) for n in range(10)]

    async def sweep(row: Reservation) -> None:
        work = billing.working(host, organization_id, ahead=LAPSED)
        await reservations.expire_reservation(work, row.id)
        await work.finish()

    keys = [*(f"old-{n}" for n in range(5)), *(f"new-{n}" for n in range(5))]
    await asyncio.gather(
        *(reserve(host, organization_id, key, 10, LAPSED) for key in keys),
        *(sweep(row) for row in lapsed),
    )

    assert await taken(host, organization_id, LAPSED) == 100
