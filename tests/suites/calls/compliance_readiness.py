"""Calls of expiry, readiness, risks and suggestions."""

from uuid import UUID, uuid4

from tests.factories import compliance_treated as treated
from tests.factories.identity import Person
from tests.suites.calls.sending import Maker, Sent
from thenga.kernel.process.host import Host


def _acting(organization_id: UUID) -> dict[str, str]:
    return {"X-Organization-Id": str(organization_id)}


async def _listing(host: Host, who: Person, organization_id: UUID) -> Sent:
    return Sent({"organizationId": organization_id}, headers=_acting(organization_id))


async def _risks(host: Host, who: Person, organization_id: UUID) -> Sent:
    await treated.risk(host, organization_id)
    return Sent({"organizationId": organization_id}, headers=_acting(organization_id))


async def _suggestions(host: Host, who: Person, organization_id: UUID) -> Sent:
    await treated.suggestion(host, organization_id, who.user_id)
    return Sent({"organizationId": organization_id}, headers=_acting(organization_id))


async def _change_risk(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await treated.risk(host, organization_id)
    body = {"title": f"Tax PIN {uuid4().hex[:8]}"}
    return Sent({"riskId": made.id}, lambda _: body, _acting(organization_id) | {"If-Match": '"1"'})


async def _review(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await treated.suggestion(host, organization_id, who.user_id)
    body = {"decision": "reject", "reasonCode": "wrong_date"}
    return Sent({"suggestionId": made.id}, lambda _: body, _acting(organization_id))


MAKERS: dict[str, Maker] = {
    "list_expiry": _listing,
    "get_readiness": _listing,
    "list_compliance_risks": _risks,
    "change_compliance_risk": _change_risk,
    "list_ai_suggestions": _suggestions,
    "review_ai_suggestion": _review,
}
QUERIES = {
    "list_expiry": "?organizationId={organizationId}",
    "list_compliance_risks": "?organizationId={organizationId}",
    "list_ai_suggestions": "?organizationId={organizationId}",
}
