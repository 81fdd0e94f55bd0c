"""The seller on a day, and the VAT rate it charges (BIL-5)."""

from datetime import date
from decimal import Decimal

from sqlalchemy import bindparam, select

from thenga.domains.billing import settings
from thenga.domains.billing.tables import Seller
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.declare import law

# Of the seller that every new installation begins with (`content/catalogue.json`).
_SAMPLE_VAT_NUMBER = "4000000001"

_IN_FORCE = (
    select(Seller)
    .where(Seller.seller_code == bindparam("code"), Seller.effective_from <= bindparam("on"))
    .order_by(Seller.effective_from.desc())
)


async def seller_on(read: Reader, seller_code: str, on: date) -> Seller:
    """The seller as printed on documents of that day."""
    found = await read.select_prepared(_IN_FORCE, limit=1, code=seller_code, on=on)
    if not found:
        raise LookupError(f"there is no seller {seller_code} on {on}")
    return found[0]


def is_sample_vat_number(vat_number: str | None) -> bool:
    """Whether this is the VAT number of the sample seller, which is nobody's (BIL-56)."""
    return vat_number == _SAMPLE_VAT_NUMBER


async def seller_vat_rate(read: Reader, seller: Seller, on: date) -> Decimal | None:
    """The VAT rate in per cent. None if the seller has no VAT number."""
    if seller.vat_number is None:
        return None
    return await configuration.value(read, law.VAT_RATE, on=on)


async def vat_rate_on(read: Reader, on: date) -> Decimal | None:
    """The VAT rate of the seller on a day. None if it has no VAT number."""
    code = await configuration.value(read, settings.SELLER, on=on)
    return await seller_vat_rate(read, await seller_on(read, code, on), on)
