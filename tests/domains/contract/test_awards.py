"""A contract begins with a stored award, once, and by no other door."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

from tests.domains.contract.sites import Site
from tests.domains.organization.offering import tell
from tests.factories import contract as factory
from tests.factories import held
from tests.factories.contract_money import working
from tests.settling import Settle
from tests.suites.processes import WorkerProcess, with_own_limits
from tests.suites.sizes import size
from tests.suites.streams import came
from thenga.domains.bid import public as bid
from thenga.domains.contract.reactions import reactions
from thenga.domains.opportunity import public as opportunity
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

KILLS = size(1, 4)
PATIENCE = 60


@pytest.mark.rule("CON-1")
@pytest.mark.rule("CON-2")
async def test_an_award_delivered_five_times_is_one_award(
    site: Site, nothing_waits: None, tmp_path: Path
) -> None:
    event = factory.awarded(site.organization_id)
    again = event.model_copy(update={"award_reference": "8/2/RNM0614-2"})
    event_id, second_id = new_id(), new_id()

    def stored(count: int) -> Callable[[], Awaitable[bool]]:
        async def look() -> bool:
            return len((await site.get("/contracts/awards"))["items"]) == count

        return look

    killed = 0
    for _ in range(5):
        await tell(site.host, event, site.organization_id, event_id=event_id)
        if killed < KILLS:
            worker = WorkerProcess(_environment(), tmp_path, name=f"worker-{killed}")
            try:
                await asyncio.to_thread(worker.start)
                await came(stored(1), PATIENCE)
            finally:
                await asyncio.to_thread(worker.kill)
            killed += 1
    async with Settle(site.host, ("contract",)) as settle:
        await settle(stored(1))
        await tell(site.host, again, site.organization_id, event_id=second_id)
        await settle(stored(2))
    none_yet = (await site.get("/contracts/workspaces"))["items"]
    await held.granted(site.host, site.organization_id, factory.FEATURE, 100)
    owner = await site.member()
    body = site.contract(second_id)
    answers = await asyncio.gather(
        *(site.post("/contracts/workspaces", body, who=owner) for _ in range(size(20, 50)))
    )

    awards = (await site.get("/contracts/awards"))["items"]
    of_event = {one["eventId"]: one for one in awards}
    codes = sorted(answer.status_code for answer in answers)
    contracts = (await site.get("/contracts/workspaces"))["items"]
    outcomes = {one["outcomeId"] for one in awards}
    print(
        f"awards={len(awards)} outcomes={len(outcomes)} workspaces={len(contracts)} "
        f"deliveries=5 kills={killed}"
    )
    assert none_yet == []
    assert codes == [201] + [409] * (len(answers) - 1)
    assert {one.json()["code"] for one in answers if one.status_code == 409} == {"duplicate"}
    first, revised = of_event[str(event_id)], of_event[str(second_id)]
    assert revised["revisionOf"] == first["id"]
    assert (len(outcomes), len(contracts)) == (1, 1)
    assert len(await site.told("ContractWorkspaceOpened")) == 1


def _environment() -> dict[str, str]:
    """What a process of this run is given."""
    given = {key: value for key, value in os.environ.items() if key.startswith("THENGA_")}
    return with_own_limits(given, 5)


@pytest.mark.rule("CON-2")
async def test_a_revision_never_opens_a_second_contract(site: Site) -> None:
    outcome = uuid4()
    first, second = [await site.award(outcome_id=outcome) for _ in range(2)]

    made = await site.made("/contracts/workspaces", site.contract(second))
    again = await site.post("/contracts/workspaces", site.contract(first))

    assert (again.status_code, again.json()["code"]) == (409, "duplicate")
    assert again.json()["existing"] == {"id": made["id"]}


@pytest.mark.rule("CON-2")
async def test_unknown_and_foreign_awards_look_alike(site: Site, host: Host) -> None:
    other = Site(site.api, host, site.clock)
    foreign = await other.award()
    notice = opportunity.TenderOpportunityAwarded.type
    await site.award()

    bodies = []
    for event_id in (uuid4(), foreign, new_id()):
        answer = await site.post("/contracts/workspaces", site.contract(event_id))
        assert answer.status_code == 422
        shown = answer.json()
        shown.pop("requestId")
        bodies.append(shown)

    assert bodies[0] == bodies[1] == bodies[2]
    assert bodies[0]["code"] == "contract-award-unknown"
    assert bodies[0]["retryAfterSeconds"] == 2
    assert notice not in {reaction.event_type for reaction in reactions.all}


@pytest.mark.rule("CON-1")
async def test_facts_of_an_award_cannot_be_changed(site: Site, host: Host) -> None:
    await site.award()
    statements = (
        "UPDATE contract.award SET awarded_value_minor = 1 WHERE organization_id = $1",
        "UPDATE contract.award SET event_id = gen_random_uuid() WHERE organization_id = $1",
        "DELETE FROM contract.award WHERE organization_id = $1",
    )

    refused = 0
    for statement in statements:
        work = working(host, site.organization_id)
        with pytest.raises(asyncpg.PostgresError):
            await work.run(statement, site.organization_id)
        await work.close()
        refused += 1

    print(f"changes_of_awards_refused={refused}")


@pytest.mark.rule("CON-3")
async def test_a_contract_won_outside_begins_in_bid(site: Site, host: Host) -> None:
    await held.granted(host, site.organization_id, factory.FEATURE, 100)
    event = factory.won_outside(site.organization_id)
    event_id = await factory.hear(host, site.organization_id, event)

    made = await site.made("/contracts/workspaces", site.contract(event_id))

    (award,) = (await site.get("/contracts/awards"))["items"]
    assert (award["kind"], award["status"]) == ("contract_creation", "opened")
    assert (award["buyerName"], award["workspaceId"]) == ("Sedibeng Water", made["id"])
    assert made["correlationId"] == award["correlationId"]


@pytest.mark.rule("CON-4")
async def test_another_value_than_awarded_needs_a_reason(site: Site) -> None:
    event_id = await site.award()
    body = site.contract(event_id, contractValue={"amount": "4000000.00", "currency": "ZAR"})

    refused = await site.post("/contracts/workspaces", body)
    taken = await site.post(
        "/contracts/workspaces", body | {"valueDifferenceReason": "Agreed discount"}
    )

    assert refused.status_code == 422
    assert refused.json()["field"] == "/valueDifferenceReason"
    assert taken.status_code == 201
    assert taken.json()["awardedValue"]["amount"] == "4830000.00"


@pytest.mark.rule("CON-4")
async def test_an_award_set_aside_challenges_the_contract(site: Site, host: Host) -> None:
    outcome = uuid4()
    event_id = await site.award(outcome_id=outcome)
    made = await site.made("/contracts/workspaces", site.contract(event_id))
    await site.sign(made)
    path = f"/contracts/workspaces/{made['id']}"
    await site.moved(path, "activate", reason="Both signed")
    event = bid.BidAwardSetAside(
        organization_id=site.organization_id,
        workspace_id=uuid4(),
        tender_opportunity_id=None,
        label="Road to the school",
        outcome_id=outcome,
        award_reference=None,
        reason_code="court_order",
    )

    await factory.hear(host, site.organization_id, event)

    shown = await site.get(path)
    (risk,) = (await site.get("/contracts/risks"))["items"]
    assert shown["status"] == "active"
    assert shown["challenge"]["note"] == "The award was set aside."
    assert (risk["band"], risk["raisedByRule"]) == ("critical", "award_set_aside")
    assert len(await site.told("ContractRiskRaised")) == 1


@pytest.mark.rule("CON-4")
async def test_no_contract_is_opened_from_a_withdrawn_award(site: Site, host: Host) -> None:
    outcome = uuid4()
    event_id = await site.award(outcome_id=outcome)
    event = bid.BidAwardSetAside(
        organization_id=site.organization_id,
        workspace_id=uuid4(),
        tender_opportunity_id=None,
        label="Road",
        outcome_id=outcome,
        award_reference=None,
        reason_code=None,
    )
    await factory.hear(host, site.organization_id, event)

    answer = await site.post("/contracts/workspaces", site.contract(event_id))

    assert (answer.status_code, answer.json()["code"]) == (409, "contract-award-withdrawn")
