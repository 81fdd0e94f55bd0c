"""Contracts over HTTP: signatures, stand-still, activation, and what only a variation changes."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from tests.conftest import Time
from tests.domains.contract.conftest import Play
from tests.domains.contract.sites import MUNICIPALITY, Site, occasions, zar
from tests.factories import billing, notification_deliveries
from tests.factories import identity as people
from tests.timeline import Timeline
from thenga import topology
from thenga.domains.billing.tables import Holding
from thenga.domains.compliance.public import Readiness, ReadinessView
from thenga.kernel.process.host import Host


def activation(workspace: Any) -> tuple[bool, str | None]:
    """Whether a contract can be activated now, and if not, why."""
    moves = {one["move"]: one for one in workspace["allowedMoves"]}
    return moves["activate"]["possible"], moves["activate"]["reason"]


@pytest.mark.rule("CON-5")
async def test_a_municipality_waits_for_the_appeal_period(
    site: Site, clock: Time, play: Play, host: Host
) -> None:
    clock.set(datetime(2021, 1, 11, 8, tzinfo=UTC))
    blocked = ReadinessView(
        verdict="not_ready", score=None, as_of=host.now(), blockers=["tax_compliance"]
    )
    dates = {"notifiedOn": "2020-12-21", "startsOn": "2021-01-01", "endsOn": "2021-12-31"}
    made = await site.opened(counterparty=MUNICIPALITY, **dates)
    await site.sign(made)
    path = f"/contracts/workspaces/{made['id']}"
    move = {"move": {"verb": "activate", "reason": "Both signed"}}

    early = await site.patch(path, move)
    clock.set(datetime(2021, 1, 11, 21, 59, 59, tzinfo=UTC))
    last = await site.patch(path, move)
    clock.set(datetime(2021, 1, 11, 22, tzinfo=UTC))
    play(Readiness, lambda **_: blocked)
    not_ready = await site.patch(path, move)
    play(Readiness, None)
    silent = await site.patch(path, move)

    print(f"standstill_until={early.json()['until']}")
    assert made["standstillUntil"] == "2021-01-11"
    for answer in (early, last):
        assert (answer.status_code, answer.json()["code"]) == (409, "contract-standstill")
        assert answer.json()["until"] == "2021-01-11T22:00:00Z"
    assert (not_ready.status_code, not_ready.json()["code"]) == (409, "contract-not-ready")
    assert not_ready.json()["blockers"] == ["tax_compliance"]
    assert silent.status_code == 200
    assert silent.json()["status"] == "active"
    assert "readiness_unknown" in silent.json()["warnings"]


@pytest.mark.rule("CON-5")
async def test_both_sides_sign_one_content(site: Site) -> None:
    made = await site.opened()
    path = f"/contracts/workspaces/{made['id']}"
    await site.moved(path, "sign", reason="Agreed")

    unproven = await site.patch(
        path, {"move": {"verb": "sign", "party": "buyer", "reason": "Signed copy"}}
    )
    missing = await site.patch(path, {"move": {"verb": "activate", "reason": "Go"}})
    changed = await site.patch(path, {"endsOn": "2027-10-31"})

    assert unproven.json()["code"] == "contract-confirmation-missing"
    assert missing.json()["code"] == "contract-signature-missing"
    assert missing.json()["parties"] == ["buyer"]
    assert changed.json()["contentHash"] != made["contentHash"]
    assert changed.json()["signatures"] == []


@pytest.mark.rule("CON-5")
async def test_allowed_moves_say_what_activation_waits_for(site: Site, clock: Time) -> None:
    clock.set(datetime(2021, 1, 11, 21, 59, 59, tzinfo=UTC))
    dates = {"notifiedOn": "2020-12-21", "startsOn": "2021-01-01", "endsOn": "2021-12-31"}
    made = await site.opened(counterparty=MUNICIPALITY, **dates)
    path = f"/contracts/workspaces/{made['id']}"
    ours = await site.moved(path, "sign", reason="Agreed")
    await site.sign(made)
    challenged = await site.moved(path, "challenge", note="Objection of a bidder")
    waiting = await site.moved(path, "clear", note="Objection withdrawn")
    (listed,) = (await site.get("/contracts/workspaces"))["items"]
    clock.set(datetime(2021, 1, 11, 22, tzinfo=UTC))
    ready = await site.get(path)
    (listed_ready,) = (await site.get("/contracts/workspaces"))["items"]

    shown = [activation(one) for one in (made, ours, challenged, waiting, listed)]
    print(*(f"{possible} {reason}" for possible, reason in shown), sep="\n")
    assert [possible for possible, _ in shown] == [False] * 5
    for (_, reason), said in zip(
        shown, ("supplier, buyer", "buyer", "challenged", "2021-01-11T22:00:00Z"), strict=False
    ):
        assert said in str(reason)
    assert shown[4] == shown[3]
    assert [activation(one) for one in (ready, listed_ready)] == [(True, None)] * 2


@pytest.mark.rule("CON-5")
async def test_signing_again_changes_nothing(site: Site) -> None:
    made = await site.opened()
    path = f"/contracts/workspaces/{made['id']}"

    first = await site.moved(path, "sign", reason="Agreed")
    second = await site.moved(path, "sign", reason="Agreed")

    assert first["version"] == second["version"]
    assert len(second["signatures"]) == 1


async def test_signing_needs_a_fresh_proof_and_a_person(site: Site) -> None:
    made = await site.opened()
    path = f"/contracts/workspaces/{made['id']}"
    contributor = await site.member("contributor")
    manager = await site.member("bid_manager")
    body = {"move": {"verb": "sign", "reason": "Agreed"}}

    refused = await site.patch(path, body, who=contributor)
    await people.aged(site.host, manager, timedelta(minutes=6))
    stale = await site.patch(path, body, who=manager)
    no_reason = await site.patch(path, {"move": {"verb": "sign"}})

    assert refused.status_code == 403
    assert (stale.status_code, stale.json()["code"]) == (403, "step-up-required")
    assert no_reason.status_code == 422


@pytest.mark.rule("CON-6")
async def test_an_active_contract_changes_by_variation_only(site: Site) -> None:
    made = await site.active()
    path = f"/contracts/workspaces/{made['id']}"

    refused = await site.patch(path, {"contractValue": zar("1.00"), "endsOn": "2028-01-01"})
    taken = await site.patch(path, {"title": "Road to the clinic", "orderNumber": "PO-77"})

    assert (refused.status_code, refused.json()["code"]) == (409, "contract-needs-variation")
    assert refused.json()["fields"] == ["endsOn", "contractValue"]
    assert taken.status_code == 200
    assert (taken.json()["title"], taken.json()["orderNumber"]) == ("Road to the clinic", "PO-77")


async def test_a_challenge_stops_activation_until_cleared(site: Site) -> None:
    made = await site.opened()
    await site.sign(made)
    path = f"/contracts/workspaces/{made['id']}"

    await site.moved(path, "challenge", note="Objection of a bidder")
    refused = await site.patch(path, {"move": {"verb": "activate", "reason": "Go"}})
    await site.moved(path, "clear", note="Objection withdrawn")
    active = await site.moved(path, "activate", reason="Go")

    assert (refused.status_code, refused.json()["code"]) == (409, "contract-challenged")
    assert active["status"] == "active"
    changes = [(one["from"], one["to"]) for one in await site.told("ContractStateChanged")]
    assert changes[-1] == ("pending", "active")


async def test_a_cancelled_contract_refuses_every_write(site: Site) -> None:
    made = await site.opened()
    path = f"/contracts/workspaces/{made['id']}"
    await site.moved(path, "cancel", reason="Buyer withdrew", reasonCode="buyer_withdrew")

    answers = [
        await site.patch(path, {"title": "Other"}),
        await site.post(f"{path}/risks", {"title": "Rain", "likelihood": 1, "impact": 1}),
        await site.post(f"{path}/lessons", {"title": "Learned", "text": "Something"}),
    ]

    assert [(one.status_code, one.json()["code"]) for one in answers] == [
        (409, "contract-closed")
    ] * 3


async def test_a_change_needs_the_version_that_was_read(site: Site) -> None:
    made = await site.opened()
    path = f"/contracts/workspaces/{made['id']}"
    owner = await site.member()

    without = await site.api.patch(path, json={"title": "Other"}, headers=owner.acting)
    stale = await site.api.patch(
        path, json={"title": "Other"}, headers=owner.acting | {"If-Match": '"9"'}
    )

    assert (without.status_code, stale.status_code) == (428, 412)


@pytest.mark.rule("CON-48")
async def test_a_plan_limits_open_contracts(site: Site, host: Host) -> None:
    made = await site.opened()
    path = f"/contracts/workspaces/{made['id']}"
    await site.moved(path, "cancel", reason="Buyer withdrew", reasonCode="buyer_withdrew")

    assert await occasions(host, site.organization_id) == ["hold", "release"]


@pytest.mark.rule("CON-48")
async def test_billing_counts_a_contract_until_it_is_cancelled(site: Site, host: Host) -> None:
    await billing.account(host, site.organization_id)
    worker = notification_deliveries.with_ports(host)
    domains = topology.load(["contract"])
    timeline = Timeline(worker, site.clock, domains, site.organization_id)

    made = await site.opened()
    await timeline.settle()
    held = await holdings(host, site)
    await site.moved(
        f"/contracts/workspaces/{made['id']}",
        "cancel",
        reason="Buyer withdrew",
        reasonCode="buyer_withdrew",
    )
    await timeline.settle()

    subject = f"contract.workspace/{made['id']}"
    assert held == [("contract.workspaces", subject, True)]
    assert await holdings(host, site) == [("contract.workspaces", subject, False)]


async def holdings(host: Host, site: Site) -> list[tuple[str, str, bool]]:
    """The places of the plan that Billing has counted."""
    work = billing.working(host, site.organization_id)
    try:
        found = await work.all(select(Holding))
    finally:
        await work.close()
    return [(row.meter, row.subject, row.open) for row in found]
