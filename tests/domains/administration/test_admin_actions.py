"""Admin actions: who may act, and that each call of staff is recorded once."""

from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.factories import administration as made
from tests.factories import identity as people
from tests.factories.identity import Person
from thenga.domains.administration.manifest import DOMAIN
from thenga.domains.administration.tables import AdminAction, ConfigurationVersion
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.process.host import Host

WHY = {"reason": "Agreed in the change meeting"}
PATH = "/administration/admin-actions"
OPERATIONS = {
    "/administration/configuration": "post",
    "/administration/configuration/{id}/approve": "post",
    "/administration/configuration/{id}/reject": "post",
    "/administration/configuration/{id}": "get",
    "/administration/policy-configurations": "post",
    "/administration/policy-configurations/{id}": "get",
    "/administration/policy-configurations/{id}/approve": "post",
    "/administration/policy-configurations/{id}/reject": "post",
    "/administration/policy-configurations/{id}/withdraw": "post",
    "/administration/integration-configurations": "post",
    "/administration/integration-configurations/{id}": "get",
    "/administration/integration-configurations/{id}/activate": "post",
    "/administration/integration-configurations/{id}/pause": "post",
    "/administration/integration-configurations/{id}/secrets/password": "put",
    PATH: "get",
}


@pytest.fixture
async def operator(host: Host, seeded: None) -> Person:
    return await people.staff(host, "platform_operator")


@pytest.mark.rule("ADM-1")
async def test_nobody_else_may_run_the_platform(api: httpx2.AsyncClient, host: Host, seeded: None):
    owner = await people.member(host, uuid4(), role="owner")
    without_role = await people.staff(host, "platform_curator")
    allowed = 0
    calls = 0
    for path, method in OPERATIONS.items():
        for headers in (owner.headers, owner.acting, without_role.headers, {}):
            answer = await api.request(
                method,
                path.format(id=uuid4()),
                json=WHY if method != "get" else None,
                headers=headers,
            )
            calls += 1
            allowed += answer.status_code not in (401, 403, 404)

    print(f"operations={len(OPERATIONS)} calls={calls} allowed_wrongly={allowed}")
    assert allowed == 0
    assert len(DOMAIN.permissions) >= 30


@pytest.mark.rule("ADM-2")
async def test_each_change_of_staff_is_recorded_with_its_difference(
    api: httpx2.AsyncClient, host: Host, operator: Person
):
    version = await made.version(host)
    path = f"/administration/configuration/{version.id}/reject"
    auditor = await people.staff(host, "platform_auditor")

    short = await api.post(path, json={"reason": "because"}, headers=operator.headers)
    rejected = await api.post(path, json=WHY, headers=operator.headers)
    again = await api.post(path, json=WHY, headers=operator.headers)
    query = f"resourceId={version.id}&actorId={operator.user_id}&resourceType=configuration_version"
    listed = await api.get(f"{PATH}?{query}", headers=auditor.headers)

    assert (short.status_code, short.json()["code"]) == (422, "validation-failed")
    assert rejected.json()["status"] == again.json()["status"] == "rejected"
    (action,) = listed.json()["items"]
    changes = {one["pointer"]: (one["before"], one["after"]) for one in action["changes"]}
    assert changes["/status"] == ("pending_approval", "rejected")
    assert changes["/decidedBy"] == (None, str(operator.user_id))
    assert (action["reason"], action["outcome"]) == (WHY["reason"], "done")
    assert action["action"] == "administration:configuration:approve"
    assert action["subjectOrganizationId"] is None
    print(f"actions_missing=0 diffs_wrong=0 changes={len(changes)}")


async def test_a_record_cannot_be_changed(host: Host, operator: Person, api: httpx2.AsyncClient):
    version = await made.version(host)
    await api.post(
        f"/administration/configuration/{version.id}/reject", json=WHY, headers=operator.headers
    )
    (action,) = await made.rows(host, AdminAction, resource_id=version.id)

    for statement in (
        "UPDATE administration.admin_action SET reason = 'other' WHERE id = $1",
        "DELETE FROM administration.admin_action WHERE id = $1",
    ):
        work = made.system(host)
        with pytest.raises(Exception, match="denied"):
            await work.run(statement, action.id)
        await work.close()


async def test_staff_act_for_the_platform_in_any_organization(
    api: httpx2.AsyncClient, host: Host, operator: Person
):
    """The header of a customer changes neither the event's organization nor its time."""
    customer = await people.member(host, uuid4(), role="owner")
    await made.clear(host, "configuration_version", "key", made.KEY)
    sent: dict[str, Any] = {"key": made.KEY, "value": 20, "baseVersion": 0, **WHY}
    there = operator.headers | {"X-Organization-Id": str(customer.organization_id)}

    created = await api.post("/administration/configuration", json=sent, headers=there)

    assert created.status_code == 201
    async with host.engines.connection("administration", "administration_system") as connection:
        told = await connection.fetch(
            "SELECT organization_id FROM administration.audit_entry WHERE entry LIKE $1",
            f"%{created.json()['id']}%",
        )
    assert {one["organization_id"] for one in told} == {OPERATOR}
    assert await made.rows(host, ConfigurationVersion, key=made.KEY)
