"""Calls of keys, decisions and the trail."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from tests.factories import billing, held, identity
from tests.factories.identity import Person
from tests.suites.calls.sending import Body, Ids, Maker, Sent, of_person
from thenga.domains.billing.tables import Grant
from thenga.domains.identity import public
from thenga.domains.identity.services import decisions
from thenga.domains.identity.tables import ApiKey, ApiKeyStatus
from thenga.kernel.crypto import tokens
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

READ = "organization:equipment:read"


async def key(host: Host, who: Person, organization_id: UUID, scopes: list[str]) -> str:
    """A key of the organization; its text."""
    return (await _kept(host, who, organization_id, scopes))[1]


async def _with_a_plan(host: Host, organization_id: UUID) -> None:
    """API keys are no part of the free plan."""
    work = billing.working(host, organization_id)
    known = await work.find(Grant, entitlement="identity.api_access")
    await work.close()
    if known is None:
        await held.with_api_keys(host, organization_id)


async def _kept(
    host: Host, who: Person, organization_id: UUID, scopes: list[str]
) -> tuple[ApiKey, str]:
    text = tokens.mint(tokens.Prefix.KEY_TEST)
    work = identity.working(host, organization_id)
    made = await work.add(
        ApiKey(
            id=new_id(),
            organization_id=organization_id,
            hash=tokens.digest(text),
            name="Import",
            scopes=scopes,
            environment="test",
            prefix="thk_test",
            last4=text[-4:],
            allowed_networks=[],
            status=ApiKeyStatus.ACTIVE,
            expires_at=work.now + timedelta(days=30),
            sponsor_user_id=who.user_id,
        )
    )
    await work.finish()
    return made, text


def _on_key(given: dict[str, Any] | None = None) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        await _with_a_plan(host, organization_id)
        made, _ = await _kept(host, who, organization_id, [READ])
        body = None if given is None else given | {"reason": f"a suite {uuid4().hex}"}
        return Sent({"apiKeyId": made.id}, lambda _: body)

    return make


async def _creating(host: Host, who: Person, organization_id: UUID) -> Sent:
    """There is room for one more: the keys that suites made before are over."""
    await _with_a_plan(host, organization_id)
    work = identity.working(host, organization_id)
    await work.run(
        "UPDATE identity.api_key SET status = 'revoked' "
        "WHERE organization_id = $1 AND status = 'active' AND status_code = 'created'",
        organization_id,
    )
    await work.finish()
    name = f"Import {uuid4().hex[:12]}"
    return Sent(body=lambda _: {"name": name, "scopes": [READ], "reason": "a suite"})


def question(ids: Ids) -> dict[str, Any]:
    return {
        "actor": {"type": "user", "id": str(ids["actor"])},
        "tenant": {"type": "organization", "id": str(ids["tenant"])},
        "action": {"name": READ},
        "resource": {"type": "equipment", "id": str(ids["resource"])},
        "context": {"requestId": "suite", "channel": "http"},
    }


async def _asking(host: Host, who: Person, organization_id: UUID) -> Sent:
    ids = {"actor": who.user_id, "tenant": organization_id, "resource": new_id()}
    return Sent(ids, question)


async def _asking_much(host: Host, who: Person, organization_id: UUID) -> Sent:
    def body(ids: Ids) -> Body:
        return {"questions": [question(ids), question(ids)]}

    ids = {"actor": who.user_id, "tenant": organization_id, "resource": new_id()}
    return Sent(ids, body)


async def _on_decision(host: Host, who: Person, organization_id: UUID) -> Sent:
    """Something that everybody is refused, so that everybody finds it among their own."""
    asked = public.Question(
        actor=public.ActorRef(type="user", id=who.user_id, session_id=who.session_id),
        organization_id=organization_id,
        action="no_such:thing:here",
        resource=public.ResourceRef(type="thing"),
        channel="http",
        request_id="suite",
    )
    made = await decisions.check(host, asked)
    return Sent({"decisionId": made.decision_id})


MAKERS: dict[str, Maker] = {
    "create_api_key": _creating,
    "list_api_keys": of_person,
    "get_api_key": _on_key(),
    "rotate_api_key": _on_key({"gracePeriodHours": 1}),
    "revoke_api_key": _on_key({}),
    "authorize": _asking,
    "authorize_batch": _asking_much,
    "explain_decision": _asking,
    "list_decisions": of_person,
    "get_decision": _on_decision,
    "list_audit_events": of_person,
    "verify_audit_events": of_person,
}
