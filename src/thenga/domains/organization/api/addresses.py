"""Addresses: where the company is registered, works and takes its post."""

from datetime import date
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.organization.api.fact_views import WarningView
from thenga.domains.organization.api.records import (
    Country,
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
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import people, records
from thenga.domains.organization.services.reference_data import MunicipalityMismatch
from thenga.domains.organization.tables import Address
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, matching, text

router = make_router("Organization / Addresses")

AddressId = Annotated[UUID, Path(alias="addressId")]
Line = Annotated[str, text(1, 160)]
Short = Annotated[str, text(1, 80)]
PostalCode = Annotated[str, matching("^[A-Z0-9][A-Z0-9 -]{1,10}$", 12)]
MunicipalityCode = Annotated[str, matching("^[A-Z]{2,3}[0-9]{0,3}$", 6)]
WardNumber = Annotated[str, matching("^[0-9]{8}$", 8)]
Kind = Literal["physical", "postal", "branch", "operating"]


class GeoBody(Body):
    lat: Annotated[float, Field(ge=-90, le=90)]
    lon: Annotated[float, Field(ge=-180, le=180)]
    source: Annotated[Short | None, Field(description="Who measured it.")] = None


Evidence = Annotated[list[ReferenceBody], Field(max_length=20)]


class AddAddress(Body):
    kind: Kind
    label: Short | None = None
    line1: Line
    line2: Line | None = None
    suburb: Short | None = None
    city: Short
    postal_code: Annotated[PostalCode | None, Field(description="Four digits in South Africa.")] = (
        None
    )
    country: Annotated[Country, Field(description="ISO 3166-1, two letters.")] = "ZA"
    province: Annotated[
        Province | None,
        Field(description="Needed in South Africa, except for a postal address."),
    ] = None
    municipality_code: Annotated[
        MunicipalityCode | None,
        Field(description="From the catalogue of municipalities; needed where the province is."),
    ] = None
    ward_number: WardNumber | None = None
    geo: GeoBody | None = None
    registered_office: bool = False
    primary: Annotated[
        bool, Field(description="The one of its kind that counts; takes the mark from another.")
    ] = False
    valid_from: Day | None = None
    valid_to: Day | None = None
    evidence_refs: Evidence = []


class ChangeAddress(Body):
    """A merge patch: what is left out stays, null empties what may be empty."""

    kind: Kind = "physical"
    label: Short | None = None
    line1: Line = "unchanged"
    line2: Line | None = None
    suburb: Short | None = None
    city: Short = "unchanged"
    postal_code: PostalCode | None = None
    country: Country = "ZA"
    province: Province | None = None
    municipality_code: MunicipalityCode | None = None
    ward_number: WardNumber | None = None
    geo: GeoBody | None = None
    registered_office: bool = False
    primary: bool = False
    valid_from: Day | None = None
    valid_to: Day | None = None
    evidence_refs: Evidence = []


class GeoView(View):
    lat: float
    lon: float
    source: str | None


class AddressView(RecordView):
    """A place of the company."""

    kind: Kind
    label: str | None
    line1: str
    line2: str | None
    suburb: str | None
    city: str
    postal_code: str | None
    country: str
    province: Province | None
    municipality_code: str | None
    ward_number: str | None
    geo: GeoView | None
    registered_office: bool
    primary: bool
    valid_from: date | None
    valid_to: date | None
    evidence_refs: list[ReferenceView]
    warnings: list[WarningView]

    @classmethod
    def of(cls, address: Address) -> "AddressView":
        return cls.shown({**shown(address), "warnings": people.address_warnings(address)})


@router.post(
    "/organizations/{organizationId}/addresses",
    status_code=201,
    responses=problems(MunicipalityMismatch, RuleViolated),
)
async def add_address(
    organization_id: OrganizationId,
    body: AddAddress,
    work: Annotated[Work, writes(Permission.ADDRESS_CREATE)],
) -> AddressView:
    """Record an address. A primary one takes the mark from the one of its kind that had it."""
    return AddressView.of(await people.add_address(work, fields=given(body)))


@router.get("/organizations/{organizationId}/addresses")
async def list_addresses(
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.ADDRESS_READ)],
    page: Annotated[Paged, paged("createdAt")],
    kind: Annotated[Kind | None, Query()] = None,
    province: Annotated[Province | None, Query()] = None,
    municipality_code: Annotated[MunicipalityCode | None, Query(alias="municipalityCode")] = None,
    primary: Annotated[bool | None, Query()] = None,
    archived: Annotated[bool, Query(description="Show the archived ones instead.")] = False,
) -> PageOf[AddressView]:
    """The addresses of the organization, page by page."""
    found = await people.list_addresses(
        read,
        page,
        kind=kind,
        province=province,
        municipality_code=municipality_code,
        primary=primary,
        archived=archived,
    )
    return PageOf[AddressView].of(found, AddressView.of)


@router.get("/organizations/{organizationId}/addresses/{addressId}")
async def get_address(
    organization_id: OrganizationId,
    address_id: AddressId,
    read: Annotated[Reader, reads(Permission.ADDRESS_READ)],
) -> AddressView:
    """One address, archived ones too."""
    return AddressView.of(await read.get(Address, address_id))


@router.get("/organizations/{organizationId}/addresses/{addressId}/versions")
async def list_address_versions(
    organization_id: OrganizationId,
    address_id: AddressId,
    read: Annotated[Reader, reads(Permission.ADDRESS_READ)],
    page: Annotated[Paged, paged("version")],
) -> PageOf[VersionView]:
    """What the address was after each change, and who changed it."""
    found = await records.versions(read, Address, address_id, page)
    return PageOf[VersionView].of(found, VersionView.of)


@router.get("/organizations/{organizationId}/addresses/{addressId}/versions/{version}")
async def get_address_version(
    organization_id: OrganizationId,
    address_id: AddressId,
    version: VersionNumber,
    read: Annotated[Reader, reads(Permission.ADDRESS_READ)],
) -> VersionView:
    """One version, word for word; it never changes, so it can be cited."""
    return VersionView.of(await records.version(read, Address, address_id, version))


@router.patch(
    "/organizations/{organizationId}/addresses/{addressId}",
    responses=problems(MunicipalityMismatch, RuleViolated),
)
async def change_address(
    organization_id: OrganizationId,
    address_id: AddressId,
    body: ChangeAddress,
    work: Annotated[Work, writes(Permission.ADDRESS_UPDATE)],
) -> AddressView:
    """Change the fields you name. Send `If-Match` so that nobody's change is lost."""
    return AddressView.of(
        await people.change_address(work, address_id, fields=stored(body.changes()))
    )


@router.delete("/organizations/{organizationId}/addresses/{addressId}", status_code=204)
async def archive_address(
    organization_id: OrganizationId,
    address_id: AddressId,
    work: Annotated[Work, writes(Permission.ADDRESS_ARCHIVE)],
) -> Response:
    """Take an address out of the lists. The record stays readable under its identifier."""
    await people.archive_address(work, address_id)
    return Response(status_code=204)
