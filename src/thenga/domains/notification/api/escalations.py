"""Escalations: open matters; the next people are notified until someone resolves them."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.notification.api.about import AboutView, ReferenceType
from thenga.domains.notification.api.schedules import TargetView
from thenga.domains.notification.lifecycles import EscalationLifecycle
from thenga.domains.notification.permissions import Permission
from thenga.domains.notification.public import Target
from thenga.domains.notification.services import escalations, tenants
from thenga.domains.notification.services.escalations import EscalationFilters
from thenga.domains.notification.tables import Escalation, EscalationStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.values.fields import Note

router = make_router("Notification / Escalations")

EscalationId = Annotated[UUID, Path(alias="escalationId")]


class ResolveEscalation(Body):
    """Resolution of an escalation."""

    code: Annotated[
        Literal["done", "not_needed", "duplicate"],
        Field(description="How it was resolved."),
    ]
    note: Annotated[Note | None, Field(description="Note on what was done.")] = None


class LogView(View):
    """An entry of the log."""

    kind: Annotated[Literal["opened", "step", "resolved"], Field(description="What happened.")]
    at: Annotated[datetime, Field(description="When it happened.")]
    level: Annotated[int, Field(description="Steps taken up to then.")]


class ResolutionView(View):
    """How an escalation ended."""

    code: Annotated[
        Literal["done", "not_needed", "duplicate", "automatic"],
        Field(description="How it was resolved. `automatic`: by an event."),
    ]
    note: str | None
    resolved_by: Annotated[
        UUID | None, Field(description="Person who resolved it. Null for events and domains.")
    ]
    resolved_at: datetime


class EscalationView(Stored):
    """An escalation. The targets of each next step are notified until it is resolved."""

    organization_id: UUID
    status: EscalationStatus
    policy_key: Annotated[str, Field(description="Policy that sets the steps.")]
    about: AboutView
    level: Annotated[int, Field(description="Steps taken so far.")]
    next_step_at: Annotated[
        datetime | None,
        Field(description="When the next people are notified. Null if there are none."),
    ]
    next_targets: Annotated[list[TargetView], Field(description="Groups notified next.")]
    targets_reached: Annotated[list[TargetView], Field(description="Groups notified so far.")]
    resolution: Annotated[
        ResolutionView | None, Field(description="Resolution. Null until it is resolved.")
    ]
    log: list[LogView]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/notifications/escalations/{self.id}"

    @classmethod
    def of(cls, escalation: Escalation, now: datetime) -> "EscalationView":
        return cls.model_validate(_values(escalation, now))


class PersonView(View):
    """A person and their name."""

    user_id: UUID
    name: str


class EscalationDetailView(EscalationView):
    """An escalation with the names of the people notified next."""

    next_people: Annotated[
        list[PersonView], Field(description="People in `nextTargets` today, at most 20.")
    ]


def _values(escalation: Escalation, now: datetime) -> dict[str, object]:
    policy = escalations.policy_of(escalation)
    following = policy.step(escalation.level)
    is_open = escalation.status is EscalationStatus.OPEN
    done = [policy.step(level) for level in range(min(escalation.level, len(policy.steps)))]
    return escalation.__dict__ | {
        "next_step_at": escalation.next_check_at,
        "next_targets": _shown(following.targets) if following and is_open else [],
        "targets_reached": _shown([target for one in done if one for target in one.targets]),
        "resolution": None
        if escalation.resolved_at is None
        else {
            "code": escalation.resolution_code,
            "note": escalation.resolution_note,
            "resolved_by": escalation.resolved_by,
            "resolved_at": escalation.resolved_at,
        },
        "allowed_moves": EscalationLifecycle.allowed(escalation, now),
    }


def _shown(targets: list[Target]) -> list[TargetView]:
    return [TargetView.model_validate(one) for one in targets]


@router.get("/notifications/escalations")
async def list_escalations(
    read: Annotated[Reader, reads(Permission.ESCALATION_READ)],
    page: Annotated[Paged, paged("createdAt", "nextStepAt", default="-createdAt")],
    status: Annotated[EscalationStatus | None, Query()] = None,
    level: Annotated[int | None, Query(ge=0, le=24, description="Steps taken so far.")] = None,
    about_type: Annotated[ReferenceType | None, Query(alias="aboutType")] = None,
    about_id: Annotated[UUID | None, Query(alias="aboutId")] = None,
    mine: Annotated[bool, Query(description="Only escalations that you were notified of.")] = False,
) -> PageOf[EscalationView]:
    """List escalations. Staff see those of the platform unless they name an organization."""
    await tenants.enter_own(read)
    filters = EscalationFilters(status, level, about_type, about_id, mine)
    found = await escalations.list_escalations(read, page, filters)
    return PageOf[EscalationView].of(found, lambda one: EscalationView.of(one, read.now))


@router.get("/notifications/escalations/{escalationId}")
async def get_escalation(
    escalation_id: EscalationId,
    read: Annotated[Reader, reads(Permission.ESCALATION_READ)],
) -> EscalationDetailView:
    """Retrieve an escalation with the names of the people notified next."""
    await tenants.enter_own(read)
    escalation = await read.get(Escalation, escalation_id)
    people = await escalations.next_people(read, escalation)
    named = [PersonView(user_id=user_id, name=name) for user_id, name in people.items()]
    return EscalationDetailView.model_validate(
        _values(escalation, read.now) | {"next_people": named}
    )


@router.post("/notifications/escalations/{escalationId}/resolve")
async def resolve_escalation(
    escalation_id: EscalationId,
    body: ResolveEscalation,
    work: Annotated[Work, writes(Permission.ESCALATION_RESOLVE)],
) -> EscalationView:
    """Resolve an escalation. No one else is notified after that."""
    await tenants.enter_own(work)
    found = await escalations.resolve_escalation(
        work, escalation_id, code=body.code, note=body.note
    )
    return EscalationView.of(found, work.now)
