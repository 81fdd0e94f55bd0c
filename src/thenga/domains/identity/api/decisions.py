"""The question every domain asks: may this actor do this, here, on this, now?"""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.identity import public
from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import decisions
from thenga.kernel.db.reader import Reader
from thenga.kernel.fields import matching, text, whole
from thenga.kernel.http.bodies import Body, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads

router = make_router("Identity / Authorization")


class AskedActor(Body):
    type: Literal["user", "api_key", "service", "platform"]
    id: UUID
    session_id: Annotated[UUID | None, Field(description="Left out: the session that asks.")] = None


class AskedTenant(Body):
    type: Literal["organization", "person", "platform"]
    id: UUID | None = None


class AskedAction(Body):
    name: Annotated[
        str,
        matching("^[a-z_]{2,40}:[a-z_]{2,40}:[a-z_]{2,40}$", 122),
        Field(description="A permission code.", examples=["organization:equipment:create"]),
    ]


class AskedResource(Body):
    type: Annotated[str, text(1, 80)]
    id: Annotated[str, text(1, 80)] | None = None
    parents: Annotated[list[Annotated[str, text(1, 120)]], Field(max_length=20)] = []


class AskedContext(Body):
    request_id: Annotated[str, text(1, 128)]
    channel: Literal["http", "job", "reaction", "agent"]
    network: Annotated[str, text(1, 64)] | None = None
    amount: Annotated[int, whole(0, 10**15)] | None = None


class Authorize(Body):
    """All five parts are required (specification, section 2)."""

    actor: AskedActor
    tenant: AskedTenant
    action: AskedAction
    resource: AskedResource
    context: AskedContext


class DecisionView(View):
    decision: Literal["allow", "deny"]
    decision_id: UUID
    reason_code: Annotated[str, Field(description="The first stage that failed, or `allowed`.")]
    obligations: list[dict[str, Any]]
    policy_version: str
    entitlement: dict[str, Any] | None
    remedy: Annotated[dict[str, Any] | None, Field(description="The shortest way to a yes.")]
    decided_at: datetime


@router.post("/identity/authorize")
async def authorize(
    body: Authorize, read: Annotated[Reader, reads(Permission.DECISION_CHECK)]
) -> DecisionView:
    """Ask whether you may do something. Both allow and deny are 200; it is true now, not later.

    You may ask about yourself. Whatever you may not know of is answered like what does not exist:
    deny with `no_membership`.
    """
    about_self = body.actor.id == read.actor.id and body.actor.type == "user"
    known = body.actor.session_id in (None, read.actor.session_id)
    made = await decisions.check(
        read.host,
        actor=public.ActorRef(
            type=body.actor.type,
            id=body.actor.id,
            session_id=read.actor.session_id if about_self and known else None,
        ),
        organization_id=body.tenant.id if body.tenant.type == "organization" else None,
        action=body.action.name,
        resource=public.ResourceRef(
            type=body.resource.type, id=body.resource.id, parents=body.resource.parents
        ),
        channel=body.context.channel,
        request_id=body.context.request_id,
    )
    return DecisionView.model_validate(made.model_dump())
