"""Calls of preferences, of the graph and of health."""

from uuid import UUID, uuid4

from tests.factories import organization
from tests.factories.identity import Person
from tests.suites.calls.sending import Maker, Sent, of_organization
from thenga.domains.organization import public
from thenga.domains.organization.services.offers import procurement_preferences
from thenga.kernel.process.host import Host


async def _preferences(host: Host, who: Person, organization_id: UUID) -> int:
    """The version in force, which is never the defaults."""
    work = organization.working(host, who.user_id, organization_id)
    held = await procurement_preferences.current_preferences(work)
    if held.version == 0:
        work.if_match = 0
        wanted = public.PreferenceSet(keywords=["first"])
        held = await procurement_preferences.replace_preferences(work, wanted=wanted)
    await work.finish()
    return held.version


async def _said_once(host: Host, who: Person, organization_id: UUID) -> Sent:
    await _preferences(host, who, organization_id)
    return Sent({"organizationId": organization_id})


async def _saying(host: Host, who: Person, organization_id: UUID) -> Sent:
    version = await _preferences(host, who, organization_id)
    body = {"keywords": [f"roads {uuid4().hex[:12]}"]}
    headers = {"If-Match": f'"{version}"'}
    return Sent({"organizationId": organization_id}, lambda _: body, headers)


MAKERS: dict[str, Maker] = {
    "get_procurement_preferences": of_organization,
    "replace_procurement_preferences": _saying,
    "list_procurement_preferences_versions": of_organization,
    "get_procurement_preferences_version": _said_once,
    "get_intelligence_graph": of_organization,
    "get_health": of_organization,
}
