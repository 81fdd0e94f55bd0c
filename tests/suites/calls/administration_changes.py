"""Calls of settings, policies, integrations and admin actions; all by staff."""

from typing import Any
from uuid import UUID, uuid4

from tests.factories import administration, identity
from tests.factories.identity import Person
from tests.suites.calls.sending import Maker, Sent, filled
from thenga.domains.administration.tables import IntegrationStatus, PolicyStatus
from thenga.kernel.process.host import Host

WHY = {"reason": "Asked for in case */2026"}
SEEN = {"If-Match": '"1"'}
SMTP = {
    "host": "smtp.example.test",
    "port": 587,
    "username": "thenga",
    "fromAddress": "hello@example.test",
}
OPERATOR, AUDITOR = "platform_operator", "platform_auditor"
AUTHOR, APPROVER = "platform_policy_author", "platform_policy_approver"


async def _sent(
    host: Host, role: str, body: Any = None, *, ids: dict[str, UUID] | None = None, **more: Any
) -> Sent:
    staff = await identity.staff(host, role)
    headers = staff.headers | more.pop("headers", {})
    return Sent(ids or {}, lambda _: body, headers, by_staff=True, **more)


def _reads(role: str) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        return await _sent(host, role)

    return make


async def _create_version(host: Host, who: Person, organization_id: UUID) -> Sent:
    declared = await administration.any_key(host, "configuration", "configuration_version", "key")
    body = {"key": declared.key, "value": declared.default_value, "baseVersion": 0}
    return await _sent(host, OPERATOR, filled(body | {"note": "As the committee decided *"} | WHY))


def _on_version(given: Any = None) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        version = await administration.version(host, key=await administration.declare(host))
        body = given and filled(given)
        return await _sent(host, OPERATOR, body, ids={"versionId": version.id}, headers=SEEN)

    return make


async def _create_policy(host: Host, who: Person, organization_id: UUID) -> Sent:
    table = "policy_configuration"
    declared = await administration.any_key(host, "policy", table, "policy_key")
    body = {
        "policyKey": declared.key,
        "document": declared.default_value,
        "note": "As the committee decided *",
    }
    return await _sent(host, AUTHOR, filled(body | WHY))


def _on_policy(role: str, given: Any = None) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        staff = await identity.staff(host, role)
        author = staff.user_id if role == AUTHOR else uuid4()
        key = f"billing.k{uuid4().hex}"
        policy = await administration.policy(
            host, author=author, key=key, status=PolicyStatus.SUBMITTED
        )
        body = given and filled(given)
        headers = staff.headers | SEEN
        return Sent({"configId": policy.id}, lambda _: body, headers, by_staff=True)

    return make


async def _create_integration(host: Host, who: Person, organization_id: UUID) -> Sent:
    body = {
        "kind": "notification.smtp",
        "name": "relay *",
        "environment": "sandbox",
        "settings": SMTP,
    }
    # The value of a secret is random, so that no walk takes it for a text it has seen elsewhere.
    sent = filled(body | WHY) | {"secrets": {"password": uuid4().hex}}
    return await _sent(host, OPERATOR, sent)


def _on_integration(
    given: Any = None,
    parts: dict[str, str] | None = None,
    status: IntegrationStatus = IntegrationStatus.PENDING,
) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        integration = await administration.integration(host, status=status)
        body = given and filled(given)
        ids = {"integrationId": integration.id}
        return await _sent(host, OPERATOR, body, ids=ids, parts=parts or {})

    return make


MAKERS: dict[str, Maker] = {
    "list_admin_actions": _reads(AUDITOR),
    "list_configuration": _reads(OPERATOR),
    "get_configuration": _on_version(),
    "create_configuration": _create_version,
    "approve_configuration": _on_version(WHY),
    "reject_configuration": _on_version(WHY),
    "list_policy_configurations": _reads(AUTHOR),
    "get_policy_configuration": _on_policy(AUTHOR),
    "create_policy_configuration": _create_policy,
    "approve_policy_configuration": _on_policy(APPROVER, WHY),
    "reject_policy_configuration": _on_policy(APPROVER, WHY),
    "withdraw_policy_configuration": _on_policy(AUTHOR, WHY),
    "list_integration_configurations": _reads(OPERATOR),
    "get_integration_configuration": _on_integration(),
    "create_integration_configuration": _create_integration,
    "change_integration_configuration": _on_integration({"settings": {"port": 465}} | WHY),
    "replace_integration_secret": _on_integration(
        {"value": "another value *"} | WHY, parts={"name": "password"}
    ),
    "activate_integration_configuration": _on_integration(WHY),
    "pause_integration_configuration": _on_integration(WHY, status=IntegrationStatus.ACTIVE),
}
