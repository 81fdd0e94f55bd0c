"""Who sells on a day, and which VAT they charge (BIL-5)."""

from datetime import date
from decimal import Decimal

from sqlalchemy import select

from thenga.domains.billing.services import configuration
from thenga.domains.billing.tables import Seller
from thenga.kernel.db.reader import Reader


async def in_force(read: Reader, seller_code: str, on: date) -> Seller:
    """The seller as documents of that day print it; one that is not deployed is a defect."""
    statement = (
        select(Seller)
        .where(Seller.seller_code == seller_code, Seller.effective_from <= on)
        .order_by(Seller.effective_from.desc())
    )
    found = await read.all(statement, limit=1)
    if not found:
        raise LookupError(f"there is no seller {seller_code} on {on}")
    return found[0]


async def rate(read: Reader, seller: Seller, on: date) -> Decimal | None:
    """The VAT rate of a day in per cent; none where the seller has no VAT number."""
    return None if seller.vat_number is None else await configuration.vat_rate(read, on)
