"""Calls of support cases and their messages, by the customer and by staff."""

from typing import Any
from uuid import UUID

from tests.factories import support
from tests.factories.identity import Person
from tests.suites.calls.sending import Maker, Sent, filled
from thenga.domains.administration.tables import SupportCase
from thenga.kernel.process.host import Host

_OPENED: dict[str, Any] = {
    "subject": "Sign-in fails *",
    "description": "The page stays empty after the password. *",
    "category": "access",
    "impact": "team",
    "urgency": "high",
}
_TRIAGED: dict[str, Any] = {
    "category": "access",
    "impact": "team",
    "urgency": "high",
    "reason": support.REASON,
}
_RESOLVED = {"code": "spam", "text": "Nobody asked for this. *", "reason": support.REASON}


async def _case(host: Host, who: Person, organization_id: UUID) -> SupportCase:
    await support.make_room(host, organization_id, newest=12)
    made = await support.standing_case(host, who.user_id, organization_id)
    await support.message(host, made)
    return made


async def _opening(host: Host, who: Person, organization_id: UUID) -> Sent:
    await support.make_room(host, organization_id, newest=6)
    body = filled(_OPENED)
    return Sent({}, lambda _: body, {"X-Organization-Id": str(organization_id)})


def _customer(given: dict[str, Any] | None = None, *, named: bool = True) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await _case(host, who, organization_id)
        body = None if given is None else filled(given)
        headers = {"X-Organization-Id": str(organization_id)}
        return Sent({"caseId": made.id} if named else {}, lambda _: body, headers)

    return make


def _staff(given: dict[str, Any]) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await _case(host, who, organization_id)
        agent, body = await support.agent(host), filled(given)
        return Sent({"caseId": made.id}, lambda _: body, agent.headers, by_staff=True)

    return make


MAKERS: dict[str, Maker] = {
    "open_support_case": _opening,
    "list_support_cases": _customer(named=False),
    "get_support_case": _customer(),
    "change_support_case": _customer({"subject": "Sign-in still fails *"}),
    "triage_support_case": _staff(_TRIAGED),
    "resolve_support_case": _staff(_RESOLVED),
    "list_support_messages": _customer(),
    "write_support_message": _customer({"body": "Any news of this? *"}),
}
