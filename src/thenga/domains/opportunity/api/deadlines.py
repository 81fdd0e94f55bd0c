"""Deadlines of a tender."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.opportunity.api.tender_fields import (
    DeadlineRuleBody,
    DeadlineView,
    Precision,
    TenderOpportunityId,
)
from thenga.domains.opportunity.permissions import Permission
from thenga.domains.opportunity.services import notices, tenants
from thenga.domains.opportunity.services.notices import WishedDeadline
from thenga.domains.opportunity.tables import Deadline, TenderOpportunity
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, RuleViolated
from thenga.kernel.http.bodies import Body, Known
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, TimeZoneName, text

router = make_router("Opportunity / Deadlines")

DeadlineId = Annotated[UUID, Path(alias="deadlineId")]


class AddDeadline(Body):
    """A deadline at `dueAt` or by a `rule`. The same kind and label updates the existing one."""

    kind: Annotated[
        Literal["clarification", "validity_end", "award_expected", "document_fee", "own"],
        Field(description="Kind. Closing and briefings are set with the tender."),
    ]
    label: Annotated[Annotated[str, text(1, 80)], Field(description="Name of the deadline.")] = (
        "Deadline"
    )
    due_at: Annotated[Instant | None, Field(description="When it is due.")] = None
    rule: DeadlineRuleBody | None = None
    precision: Precision = "minute"
    time_zone: Annotated[TimeZoneName, Field(description="Time zone of the date.")] = (
        "Africa/Johannesburg"
    )
    withdrawn: Annotated[bool, Field(description="True to withdraw the deadline.")] = False

    def wished(self) -> WishedDeadline:
        rule = self.rule
        days = None if rule is None else (rule.working_days, rule.calendar_days)
        if (self.due_at is None) == (rule is None) or (days and days.count(None) != 1):
            raise RuleViolated(
                "Send `dueAt`, or `rule` with working or calendar days.",
                rule="OPP-28",
                field="dueAt",
            )
        return WishedDeadline(
            kind=self.kind,
            label=self.label,
            due_at=self.due_at,
            rule=None if rule is None else rule.stored(),
            precision=self.precision,
            time_zone=self.time_zone,
            withdrawn=self.withdrawn,
        )


@router.post(
    "/opportunities/{tenderOpportunityId}/deadlines",
    status_code=201,
    responses=problems(RuleViolated),
)
async def add_deadline(
    tender_opportunity_id: TenderOpportunityId,
    body: AddDeadline,
    work: Annotated[Work, writes(Permission.DEADLINE_TRACK)],
) -> DeadlineView | Known[DeadlineView]:
    """Set a deadline. If you do not manage the tender, only you see it.

    If you already have one of this kind and label, it is moved or withdrawn; the response is 200.
    """
    await tenants.act_for_platform(work)
    wished = body.wished()
    tender = await work.get(TenderOpportunity, tender_opportunity_id)
    deadline, is_new = await notices.set_deadline(work, tender, wished)
    view = _view(work, tender, deadline)
    return view if is_new else Known(view)


@router.get("/opportunities/{tenderOpportunityId}/deadlines/{deadlineId}")
async def get_deadline(
    tender_opportunity_id: TenderOpportunityId,
    deadline_id: DeadlineId,
    read: Annotated[Reader, reads(Permission.OPPORTUNITY_READ)],
) -> DeadlineView:
    """Retrieve a deadline."""
    await tenants.act_for_platform(read)
    tender = await read.get(TenderOpportunity, tender_opportunity_id)
    deadline = await read.get(Deadline, deadline_id)
    if deadline.tender_opportunity_id != tender.id:
        raise NotFound()
    return _view(read, tender, deadline)


async def shown_deadlines(read: Reader, tender: TenderOpportunity) -> list[DeadlineView]:
    """All deadlines of a tender that the caller sees."""
    return [_view(read, tender, one) for one in await notices.deadlines_of(read, tender.id)]


def _view(read: Reader, tender: TenderOpportunity, deadline: Deadline) -> DeadlineView:
    own = deadline.organization_id != tender.organization_id
    return DeadlineView.of(deadline, notices.state_of(deadline, read.now), own=own)
