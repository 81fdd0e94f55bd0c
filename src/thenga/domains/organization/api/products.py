"""Products: goods that the company delivers."""

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
    Country,
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
from thenga.domains.organization.lifecycles import ProductLifecycle
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import offers, records
from thenga.domains.organization.services.reference_data import (
    ClassificationInvalid,
    IdentifierInvalid,
    MunicipalityMismatch,
)
from thenga.domains.organization.tables import Product, ProductStatus
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
from thenga.kernel.values.fields import Percent, lines, matching, text, whole
from thenga.kernel.values.money import Money

router = make_router("Organization / Products")

ProductId = Annotated[UUID, Path(alias="productId")]
Label = Annotated[str, text(1, 160)]
About = Annotated[str, lines(1, 4000)]
Unit = Annotated[str, text(1, 40)]
LeadTime = Annotated[int, whole(0, 730)]
Short = Annotated[str, text(1, 80)]
Gtin = Annotated[str, matching("^[0-9][0-9 -]{6,20}$", 21)]


class AddProduct(Body):
    name: Annotated[Label, Field(description="Once among the products that are offered.")]
    description: About | None = None
    classifications: Classifications = []
    areas: AreasBody = AreasBody()
    unit: Annotated[Unit | None, Field(description="What is counted: bag, tonne, box.")] = None
    lead_time_days: LeadTime | None = None
    price_from: Annotated[
        Money | None, Field(description="From how much; never shown to other companies.")
    ] = None
    evidence_refs: Evidence = []
    brand: Short | None = None
    model: Short | None = None
    gtin: Annotated[
        Gtin | None, Field(description="The number under the bar code; its digit is checked.")
    ] = None
    country_of_origin: Annotated[Country | None, Field(description="ISO 3166-1, two letters.")] = (
        None
    )
    local_content_percent: Percent | None = None


class ChangeProduct(Body):
    """A merge patch: what is left out stays, null empties what may be empty."""

    name: Label = "unchanged"
    description: About | None = None
    classifications: Classifications = []
    areas: AreasBody = AreasBody()
    unit: Unit | None = None
    lead_time_days: LeadTime | None = None
    price_from: Money | None = None
    evidence_refs: Evidence = []
    brand: Short | None = None
    model: Short | None = None
    gtin: Gtin | None = None
    country_of_origin: Country | None = None
    local_content_percent: Percent | None = None


class ProductView(RecordView):
    """A product; `allowedMoves` says what may be done next."""

    name: str
    description: str | None
    classifications: list[ClassificationView]
    areas: AreasView
    unit: str | None
    lead_time_days: int | None
    price_from: Money | None
    evidence_refs: list[ReferenceView]
    brand: str | None
    model: str | None
    gtin: str | None
    country_of_origin: str | None
    local_content_percent: Percent | None
    status: ProductStatus
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, item: Product, known: Known, read: Reader) -> "ProductView":
        return cls.shown(
            {
                **shown(item),
                "classifications": known.views(item.classifications),
                "price_from": records.amount_of(item, "price_from"),
                "allowed_moves": ProductLifecycle.allowed(item, read.now),
            }
        )


@router.post(
    "/organizations/{organizationId}/products",
    status_code=201,
    responses=problems(
        Duplicate, ClassificationInvalid, IdentifierInvalid, MunicipalityMismatch, RuleViolated
    ),
)
async def add_product(
    organization_id: OrganizationId,
    body: AddProduct,
    work: Annotated[Work, writes(Permission.PRODUCT_CREATE)],
) -> ProductView:
    """Record a product that the company offers. It is a draft until you activate it."""
    return await _shown(work, await offers.add_product(work, fields=given(body)))


@router.get("/organizations/{organizationId}/products")
async def list_products(
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.PRODUCT_READ)],
    page: Annotated[Paged, paged("createdAt", "name")],
    status: Annotated[ProductStatus | None, Query()] = None,
    brand: Annotated[Short | None, Query()] = None,
    scheme: Annotated[Scheme | None, Query(description="Of this classification scheme.")] = None,
    code: Annotated[
        Code | None,
        Query(description="With `scheme`; pairs of zeros of a UNSPSC code mean all below it."),
    ] = None,
    province: Annotated[Province | None, Query(description="Offered there.")] = None,
    archived: Annotated[bool, Query(description="Show the archived ones instead.")] = False,
) -> PageOf[ProductView]:
    """The products of the organization, page by page."""
    found = await offers.list_products(
        read,
        page,
        status=status,
        brand=brand,
        scheme=scheme,
        code=code,
        province=province,
        archived=archived,
    )
    known = await Known.of(read, found.items)
    return PageOf[ProductView].of(found, lambda item: ProductView.of(item, known, read))


@router.get("/organizations/{organizationId}/products/{productId}")
async def get_product(
    organization_id: OrganizationId,
    product_id: ProductId,
    read: Annotated[Reader, reads(Permission.PRODUCT_READ)],
) -> ProductView:
    """One product, archived ones too."""
    return await _shown(read, await read.get(Product, product_id))


@router.get("/organizations/{organizationId}/products/{productId}/versions")
async def list_product_versions(
    organization_id: OrganizationId,
    product_id: ProductId,
    read: Annotated[Reader, reads(Permission.PRODUCT_READ)],
    page: Annotated[Paged, paged("version")],
) -> PageOf[VersionView]:
    """What the product's record said after each change, and who changed it."""
    found = await records.versions(read, Product, product_id, page)
    return PageOf[VersionView].of(found, VersionView.of)


@router.get("/organizations/{organizationId}/products/{productId}/versions/{version}")
async def get_product_version(
    organization_id: OrganizationId,
    product_id: ProductId,
    version: VersionNumber,
    read: Annotated[Reader, reads(Permission.PRODUCT_READ)],
) -> VersionView:
    """One version, word for word; it never changes, so it can be cited."""
    return VersionView.of(await records.version(read, Product, product_id, version))


@router.patch(
    "/organizations/{organizationId}/products/{productId}",
    responses=problems(
        Duplicate, ClassificationInvalid, IdentifierInvalid, MunicipalityMismatch, RuleViolated
    ),
)
async def change_product(
    organization_id: OrganizationId,
    product_id: ProductId,
    body: ChangeProduct,
    work: Annotated[Work, writes(Permission.PRODUCT_UPDATE)],
) -> ProductView:
    """Change the fields you name. Send `If-Match` so that nobody's change is lost."""
    item = await offers.change_product(work, product_id, fields=stored(body.changes()))
    return await _shown(work, item)


@router.delete("/organizations/{organizationId}/products/{productId}", status_code=204)
async def archive_product(
    organization_id: OrganizationId,
    product_id: ProductId,
    work: Annotated[Work, writes(Permission.PRODUCT_ARCHIVE)],
) -> Response:
    """Take a product out of the lists. The record stays readable under its identifier."""
    await offers.archive_product(work, product_id)
    return Response(status_code=204)


@router.post(
    "/organizations/{organizationId}/products/{productId}/activate",
    responses=problems(InvalidTransition, RuleViolated),
)
async def activate_product(
    organization_id: OrganizationId,
    product_id: ProductId,
    work: Annotated[Work, writes(Permission.PRODUCT_UPDATE)],
) -> ProductView:
    """Offer a draft from now on; it needs a classification or an area, to be found by."""
    return await _moved(work, product_id, ProductLifecycle.activate)


@router.post(
    "/organizations/{organizationId}/products/{productId}/discontinue",
    responses=problems(InvalidTransition),
)
async def discontinue_product(
    organization_id: OrganizationId,
    product_id: ProductId,
    work: Annotated[Work, writes(Permission.PRODUCT_UPDATE)],
) -> ProductView:
    """Stop offering a product for good; its name is free again."""
    return await _moved(work, product_id, ProductLifecycle.discontinue)


async def _moved(work: Work, product_id: UUID, move: Move) -> ProductView:
    return await _shown(work, await offers.move_product(work, product_id, move))


async def _shown(read: Reader, item: Product) -> ProductView:
    return ProductView.of(item, await Known.of(read, [item]), read)
