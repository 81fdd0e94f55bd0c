"""Admin actions: what staff did, why, and what it changed."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.administration.permissions import Permission
from thenga.domains.administration.services import actions
from thenga.domains.administration.tables import AdminAction
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import paged
from thenga.kernel.values.fields import Instant, matching

router = make_router("Administration / Admin action")

ActionCode = Annotated[str, matching("^[a-z_]+:[a-z_]+:[a-z_]+$", 120)]
ResourceType = Annotated[str, matching("^[a-z][a-z_]*$", 60)]


class ChangedValueView(View):
    """One value that an action changed."""

    pointer: Annotated[str, Field(description="JSON pointer into the resource.")]
    before: Annotated[Any, Field(description="Previous value. Long texts are shown as a hash.")]
    after: Annotated[Any, Field(description="New value. Encrypted values show a fingerprint.")]


class AdminActionView(View):
    """An action of staff. It never changes."""

    id: Annotated[UUID, Field(description="Unique identifier of the action.")]
    at: Annotated[datetime, Field(description="Time of the action.")]
    actor_id: Annotated[UUID, Field(description="Person who did it.")]
    session_id: Annotated[UUID | None, Field(description="Session of that person.")]
    action: Annotated[str, Field(description="Permission used.")]
    resource_type: Annotated[str, Field(description="Type of the resource.")]
    resource_id: Annotated[UUID, Field(description="ID of the resource.")]
    subject_organization_id: Annotated[
        UUID | None, Field(description="Affected customer. Null if there is none.")
    ]
    decision_id: Annotated[
        UUID | None, Field(description="ID of the access decision. Null if it was not recorded.")
    ]
    outcome: Annotated[Literal["done"], Field(description="Result of the call.")]
    request_id: Annotated[str, Field(description="ID of the request.")]
    reason: Annotated[str, Field(description="Reason given by the person.")]
    changes: Annotated[list[ChangedValueView], Field(description="Changes made.")]
    truncated: Annotated[bool, Field(description="Whether `changes` is cut off.")]
    digest: Annotated[str, Field(description="SHA-256 of all changes.")]

    @classmethod
    def of(cls, action: AdminAction) -> "AdminActionView":
        changes = [ChangedValueView.model_validate(one) for one in action.changes]
        return cls.shown(action.__dict__ | {"at": action.created_at, "changes": changes})


ActorId = Annotated[UUID | None, Query(alias="actorId", description="Filter by person.")]
OfAction = Annotated[ActionCode | None, Query(description="Filter by permission.")]
OfType = Annotated[
    ResourceType | None, Query(alias="resourceType", description="Filter by type of resource.")
]
ResourceId = Annotated[UUID | None, Query(alias="resourceId", description="Filter by resource.")]
SubjectId = Annotated[
    UUID | None,
    Query(alias="subjectOrganizationId", description="Filter by customer."),
]
DecisionId = Annotated[
    UUID | None, Query(alias="decisionId", description="Filter by access decision.")
]
Since = Annotated[Instant | None, Query(alias="from", description="Done at this time or later.")]
Until = Annotated[Instant | None, Query(alias="to", description="Done before this time.")]


@router.get("/administration/admin-actions")
async def list_admin_actions(
    read: Annotated[Reader, reads(Permission.ADMIN_ACTION_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    actor_id: ActorId = None,
    action: OfAction = None,
    resource_type: OfType = None,
    resource_id: ResourceId = None,
    subject_organization_id: SubjectId = None,
    decision_id: DecisionId = None,
    since: Since = None,
    until: Until = None,
) -> PageOf[AdminActionView]:
    """List staff actions, newest first, with the reason and the changes of each."""
    found = await actions.list_actions(
        read,
        page,
        since=since,
        until=until,
        actor_id=actor_id,
        action=action,
        resource_type=resource_type,
        resource_id=resource_id,
        subject_organization_id=subject_organization_id,
        decision_id=decision_id,
    )
    return PageOf[AdminActionView].of(found, AdminActionView.of)
