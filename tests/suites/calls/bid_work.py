"""Calls of Bid: workspaces, plans, tasks, comments, drafts, sections, the matrix and outcomes."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

from tests.factories import bid as factory
from tests.factories.identity import Person
from tests.suites.calls.sending import Body, Maker, Sent
from thenga.domains.bid.tables import WorkspaceStatus
from thenga.kernel.process.host import Host

_AT = "workspaceId"
_FIRST = {"If-Match": '"1"'}


async def _opening(host: Host, who: Person, organization_id: UUID) -> Sent:
    await factory.room(host, organization_id)
    made = await factory.tender(host)
    body = {"tenderOpportunityId": str(made.id), "access": "organization"}
    return Sent({}, lambda _: body)


def _on_workspace(given: Callable[[], Body] = lambda: None, **headers: str) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await factory.workspace(host, organization_id, who.user_id)
        body = given()
        return Sent({_AT: made.id}, lambda _: body, headers=dict(headers))

    return sent


def _on_part(
    name: str,
    make: Callable[[Host, Person, UUID, UUID], Awaitable[UUID]],
    given: Callable[[], Body] = lambda: None,
    **headers: str,
) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        workspace = await factory.workspace(host, organization_id, who.user_id)
        part_id = await make(host, who, organization_id, workspace.id)
        body = given()
        return Sent({name: part_id}, lambda _: body, headers=dict(headers))

    return sent


async def _task(host: Host, who: Person, organization_id: UUID, workspace_id: UUID) -> UUID:
    made = await factory.task(host, organization_id, workspace_id, owner_user_id=who.user_id)
    return made.id


async def _comment(host: Host, who: Person, organization_id: UUID, workspace_id: UUID) -> UUID:
    return (await factory.comment(host, organization_id, workspace_id, who.user_id)).id


async def _draft(host: Host, who: Person, organization_id: UUID, workspace_id: UUID) -> UUID:
    return (await factory.draft(host, organization_id, workspace_id))[0].id


async def _section(host: Host, who: Person, organization_id: UUID, workspace_id: UUID) -> UUID:
    return (await factory.draft(host, organization_id, workspace_id))[1].id


async def _answering(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.tender(host)
    asked = await factory.tenders.requirement(host, made, {"kind": "document", "params": {}})
    workspace = await factory.workspace(host, organization_id, who.user_id, of_tender=made)

    def body(ids: Any) -> dict[str, Any]:
        return {"rows": {str(asked.id): {"response": "partial", "note": uuid4().hex}}}

    return Sent({_AT: workspace.id}, body, headers=_FIRST)


async def _recording(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.workspace(
        host, organization_id, who.user_id, status=WorkspaceStatus.SUBMITTED
    )
    return Sent({_AT: made.id}, lambda _: {"stage": "evaluation"})


async def _on_outcome(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.workspace(
        host, organization_id, who.user_id, status=WorkspaceStatus.SUBMITTED
    )
    await factory.outcome(host, organization_id, made.id)
    return Sent({_AT: made.id})


async def _of_person(host: Host, who: Person, organization_id: UUID) -> Sent:
    return Sent()


def _text() -> dict[str, Any]:
    return {"content": f"We lay the road in eight weeks. {uuid4().hex}"}


def _named() -> dict[str, Any]:
    return {"title": f"Price the earthworks {uuid4().hex[:12]}"}


MAKERS: dict[str, Maker] = {
    "open_bid_workspace": _opening,
    "list_bid_workspaces": _of_person,
    "get_bid_workspace": _on_workspace(),
    "change_bid_workspace": _on_workspace(_named, **_FIRST),
    "make_bid_plan": _on_workspace(dict),
    "get_bid_plan": _on_workspace(),
    "add_bid_task": _on_workspace(_named),
    "list_bid_tasks": _of_person,
    "get_bid_task": _on_part("taskId", _task),
    "change_bid_task": _on_part("taskId", _task, _named),
    "add_bid_comment": _on_workspace(lambda: {"body": f"Who signs? {uuid4().hex}"}),
    "list_bid_comments": _on_workspace(),
    "get_bid_comment": _on_part("commentId", _comment),
    "change_bid_comment": _on_part("commentId", _comment, lambda: {"body": uuid4().hex}),
    "create_bid_draft": _on_workspace(
        lambda: {"title": f"Method {uuid4().hex}", "sections": [{"title": "Approach"}]}
    ),
    "get_bid_draft": _on_part("draftId", _draft),
    "get_bid_section": _on_part("sectionId", _section),
    "change_bid_section": _on_part("sectionId", _section, _text, **_FIRST),
    "get_compliance_matrix": _on_workspace(),
    "change_compliance_matrix": _answering,
    "record_bid_outcome": _recording,
    "get_bid_outcome": _on_outcome,
}
