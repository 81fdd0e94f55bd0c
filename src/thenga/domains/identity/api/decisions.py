"""The question every domain asks: may this actor do this, here, on this, now?"""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.identity import public
from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import decisions
from thenga.kernel.access.actors import ActorKind
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.read_audit import tell
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import Body, PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import paged
from thenga.kernel.values.fields import Instant, matching, text, whole

router = make_router("Identity / Authorization")
DecisionId = Annotated[UUID, Path(alias="decisionId")]
ActionName = Annotated[str, matching("^[a-z_]{2,40}:[a-z_]{2,40}:[a-z_]{2,40}$", 122)]


class AskedActor(Body):
    """Who wants to act."""

    type: Literal["user", "api_key", "service", "platform"]
    id: UUID
    session_id: Annotated[
        UUID | None, Field(description="Session to check. Defaults to the session that asks.")
    ] = None


class AskedTenant(Body):
    """Organization that the action is for."""

    type: Literal["organization", "person", "platform"]
    id: UUID | None = None


class AskedAction(Body):
    """Action to check."""

    name: Annotated[
        ActionName,
        Field(description="Permission code.", examples=["organization:equipment:create"]),
    ]


class AskedResource(Body):
    """Resource that the action concerns."""

    type: Annotated[str, text(1, 80)]
    id: Annotated[str, text(1, 80)] | None = None
    parents: Annotated[
        list[Annotated[str, text(1, 120)]],
        Field(max_length=20, description="Resources that contain it, as `bid.workspace/<id>`."),
    ] = []


class AskedAgent(Body):
    """AI agent that acts for a person."""

    agent_id: Annotated[str, text(1, 80)]
    version: Annotated[str, text(1, 40)]


class AskedContext(Body):
    """Circumstances of the action."""

    request_id: Annotated[str, text(1, 128)]
    channel: Literal["http", "job", "reaction", "agent"]
    network: Annotated[str, text(1, 64)] | None = None
    amount: Annotated[
        int | None, whole(0, 10**15), Field(description="Amount in minor units, if money is moved.")
    ] = None
    agent: Annotated[AskedAgent | None, Field(description="AI agent that acts for the person.")] = (
        None
    )


class Authorize(Body):
    """Question whether an actor is allowed to perform an action on a resource.

    All five parts are required.
    """

    actor: AskedActor
    tenant: AskedTenant
    action: AskedAction
    resource: AskedResource
    context: AskedContext


class AuthorizeMany(Body):
    """Up to 100 actions to check."""

    questions: Annotated[list[Authorize], Field(min_length=1, max_length=100)]


class DecisionView(View):
    """A decision to allow or deny an action."""

    decision: Literal["allow", "deny"]
    decision_id: UUID
    reason_code: Annotated[str, Field(description="First stage that failed, or `allowed`.")]
    obligations: Annotated[
        list[dict[str, Any]], Field(description="Conditions that apply to an allowed action.")
    ]
    policy_version: str
    entitlement: Annotated[
        dict[str, Any] | None, Field(description="What the plan says about the feature.")
    ]
    remedy: Annotated[
        dict[str, Any] | None, Field(description="Simplest change that would lead to an allow.")
    ]
    decided_at: datetime


class DecisionsView(View):
    """Decisions in the order of the questions."""

    items: Annotated[
        list[DecisionView], Field(description="Decisions in the order of the questions.")
    ]


class StageView(View):
    """A stage of a decision."""

    stage: str
    passes: bool
    reason_code: str | None
    remedy: dict[str, Any] | None


class ExplainedView(View):
    """A decision with all its stages."""

    decision: DecisionView
    stages: Annotated[
        list[StageView], Field(description="All stages, including those after the first failure.")
    ]


class RecordView(View):
    """A stored decision."""

    id: UUID
    decided_at: datetime
    organization_id: UUID | None
    actor_kind: str
    actor_id: UUID
    action: str
    resource: dict[str, Any]
    decision: str
    reason_code: str
    obligations: list[dict[str, Any]]
    remedy: dict[str, Any] | None
    policy_version: str
    purpose: Annotated[
        str,
        Field(
            description="What the decision was made for: `entrance`, `question` or `inspection`."
        ),
    ]
    channel: str
    request_id: str

    @classmethod
    def of(cls, record: Any) -> "RecordView":
        values = dict(record.items())
        return cls.shown(
            values | {"decided_at": values["created_at"], "actor_id": values["user_id"]}
        )


@router.post("/identity/authorize")
async def authorize(
    body: Authorize, read: Annotated[Reader, reads(Permission.DECISION_CHECK)]
) -> DecisionView:
    """Check whether you are allowed to do something.

    Allow and deny are both 200 and valid now, not later.

    You can ask about yourself. Resources that you cannot know of are answered as if they did not
    exist: deny with `no_membership`.
    """
    (made,) = await decisions.check_many(read.host, [_own(body, read)])
    return DecisionView.shown(made.model_dump())


@router.post("/identity/authorize/batch")
async def authorize_batch(
    body: AuthorizeMany, read: Annotated[Reader, reads(Permission.DECISION_CHECK)]
) -> DecisionsView:
    """Check up to 100 actions at once, for example for the buttons of a page.

    Answers keep the order.
    """
    made = await decisions.check_many(read.host, [_own(one, read) for one in body.questions])
    return DecisionsView(items=[DecisionView.shown(one.model_dump()) for one in made])


@router.post("/identity/decisions/explain")
async def explain_decision(
    body: Authorize, read: Annotated[Reader, reads(Permission.DECISION_INSPECT)]
) -> ExplainedView:
    """Explain every stage of a decision about a person, and what would change it.

    It grants nothing, and the audit trail records that you asked. Without the right to inspect you
    can ask only about yourself.
    """
    asked = _inspected(body, read)
    everybody = read.held_as == HeldAs.PLATFORM
    explained = await decisions.explain(read.host, asked, everybody=everybody)
    about = {"actorId": str(body.actor.id), "action": body.action.name}
    await tell(read, "identity:decision:inspect", ("decision", asked.actor.id), about)
    return ExplainedView(
        decision=DecisionView.shown(explained.decision.model_dump()),
        stages=[StageView.model_validate(one) for one in explained.stages],
    )


@router.get("/identity/decisions")
async def list_decisions(
    read: Annotated[Reader, reads(Permission.DECISION_INSPECT)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    actor_id: Annotated[UUID | None, Query(alias="actorId")] = None,
    action: Annotated[ActionName | None, Query()] = None,
    reason_code: Annotated[
        str | None, Query(alias="reasonCode", pattern="^[a-z_]+$", max_length=40)
    ] = None,
    decision: Annotated[Literal["allow", "deny"] | None, Query()] = None,
    since: Annotated[Instant | None, Query(alias="from")] = None,
    until: Annotated[Instant | None, Query(alias="to")] = None,
) -> PageOf[RecordView]:
    """List stored decisions: denies, checks and sensitive allows of the last 90 days.

    With the right to inspect you see those of the organization, otherwise only your own refusals.
    """
    filters = {
        "user_id": actor_id,
        "action": action,
        "reason_code": reason_code,
        "decision": decision,
        "since": since,
        "until": until,
    }
    rows, after = await decisions.list_records(read, page, filters=filters)
    items = [RecordView.of(row) for row in rows]
    return PageOf[RecordView].model_construct(items=items, next_cursor=after)


@router.get("/identity/decisions/{decisionId}")
async def get_decision(
    decision_id: DecisionId, read: Annotated[Reader, reads(Permission.DECISION_INSPECT)]
) -> RecordView:
    """Retrieve a decision by the `decisionId` of an answer or refusal."""
    return RecordView.of(await decisions.get_record(read, decision_id))


_NOBODY = UUID(int=0)  # what one may not ask about is asked about nobody


def _own(body: Authorize, read: Reader) -> public.Question:
    """The question, if it is about whoever asks; else the same about nobody (IDN-33)."""
    return _question(body, read, knows=_about_self(body, read))


def _about_self(body: Authorize, read: Reader) -> bool:
    actor = read.actor
    if actor.kind is ActorKind.API_KEY:
        return body.actor.type == "api_key" and body.actor.id == actor.id
    same = body.actor.type in ("user", "platform") and body.actor.id == actor.id
    return same and body.actor.session_id in (None, actor.session_id)


def _inspected(body: Authorize, read: Reader) -> public.Question:
    """Others only in the organization one inspects; staff look into any."""
    if read.held_as == HeldAs.PLATFORM:
        return _question(body, read, knows=True)
    here = read.held_as == HeldAs.TENANT and body.tenant.id == read.organization_id
    inside = here and body.tenant.type == "organization" and body.actor.type != "service"
    return _question(body, read, knows=inside or _about_self(body, read))


def _question(body: Authorize, read: Reader, *, knows: bool) -> public.Question:
    self = _about_self(body, read)
    context = body.context
    agent = context.agent
    return public.Question(
        actor=public.ActorRef(
            type=body.actor.type if knows else "user",
            id=body.actor.id if knows else _NOBODY,
            session_id=read.actor.session_id if self else body.actor.session_id if knows else None,
        ),
        organization_id=_organization(body.tenant),
        action=body.action.name,
        resource=public.ResourceRef(
            type=body.resource.type, id=body.resource.id, parents=body.resource.parents
        ),
        channel=context.channel,
        request_id=context.request_id,
        network=context.network or read.origin.network,
        amount=context.amount,
        agent=None if agent is None else public.AgentRef(**agent.model_dump()),
    )


def _organization(tenant: AskedTenant) -> UUID | None:
    """None where the question is about no organization; one without an identifier is nobody's."""
    return (tenant.id or _NOBODY) if tenant.type == "organization" else None
