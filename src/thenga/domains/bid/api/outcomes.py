"""Outcomes of bids."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Response
from pydantic import Field

from thenga.domains.bid.api.parameters import EntryKey, WorkspaceId
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.public import LossReason, OutcomeResult, OutcomeStage
from thenga.domains.bid.services import outcomes
from thenga.domains.bid.services.outcomes import BidAwardIncomplete, BidReasonsRequired
from thenga.domains.bid.tables import Outcome
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import (
    FileNotClean,
    InvalidTransition,
    PreconditionRequired,
    RuleViolated,
    StaleVersion,
)
from thenga.kernel.http.bodies import Body, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, decimal, lines, text
from thenga.kernel.values.json_writer import to_json
from thenga.kernel.values.money import Money

router = make_router("Bid / Outcomes")

Scores = dict[EntryKey, Annotated[Decimal, decimal(6, 4)]]
FileIds = Annotated[list[UUID], Field(max_length=20, description="Files of the bid.")]


class OutcomeReason(Body):
    """Reason why a bid did not win."""

    code: Annotated[LossReason, Field(description="Code of the reason.")]
    text: Annotated[
        Annotated[str, lines(1, 1000)] | None, Field(description="Reason in the buyer's words.")
    ] = None


class OutcomeWinner(Body):
    """The winning bid, as far as known."""

    name: Annotated[
        Annotated[str, text(1, 200)] | None, Field(description="Name of the bidder.")
    ] = None
    price: Annotated[Money | None, Field(description="Price of the bid.")] = None
    scores: Annotated[Scores | None, Field(max_length=20, description="Points by criterion.")] = (
        None
    )


class OutcomeFeedback(Body):
    """Feedback from the buyer."""

    requested_on: Annotated[Day | None, Field(description="Date of the request.")] = None
    received_on: Annotated[Day | None, Field(description="Date of receipt.")] = None
    summary: Annotated[Annotated[str, lines(1, 5000)] | None, Field(description="Summary.")] = None
    file_ids: FileIds = []


class OutcomeLesson(Body):
    """A lesson learned."""

    category: Annotated[str, text(1, 60), Field(description="Category of your choice.")]
    text: Annotated[str, lines(1, 2000), Field(description="Lesson learned.")]
    shared: Annotated[bool, Field(description="Whether every member can read it.")] = False


class OutcomeAppeal(Body):
    """An appeal against the decision."""

    status: Annotated[
        Literal["none", "lodged", "upheld", "dismissed"], Field(description="Status of the appeal.")
    ]
    lodged_on: Annotated[Day | None, Field(description="Date on which it was lodged.")] = None
    due_on: Annotated[Day | None, Field(description="Last day to appeal.")] = None


class RecordBidOutcome(Body):
    """Outcome to record. Omitted fields stay unchanged."""

    result: Annotated[
        OutcomeResult, Field(description="Result. Send `pending` if an award was set aside.")
    ] = "pending"
    reason: Annotated[
        Annotated[str, lines(1, 1000)] | None,
        Field(description="Why the result changed. Required to set an award aside."),
    ] = None
    stage: Annotated[OutcomeStage | None, Field(description="Stage of the evaluation.")] = None
    decided_on: Annotated[Day | None, Field(description="Date of the decision.")] = None
    award_reference: Annotated[
        Annotated[str, text(1, 200)] | None, Field(description="Reference of the award.")
    ] = None
    awarded_value: Annotated[Money | None, Field(description="Value of the award.")] = None
    file_ids: FileIds = []
    our_scores: Annotated[
        Scores | None, Field(max_length=20, description="Our points by criterion.")
    ] = None
    winner: Annotated[OutcomeWinner | None, Field(description="Winning bid.")] = None
    reasons: Annotated[
        list[OutcomeReason], Field(max_length=10, description="Reasons for the result.")
    ] = []
    feedback: Annotated[OutcomeFeedback | None, Field(description="Feedback from the buyer.")] = (
        None
    )
    lessons: Annotated[
        dict[EntryKey, OutcomeLesson | None],
        Field(max_length=50, description="Lessons by key. Null removes one."),
    ] = {}
    appeal: Annotated[OutcomeAppeal, Field(description="Appeal against the decision.")] = (
        OutcomeAppeal(status="none")
    )


class PublishedAwardView(View):
    """An award as the buyer published it."""

    award_id: Annotated[str, Field(description="ID at the source.")]
    date: Annotated[str | None, Field(description="Date of the award.")]
    value: Annotated[str | None, Field(description="Currency and amount in cents.")]


class OutcomeHintView(View):
    """Award as published in Opportunity. For information only."""

    awards: Annotated[list[PublishedAwardView], Field(description="Published awards.")]
    as_of: Annotated[datetime, Field(description="Time at which it was received.")]


class OutcomeReasonView(View):
    """Reason why a bid did not win."""

    code: Annotated[str, Field(description="Code of the reason.")]
    text: Annotated[str | None, Field(description="Reason in the buyer's words.")]


class OutcomeWinnerView(View):
    """The winning bid, as far as known."""

    name: Annotated[str | None, Field(description="Name of the bidder.")]
    price: Annotated[Money | None, Field(description="Price of the bid.")]
    scores: Annotated[dict[str, Decimal] | None, Field(description="Points by criterion.")]


class OutcomeFeedbackView(View):
    """Feedback from the buyer."""

    requested_on: Annotated[date | None, Field(description="Date of the request.")]
    received_on: Annotated[date | None, Field(description="Date of receipt.")]
    summary: Annotated[str | None, Field(description="Summary.")]
    file_ids: Annotated[list[UUID], Field(description="Files of the bid.")]


class OutcomeLessonView(View):
    """A lesson learned."""

    category: Annotated[str, Field(description="Category of your choice.")]
    text: Annotated[str, Field(description="Lesson learned.")]
    shared: Annotated[bool, Field(description="Whether every member can read it.")]


class OutcomeAppealView(View):
    """An appeal against the decision."""

    status: Annotated[
        Literal["none", "lodged", "upheld", "dismissed"], Field(description="Status of the appeal.")
    ]
    lodged_on: Annotated[date | None, Field(description="Date on which it was lodged.")]
    due_on: Annotated[date | None, Field(description="Last day to appeal.")]


class OutcomeStepView(View):
    """A change of the result."""

    result: Annotated[OutcomeResult, Field(description="New result.")]
    previous_result: Annotated[OutcomeResult, Field(description="Previous result.")]
    at: Annotated[datetime, Field(description="Time of the change.")]
    by: Annotated[UUID | None, Field(description="Person who recorded it.")]
    reason: Annotated[str | None, Field(description="Reason.")]


class BidOutcomeView(Stored):
    """Outcome of a bid."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Workspace of the bid.")]
    result: Annotated[OutcomeResult, Field(description="Result.")]
    revision: Annotated[int, Field(description="Number of times an award was recorded or changed.")]
    stage: Annotated[OutcomeStage | None, Field(description="Stage of the evaluation.")]
    decided_on: Annotated[date | None, Field(description="Date of the decision.")]
    award_reference: Annotated[str | None, Field(description="Reference of the award.")]
    awarded_value: Annotated[Money | None, Field(description="Value of the award.")]
    file_ids: Annotated[list[UUID], Field(description="Files of the bid.")]
    our_scores: Annotated[dict[str, Decimal] | None, Field(description="Our points by criterion.")]
    winner: Annotated[OutcomeWinnerView | None, Field(description="Winning bid.")]
    reasons: Annotated[list[OutcomeReasonView], Field(description="Reasons for the result.")]
    feedback: Annotated[OutcomeFeedbackView | None, Field(description="Feedback from the buyer.")]
    lessons: Annotated[dict[str, OutcomeLessonView], Field(description="Lessons by key.")]
    appeal: Annotated[OutcomeAppealView, Field(description="Appeal against the decision.")]
    hint: Annotated[OutcomeHintView | None, Field(description="Award that the buyer published.")]
    contradiction: Annotated[
        str | None, Field(description="Field that differs from the published award.")
    ]
    history: Annotated[list[OutcomeStepView], Field(description="Changes of the result.")]
    withheld: Annotated[list[str], Field(description="Parts that you cannot see.")]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/bids/workspaces/{self.workspace_id}/outcome"

    @classmethod
    def of(cls, outcome: Outcome, *, inside: bool = True) -> "BidOutcomeView":
        more: dict[str, Any] = {
            "result": outcome.status.value,
            "awarded_value": outcomes.value_of(outcome),
            "contradiction": outcomes.contradiction(outcome.__dict__),
            "withheld": [],
        }
        if not inside:
            shared = {key: one for key, one in outcome.lessons.items() if one["shared"]}
            more |= _OUTSIDE | {"lessons": shared, "withheld": ["outcome"]}
        return cls.model_validate(outcome.__dict__ | more)


# What those outside of the team see beside result and shared lessons.
_OUTSIDE: dict[str, Any] = {
    **dict.fromkeys(("stage", "decided_on", "award_reference", "awarded_value", "our_scores")),
    **dict.fromkeys(("winner", "feedback", "hint", "contradiction")),
    **{name: [] for name in ("file_ids", "reasons", "history")},
    "appeal": {"status": "none", "lodged_on": None, "due_on": None},
}


_LATER: dict[int | str, dict[str, Any]] = {
    200: {"description": "The outcome was updated.", "model": BidOutcomeView}
}


@router.post(
    "/bids/workspaces/{workspaceId}/outcome",
    status_code=201,
    response_model=BidOutcomeView,
    responses=_LATER
    | problems(
        BidAwardIncomplete,
        BidReasonsRequired,
        FileNotClean,
        InvalidTransition,
        PreconditionRequired,
        StaleVersion,
        RuleViolated,
    ),
)
async def record_bid_outcome(
    workspace_id: WorkspaceId,
    body: RecordBidOutcome,
    work: Annotated[Work, writes(Permission.OUTCOME_RECORD)],
) -> BidOutcomeView | Response:
    """Record the outcome of a submitted bid.

    The first record returns 201; later ones need `If-Match` and are merged into it. Contract is
    notified of a won bid. A lost or disqualified bid needs at least one reason code.
    """
    fields = body.changes()
    result, reason = fields.pop("result", None), fields.pop("reason", None)
    _, outcome, is_first = await outcomes.record(
        work, workspace_id, _columns(body, fields), result=result, reason=reason
    )
    view = BidOutcomeView.of(outcome)
    if is_first:
        return view
    headers = {"ETag": f'"{outcome.version}"'}
    return Response(to_json(view), media_type="application/json", headers=headers)


@router.get("/bids/workspaces/{workspaceId}/outcome")
async def get_bid_outcome(
    workspace_id: WorkspaceId, read: Annotated[Reader, reads(Permission.OUTCOME_READ)]
) -> BidOutcomeView:
    """Retrieve the outcome of a bid and the award that the buyer published.

    Outside the team, you see only the result and shared lessons.
    """
    outcome, inside = await outcomes.get_outcome(read, workspace_id)
    return BidOutcomeView.of(outcome, inside=inside)


def _columns(body: RecordBidOutcome, fields: dict[str, Any]) -> dict[str, Any]:
    """The columns of the fields that were sent; parts of them as they are shown."""
    shown = body.model_dump(mode="json", by_alias=True)
    for name, wire in _DOCUMENTS.items():
        if name in fields:
            fields[name] = shown[wire]
    if "awarded_value" in fields:
        value: Money | None = fields.pop("awarded_value")
        fields["awarded_minor"] = None if value is None else value.minor
        fields["awarded_currency"] = None if value is None else value.currency
    return fields


_DOCUMENTS = {
    "file_ids": "fileIds",
    "our_scores": "ourScores",
    "winner": "winner",
    "reasons": "reasons",
    "feedback": "feedback",
    "lessons": "lessons",
    "appeal": "appeal",
}
