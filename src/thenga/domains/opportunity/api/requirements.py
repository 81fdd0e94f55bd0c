"""Requirements of tenders."""

from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.opportunity.api.criteria import Criterion, Points
from thenga.domains.opportunity.api.tender_fields import TenderOpportunityId
from thenga.domains.opportunity.permissions import Permission
from thenga.domains.opportunity.public.describing import CriterionKind
from thenga.domains.opportunity.services import requirements, tenants
from thenga.domains.opportunity.services.notices import OpportunityNotKeeper
from thenga.domains.opportunity.services.requirements import CitationNotFound, CriterionInvalid
from thenga.domains.opportunity.tables import Requirement, RequirementStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import lines, text, whole

router = make_router("Opportunity / Requirements")

RequirementId = Annotated[UUID, Path(alias="requirementId")]
Class = Literal["mandatory", "scored", "recommended", "informational"]


class CitationBody(Body):
    """Where a requirement is stated."""

    document_id: Annotated[UUID, Field(description="Cited document.")]
    page: Annotated[int, whole(1, 10_000), Field(description="Page of the document.")]
    excerpt: Annotated[str, lines(1, 500), Field(description="Exact words on the page.")]


Title = Annotated[str, text(1, 300), Field(description="Title in one line.")]
Wording = Annotated[
    Annotated[str, lines(1, 4000)] | None, Field(description="The requirement in full.")
]
Kinds = Annotated[
    list[Annotated[str, text(1, 60)]],
    Field(max_length=10, description="Kinds of evidence that prove it."),
]
Score = Annotated[Points | None, Field(description="Points, for `scored`.")]
Gate = Annotated[
    Literal["hard", "soft"] | None,
    Field(description="`hard` excludes a bid without it. Mandatory ones default to `hard`."),
]
Cure = Annotated[
    Literal["none", "partner", "renew", "register", "clarify"],
    Field(description="How to fix it if it is not met."),
]
Cited = Annotated[
    CitationBody | None, Field(description="Where the documents state the requirement.")
]


class CreateTenderRequirement(Body):
    """A requirement as captured by a person."""

    class_: Annotated[Class, Field(alias="class", description="Class of the requirement.")]
    title: Title
    text: Wording = None
    criterion: Criterion
    points: Score = None
    evidence_kinds: Kinds = []
    citation: Cited = None
    gate: Gate = None
    cure: Cure = "none"

    def fields(self) -> dict[str, Any]:
        if (self.points is not None) and self.class_ != "scored":
            raise RuleViolated("Only scored requirements have points.", rule="OPP-26")
        return _columns({name: getattr(self, name) for name in type(self).model_fields})


class ChangeTenderRequirement(Body):
    """Fields to update, or `move: retire`. Omitted fields stay unchanged."""

    class_: Annotated[
        Class | None, Field(alias="class", description="Class of the requirement.")
    ] = None
    title: Title = "unchanged"
    text: Wording = None
    criterion: Annotated[Criterion | None, Field(description="Criterion of the requirement.")] = (
        None
    )
    points: Score = None
    evidence_kinds: Kinds = []
    citation: Cited = None
    gate: Gate = None
    cure: Cure = "none"
    move: Annotated[Literal["retire"] | None, Field(description="Retire the requirement.")] = None


def _columns(given: dict[str, Any]) -> dict[str, Any]:
    """Fields as a row holds them."""
    made = dict(given)
    if "class_" in made:
        made["requirement_class"] = made.pop("class_")
    for name in ("criterion", "citation"):
        if made.get(name) is not None:
            made[name] = made[name].model_dump(mode="json", by_alias=True)
    return made


class CitationView(View):
    """Where a requirement is stated."""

    document_id: UUID
    page: Annotated[int, Field(description="Page of the document.")]
    excerpt: Annotated[str, Field(description="Exact words on the page.")]


class TenderRequirementView(Stored):
    """A requirement of a tender."""

    organization_id: Annotated[UUID, Field(description="Organization that manages it.")]
    tender_opportunity_id: UUID
    class_: Annotated[Class, Field(alias="class", description="Class of the requirement.")]
    points: Decimal | None
    title: str
    text: str | None
    criterion: Annotated[dict[str, Any], Field(description="Criterion, by its `kind`.")]
    evidence_kinds: Annotated[list[str], Field(description="Kinds of evidence that prove it.")]
    citation: CitationView | None
    gate: str
    cure: Annotated[str, Field(description="How to fix it if it is not met.")]
    status: RequirementStatus
    origin: Annotated[str, Field(description="Origin of the requirement.")]
    ordinal: Annotated[int, Field(description="Position in the set.")]
    set_version: Annotated[int, Field(description="First version of the set that contains it.")]
    own: Annotated[bool, Field(description="Whether only your organization sees it.")]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/opportunities/{self.tender_opportunity_id}/requirements/{self.id}"

    @classmethod
    def of(cls, row: Requirement) -> "TenderRequirementView":
        values: dict[str, Any] = row.__dict__ | {
            "class_": row.requirement_class,
            "set_version": row.since_set,
            "own": not row.shared,
        }
        return cls.model_validate({name: values[name] for name in cls.model_fields})


_REFUSALS = (CriterionInvalid, CitationNotFound, RuleViolated, OpportunityNotKeeper)


@router.get("/opportunities/{tenderOpportunityId}/requirements")
async def list_tender_requirements(
    tender_id: TenderOpportunityId,
    read: Annotated[Reader, reads(Permission.REQUIREMENT_READ)],
    page: Annotated[Paged, paged("ordinal")],
    class_: Annotated[Class | None, Query(alias="class", description="Filter by class.")] = None,
    kind: Annotated[CriterionKind | None, Query(description="Filter by kind of criterion.")] = None,
    status: Annotated[RequirementStatus, Query(description="Filter by status.")] = (
        RequirementStatus.ACTIVE
    ),
    own: Annotated[
        bool | None, Query(description="True for only your own, false for only the shared set.")
    ] = None,
    set_version: Annotated[
        int | None,
        Query(alias="setVersion", ge=1, le=1_000_000, description="Version of the set to read."),
    ] = None,
) -> PageOf[TenderRequirementView]:
    """List the requirements of a tender, with your own additions."""
    await tenants.act_for_platform(read)
    found = await requirements.list_all(
        read,
        tender_id,
        page,
        status=status,
        own=own,
        set_version=set_version,
        requirement_class=class_,
        criterion_kind=kind,
    )
    return PageOf[TenderRequirementView].of(found, TenderRequirementView.of)


@router.get("/opportunities/{tenderOpportunityId}/requirements/{requirementId}")
async def get_tender_requirement(
    tender_id: TenderOpportunityId,
    requirement_id: RequirementId,
    read: Annotated[Reader, reads(Permission.REQUIREMENT_READ)],
) -> TenderRequirementView:
    """Retrieve a requirement."""
    await tenants.act_for_platform(read)
    return TenderRequirementView.of(await requirements.get(read, tender_id, requirement_id))


@router.post(
    "/opportunities/{tenderOpportunityId}/requirements",
    status_code=201,
    responses=problems(*_REFUSALS),
)
async def create_tender_requirement(
    tender_id: TenderOpportunityId,
    body: CreateTenderRequirement,
    work: Annotated[Work, writes(Permission.REQUIREMENT_CAPTURE)],
) -> TenderRequirementView:
    """Capture a requirement. If you do not manage the tender, only your organization sees it."""
    await tenants.act_for_platform(work)
    return TenderRequirementView.of(await requirements.capture(work, tender_id, body.fields()))


@router.patch(
    "/opportunities/{tenderOpportunityId}/requirements/{requirementId}",
    responses=problems(*_REFUSALS, InvalidTransition),
)
async def change_tender_requirement(
    tender_id: TenderOpportunityId,
    requirement_id: RequirementId,
    body: ChangeTenderRequirement,
    work: Annotated[Work, writes(Permission.REQUIREMENT_CAPTURE)],
) -> TenderRequirementView:
    """Edit or retire a requirement. Earlier sets stay readable with `setVersion`."""
    await tenants.act_for_platform(work)
    fields = _columns(body.changes())
    retire = fields.pop("move", None) == "retire"
    for name in ("requirement_class", "criterion", "gate"):
        if fields.get(name, ...) is None:
            del fields[name]
    changed = await requirements.change(work, tender_id, requirement_id, fields, retire=retire)
    return TenderRequirementView.of(changed)
