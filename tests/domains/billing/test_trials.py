"""Trials: once, whole, without a card, and over by themselves."""

import asyncio
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.factories import billing
from tests.factories import identity as people
from tests.planting import plant
from tests.suites import clocks, flows
from thenga.domains.billing.services.trials import conversions, trials
from thenga.domains.billing.tables import Book, Trial, TrialStatus
from thenga.kernel.jobs.runner import JobSide
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    who = await people.member(host, uuid4(), role="owner")
    await billing.account(host, who.organization_id)
    return who


def within(who: people.Member) -> dict[str, str]:
    return who.headers | {"X-Organization-Id": str(who.organization_id)}


async def start(api: httpx2.AsyncClient, owner: people.Member, **body: Any) -> httpx2.Response:
    return await api.post("/billing/trials", json=body, headers=within(owner))


async def told(host: Host, organization_id: UUID) -> list[str]:
    """Without what is held, which has tests of its own."""
    async with host.engines.connection("billing", "billing_system") as connection:
        found = await connection.fetch(
            "SELECT envelope::jsonb ->> 'type' AS type FROM billing.outbox "
            "WHERE organization_id = $1 AND envelope::jsonb ->> 'type' NOT LIKE '%.Entitlement%' "
            "ORDER BY position",
            organization_id,
        )
    return [row["type"].split(".")[1] for row in found]


@pytest.mark.rule("BIL-16")
async def test_a_plan_is_tried_whole_and_without_a_card(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    made = await start(api, owner)
    read = await api.get(f"/billing/trials/{made.json()['id']}", headers=within(owner))
    listed = await api.get("/billing/trials", headers=within(owner))

    trial = made.json()
    assert (made.status_code, trial["planCode"], trial["status"]) == (201, "professional", "active")
    ends = datetime.fromisoformat(trial["endsAt"])
    assert (local_day(ends) - local_day(host.now())).days == 15
    assert (ends.hour, ends.minute) == (22, 0)
    assert (trial["daysLeft"], trial["ending"]) == (15, False)
    assert trial["conversion"][0]["gross"] == {"amount": "1499.00", "currency": "ZAR"}
    assert [one["move"] for one in trial["allowedMoves"]] == ["convert", "cancel"]
    assert read.json() == trial
    assert [one["id"] for one in listed.json()["items"]] == [trial["id"]]
    account = await api.get("/billing/accounts", headers=within(owner))
    (live,) = account.json()["items"][0]["subscriptions"]
    assert (live["id"], live["status"]) == (trial["subscriptionId"], "trialing")
    assert await told(host, owner.organization_id) == ["TrialStarted"]


@pytest.mark.rule("BIL-17")
async def test_two_starts_at_once_are_one_trial(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    answers = await asyncio.gather(*(start(api, owner) for _ in range(5)))

    statuses = sorted(one.status_code for one in answers)
    codes = {one.json()["code"] for one in answers if one.status_code == 409}
    events = await told(host, owner.organization_id)
    print(f"starts=5 created={statuses.count(201)} refused={statuses.count(409)} ", end="")
    print(f"code={','.join(codes)} TrialStarted={events.count('TrialStarted')}")
    assert statuses == [201, 409, 409, 409, 409]
    assert codes == {"billing-trial-used"}
    assert events == ["TrialStarted"]


async def test_database_refuses_a_planted_second_trial(
    api: httpx2.AsyncClient, owner: people.Member, monkeypatch: pytest.MonkeyPatch
):
    async def looks_at_nothing(*_: Any) -> None:
        return None

    await start(api, owner)
    plant(monkeypatch, trials, "_check_first", looks_at_nothing)
    plant(monkeypatch, trials, "_check_company", looks_at_nothing)

    again = await start(api, owner)

    assert again.status_code == 409
    assert again.json()["code"] != "billing-trial-used"


@pytest.mark.rule("BIL-17")
@pytest.mark.parametrize("status", [TrialStatus.EXPIRED, TrialStatus.CANCELLED])
async def test_there_is_one_trial_for_ever(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, status: TrialStatus
):
    await billing.trial(host, owner.organization_id, status=status)

    again = await start(api, owner)

    assert (again.status_code, again.json()["code"]) == (409, "billing-trial-used")


@pytest.mark.rule("BIL-17")
async def test_a_sandbox_may_try_again_once_its_trial_is_over(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    owner = await people.member(host, uuid4(), role="owner", sandbox=True)
    await billing.account(host, owner.organization_id, book=Book.SANDBOX)
    first = await start(api, owner)
    beside = await start(api, owner)
    await api.post(f"/billing/trials/{first.json()['id']}/cancel", headers=within(owner))

    second = await start(api, owner)

    assert (first.status_code, second.status_code) == (201, 201)
    assert (beside.status_code, beside.json()["code"]) == (409, "billing-trial-used")


@pytest.mark.parametrize("status", [s for s in TrialStatus if s is not TrialStatus.ACTIVE])
async def test_a_trial_is_cancelled_only_while_it_runs(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, status: TrialStatus
):
    trial = await billing.trial(host, owner.organization_id, status=status)

    answer = await api.post(f"/billing/trials/{trial.id}/cancel", headers=within(owner))

    there = status is TrialStatus.CANCELLED
    assert answer.status_code == (200 if there else 409)
    assert answer.json().get("from") == (None if there else status)
    assert await told(host, owner.organization_id) == []


@pytest.mark.parametrize("plan", ["explorer", "ai-boost", "nothing-such"])
async def test_what_cannot_be_tried_is_refused(
    api: httpx2.AsyncClient, owner: people.Member, plan: str
):
    answer = await start(api, owner, planCode=plan)

    assert (answer.status_code, answer.json()["code"]) == (422, "billing-plan-not-available")


async def test_cancelled_trial_ends_once_with_its_subscription(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    trial = (await start(api, owner, planCode="starter")).json()
    path = f"/billing/trials/{trial['id']}/cancel"

    done = await api.post(path, headers=within(owner))
    again = await api.post(path, headers=within(owner))

    assert (done.status_code, done.json()["status"]) == (200, "cancelled")
    assert (done.json()["daysLeft"], done.json()["allowedMoves"]) == (0, [])
    assert again.json() == done.json()
    account = await api.get("/billing/accounts", headers=within(owner))
    assert account.json()["items"][0]["subscriptions"] == []
    assert await told(host, owner.organization_id) == [
        *("TrialStarted", "TrialEnded", "SubscriptionChanged"),
    ]


@pytest.mark.rule("BIL-16")
async def test_a_trial_that_is_over_is_over_before_any_sweep(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    over = await billing.trial(
        host, owner.organization_id, ends_at=host.now() - timedelta(seconds=1)
    )

    read = await api.get(f"/billing/trials/{over.id}", headers=within(owner))
    cancel = await api.post(f"/billing/trials/{over.id}/cancel", headers=within(owner))

    shown = read.json()
    assert (shown["status"], shown["daysLeft"], shown["ending"]) == ("expired", 0, False)
    assert (shown["endedAt"], shown["allowedMoves"]) == (shown["endsAt"], [])
    assert (cancel.status_code, cancel.json()["from"]) == (409, "expired")


@pytest.mark.rule("BIL-16")
async def test_time_tells_the_ending_once_and_then_the_end_once(host: Host, owner: people.Member):
    began = billing.working(host, owner.organization_id)
    trial = await trials.start_trial(began, plan_code="professional")
    await began.finish()

    async def at(instant: datetime) -> list[str]:
        before = await told(host, owner.organization_id)
        for _ in range(2):  # a second run finds nothing to do
            work = billing.working(host, owner.organization_id, ahead=instant - host.now())
            await conversions.run_due_trial_steps(work, trial.id)  # as the job does
            await work.finish()
        return (await told(host, owner.organization_id))[len(before) :]

    second = timedelta(seconds=60)
    steps = [
        await at(trial.notice_at - second),
        await at(trial.notice_at + second),
        await at(trial.ends_at - second),
        await at(trial.ends_at + second),
        await at(trial.ends_at + timedelta(days=9)),
    ]

    print(f"TrialEnding={steps[1].count('TrialEnding')} TrialEnded={steps[3].count('TrialEnded')}")
    assert steps == [[], ["TrialEnding"], [], ["TrialEnded", "SubscriptionChanged"], []]
    read = billing.working(host, owner.organization_id)
    ended = await read.get(Trial, trial.id)
    await read.close()
    assert (ended.status, ended.next_check_at) == (TrialStatus.EXPIRED, None)


async def test_a_jump_over_both_steps_makes_both_in_order(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    """By the worker's own sweep, on the clock of a sandbox."""
    organization_id = uuid4()
    owner = await people.member(host, organization_id, role="owner", sandbox=True)
    await billing.account(host, organization_id, book="sandbox")
    trial = (await start(api, owner)).json()
    async with host.engines.connection("billing", "billing_system") as connection:
        await connection.execute(
            "INSERT INTO billing.clock_offset (organization_id, ahead, sequence) "
            "VALUES ($1, $2, 1)",
            organization_id,
            timedelta(days=40),
        )
    expected = ["TrialStarted", "TrialEnding", "TrialEnded", "SubscriptionChanged"]

    async def all_told() -> bool:
        return await told(host, organization_id) == expected

    async with clocks.running([JobSide(host, clocks.quick_of("billing", "find_to_move_trial"))]):
        await flows.until(all_told)
    read = await api.get(f"/billing/trials/{trial['id']}", headers=within(owner))
    assert read.json()["status"] == "expired"
    assert await told(host, organization_id) == expected
