"""Past projects: what the company has done, for whom, and what proves it."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.organization.api.checked import RecordCheckView, VerificationBody
from thenga.domains.organization.api.classified import (
    Classifications,
    ClassificationView,
    Evidence,
    Known,
    MunicipalityCode,
)
from thenga.domains.organization.api.records import (
    OrganizationId,
    Province,
    RecordView,
    ReferenceBody,
    ReferenceView,
    VersionNumber,
    VersionView,
    given,
    shown,
    stored,
)
from thenga.domains.organization.lifecycles import PastProjectLifecycle
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import evidence, offers, records
from thenga.domains.organization.services.facts import SelfVerification
from thenga.domains.organization.services.reference_data import (
    ClassificationInvalid,
    MunicipalityMismatch,
)
from thenga.domains.organization.tables import (
    PastProject,
    PastProjectStatus,
    PastProjectVerification,
    Verification,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, Percent, decimal, matching, text
from thenga.kernel.values.money import Money

router = make_router("Organization / Past projects")

PastProjectId = Annotated[UUID, Path(alias="pastProjectId")]
Label = Annotated[str, text(1, 200)]
Short = Annotated[str, text(1, 80)]
ClientType = Annotated[str, matching("^[a-z][a-z_]{1,39}$", 40)]
DomainName = Annotated[
    str, matching("^(?:[a-z0-9]{1,63}(?:-[a-z0-9]{1,63})*[.])+[a-z]{2,63}$", 253)
]
Role = Literal["main", "subcontractor", "joint_venture"]
Amount = Annotated[Decimal, decimal(14, 2)]
_TYPES = "`national_department`, `provincial_department`, `municipality`, `state_company`, …"


class AddPastProject(Body):
    title: Label
    client_name: Label
    started_on: Day
    completed_on: Annotated[Day | None, Field(description="Needed to publish it.")] = None
    client_type: Annotated[ClientType | None, Field(description=_TYPES)] = None
    client_domain: Annotated[
        DomainName | None, Field(description="Of the client's own mail addresses.")
    ] = None
    contract_number: Annotated[Short | None, Field(description="Once for each client.")] = None
    value: Annotated[Money | None, Field(description="Needed to publish it.")] = None
    role: Role | None = None
    share_percent: Annotated[
        Percent | None, Field(description="Yours in a joint venture; needed there.")
    ] = None
    province: Province | None = None
    municipality_code: MunicipalityCode | None = None
    classifications: Classifications = []
    evidence_refs: Evidence = []
    contract_ref: Annotated[
        ReferenceBody | None, Field(description="The contract, if it was kept here.")
    ] = None
    publish: Annotated[bool, Field(description="Show it at once, instead of a draft.")] = False


class ChangePastProject(Body):
    """A merge patch: what is left out stays, null empties what may be empty."""

    title: Label = "unchanged"
    client_name: Label = "unchanged"
    started_on: Day = date(2000, 1, 1)
    completed_on: Day | None = None
    client_type: ClientType | None = None
    client_domain: DomainName | None = None
    contract_number: Short | None = None
    value: Money | None = None
    role: Role | None = None
    share_percent: Percent | None = None
    province: Province | None = None
    municipality_code: MunicipalityCode | None = None
    classifications: Classifications = []
    evidence_refs: Evidence = []
    contract_ref: ReferenceBody | None = None


class ProofView(View):
    """Something that proves the project."""

    kind: Literal["evidence", "check", "client_reference"]
    reference: ReferenceView


class PastProjectView(RecordView):
    """A project; `verifiedBy` lists what proves it."""

    title: str
    client_name: str
    client_type: str | None
    client_domain: str | None
    contract_number: str | None
    value: Money | None
    started_on: date
    completed_on: date | None
    role: Role | None
    share_percent: Percent | None
    province: Province | None
    municipality_code: str | None
    classifications: list[ClassificationView]
    evidence_refs: list[ReferenceView]
    contract_ref: ReferenceView | None
    status: PastProjectStatus
    verification_status: PastProjectVerification
    verified_by: list[ProofView]
    verifications: list[RecordCheckView]
    allowed_moves: list[AllowedMove]


class _Page:
    """What views of projects need beyond their rows, asked once for a whole page."""

    def __init__(
        self, known: Known, checked: dict[UUID, list[Verification]], now: datetime
    ) -> None:
        self._known = known
        self._checked = checked
        self._now = now

    @classmethod
    async def of(cls, read: Reader, rows: Sequence[PastProject]) -> "_Page":
        known = await Known.of(read, rows)
        return cls(known, await evidence.of_records(read, rows), read.now)

    def view(self, row: PastProject) -> PastProjectView:
        return PastProjectView.shown(
            {
                **shown(row),
                "value": records.amount_of(row, "value"),
                "classifications": self._known.views(row.classifications),
                "verifications": [RecordCheckView.of(one) for one in self._checked[row.id]],
                "allowed_moves": PastProjectLifecycle.allowed(row, self._now),
            }
        )


@router.post(
    "/organizations/{organizationId}/past-projects",
    status_code=201,
    responses=problems(Duplicate, ClassificationInvalid, MunicipalityMismatch, RuleViolated),
)
async def add_past_project(
    organization_id: OrganizationId,
    body: AddPastProject,
    work: Annotated[Work, writes(Permission.PAST_PROJECT_CREATE)],
) -> PastProjectView:
    """Record a project that is done. It is a draft, or published at once with `publish`."""
    fields = given(body)
    publish = fields.pop("publish")
    return await _shown(work, await offers.add_past_project(work, fields=fields, publish=publish))


@router.get("/organizations/{organizationId}/past-projects")
async def list_past_projects(
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.PAST_PROJECT_READ)],
    page: Annotated[Paged, paged("createdAt", "title")],
    status: Annotated[PastProjectStatus | None, Query()] = None,
    verification_status: Annotated[
        PastProjectVerification | None, Query(alias="verificationStatus")
    ] = None,
    client_type: Annotated[ClientType | None, Query(alias="clientType")] = None,
    province: Annotated[Province | None, Query()] = None,
    value_min: Annotated[
        Amount | None, Query(alias="valueMin", description="Worth at least so much.")
    ] = None,
    value_max: Annotated[
        Amount | None, Query(alias="valueMax", description="Worth at most so much.")
    ] = None,
    completed_after: Annotated[Day | None, Query(alias="completedAfter")] = None,
    archived: Annotated[bool, Query(description="Show the archived ones instead.")] = False,
) -> PageOf[PastProjectView]:
    """The past projects of the organization, page by page."""
    found = await offers.list_past_projects(
        read,
        page,
        status=status,
        verification_status=verification_status,
        client_type=client_type,
        province=province,
        value_min=None if value_min is None else int(value_min * 100),
        value_max=None if value_max is None else int(value_max * 100),
        completed_after=completed_after,
        archived=archived,
    )
    seen = await _Page.of(read, found.items)
    return PageOf[PastProjectView].of(found, seen.view)


@router.get("/organizations/{organizationId}/past-projects/{pastProjectId}")
async def get_past_project(
    organization_id: OrganizationId,
    past_project_id: PastProjectId,
    read: Annotated[Reader, reads(Permission.PAST_PROJECT_READ)],
) -> PastProjectView:
    """One project with what proves it, archived ones too."""
    return await _shown(read, await read.get(PastProject, past_project_id))


@router.get("/organizations/{organizationId}/past-projects/{pastProjectId}/versions")
async def list_past_project_versions(
    organization_id: OrganizationId,
    past_project_id: PastProjectId,
    read: Annotated[Reader, reads(Permission.PAST_PROJECT_READ)],
    page: Annotated[Paged, paged("version")],
) -> PageOf[VersionView]:
    """What the project's record said after each change, and who changed it."""
    found = await records.versions(read, PastProject, past_project_id, page)
    return PageOf[VersionView].of(found, VersionView.of)


@router.get("/organizations/{organizationId}/past-projects/{pastProjectId}/versions/{version}")
async def get_past_project_version(
    organization_id: OrganizationId,
    past_project_id: PastProjectId,
    version: VersionNumber,
    read: Annotated[Reader, reads(Permission.PAST_PROJECT_READ)],
) -> VersionView:
    """One version, word for word; it never changes, so it can be cited."""
    return VersionView.of(await records.version(read, PastProject, past_project_id, version))


@router.patch(
    "/organizations/{organizationId}/past-projects/{pastProjectId}",
    responses=problems(Duplicate, ClassificationInvalid, MunicipalityMismatch, RuleViolated),
)
async def change_past_project(
    organization_id: OrganizationId,
    past_project_id: PastProjectId,
    body: ChangePastProject,
    work: Annotated[Work, writes(Permission.PAST_PROJECT_UPDATE)],
) -> PastProjectView:
    """Change the fields you name; a check of what you change does not count any more."""
    fields = stored(body.changes())
    return await _shown(
        work, await offers.change_past_project(work, past_project_id, fields=fields)
    )


@router.delete("/organizations/{organizationId}/past-projects/{pastProjectId}", status_code=204)
async def delete_past_project(
    organization_id: OrganizationId,
    past_project_id: PastProjectId,
    work: Annotated[Work, writes(Permission.PAST_PROJECT_ARCHIVE)],
) -> Response:
    """Take a project out of the lists. The record stays readable under its identifier."""
    await offers.delete_past_project(work, past_project_id)
    return Response(status_code=204)


@router.post(
    "/organizations/{organizationId}/past-projects/{pastProjectId}/publish",
    responses=problems(InvalidTransition, RuleViolated),
)
async def publish_past_project(
    organization_id: OrganizationId,
    past_project_id: PastProjectId,
    work: Annotated[Work, writes(Permission.PAST_PROJECT_UPDATE)],
) -> PastProjectView:
    """Show a draft in the company's experience; it needs its last day and its value."""
    return await _shown(work, await offers.publish_past_project(work, past_project_id))


@router.post(
    "/organizations/{organizationId}/past-projects/{pastProjectId}/archive",
    responses=problems(InvalidTransition),
)
async def archive_past_project(
    organization_id: OrganizationId,
    past_project_id: PastProjectId,
    work: Annotated[Work, writes(Permission.PAST_PROJECT_UPDATE)],
) -> PastProjectView:
    """Take a published project out of the company's experience."""
    return await _shown(work, await offers.archive_past_project(work, past_project_id))


@router.post(
    "/organizations/{organizationId}/past-projects/{pastProjectId}/verify",
    responses=problems(SelfVerification, InvalidTransition),
)
async def verify_past_project(
    organization_id: OrganizationId,
    past_project_id: PastProjectId,
    body: VerificationBody,
    work: Annotated[Work, writes(Permission.PAST_PROJECT_VERIFY)],
) -> PastProjectView:
    """Bring a check of a project, as a verifier of another house."""
    return await _shown(work, await offers.verify_past_project(work, past_project_id, body.check()))


async def _shown(read: Reader, row: PastProject) -> PastProjectView:
    return (await _Page.of(read, [row])).view(row)
