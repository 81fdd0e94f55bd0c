"""Products: goods that the company delivers."""

from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement
from stdnum import ean
from stdnum.exceptions import ValidationError

from thenga.domains.organization.services import records
from thenga.domains.organization.services.offers import offerings
from thenga.domains.organization.services.reference_data import IdentifierInvalid
from thenga.domains.organization.tables import Product, ProductStatus
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move

SORTS: dict[str, ColumnElement[Any] | None] = {"createdAt": None, "name": Product.name}
_ONCE = "A product of this name is offered already."


async def add_product(work: Work, *, fields: dict[str, Any]) -> Product:
    """Record a product; it is a draft until it is activated."""
    item = Product(organization_id=work.organization_id, **_normal(fields))
    await offerings.add(work, item, once=_ONCE)
    return item


async def list_products(
    read: Reader,
    paged: Paged,
    *,
    status: ProductStatus | None,
    brand: str | None,
    scheme: str | None,
    code: str | None,
    province: str | None,
    archived: bool,
) -> Slice[Product]:
    """The products of the organization."""
    statement = records.kept(Product, archived=archived)
    if status is not None:
        statement = statement.where(Product.status == status)
    if brand is not None:
        statement = statement.where(Product.brand == brand)
    found = offerings.narrowed(statement, Product, scheme=scheme, code=code, province=province)
    return await read.page(found, paged, SORTS[paged.sort])


async def change_product(work: Work, product_id: UUID, *, fields: dict[str, Any]) -> Product:
    """Change the fields named; the rest stays."""
    item = await work.lock(Product, product_id)
    await offerings.change(work, item, _normal(fields), once=_ONCE)
    return item


async def move_product(work: Work, product_id: UUID, move: Move) -> Product:
    """Make one of the declared moves; a product that is there already stays untold."""
    item = await work.lock(Product, product_id)
    await offerings.move(work, item, move)
    return item


async def archive_product(work: Work, product_id: UUID) -> None:
    """Take it out of the lists; the record stays readable."""
    await offerings.archive(work, await work.lock(Product, product_id))


def _normal(fields: dict[str, Any]) -> dict[str, Any]:
    """Columns of a body, with the article number without its separators and its digit checked."""
    made = records.split_amount(fields, "price_from")
    if made.get("gtin") is not None:
        try:
            made["gtin"] = ean.validate(made["gtin"])
        except ValidationError:
            detail = "A GTIN has 8, 12, 13 or 14 digits, of which the last is a check digit."
            error = {"pointer": "/gtin", "code": "check_digit", "detail": detail}
            raise IdentifierInvalid(detail, reason="check_digit", errors=[error]) from None
    return made
