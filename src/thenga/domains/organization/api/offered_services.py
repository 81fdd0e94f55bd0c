"""Services: work that the company does for others."""

from typing import Annotated
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.organization.api.classified import (
    AreasBody,
    AreasView,
    Classifications,
    ClassificationView,
    Code,
    Evidence,
    Known,
    Scheme,
)
from thenga.domains.organization.api.records import (
    OrganizationId,
    Province,
    RecordView,
    ReferenceView,
    VersionNumber,
    VersionView,
    given,
    shown,
    stored,
)
from thenga.domains.organization.lifecycles import ServiceLifecycle
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import offers, records
from thenga.domains.organization.services.reference_data import (
    ClassificationInvalid,
    MunicipalityMismatch,
)
from thenga.domains.organization.tables import Service, ServiceStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove, Move
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import lines, text, whole
from thenga.kernel.values.money import Money

router = make_router("Organization / Services")

ServiceId = Annotated[UUID, Path(alias="serviceId")]
Label = Annotated[str, text(1, 160)]
About = Annotated[str, lines(1, 4000)]
Unit = Annotated[str, text(1, 40)]
LeadTime = Annotated[int, whole(0, 730)]


class AddService(Body):
    name: Annotated[Label, Field(description="Once among the services that are offered.")]
    description: About | None = None
    classifications: Classifications = []
    areas: AreasBody = AreasBody()
    unit: Annotated[Unit | None, Field(description="What is counted: hour, m2, visit.")] = None
    lead_time_days: LeadTime | None = None
    price_from: Annotated[
        Money | None, Field(description="From how much; never shown to other companies.")
    ] = None
    evidence_refs: Evidence = []


class ChangeService(Body):
    """A merge patch: what is left out stays, null empties what may be empty."""

    name: Label = "unchanged"
    description: About | None = None
    classifications: Classifications = []
    areas: AreasBody = AreasBody()
    unit: Unit | None = None
    lead_time_days: LeadTime | None = None
    price_from: Money | None = None
    evidence_refs: Evidence = []


class ServiceView(RecordView):
    """A service; `allowedMoves` says what may be done next."""

    name: str
    description: str | None
    classifications: list[ClassificationView]
    areas: AreasView
    unit: str | None
    lead_time_days: int | None
    price_from: Money | None
    evidence_refs: list[ReferenceView]
    status: ServiceStatus
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, item: Service, known: Known, read: Reader) -> "ServiceView":
        return cls.shown(
            {
                **shown(item),
                "classifications": known.views(item.classifications),
                "price_from": records.amount_of(item, "price_from"),
                "allowed_moves": ServiceLifecycle.allowed(item, read.now),
            }
        )


@router.post(
    "/organizations/{organizationId}/services",
    status_code=201,
    responses=problems(Duplicate, ClassificationInvalid, MunicipalityMismatch, RuleViolated),
)
async def add_service(
    organization_id: OrganizationId,
    body: AddService,
    work: Annotated[Work, writes(Permission.SERVICE_CREATE)],
) -> ServiceView:
    """Record a service that the company offers. It is a draft until you activate it."""
    return await _shown(work, await offers.add_service(work, fields=given(body)))


@router.get("/organizations/{organizationId}/services")
async def list_services(
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.SERVICE_READ)],
    page: Annotated[Paged, paged("createdAt", "name")],
    status: Annotated[ServiceStatus | None, Query()] = None,
    scheme: Annotated[Scheme | None, Query(description="Of this classification scheme.")] = None,
    code: Annotated[
        Code | None,
        Query(description="With `scheme`; pairs of zeros of a UNSPSC code mean all below it."),
    ] = None,
    province: Annotated[Province | None, Query(description="Offered there.")] = None,
    archived: Annotated[bool, Query(description="Show the archived ones instead.")] = False,
) -> PageOf[ServiceView]:
    """The services of the organization, page by page."""
    found = await offers.list_services(
        read, page, status=status, scheme=scheme, code=code, province=province, archived=archived
    )
    known = await Known.of(read, found.items)
    return PageOf[ServiceView].of(found, lambda item: ServiceView.of(item, known, read))


@router.get("/organizations/{organizationId}/services/{serviceId}")
async def get_service(
    organization_id: OrganizationId,
    service_id: ServiceId,
    read: Annotated[Reader, reads(Permission.SERVICE_READ)],
) -> ServiceView:
    """One service, archived ones too."""
    return await _shown(read, await read.get(Service, service_id))


@router.get("/organizations/{organizationId}/services/{serviceId}/versions")
async def list_service_versions(
    organization_id: OrganizationId,
    service_id: ServiceId,
    read: Annotated[Reader, reads(Permission.SERVICE_READ)],
    page: Annotated[Paged, paged("version")],
) -> PageOf[VersionView]:
    """What the service's record said after each change, and who changed it."""
    found = await records.versions(read, Service, service_id, page)
    return PageOf[VersionView].of(found, VersionView.of)


@router.get("/organizations/{organizationId}/services/{serviceId}/versions/{version}")
async def get_service_version(
    organization_id: OrganizationId,
    service_id: ServiceId,
    version: VersionNumber,
    read: Annotated[Reader, reads(Permission.SERVICE_READ)],
) -> VersionView:
    """One version, word for word; it never changes, so it can be cited."""
    return VersionView.of(await records.version(read, Service, service_id, version))


@router.patch(
    "/organizations/{organizationId}/services/{serviceId}",
    responses=problems(Duplicate, ClassificationInvalid, MunicipalityMismatch, RuleViolated),
)
async def change_service(
    organization_id: OrganizationId,
    service_id: ServiceId,
    body: ChangeService,
    work: Annotated[Work, writes(Permission.SERVICE_UPDATE)],
) -> ServiceView:
    """Change the fields you name. Send `If-Match` so that nobody's change is lost."""
    item = await offers.change_service(work, service_id, fields=stored(body.changes()))
    return await _shown(work, item)


@router.delete("/organizations/{organizationId}/services/{serviceId}", status_code=204)
async def archive_service(
    organization_id: OrganizationId,
    service_id: ServiceId,
    work: Annotated[Work, writes(Permission.SERVICE_ARCHIVE)],
) -> Response:
    """Take a service out of the lists. The record stays readable under its identifier."""
    await offers.archive_service(work, service_id)
    return Response(status_code=204)


@router.post(
    "/organizations/{organizationId}/services/{serviceId}/activate",
    responses=problems(InvalidTransition, RuleViolated),
)
async def activate_service(
    organization_id: OrganizationId,
    service_id: ServiceId,
    work: Annotated[Work, writes(Permission.SERVICE_UPDATE)],
) -> ServiceView:
    """Offer a draft from now on; it needs a classification or an area, to be found by."""
    return await _moved(work, service_id, ServiceLifecycle.activate)


@router.post(
    "/organizations/{organizationId}/services/{serviceId}/discontinue",
    responses=problems(InvalidTransition),
)
async def discontinue_service(
    organization_id: OrganizationId,
    service_id: ServiceId,
    work: Annotated[Work, writes(Permission.SERVICE_UPDATE)],
) -> ServiceView:
    """Stop offering a service for good; its name is free again."""
    return await _moved(work, service_id, ServiceLifecycle.discontinue)


async def _moved(work: Work, service_id: UUID, move: Move) -> ServiceView:
    return await _shown(work, await offers.move_service(work, service_id, move))


async def _shown(read: Reader, item: Service) -> ServiceView:
    return ServiceView.of(item, await Known.of(read, [item]), read)
