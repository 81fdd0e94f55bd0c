"""Dashboards and the view of a tenant: live, and never 0 for what is unknown."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import select

from tests.factories import identity, organization
from tests.factories import support as cases
from tests.factories.identity import Person
from tests.planting import plant
from thenga import topology
from thenga.domains.administration.services.dashboards import boards
from thenga.domains.administration.services.dashboards.boards import REPORTED, Limits, Widget
from thenga.domains.administration.tables import AdminAction
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.reader import Reader
from thenga.kernel.process.host import Host
from thenga.kernel.standing import figures
from thenga.kernel.standing.figures import FigureValue, figures_of
from thenga.kernel.standing.panels import panels_of

PATH = "/administration/dashboards"
SILENCE = 120  # seconds that a domain does not answer
REASON = quote("The customer cannot pay and called us")


@pytest.fixture
async def operator(host: Host, seeded: None) -> Person:
    return await identity.staff(host, "platform_operator")


@contextmanager
def silent(app: FastAPI, port: Any, method: str) -> Iterator[None]:
    """A domain that does not answer on one of its ports, and that nobody may wait for."""
    waited_for: list[str] = []

    async def never(**_: Any) -> None:
        await asyncio.sleep(SILENCE)
        waited_for.append(method)

    bound = app.state.shared.host.bindings.of(port)
    setattr(bound, method, never)
    bound.port_timeout = 0.2
    try:
        yield
    finally:
        delattr(bound, method)
        del bound.port_timeout
    assert waited_for == []


async def board(
    api: httpx2.AsyncClient, who: Person, code: str, query: str = ""
) -> dict[str, dict[str, Any]]:
    answer = await api.get(f"{PATH}/{code}{query}", headers=who.headers)
    assert answer.status_code == 200, answer.text
    return {one["widgetKey"]: one for one in answer.json()["widgets"]}


async def test_five_dashboards_are_listed_in_pages(
    api: httpx2.AsyncClient, operator: Person
) -> None:
    found, target = [], f"{PATH}?limit=2"
    while target:
        answer = (await api.get(target, headers=operator.headers)).json()
        found += [one["code"] for one in answer["items"]]
        cursor = answer["nextCursor"]
        target = cursor and f"{PATH}?limit=2&cursor={cursor}"
    backwards = await api.get(f"{PATH}?sort=-code", headers=operator.headers)

    assert found == ["change-control", "deliveries", "governance", "platform-health", "support"]
    assert [one["code"] for one in backwards.json()["items"]] == found[::-1]
    assert (await api.get(f"{PATH}/unknown", headers=operator.headers)).status_code == 404


@pytest.mark.rule("ADM-42")
async def test_a_waiting_outbox_is_shown_and_old_figures_are_unknown(
    api: httpx2.AsyncClient, host: Host, operator: Person, clock: Any
) -> None:
    customer = await identity.member(host, uuid4(), role="owner")
    await cases.opened(api, customer)
    await figures.write(host, *topology.load(["administration"]))

    now = await board(api, operator, "platform-health", "?domain=administration")
    clock.move(timedelta(seconds=60))
    later = await board(api, operator, "platform-health", "?domain=administration")

    waiting = now["administration.outbox.waiting"]
    assert waiting["value"] > 0
    assert len(now) == len(REPORTED)
    assert {(one["value"], one["state"]) for one in later.values()} == {(None, "unknown")}
    assert later["administration.outbox.waiting"]["asOf"] == waiting["asOf"]


async def _silent_domain(
    api: httpx2.AsyncClient, app: FastAPI, host: Host, operator: Person
) -> dict[str, dict[str, Any]]:
    for domain in topology.load(topology.DOMAINS):
        await figures.write(host, domain)
    with silent(app, figures_of("billing"), "current"):
        found = await board(api, operator, "platform-health")
    states = [one["state"] for one in found.values()]
    zeros = [
        key for key, one in found.items() if one["domain"] == "billing" and one["value"] is not None
    ]
    print(f"widgets={len(found)} unknown={states.count('unknown')} zeros={len(zeros)}")
    return found


@pytest.mark.rule("ADM-42")
async def test_a_silent_domain_is_unknown_and_never_zero(
    api: httpx2.AsyncClient, app: FastAPI, host: Host, operator: Person
) -> None:
    found = await _silent_domain(api, app, host, operator)

    billing = [one for one in found.values() if one["domain"] == "billing"]
    assert {(one["value"], one["state"]) for one in billing} == {(None, "unknown")}
    others = [one for one in found.values() if one["domain"] == "identity"]
    assert all(one["value"] is not None for one in others)


async def test_a_planted_zero_instead_of_unknown_is_found(
    api: httpx2.AsyncClient,
    app: FastAPI,
    host: Host,
    operator: Person,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def zero(domain: str, key: str, limits: Limits, answer: list[FigureValue] | None) -> Widget:
        told = next((one for one in answer or () if one.key == key), None)
        value = told.value if told and isinstance(told.value, int) else 0
        as_of = told.as_of if told else None
        return Widget(key, domain, value, limits.unit, as_of, boards.state_of(value, limits))

    plant(monkeypatch, boards, "_widget", zero)

    found = await _silent_domain(api, app, host, operator)

    billing = [one for one in found.values() if one["domain"] == "billing"]
    assert {one["value"] for one in billing} == {0}


async def test_own_counts_follow_what_happens(
    api: httpx2.AsyncClient, host: Host, operator: Person
) -> None:
    before = await board(api, operator, "support")
    customer = await identity.member(host, uuid4(), role="owner")
    await cases.opened(api, customer)

    after = await board(api, operator, "support")
    codes = ("change-control", "governance", "deliveries")
    shown = {code: await board(api, operator, code) for code in codes}

    key = "administration.cases.open"
    assert after[key]["value"] == before[key]["value"] + 1
    assert all(one["value"] is not None for one in shown["governance"].values())
    assert "administration.policies.not_enforced" in shown["change-control"]
    assert {one["domain"] for one in shown["deliveries"].values()} == {"notification"}


async def _company(host: Host) -> UUID:
    who = await identity.person(host)
    company = await organization.organization(host, who.user_id)
    await identity.member(host, company.id, role="owner", who=who)
    return company.id


async def _reads(host: Host, organization_id: UUID) -> list[AdminAction]:
    scope = Scope(actor=SYSTEM, platform=True)
    read = Reader(host, "administration", scope, Origin("test", "test", "test"))
    try:
        asked = AdminAction.subject_organization_id == organization_id
        return await read.all(select(AdminAction).where(asked))
    finally:
        await read.close()


@pytest.mark.rule("ADM-26")
async def test_a_silent_domain_costs_the_view_one_panel(
    api: httpx2.AsyncClient, app: FastAPI, host: Host, operator: Person
) -> None:
    organization_id = await _company(host)
    path = f"/administration/tenants/{organization_id}"
    headers = operator.headers | {"X-Admin-Reason": REASON}
    await api.get(path, headers=headers)  # opens the connections

    with silent(app, panels_of("billing"), "summarize"):
        answer = await api.get(path, headers=headers)

    assert answer.status_code == 200, answer.text
    shown = {one["domain"]: one["status"] for one in answer.json()["panels"]}
    print(f"panels={len(shown)} unavailable={list(shown.values()).count('unavailable')}")
    assert shown.pop("billing") == "unavailable"
    assert set(shown.values()) == {"available"}
    assert {"identity", "organization", "administration"} <= shown.keys()
    recorded = await _reads(host, organization_id)
    assert [one.reason for one in recorded] == ["The customer cannot pay and called us"] * 2
    assert {one.action for one in recorded} == {"administration:tenant:read"}


async def test_a_tenant_is_seen_only_with_reason_proof_and_right(
    api: httpx2.AsyncClient, host: Host, operator: Person
) -> None:
    organization_id = await _company(host)
    path = f"/administration/tenants/{organization_id}"
    reason = {"X-Admin-Reason": REASON}
    owner = await identity.member(host, organization_id, role="owner")
    tired = await identity.staff(host, "platform_operator")
    await identity.aged(host, tired, timedelta(minutes=6))

    silent_ = await api.get(path, headers=operator.headers)
    stale = await api.get(path, headers=tired.headers | reason)
    customer = await api.get(path, headers=owner.headers | reason)
    nobody = await api.get(f"/administration/tenants/{uuid4()}", headers=operator.headers | reason)
    some = await api.get(f"{path}?panels=identity", headers=operator.headers | reason)

    assert (silent_.status_code, silent_.json()["code"]) == (422, "validation-failed")
    assert (stale.status_code, stale.json()["code"]) == (403, "step-up-required")
    assert (customer.status_code, nobody.status_code) == (403, 404)
    assert [one["domain"] for one in some.json()["panels"]] == ["identity"]
    assert len(await _reads(host, organization_id)) == 1
