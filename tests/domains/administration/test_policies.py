"""Policies: decided by two persons, published, and followed until their domain enforces them."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
import httpx2
import pytest

from tests.conftest import Time
from tests.domains.administration.working import Worker
from tests.factories import administration as made
from tests.factories import identity as people
from tests.factories.administration import POLICY, POLICY_DOCUMENT
from tests.factories.identity import Person
from tests.planting import plant
from tests.settling import Settle
from thenga import topology
from thenga.domains.administration.services.policies import acknowledging
from thenga.domains.administration.tables import PolicyConfiguration, PolicyStatus
from thenga.domains.billing import public as billing
from thenga.domains.identity.tables import AssignmentStatus, PlatformRoleAssignment
from thenga.domains.organization import public as organization
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db import acting
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

PATH = "/administration/policy-configurations"
WHY = {"reason": "Agreed in the policy meeting"}
CEDAR = "permit(principal, action, resource);"
BODY = {"policyKey": POLICY, "document": POLICY_DOCUMENT, **WHY}


@pytest.fixture
async def author(host: Host, seeded: None) -> Person:
    await made.clear(host, "policy_configuration", "policy_key", POLICY)
    return await people.staff(host, "platform_policy_author")


@pytest.fixture
async def approver(host: Host, seeded: None) -> Person:
    return await people.staff(host, "platform_policy_approver")


@pytest.fixture
async def admin(settings: Settings) -> Any:
    connection = await asyncpg.connect(settings.admin_database.get_secret_value())
    yield connection
    await connection.close()


async def approved(api: httpx2.AsyncClient, author: Person, approver: Person) -> dict[str, Any]:
    created = await api.post(PATH, json=BODY, headers=author.headers)
    answer = await api.post(
        f"{PATH}/{created.json()['id']}/approve",
        json=WHY,
        headers=approver.headers | {"If-Match": f'"{created.json()["version"]}"'},
    )
    assert (created.status_code, answer.status_code) == (201, 200), answer.text
    found: dict[str, Any] = answer.json()
    return found


async def shown(api: httpx2.AsyncClient, author: Person, config_id: str) -> dict[str, Any]:
    found: dict[str, Any] = (await api.get(f"{PATH}/{config_id}", headers=author.headers)).json()
    return found


async def published(admin: asyncpg.Connection, config_id: str) -> int:
    count = "SELECT count(*) FROM administration.outbox WHERE aggregate = $1"
    return int(await admin.fetchval(count, f"config/{config_id}"))


@pytest.mark.rule("ADM-5")
async def test_author_and_approver_are_two_persons(
    api: httpx2.AsyncClient, host: Host, author: Person, approver: Person
):
    both = await people.staff(host, "platform_policy_author", "platform_policy_approver")
    created = await api.post(PATH, json=BODY, headers=both.headers)
    path = f"{PATH}/{created.json()['id']}"
    seen = {"If-Match": '"1"'}

    own = await api.post(f"{path}/approve", json=WHY, headers=both.headers | seen)
    rejected = await api.post(f"{path}/reject", json=WHY, headers=both.headers)
    other = await api.post(f"{path}/approve", json=WHY, headers=approver.headers | seen)
    again = await api.post(
        f"{path}/approve", json=WHY, headers=approver.headers | {"If-Match": '"2"'}
    )

    assert (own.status_code, own.json()["code"]) == (403, "same-person")
    assert (rejected.status_code, rejected.json()["code"]) == (403, "same-person")
    assert (other.status_code, other.json()["status"]) == (200, "approved")
    assert again.json() == other.json()
    print("same_person=403 other=200")


async def test_planted_guard_that_lets_authors_approve_is_found(
    api: httpx2.AsyncClient, host: Host, author: Person, monkeypatch: pytest.MonkeyPatch
):
    both = await people.staff(host, "platform_policy_author", "platform_policy_approver")
    created = await api.post(PATH, json=BODY, headers=both.headers)
    plant(monkeypatch, acting, "same_person", lambda *_: False)

    own = await api.post(
        f"{PATH}/{created.json()['id']}/approve",
        json=WHY,
        headers=both.headers | {"If-Match": '"1"'},
    )

    # Only the CHECK of the table stops it then, and it cannot say why.
    assert (own.status_code, own.json()["code"]) == (409, "conflict")


@pytest.mark.rule("ADM-35")
async def test_a_silent_domain_is_chased_until_it_enforces(
    api: httpx2.AsyncClient,
    host: Host,
    worker: Worker,
    clock: Time,
    admin: asyncpg.Connection,
    author: Person,
    approver: Person,
):
    config_id = (await approved(api, author, approver))["id"]
    await worker.work_off()
    first = await shown(api, author, config_id)
    clock.move(timedelta(seconds=61))
    await worker.sweep()
    late = await shown(api, author, config_id)
    clock.move(timedelta(minutes=4))
    await worker.sweep()
    await worker.sweep()  # nothing is due before 15 minutes

    async def answered() -> Any:
        policy = await shown(api, author, config_id)
        return policy if policy["status"] in ("acknowledged", "effective") else None

    async with Settle(host, topology.DOMAINS) as settle:
        await settle(answered)
    await worker.sweep()
    last = await shown(api, author, config_id)

    assert (first["status"], first["late"], first["publishAttempts"]) == ("published", False, 1)
    assert (late["status"], late["late"], late["publishAttempts"]) == ("published", True, 2)
    assert (last["status"], last["late"], last["publishAttempts"]) == ("effective", False, 3)
    assert last["acknowledgement"]["outcome"] == "applied"
    assert last["enforcementLagSeconds"] > 0
    kept = "SELECT count(*) FROM billing.setting_value WHERE id = $1"
    answers = "SELECT count(*) FROM billing.outbox WHERE aggregate = $1"
    applied = await admin.fetchval(kept, UUID(config_id))
    acknowledged = await admin.fetchval(answers, f"config/{config_id}")
    assert (applied, acknowledged, await published(admin, config_id)) == (1, 1, 3)
    print(
        f"published=3 applied={applied} acknowledgements={acknowledged} "
        f"lag_seconds={last['enforcementLagSeconds']}"
    )


async def test_a_policy_that_takes_effect_supersedes_the_former(
    api: httpx2.AsyncClient, host: Host, worker: Worker, author: Person
):
    now = host.now()
    former = await made.policy(host, status=PolicyStatus.EFFECTIVE, effective_from=now)
    policy = await made.policy(
        host,
        number=2,
        alone=False,
        status=PolicyStatus.PUBLISHED,
        published_at=now,
        effective_from=now + timedelta(days=2),
    )
    await worker.hear(billing.PolicyAcknowledged, policy.id, number=2)
    await worker.sweep()
    waiting = await shown(api, author, str(policy.id))
    worker.clock.move(timedelta(days=3))
    await worker.sweep()

    found = {one.id: one.status for one in await made.rows(host, PolicyConfiguration)}
    assert waiting["status"] == "acknowledged"
    assert (found[former.id], found[policy.id]) == ("superseded", "effective")


async def forge(host: Host, worker: Worker) -> PolicyConfiguration:
    policy = await made.policy(
        host, number=4, status=PolicyStatus.PUBLISHED, published_at=host.now()
    )
    await worker.hear(organization.PolicyAcknowledged, policy.id, number=4)
    await worker.hear(billing.PolicyAcknowledged, policy.id, number=3)
    (found,) = await made.rows(host, PolicyConfiguration, id=policy.id)
    assert isinstance(found, PolicyConfiguration)
    return found


@pytest.mark.rule("ADM-35")
async def test_a_forged_or_outdated_acknowledgement_is_ignored(host: Host, worker: Worker):
    found = await forge(host, worker)

    assert (found.status, found.acknowledged_at) == (PolicyStatus.PUBLISHED, None)
    print(f"forged=2 status={found.status} ignored={found.ignored_acknowledgements}")
    assert found.ignored_acknowledgements == 2


async def test_planted_trust_in_any_acknowledgement_is_found(
    host: Host, worker: Worker, monkeypatch: pytest.MonkeyPatch
):
    plant(
        monkeypatch,
        acknowledging,
        "_is_answer",
        lambda policy, source, number: policy.status is PolicyStatus.PUBLISHED,
    )

    assert (await forge(host, worker)).status is PolicyStatus.ACKNOWLEDGED


async def test_a_domain_can_refuse_a_policy(host: Host, worker: Worker):
    policy = await made.policy(host, status=PolicyStatus.PUBLISHED, published_at=host.now())

    await worker.hear(
        billing.PolicyAcknowledged, policy.id, outcome="refused", refusal_code="value_invalid"
    )

    (found,) = await made.rows(host, PolicyConfiguration, id=policy.id)
    assert (found.status, found.refusal_code) == (PolicyStatus.REFUSED, "value_invalid")


async def revoke_roles(host: Host, person: Person) -> None:
    origin = Origin("test", "test", "test")
    work = Work(host, "identity", Scope(actor=SYSTEM, platform=True), origin)
    assignment = await work.lock_by(PlatformRoleAssignment, user_id=person.user_id)
    assignment.status = AssignmentStatus.REVOKED
    await work.save(assignment)
    await work.finish()


@pytest.mark.rule("ADM-35")
async def test_nothing_is_published_if_the_approver_lost_the_role(
    api: httpx2.AsyncClient,
    host: Host,
    worker: Worker,
    admin: asyncpg.Connection,
    author: Person,
    approver: Person,
):
    config_id = (await approved(api, author, approver))["id"]
    await revoke_roles(host, approver)
    await worker.sweep()

    blocked = await shown(api, author, config_id)
    events = await published(admin, config_id)
    print(f"status={blocked['status']} blocked={blocked['blocked']} events={events}")
    assert (blocked["status"], blocked["blocked"]) == ("approved", "approver_not_allowed")
    assert (blocked["publishAttempts"], events) == (0, 0)
    path = f"{PATH}/{config_id}/withdraw"
    other = await people.staff(host, "platform_policy_author")
    assert (await api.post(path, json=WHY, headers=other.headers)).status_code == 403
    withdrawn = await api.post(path, json=WHY, headers=author.headers)
    assert withdrawn.json()["status"] == "withdrawn"


async def test_one_document_of_a_policy_is_in_flight(
    api: httpx2.AsyncClient, author: Person, approver: Person
):
    created = await api.post(PATH, json=BODY, headers=author.headers)
    second = await api.post(PATH, json=BODY, headers=author.headers)
    rejected = await api.post(
        f"{PATH}/{created.json()['id']}/reject", json=WHY, headers=approver.headers
    )
    third = await api.post(PATH, json=BODY, headers=author.headers)

    assert (second.status_code, second.json()["code"]) == (409, "administration-change-in-flight")
    assert rejected.json()["status"] == "rejected"
    assert (third.status_code, third.json()["policyNumber"]) == (201, 2)


async def test_the_target_domain_checks_a_document_at_once(api: httpx2.AsyncClient, author: Person):
    wrong = await api.post(
        PATH, json=BODY | {"document": {"maxDays": 4000}}, headers=author.headers
    )
    cedar = await api.post(
        PATH,
        json=BODY
        | {"policyKey": "identity.access", "document": "permit(principal,action,resource);"},
        headers=author.headers,
    )
    setting = await api.post(
        PATH, json=BODY | {"policyKey": "law.vat.rate"}, headers=author.headers
    )

    assert (wrong.status_code, wrong.json()["code"]) == (422, "administration-policy-invalid")
    assert wrong.json()["errors"][0]["pointer"] == "/document/maxDays"
    assert cedar.json()["code"] == "administration-policy-invalid"
    assert setting.json()["code"] == "administration-unknown-key"


async def test_policies_are_listed_by_what_they_are(
    api: httpx2.AsyncClient, host: Host, author: Person
):
    long_ago = host.now() - timedelta(hours=1)
    policy = await made.policy(host, status=PolicyStatus.PUBLISHED, published_at=long_ago)

    async def listed(query: str) -> list[str]:
        answer = await api.get(f"{PATH}?policyKey={POLICY}&{query}", headers=author.headers)
        return [one["id"] for one in answer.json()["items"]]

    assert await listed("late=true&targetDomain=billing") == [str(policy.id)]
    assert await listed("inForce=false&status=published") == [str(policy.id)]
    assert await listed("late=false") == await listed("inForce=true") == []
