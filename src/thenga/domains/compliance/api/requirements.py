"""Requirements, and the catalogue that they come from."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query

from thenga.domains.compliance.api.organizations import check_acting
from thenga.domains.compliance.api.requirement_bodies import (
    ChangeRequirement,
    Component,
    CreateRequirement,
    Gate,
)
from thenga.domains.compliance.api.requirement_views import RequirementView
from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.services import documents, requirements, summaries
from thenga.domains.compliance.services.documents import Sight
from thenga.domains.compliance.services.requirements import ConditionNotUnderstood, TenderUnknown
from thenga.domains.compliance.tables import (
    Applicability,
    CatalogueEntry,
    Origin,
    Requirement,
)
from thenga.kernel.db import step_up
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.positions import cut
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, NotFound, RuleViolated
from thenga.kernel.http.bodies import PageOf
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Day

router = make_router("Compliance / Requirements")

RequirementId = Annotated[UUID, Path(alias="requirementId", description="ID of the requirement.")]
State = Literal[
    "met", "provisional", "partially_met", "missing", "expired", "failed", "unknown",
    "not_applicable",
]  # fmt: skip


@router.post(
    "/compliance/requirements",
    status_code=201,
    responses=problems(Duplicate, ConditionNotUnderstood, TenderUnknown, RuleViolated),
)
async def create_requirement(
    body: CreateRequirement, work: Annotated[Work, writes(Permission.REQUIREMENT_CREATE)]
) -> RequirementView:
    """Add a requirement of your own, or one that a tender asks for.

    Staff write the catalogue with `scope: platform`, `catalogue` and `reason`. That needs the
    permission `compliance:requirement:publish` and recent identity verification.
    """
    if body.scope == "platform":
        return RequirementView.of_entry(await _publish(work, body))
    if body.organization_id is None:
        raise RuleViolated(
            "Send the `organizationId` of your organization.",
            rule="organization-required",
            field="organizationId",
        )
    check_acting(work, body.organization_id)
    if (body.origin == "tender") != (body.tender_opportunity_id is not None):
        raise RuleViolated(
            "Send `tenderOpportunityId` with origin `tender`, and only then.",
            rule="tender-named",
            field="tenderOpportunityId",
        )
    fields = body.fields() | {"origin": Origin(body.origin)}
    sight = await documents.sight_of(work)
    row = await requirements.create_requirement(work, fields=fields)
    return await _shown(work, row, sight)


async def _publish(work: Work, body: CreateRequirement) -> CatalogueEntry:
    if not requirements.is_staff(work):
        raise NotFound()
    await requirements.demand_as_staff(work, Permission.REQUIREMENT_PUBLISH)
    step_up.demand(work)
    if body.catalogue is None or body.reason is None:
        raise RuleViolated(
            "Send the row in `catalogue`, and a `reason`.",
            rule="catalogue-and-reason",
            field="catalogue" if body.catalogue is None else "reason",
        )
    return await requirements.write_entry(
        work,
        entry_kind=body.catalogue.kind,
        content=body.catalogue.content(),
        reason=body.reason,
    )


OfOrganization = Annotated[
    UUID | None,
    Query(
        alias="organizationId",
        description="Your organization. Required unless `scope` is `catalogue`.",
    ),
]
Scope = Annotated[
    Literal["organization", "catalogue"],
    Query(description="`catalogue` lists definitions and document types in force."),
]
OfOrigin = Annotated[
    Literal["catalogue", "own", "tender"] | None, Query(description="Filter by origin.")
]
OfComponent = Annotated[Component | None, Query(description="Filter by component.")]
OfGate = Annotated[Gate | None, Query(description="Filter by gate.")]
OfState = Annotated[State | None, Query(description="Filter by assessment.")]
OfApplicability = Annotated[Applicability | None, Query(description="Filter by applicability.")]
OfTender = Annotated[
    UUID | None, Query(alias="tenderOpportunityId", description="Filter by tender.")
]
OfOwner = Annotated[UUID | None, Query(alias="ownerUserId", description="Filter by owner.")]


@router.get("/compliance/requirements")
async def list_requirements(
    read: Annotated[Reader, reads(Permission.REQUIREMENT_READ)],
    page: Annotated[Paged, paged("createdAt", "dueOn", "validUntil", default="createdAt")],
    organization_id: OfOrganization = None,
    scope: Scope = "organization",
    at: Annotated[Day | None, Query(description="Day on which the catalogue is in force.")] = None,
    on: Annotated[Day | None, Query(description="Day to evaluate. Defaults to today.")] = None,
    origin: OfOrigin = None,
    component: OfComponent = None,
    gate: OfGate = None,
    assessment: OfState = None,
    applicability: OfApplicability = None,
    tender_opportunity_id: OfTender = None,
    owner_user_id: OfOwner = None,
) -> PageOf[RequirementView]:
    """List requirements with their assessment on a day, or the catalogue in force on a day."""
    if scope == "catalogue":
        return _page(read, page, await _catalogue(read, at or on))
    if organization_id is None:
        raise NotFound("Name your organization with `organizationId`.")
    check_acting(read, organization_id)
    wanted: dict[str, Any] = {
        "origin": origin,
        "component": component,
        "gate": gate,
        "assessment": assessment,
        "applicability": applicability,
        "tender_opportunity_id": tender_opportunity_id,
        "owner_user_id": owner_user_id,
    }
    sight = await documents.sight_of(read)
    views = await _views(read, await requirements.all_requirements(read), sight, on)
    return _page(read, page, [view for view in views if _is_wanted(view, wanted)])


def _is_wanted(view: RequirementView, wanted: dict[str, Any]) -> bool:
    return all(getattr(view, name) == value for name, value in wanted.items() if value is not None)


async def _catalogue(read: Reader, at: date | None) -> list[RequirementView]:
    day = at or local_day(read.now)
    definitions = await requirements.definitions_on(read, day)
    types = await requirements.document_types_on(read, day)
    return [
        *(RequirementView.of_definition(row) for row in definitions.values()),
        *(RequirementView.of_document_type(row) for row in types.values()),
    ]


def _page(read: Reader, page: Paged, views: list[RequirementView]) -> PageOf[RequirementView]:
    place = _PLACES[page.sort]
    ordered = sorted(views, key=place, reverse=page.descending)
    items, cursor = cut(read, page, ordered, place)
    return PageOf[RequirementView](items=items, next_cursor=cursor)


def _by_created(view: RequirementView) -> tuple[str, ...]:
    return _instant(view.created_at), str(view.id)


def _by_due(view: RequirementView) -> tuple[str, ...]:
    return _day(view.due_on), str(view.id)


def _by_validity(view: RequirementView) -> tuple[str, ...]:
    return _day(view.valid_until), str(view.id)


def _day(found: date | None) -> str:
    return "9999-12-31" if found is None else found.isoformat()


def _instant(found: datetime) -> str:
    return found.strftime("%Y-%m-%dT%H:%M:%S.%f")


_PLACES: dict[str, Callable[[RequirementView], tuple[str, ...]]] = {
    "createdAt": _by_created,
    "dueOn": _by_due,
    "validUntil": _by_validity,
}


@router.get("/compliance/requirements/{requirementId}")
async def get_requirement(
    requirement_id: RequirementId,
    read: Annotated[Reader, reads(Permission.REQUIREMENT_READ)],
) -> RequirementView:
    """Get a requirement with its assessment today. Staff can also get catalogue rows."""
    found = await requirements.find_requirement(read, requirement_id)
    if found is not None:
        return await _shown(read, found, await documents.sight_of(read))
    entry = await requirements.find_entry(read, requirement_id)
    if entry is None:
        raise NotFound()
    return RequirementView.of_entry(entry)


@router.patch("/compliance/requirements/{requirementId}", responses=problems(RuleViolated))
async def change_requirement(
    requirement_id: RequirementId,
    body: ChangeRequirement,
    work: Annotated[Work, writes(Permission.REQUIREMENT_UPDATE, if_match=True)],
) -> RequirementView:
    """Update the fields you send. Catalogue requirements accept only an owner and a due day."""
    sight = await documents.sight_of(work)
    row = await requirements.change_requirement(work, requirement_id, fields=body.fields())
    return await _shown(work, row, sight)


async def _shown(read: Reader, row: Requirement, sight: Sight) -> RequirementView:
    (view,) = await _views(read, [row], sight, None)
    return view


async def _views(
    read: Reader, rows: list[Requirement], sight: Sight, on: date | None
) -> list[RequirementView]:
    assessments = await summaries.assess_all(read, sight, on)
    definitions = await requirements.definitions_on(read, assessments.on)
    return [
        RequirementView.of(row, requirements.terms_of(row, definitions), assessments)
        for row in rows
    ]
