"""Settings change as numbered versions that another person approves."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx2
import pytest
from fastapi import FastAPI

from tests.factories import administration as made
from tests.factories import identity as people
from tests.factories.administration import KEY
from tests.factories.identity import Person
from tests.planting import plant, together
from tests.set_clock import SetClock
from tests.settling import Settle
from thenga import topology
from thenga.domains.administration.services.configuration import versions
from thenga.domains.administration.tables import (
    AdminAction,
    ConfigurationStatus,
    ConfigurationVersion,
    Declaration,
)
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db import acting
from thenga.kernel.db.configuration import value
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.law import VAT_RATE
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

PATH = "/administration/configuration"
WHY = {"reason": "Agreed in the change meeting"}
INSTANT = datetime(2027, 3, 31, 22, tzinfo=UTC)  # 1 April 2027 begins in South Africa
VAT_DOMAINS = ["bid", "billing", "contract"]


@pytest.fixture
async def operator(host: Host, seeded: None) -> Person:
    await made.clear(host, "configuration_version", "key", KEY)
    return await people.staff(host, "platform_operator")


@pytest.fixture
async def colleague(host: Host, seeded: None) -> Person:
    return await people.staff(host, "platform_operator")


def change(wanted: Any = 20, **more: Any) -> dict[str, Any]:
    return {"key": KEY, "value": wanted, "baseVersion": 0} | WHY | more


def seen(person: Person, answer: httpx2.Response) -> dict[str, str]:
    return person.headers | {"If-Match": f'"{answer.json()["version"]}"'}


@pytest.mark.rule("ADM-5")
async def test_a_version_is_created_and_approved_by_another_person(
    api: httpx2.AsyncClient, host: Host, operator: Person, colleague: Person
):
    created = await api.post(PATH, json=change(), headers=operator.headers)
    path = f"{PATH}/{created.json()['id']}"
    own = await api.post(f"{path}/approve", json=WHY, headers=seen(operator, created))
    unseen = await api.post(f"{path}/approve", json=WHY, headers=colleague.headers)
    approved = await api.post(f"{path}/approve", json=WHY, headers=seen(colleague, created))
    again = await api.post(f"{path}/approve", json=WHY, headers=seen(colleague, approved))
    rejected = await api.post(f"{path}/reject", json=WHY, headers=colleague.headers)
    read = await api.get(path, headers=operator.headers)

    assert (created.status_code, created.json()["status"]) == (201, "pending_approval")
    assert created.json()["phase"] is None
    assert (own.status_code, own.json()["code"]) == (403, "same-person")
    assert unseen.status_code == 428
    assert (approved.status_code, approved.json()["status"]) == (200, "approved")
    assert again.json() == approved.json() == read.json()
    assert read.json()["phase"] == "active"
    assert read.json()["decidedBy"] == str(colleague.user_id)
    assert (rejected.status_code, rejected.json()["code"]) == (409, "invalid-transition")
    acts = await made.rows(host, AdminAction, resource_id=created.json()["id"])
    assert [one.action for one in acts] == [
        "administration:configuration:create",
        "administration:configuration:approve",
    ]
    print(f"same_person=403 other=200 actions={len(acts)}")


async def test_planted_guard_that_lets_authors_approve_is_found(
    api: httpx2.AsyncClient, operator: Person, monkeypatch: pytest.MonkeyPatch
):
    created = await api.post(PATH, json=change(), headers=operator.headers)
    plant(monkeypatch, acting, "same_person", lambda *_: False)

    own = await api.post(
        f"{PATH}/{created.json()['id']}/approve", json=WHY, headers=seen(operator, created)
    )

    # Only the CHECK of the table stops it then, and it cannot say why.
    assert (own.status_code, own.json()["code"]) == (409, "conflict")


async def test_the_table_refuses_one_person_in_both_roles(host: Host, seeded: None):
    version = await made.version(host)
    work = made.system(host)

    with pytest.raises(asyncpg.CheckViolationError):
        await work.run(
            "UPDATE administration.configuration_version SET decided_by = created_by WHERE id = $1",
            version.id,
        )
    await work.close()


async def parallel(api: httpx2.AsyncClient, person: Person, count: int) -> list[int]:
    calls = [api.post(PATH, json=change(), headers=person.headers) for _ in range(count)]
    return sorted(answer.status_code for answer in await asyncio.gather(*calls))


@pytest.mark.rule("ADM-9")
async def test_of_parallel_changes_on_one_base_one_is_stored(
    api: httpx2.AsyncClient, host: Host, operator: Person
):
    found = await parallel(api, operator, 20)

    stored = await made.rows(host, ConfigurationVersion, key=KEY)
    print(f"posts=20 created={found.count(201)} refused={found.count(409)} rows={len(stored)}")
    assert found == [201] + [409] * 19
    assert [one.number for one in stored] == [1]


async def test_planted_retry_with_the_next_number_is_found(
    api: httpx2.AsyncClient, host: Host, operator: Person, monkeypatch: pytest.MonkeyPatch
):
    numbers, both_looked = count(), together(2)

    async def insert_after_all(work: Work, version: ConfigurationVersion) -> None:
        await both_looked()
        version.status = ConfigurationStatus.APPROVED
        version.number += next(numbers)
        await work.add(version)

    plant(monkeypatch, versions, "_add", insert_after_all)

    assert (await parallel(api, operator, 4)).count(201) > 1


@pytest.mark.rule("ADM-9")
async def test_a_change_on_an_old_base_is_refused(
    api: httpx2.AsyncClient, host: Host, operator: Person
):
    await made.version(host, status=ConfigurationStatus.APPROVED, value=25)

    old = await api.post(PATH, json=change(), headers=operator.headers)
    fresh = await api.post(PATH, json=change(baseVersion=1), headers=operator.headers)
    third = await api.post(PATH, json=change(baseVersion=1), headers=operator.headers)

    assert (old.status_code, old.json()["code"]) == (409, "conflict")
    assert (old.json()["newestVersion"], old.json()["newestValue"]) == (1, 25)
    assert (fresh.status_code, fresh.json()["number"]) == (201, 2)
    assert third.json()["code"] == "administration-change-in-flight"


@pytest.mark.rule("ADM-8")
async def test_a_wrong_value_is_refused_and_not_repeated(api: httpx2.AsyncClient, operator: Person):
    canary = f"canary{uuid4().hex}"

    refused = await api.post(PATH, json=change(canary), headers=operator.headers)
    unknown = await api.post(PATH, json=change(key="bid.unheard.of"), headers=operator.headers)
    policy = await api.post(PATH, json=change(key="billing.pause"), headers=operator.headers)

    assert (refused.status_code, refused.json()["code"]) == (422, "administration-value-invalid")
    assert refused.json()["errors"][0]["pointer"] == "/value"
    assert canary not in refused.text
    assert unknown.json()["code"] == policy.json()["code"] == "administration-unknown-key"


async def test_a_setting_changes_from_now_or_a_later_day(
    api: httpx2.AsyncClient, operator: Person, host: Host
):
    now = host.now()

    past = await api.post(
        PATH,
        json=change(effectiveFrom=(now - timedelta(days=1)).isoformat()),
        headers=operator.headers,
    )
    far = await api.post(
        PATH,
        json=change(effectiveFrom=(now + timedelta(days=367)).isoformat()),
        headers=operator.headers,
    )

    assert past.json()["code"] == far.json()["code"] == "administration-effective-date-invalid"


async def test_a_setting_without_approval_changes_at_once(
    api: httpx2.AsyncClient, host: Host, operator: Person
):
    work = made.system(host)
    declaration = await work.lock_by(Declaration, key=KEY)
    declaration.approval = "none"
    await work.save(declaration)
    await work.finish()
    try:
        created = await api.post(PATH, json=change(), headers=operator.headers)
    finally:
        work = made.system(host)
        declaration = await work.lock_by(Declaration, key=KEY)
        declaration.approval = "second_person"
        await work.save(declaration)
        await work.finish()

    assert (created.json()["status"], created.json()["phase"]) == ("approved", "active")
    assert created.json()["decidedBy"] is None


async def test_versions_are_listed_by_key_and_phase(
    api: httpx2.AsyncClient, host: Host, operator: Person
):
    version = await made.version(host, status=ConfigurationStatus.APPROVED)

    async def listed(query: str) -> list[str]:
        answer = await api.get(f"{PATH}?key={KEY}&{query}", headers=operator.headers)
        return [one["id"] for one in answer.json()["items"]]

    assert await listed("phase=scheduled&status=approved&domain=administration") == [
        str(version.id)
    ]
    assert await listed("phase=active") == await listed("phase=superseded") == []
    assert await listed("sort=effectiveFrom&from=2020-01-01T00:00:00Z") == [str(version.id)]


async def test_every_setting_of_the_manifests_is_declared(host: Host, seeded: None):
    declared = {one.key: one for one in await made.rows(host, Declaration)}

    assert declared["law.vat.rate"].domains == VAT_DOMAINS
    assert declared["law.vat.rate"].retroactive and declared["law.vat.rate"].default_value == "15"
    assert declared["identity.access"].kind == "policy"
    print(f"declarations={len(declared)}")


@pytest.mark.rule("ADM-10")
async def test_a_dated_change_of_the_law_applies_at_its_instant(
    api: httpx2.AsyncClient,
    app: FastAPI,
    host: Host,
    settings: Settings,
    operator: Person,
    colleague: Person,
):
    await made.clear(host, "configuration_version", "key", VAT_RATE.key)
    body = change("16", key=VAT_RATE.key, effectiveFrom="2027-04-01T00:00:00+02:00")
    created = await api.post(PATH, json=body, headers=operator.headers)
    path = f"{PATH}/{created.json()['id']}"
    approved = await api.post(f"{path}/approve", json=WHY, headers=seen(colleague, created))

    async def acknowledged() -> Any:
        shown = (await api.get(path, headers=operator.headers)).json()
        named = sorted(one["domain"] for one in shown["acknowledgements"])
        return shown if named == VAT_DOMAINS else None

    try:
        async with Settle(host, topology.DOMAINS) as settle:
            answered = await settle(acknowledged)
        found = [
            [await rate_at(one, at) for one in (host, app.state.shared.host)]
            for at in (INSTANT - timedelta(seconds=1), INSTANT)
        ]
        earlier = await rate_at(host, datetime(2018, 3, 31, 12, tzinfo=UTC))
    finally:
        await forget_rate(settings, UUID(created.json()["id"]))

    assert (approved.json()["phase"], approved.json()["number"]) == ("scheduled", 1)
    assert {one["outcome"] for one in answered["acknowledgements"]} == {"applied"}
    print(f"hosts=2 before={found[0]} at={found[1]} in_2018={earlier}")
    assert (found, earlier) == ([[15, 15], [16, 16]], 14)


async def rate_at(host: Host, at: datetime) -> Decimal:
    """The VAT rate that Billing reads at an instant, on that host."""
    moved = replace(host, clock=SetClock(at))
    scope, origin = Scope(actor=SYSTEM), Origin("test", "test", "test")
    read = Reader(moved, "billing", scope, origin)
    try:
        return await value(read, VAT_RATE)
    finally:
        await read.close()


async def forget_rate(settings: Settings, version_id: UUID) -> None:
    """Other tests reckon with the rate of the law; only the owner of the table takes it away."""
    admin = await asyncpg.connect(settings.admin_database.get_secret_value())
    await admin.execute("SET session_replication_role = replica")
    await admin.execute("DELETE FROM billing.setting_value WHERE id = $1", version_id)
    await admin.close()
