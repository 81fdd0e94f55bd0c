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
    type: Literal["user", "api_key", "service", "platform"]
    id: UUID
    session_id: Annotated[UUID | None, Field(description="Left out: the session that asks.")] = None


class AskedTenant(Body):
    type: Literal["organization", "person", "platform"]
    id: UUID | None = None


class AskedAction(Body):
    name: Annotated[
        ActionName,
        Field(description="A permission code.", examples=["organization:equipment:create"]),
    ]


class AskedResource(Body):
    type: Annotated[str, text(1, 80)]
    id: Annotated[str, text(1, 80)] | None = None
    parents: Annotated[
        list[Annotated[str, text(1, 120)]],
        Field(max_length=20, description="What it hangs under, as `bid.workspace/<id>`."),
    ] = []


class AskedAgent(Body):
    agent_id: Annotated[str, text(1, 80)]
    version: Annotated[str, text(1, 40)]


class AskedContext(Body):
    request_id: Annotated[str, text(1, 128)]
    channel: Literal["http", "job", "reaction", "agent"]
    network: Annotated[str, text(1, 64)] | None = None
    amount: Annotated[
        int | None, whole(0, 10**15), Field(description="In minor units, where money is moved.")
    ] = None
    agent: Annotated[
        AskedAgent | None, Field(description="The machine that acts for the person.")
    ] = None


class Authorize(Body):
    """All five parts are required (specification, section 2)."""

    actor: AskedActor
    tenant: AskedTenant
    action: AskedAction
    resource: AskedResource
    context: AskedContext


class AuthorizeMany(Body):
    questions: Annotated[list[Authorize], Field(min_length=1, max_length=100)]


class DecisionView(View):
    decision: Literal["allow", "deny"]
    decision_id: UUID
    reason_code: Annotated[str, Field(description="The first stage that failed, or `allowed`.")]
    obligations: Annotated[
        list[dict[str, Any]], Field(description="What whoever acts on an allow must keep to.")
    ]
    policy_version: str
    entitlement: Annotated[
        dict[str, Any] | None, Field(description="What the plan says of the feature behind it.")
    ]
    remedy: Annotated[dict[str, Any] | None, Field(description="The shortest way to a yes.")]
    decided_at: datetime


class DecisionsView(View):
    items: Annotated[list[DecisionView], Field(description="In the order of the questions.")]


class StageView(View):
    stage: str
    passes: bool
    reason_code: str | None
    remedy: dict[str, Any] | None


class ExplainedView(View):
    decision: DecisionView
    stages: Annotated[
        list[StageView], Field(description="All of them, also behind the first that fails.")
    ]


class RecordView(View):
    """A decision that was kept."""

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
    purpose: Annotated[str, Field(description="`entrance`, `question` or `inspection`.")]
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
    """Ask whether you may do something. Both allow and deny are 200; it is true now, not later.

    You may ask about yourself. Whatever you may not know of is answered like what does not exist:
    deny with `no_membership`.
    """
    (made,) = await decisions.check_many(read.host, [_own(body, read)])
    return DecisionView.shown(made.model_dump())


@router.post("/identity/authorize/batch")
async def authorize_batch(
    body: AuthorizeMany, read: Annotated[Reader, reads(Permission.DECISION_CHECK)]
) -> DecisionsView:
    """Ask up to 100 questions at once, say for the buttons of a page; answered in order."""
    made = await decisions.check_many(read.host, [_own(one, read) for one in body.questions])
    return DecisionsView(items=[DecisionView.shown(one.model_dump()) for one in made])


@router.post("/identity/decisions/explain")
async def explain_decision(
    body: Authorize, read: Annotated[Reader, reads(Permission.DECISION_INSPECT)]
) -> ExplainedView:
    """See every stage of a decision about somebody of your organization, and what would help.

    It binds nobody, and it is written into the trail who looked. Without the right to inspect you
    see only yourself.
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
    """Decisions that were kept: denies, questions, and allows of what is grave, for 90 days.

    Whoever may inspect sees those of the organization; everybody else what they were refused.
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
    """One decision, by the `decisionId` that an answer or a refusal carried."""
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
