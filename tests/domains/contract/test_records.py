"""Packages, risks and performance over HTTP."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.conftest import Time
from tests.domains.contract.conftest import Play
from tests.domains.contract.sites import Site, milestone, zar
from tests.factories import contract as factory
from tests.factories.contract_money import working
from thenga.domains.contract.provider import LocalRelationships
from thenga.domains.contract.tables import Workspace
from thenga.domains.supplier.public import Trust, TrustView
from thenga.kernel.process.host import Host


def package(value: str = "400000.00", **more: Any) -> dict[str, Any]:
    part = {"key": "P1", "title": "Culverts", "dueOn": "2027-03-01", "percent": "100"}
    given = {
        "kind": "package",
        "supplierId": str(uuid4()),
        "title": "Culverts",
        "value": zar(value),
        "packageMilestones": [part],
    }
    return given | more


@pytest.mark.rule("CON-35")
async def test_trust_is_unknown_while_nobody_answers(site: Site) -> None:
    workspace = await site.active()
    path = f"/contracts/workspaces/{workspace['id']}/supplier-coordination"

    made = await site.made(path, package())

    assert made["trust"] == {"state": "unknown", "effects": [], "asOf": None}
    assert made["sharePercent"] == "8.28"
    (told,) = await site.told("SupplierPackageChanged")
    assert told["status"] == "open"


@pytest.mark.rule("CON-35")
async def test_a_blocked_supplier_needs_a_reason(site: Site, host: Host, play: Play) -> None:
    workspace = await site.active()
    path = f"/contracts/workspaces/{workspace['id']}/supplier-coordination"

    def blocked(supplier_ids: list[UUID]) -> list[TrustView]:
        return [
            TrustView(
                supplier_id=one,
                state="blocked",
                score=None,
                evidence_band=None,
                effects=["block_award"],
                override_until=None,
                appeal_open=False,
                as_of=host.now(),
            )
            for one in supplier_ids
        ]

    play(Trust, blocked)

    refused = await site.post(path, package())
    taken = await site.post(path, package(overrideReason="Only one in the province"))

    assert (refused.status_code, refused.json()["code"]) == (422, "contract-supplier-blocked")
    assert taken.status_code == 201
    assert taken.json()["trust"]["state"] == "blocked"


@pytest.mark.rule("CON-35")
async def test_packages_stay_within_the_subcontract_limit(site: Site) -> None:
    workspace = await site.active(terms={"subcontractLimitPercent": "30"})
    path = f"/contracts/workspaces/{workspace['id']}/supplier-coordination"

    first = await site.post(path, package("1000000.00"))
    over = await site.post(path, package("449000.01"))
    exact = await site.post(path, package("449000.00"))

    assert first.status_code == 201
    assert (over.status_code, over.json()["code"]) == (422, "contract-subcontract-limit")
    assert (over.json()["limit"], over.json()["share"]) == ("30", "30.00")
    assert exact.status_code == 201


@pytest.mark.rule("CON-35")
async def test_a_smaller_contract_does_not_hold_its_packages(site: Site, host: Host) -> None:
    workspace = await site.active(terms={"subcontractLimitPercent": "30"})
    made = await site.made(
        f"/contracts/workspaces/{workspace['id']}/supplier-coordination", package("1000000.00")
    )
    path = f"/contracts/supplier-coordination/{made['id']}"
    work = working(host, UUID(workspace["organizationId"]))
    contract = await work.lock(Workspace, UUID(workspace["id"]))
    contract.current_value_minor = 100_000_000  # as a variation leaves it
    await work.save(contract)
    await work.finish()

    raised = await site.patch(path, {"value": zar("1000000.01")})
    lowered = await site.patch(path, {"value": zar("900000.00")})
    cancelled = await site.patch(path, {"move": {"verb": "cancel", "reason": "Too dear"}})

    assert (raised.status_code, raised.json()["code"]) == (422, "contract-subcontract-limit")
    assert lowered.json()["value"] == zar("900000.00"), lowered.text
    assert cancelled.json()["status"] == "cancelled", cancelled.text


@pytest.mark.rule("CON-35")
async def test_the_value_of_an_open_package_is_corrected(site: Site) -> None:
    workspace = await site.active(terms={"subcontractLimitPercent": "30"})
    path = f"/contracts/workspaces/{workspace['id']}/supplier-coordination"
    first = await site.made(path, package("1000000.00"))
    second = f"/contracts/supplier-coordination/{(await site.made(path, package('1.00')))['id']}"

    over = await site.patch(second, {"value": zar("449000.01")})
    euros = await site.patch(second, {"value": {"amount": "1.00", "currency": "EUR"}})
    none = await site.patch(second, {"value": None})
    exact = await site.patch(second, {"value": zar("449000.00")})
    lower = f"/contracts/supplier-coordination/{first['id']}"
    lowered = await site.patch(lower, {"value": zar("500000.00")})
    raised = await site.patch(second, {"value": zar("949000.00")})

    assert (over.status_code, over.json()["code"]) == (422, "contract-subcontract-limit")
    assert [one.json()["field"] for one in (euros, none)] == ["/value", "/value"]
    assert (exact.json()["value"], exact.json()["sharePercent"]) == (zar("449000.00"), "9.30")
    assert lowered.json()["value"] == zar("500000.00")
    assert raised.json()["sharePercent"] == "19.65"


async def test_the_value_is_fixed_once_acknowledged_or_invoiced(site: Site) -> None:
    workspace = await site.active()
    path = f"/contracts/workspaces/{workspace['id']}/supplier-coordination"
    invoiced, acknowledged = [await site.made(path, package()) for _ in range(2)]
    part = invoiced["packageMilestones"][0] | {"invoicedOn": "2026-11-16"}
    billed = f"/contracts/supplier-coordination/{invoiced['id']}"
    agreed = f"/contracts/supplier-coordination/{acknowledged['id']}"
    await site.patch(billed, {"packageMilestones": [part]})
    await site.moved(agreed, "acknowledge")

    answers = [await site.patch(one, {"value": zar("1.00")}) for one in (billed, agreed)]
    at_once = await site.patch(
        f"/contracts/supplier-coordination/{(await site.made(path, package()))['id']}",
        {"value": zar("1.00"), "move": {"verb": "acknowledge"}},
    )
    same = await site.patch(agreed, {"value": zar("400000.00"), "title": "Box culverts"})

    assert [(one.status_code, one.json()["code"]) for one in answers] == [(409, "conflict")] * 2
    assert "invoiced or paid" in answers[0].json()["detail"]
    assert "acknowledged" in answers[1].json()["detail"]
    assert (at_once.json()["status"], at_once.json()["value"]) == ("acknowledged", zar("1.00"))
    assert same.json()["title"] == "Box culverts"


async def test_a_package_is_closed_when_accepted_and_paid(site: Site) -> None:
    workspace = await site.active()
    made = await site.made(
        f"/contracts/workspaces/{workspace['id']}/supplier-coordination", package()
    )
    path = f"/contracts/supplier-coordination/{made['id']}"
    for verb in ("acknowledge", "start"):
        await site.moved(path, verb)
    part = made["packageMilestones"][0]

    early = await site.patch(path, {"move": {"verb": "resolve"}})
    accepted = {"packageMilestones": [part | {"acceptedOn": "2026-11-16"}]}
    resolved = await site.patch(path, accepted | {"move": {"verb": "resolve"}})
    unpaid = await site.patch(path, {"move": {"verb": "close"}})
    waived = await site.moved(path, "close", waivePayment=True, reason="Offset")

    assert early.status_code == 409
    assert resolved.json()["status"] == "resolved"
    assert unpaid.status_code == 409
    assert waived["status"] == "closed"


@pytest.mark.rule("CON-37")
async def test_performance_of_a_package_is_told_to_supplier(site: Site) -> None:
    workspace = await site.active()
    parts: list[dict[str, Any]] = [
        {"key": "P1", "title": "A", "dueOn": "2026-11-10", "percent": "40"},
        {"key": "P2", "title": "B", "dueOn": "2026-11-10", "percent": "30"},
        {"key": "P3", "title": "C", "dueOn": "2026-11-10", "percent": "20"},
        {"key": "P4", "title": "D", "dueOn": "2026-11-10", "percent": "10"},
    ]
    done = ("2026-11-10", "2026-11-10", "2026-11-16", "2026-11-10")
    parts = [part | {"acceptedOn": day} for part, day in zip(parts, done, strict=True)]
    parts[3] |= {"rejections": 1}
    made = await site.made(
        f"/contracts/workspaces/{workspace['id']}/supplier-coordination",
        package(packageMilestones=parts, finalCost=zar("432000.00")),
    )
    path = f"/contracts/workspaces/{workspace['id']}/performance"
    body = {
        "subject": "package",
        "coordinationId": made["id"],
        "period": {"from": "2026-11-01", "to": "2026-11-30"},
    }

    metric = await site.made(path, body)
    again = await site.post(path, body)
    corrected = await site.post(path, body | {"corrects": metric["id"]})
    empty = await site.post(path, body | {"period": {"from": "2026-10-01", "to": "2026-10-31"}})

    figures = (metric["onTime"], metric["quality"], metric["value"])
    print(f"on_time={figures[0]} quality={figures[1]} value={figures[2]}")
    assert figures == ("96.0", "75.0", "92.6")
    assert (again.status_code, again.json()["code"]) == (409, "duplicate")
    assert corrected.status_code == 201
    assert (empty.status_code, empty.json()["code"]) == (422, "contract-nothing-measured")
    told = (await site.told("PerformanceRecorded"))[0]
    assert (told["onTime"], told["subject"]) == ("96.0", "package")
    assert told["period"] == {"from": "2026-11-01", "to": "2026-11-30"}
    assert (told["valueBand"], told["count"]) == ("below_1m", 8)


@pytest.mark.rule("CON-37")
async def test_own_performance_counts_days_of_acceptance(site: Site, clock: Time) -> None:
    workspace = await site.active()
    plan = [milestone("M1", "50", "2026-11-20"), milestone("M2", "50", "2026-11-20")]
    found = await site.planned(workspace, *plan)
    clock.set(datetime(2026, 11, 27, 8, tzinfo=UTC))
    for key, day in (("M1", "2026-11-20"), ("M2", "2026-11-24")):
        path = f"/contracts/milestones/{found[key]['id']}"
        await site.moved(path, "start")
        await site.moved(path, "submit")
        await site.moved(path, "accept", confirmation=site.proof(day))

    metric = await site.made(
        f"/contracts/workspaces/{workspace['id']}/performance",
        {"subject": "own", "period": {"from": "2026-11-01", "to": "2026-11-30"}},
    )

    assert (metric["onTime"], metric["quality"], metric["value"]) == ("95.0", None, None)
    assert metric["counts"]["milestones"] == 2


@pytest.mark.rule("CON-38")
async def test_a_high_risk_is_told_and_treated(site: Site) -> None:
    workspace = await site.active()
    path = f"/contracts/workspaces/{workspace['id']}/risks"
    low = await site.made(path, {"title": "Rain", "likelihood": 2, "impact": 2})
    body = {"title": "Strike", "likelihood": 4, "impact": 5, "impactAmount": zar("250000.00")}

    high = await site.made(path, body)
    risk = f"/contracts/risks/{low['id']}"
    unowned = await site.patch(risk, {"move": {"verb": "accept", "reason": "Small"}})
    raised = await site.patch(risk, {"likelihood": 5})
    happened = await site.moved(risk, "materialise", reason="It rained")

    assert (high["score"], high["band"]) == (20, "critical")
    assert high["expectedLoss"] == zar("175000.00")
    assert unowned.status_code == 422
    assert raised.json()["band"] == "high"
    told = [(one["band"], one["materialised"]) for one in await site.told("ContractRiskRaised")]
    assert told == [("critical", False), ("high", False), ("high", True)]
    assert happened["status"] == "materialised"


async def test_a_relationship_is_a_package(site: Site, host: Host) -> None:
    workspace = await site.active()
    supplier_id = uuid4()
    await site.made(
        f"/contracts/workspaces/{workspace['id']}/supplier-coordination",
        package(supplierId=str(supplier_id)),
    )
    port = LocalRelationships(host)

    states = [
        (
            await port.verify(
                organization_id=organization,
                supplier_id=asked,
                workspace_id=workspace["id"],
            )
        ).state
        for organization, asked in (
            (site.organization_id, supplier_id),
            (site.organization_id, uuid4()),
            (uuid4(), supplier_id),
        )
    ]

    assert states == ["live", "none", "none"]


async def test_a_strangers_ids_look_like_random_ones(site: Site, host: Host) -> None:
    other = Site(site.api, host, site.clock)
    workspace = await site.active()
    theirs = await factory.milestone(host, other.organization_id)
    path = f"/contracts/workspaces/{workspace['id']}"
    answers = []
    for milestone_id in (str(theirs.id), str(uuid4())):
        risk = {"title": "Rain", "likelihood": 1, "impact": 1, "milestoneIds": [milestone_id]}
        tied = package()
        tied["packageMilestones"][0] |= {"milestoneId": milestone_id}
        answers += [
            await site.post(f"{path}/risks", risk),
            await site.post(f"{path}/supplier-coordination", tied),
            await site.post(f"/contracts/workspaces/{theirs.workspace_id}/risks", risk),
        ]

    shown = [{**one.json(), "requestId": "", "instance": ""} for one in answers]
    assert [one.status_code for one in answers] == [422, 422, 404] * 2
    assert shown[:3] == shown[3:]
