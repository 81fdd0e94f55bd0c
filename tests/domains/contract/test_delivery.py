"""Plans, milestones and deliverables over HTTP."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.conftest import Time
from tests.domains.contract.sites import Site, milestone, zar
from tests.factories.contract_money import working
from thenga.domains.contract.tables import PlanRevision, PlanStatus
from thenga.domains.contract.values.plans import PlannedMilestone, rows_of_plan
from thenga.kernel.process.host import Host

D1 = {"key": "D1", "title": "Drawings as built"}
D2 = {"key": "D2", "title": "Test report", "weight": "3"}


def three(*percents: str) -> list[dict[str, Any]]:
    return [
        milestone(f"M{place}", percent, f"2027-0{place}-15")
        for place, percent in enumerate(percents, start=1)
    ]


@pytest.mark.rule("CON-7")
@pytest.mark.rule("CON-8")
async def test_a_baseline_sums_to_exactly_100(site: Site) -> None:
    workspace = await site.active(
        contractValue=zar("1000.01"), valueDifferenceReason="Smallest part"
    )

    short = await site.plan(workspace, *three("33.3333", "33.3333", "33.3333"))
    cyclic = await site.plan(
        workspace,
        milestone("M1", "50", "2027-01-15", dependsOn=[{"key": "M2"}]),
        milestone("M2", "50", "2027-02-15", dependsOn=[{"key": "M1"}]),
    )
    found = await site.planned(workspace, *three("33.3333", "33.3333", "33.3334"))

    amounts = [found[key]["amount"]["amount"] for key in ("M1", "M2", "M3")]
    print(f"sum={short.json()['sum']} cycle={cyclic.json()['cycle']} amounts={amounts}")
    assert (short.status_code, short.json()["code"]) == (422, "contract-plan-percent")
    assert short.json()["sum"] == "99.9999"
    assert (cyclic.status_code, cyclic.json()["code"]) == (422, "contract-plan-cyclic")
    assert cyclic.json()["cycle"] == ["M1", "M2", "M1"]
    assert amounts == ["333.34", "333.33", "333.34"]
    (told,) = await site.told("DeliveryPlanBaselined")
    assert (told["planNumber"], told["finishOn"]) == (1, "2027-03-15")


@pytest.mark.rule("CON-7")
async def test_the_database_refuses_another_sum(site: Site, host: Host) -> None:
    workspace = await site.active()
    plan = [
        PlannedMilestone(f"M{place}", "Part", Decimal("33.3333"), 10, date(2027, 1, place))
        for place in (1, 2, 3)
    ]
    work = working(host, site.organization_id)
    await work.add(
        PlanRevision(
            organization_id=site.organization_id,
            workspace_id=UUID(workspace["id"]),
            number=1,
            status=PlanStatus.BASELINED,
            milestones=rows_of_plan(plan),
            content_hash="",
            finish_on=date(2027, 1, 3),
            warnings=[],
        )
    )

    with pytest.raises(asyncpg.PostgresError, match=r"99\.9999"):
        await work.finish()
    await work.close()


@pytest.mark.rule("CON-8")
async def test_a_draft_is_replaced_and_a_baseline_superseded(site: Site) -> None:
    workspace = await site.active()
    path = f"/contracts/workspaces/{workspace['id']}/delivery-plan"
    draft = await site.made(path, {"milestones": three("10", "10")})

    unread = await site.post(path, {"milestones": three("20", "20")})
    owner = await site.member()
    replaced = await site.api.post(
        path,
        json={"milestones": three("40", "60"), "baseline": True},
        headers=owner.acting | {"If-Match": f'"{draft["version"]}"'},
    )
    later = [
        milestone("M1", "40", "2027-01-15", durationDays=20),
        milestone("M2", "60", "2027-02-15"),
    ]
    silent = await site.plan(workspace, *later)
    second = await site.plan(workspace, *later, reason="More days")
    moved = await site.plan(
        workspace, *three("50", "50")[:1], milestone("M2", "50", "2027-04-01"), reason="Late"
    )
    compared = await site.get(f"{path}?number=2&compareTo=1")

    assert unread.status_code == 428
    assert replaced.status_code == 200, replaced.text
    assert (replaced.json()["number"], replaced.json()["status"]) == (1, "baselined")
    assert silent.status_code == 422
    assert second.status_code == 201, second.text
    assert (await site.get(f"{path}?number=1"))["status"] == "superseded"
    assert (moved.status_code, moved.json()["code"]) == (409, "contract-needs-variation")
    assert moved.json()["fields"] == ["M1.valuePercent", "M2.dueOn", "M2.valuePercent"]
    assert [one["days"] for one in compared["slips"]] == [0, 0]


@pytest.mark.rule("CON-8")
async def test_a_baseline_needs_an_active_contract(site: Site) -> None:
    workspace = await site.opened()
    path = f"/contracts/workspaces/{workspace['id']}/delivery-plan"

    answer = await site.plan(workspace, *three("50", "50"))
    draft = await site.post(path, {"milestones": three("50", "50")})

    assert (answer.status_code, answer.json()["code"]) == (409, "contract-not-active")
    assert draft.status_code == 201


@pytest.mark.rule("CON-11")
@pytest.mark.rule("CON-44")
async def test_a_milestone_is_met_with_every_required_deliverable(site: Site) -> None:
    workspace = await site.active()
    plan = milestone("M1", "100", "2026-11-20", deliverables=[D1])
    found = (await site.planned(workspace, plan))["M1"]
    path = f"/contracts/milestones/{found['id']}"
    part = f"/contracts/deliverables/{found['deliverables'][0]['id']}"
    await site.moved(path, "start")
    early = await site.patch(path, {"move": {"verb": "submit"}})
    await site.patch(part, {"note": "Handed over", "move": {"verb": "deliver"}})
    await site.moved(path, "submit")
    await site.patch(part, {"move": {"verb": "reject", "reason": "Scale is missing"}})
    site.at("2026-11-30")

    rejected = await site.patch(path, {"move": {"verb": "accept", "confirmation": site.proof()}})
    await site.patch(part, {"move": {"verb": "start"}})
    await site.patch(part, {"note": "With scale", "move": {"verb": "deliver"}})
    accepted = await site.patch(part, {"move": {"verb": "accept", "confirmation": site.proof()}})
    unproven = await site.patch(path, {"move": {"verb": "accept"}})
    met = await site.moved(path, "accept", confirmation=site.proof("2026-11-25"))
    again = await site.moved(path, "accept", confirmation=site.proof("2026-11-25"))

    (reached,) = await site.told("MilestoneReached")
    print(f"daysLate={reached['daysLate']} outcome={reached['outcome']}")
    assert (early.status_code, early.json()["deliverables"]) == (409, ["D1"])
    assert (rejected.status_code, rejected.json()["code"]) == (
        409,
        "contract-milestone-incomplete",
    )
    assert accepted.json()["rejections"] == 1
    assert (unproven.status_code, unproven.json()["code"]) == (
        422,
        "contract-confirmation-missing",
    )
    assert (met["status"], met["metOn"], met["daysLate"]) == ("met", "2026-11-25", 5)
    assert (reached["daysLate"], reached["strength"]) == (5, "document")
    assert again["version"] == met["version"]
    assert len(await site.told("DeliverableAccepted")) == 1


@pytest.mark.rule("CON-11")
async def test_a_part_that_is_accepted_frees_its_weight(site: Site) -> None:
    workspace = await site.active()
    plan = milestone("M1", "100", "2027-01-15", deliverables=[D1, D2])
    found = (await site.planned(workspace, plan))["M1"]
    path = f"/contracts/milestones/{found['id']}"
    for part in found["deliverables"]:
        await site.patch(
            f"/contracts/deliverables/{part['id']}",
            {"note": "Handed over", "move": {"verb": "deliver"}},
        )
    await site.moved(path, "start")
    await site.moved(path, "submit")
    second = next(one for one in found["deliverables"] if one["key"] == "D2")
    await site.patch(
        f"/contracts/deliverables/{second['id']}",
        {"move": {"verb": "accept", "confirmation": site.proof()}},
    )

    partly = await site.moved(path, "accept_partly", confirmation=site.proof())

    assert (partly["status"], partly["missing"]) == ("partially_met", ["D1"])
    assert float(partly["acceptedPercent"]) == 75.0
    (told,) = await site.told("MilestoneReached")
    assert told["outcome"] == "partially_met"


async def test_a_milestone_with_money_is_not_waived(site: Site) -> None:
    workspace = await site.active()
    found = (await site.planned(workspace, milestone("M1", "100", "2027-01-15")))["M1"]

    answer = await site.patch(
        f"/contracts/milestones/{found['id']}", {"move": {"verb": "waive", "reason": "Not needed"}}
    )

    assert (answer.status_code, answer.json()["code"]) == (409, "contract-needs-variation")


@pytest.mark.rule("CON-12")
async def test_lateness_is_shown_before_a_sweep_and_told_once(site: Site, clock: Time) -> None:
    workspace = await site.active()
    found = (await site.planned(workspace, milestone("M1", "100", "2026-12-11")))["M1"]
    path = f"/contracts/milestones/{found['id']}"
    site.at("2026-12-12")
    unswept = await site.get(path)
    filtered = await site.get("/contracts/milestones?overdue=true")
    site.at("2026-11-17")

    await site.timeline.until(datetime(2027, 12, 21, tzinfo=UTC))
    await site.timeline.settle()

    told = await site.told("MilestoneAtRisk")
    shown = [(one["reasons"], one["overdue"]) for one in told]
    print(f"milestone_at_risk={shown}")
    assert (unswept["overdue"], unswept["daysLate"]) == (True, 1)
    assert [one["id"] for one in filtered["items"]] == [found["id"]]
    assert shown == [(["behind"], False), (["behind"], True)]


@pytest.mark.rule("CON-12")
async def test_a_critical_risk_puts_its_milestone_at_risk(site: Site) -> None:
    workspace = await site.active()
    found = (await site.planned(workspace, milestone("M1", "100", "2027-09-01")))["M1"]
    path = f"/contracts/workspaces/{workspace['id']}/risks"
    body = {"title": "Strike", "likelihood": 5, "impact": 3, "milestoneIds": [found["id"]]}

    await site.made(path, body)
    await site.timeline.settle()

    shown = await site.get(f"/contracts/milestones/{found['id']}")
    listed = await site.get("/contracts/milestones?atRisk=true")
    assert shown["atRisk"]["reasons"] == ["risk"]
    assert [one["id"] for one in listed["items"]] == [found["id"]]
    assert [one["reasons"] for one in await site.told("MilestoneAtRisk")] == [["risk"]]
