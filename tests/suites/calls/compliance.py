"""Calls of the compliance profile, requirements and the South African summary."""

from typing import Any
from uuid import UUID, uuid4

from tests.factories import compliance as factory
from tests.factories.identity import Person
from tests.suites.calls.sending import Body, Ids, Maker, Sent, of_organization
from thenga.kernel.process.host import Host

FRESH = {"If-Match": '"1"'}


def _of(ids: Ids, **more: Any) -> dict[str, Any]:
    return {"organizationId": str(ids["organization"])} | more


async def _new_profile(host: Host, who: Person, organization_id: UUID) -> Sent:
    """A company has one profile, so the one of the call before is taken away."""
    async with host.engines.connection("compliance", "compliance_system") as connection:
        await connection.execute(
            "DELETE FROM compliance.profile WHERE organization_id = $1", organization_id
        )
    body = {"spheres": ["national"], "answers": {}}
    return Sent({"organizationId": organization_id}, lambda _: body)


def _on_profile(given: Body = None) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await factory.profile(host, organization_id)
        body = given and {"responsibleUserId": str(uuid4())}
        return Sent({"profileId": made.id}, lambda _: body)

    return sent


async def _new_requirement(host: Host, who: Person, organization_id: UUID) -> Sent:
    title = f"Visit to the site {uuid4().hex[:12]}"
    return Sent({"organization": organization_id}, lambda ids: _of(ids, title=title))


def _on_requirement(given: Body = None) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await factory.requirement(host, organization_id)
        body = given and {"title": f"Visit to the site {uuid4().hex[:12]}"}
        return Sent({"requirementId": made.id}, lambda _: body, FRESH if given else {})

    return sent


MAKERS: dict[str, Maker] = {
    "create_compliance_profile": _new_profile,
    "get_compliance_profile": _on_profile(),
    "change_compliance_profile": _on_profile({"responsibleUserId": ""}),
    "create_requirement": _new_requirement,
    "list_requirements": of_organization,
    "get_requirement": _on_requirement(),
    "change_requirement": _on_requirement({"title": ""}),
    "get_za_context": of_organization,
}
QUERIES = {"list_requirements": "?organizationId={organizationId}"}
