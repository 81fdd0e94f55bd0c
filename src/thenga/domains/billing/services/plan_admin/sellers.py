"""The seller of an installation, set at the console of the machine (BIL-56)."""

import json
import sys
import tomllib
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError
from sqlalchemy import select

from thenga.domains.billing import settings
from thenga.domains.billing.services import pricing
from thenga.domains.billing.services.plan_admin import catalogue_seed
from thenga.domains.billing.tables import Book, DocumentSeries, Seller
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import at_console
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import matching, text

_MOST_BYTES = 64 * 1024
_MOST_AHEAD = timedelta(days=366)  # a later day is a wrong year


def _vat(written: str) -> str:
    """Ten digits that begin with 4; no check digit is published."""
    bare = written.replace(" ", "").upper().removeprefix("ZA")
    if not (bare.isascii() and bare.isdigit() and len(bare) == 10 and bare.startswith("4")):
        raise PydanticCustomError("vat_number", "A VAT number has ten digits and begins with 4")
    if pricing.is_sample_vat_number(bare) or len(set(bare[1:])) == 1:
        raise PydanticCustomError("vat_number", "This VAT number is a sample; write your own")
    return bare


class _Part(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True)


class _Address(_Part):
    line1: Annotated[str, text(1, 120)]
    line2: Annotated[str, text(1, 120)] | None = None
    city: Annotated[str, text(1, 80)]
    province: Annotated[str, text(1, 40)]
    postal_code: Annotated[str, matching("^[0-9]{4}$", 4)]
    country: Annotated[str, matching("^[A-Z]{2}$", 2)] = "ZA"


class _Bank(_Part):
    bank_name: Annotated[str, text(1, 80)]
    account_name: Annotated[str, text(1, 120)]
    account_number: Annotated[str, matching("^[0-9]{4,20}$", 20)]
    branch_code: Annotated[str, matching("^[0-9]{6}$", 6)]


class _SellerFile(_Part):
    """A seller as its file writes it. Without a VAT number it charges no VAT (BIL-5)."""

    seller_code: settings.Code | None = None
    effective_from: date
    legal_name: Annotated[str, text(1, 200)]
    trading_name: Annotated[str, text(1, 200)] | None = None
    registration_number: Annotated[str, text(1, 40)] | None = None
    vat_number: Annotated[str, AfterValidator(_vat)] | None
    address: _Address
    bank: _Bank

    def columns(self) -> dict[str, Any]:
        """As the row stores it; addresses and bank accounts keep the names of the file."""
        shown = self.model_dump(exclude={"address", "bank"})
        return shown | {
            "trading_name": self.trading_name or self.legal_name,
            "address": self.address.model_dump(by_alias=True, exclude_none=True),
            "bank": self.bank.model_dump(by_alias=True),
        }


async def set_seller(host: Host, path: Path) -> str:
    """Set the seller that is printed from a day on; the same file again changes nothing."""
    read = _read(path)  # `-` is the input: a file of the machine is not in its containers
    work = Work(
        host,
        "billing",
        Scope(actor=SYSTEM),
        at_console("billing.seller.set"),
        login="billing_system",
    )
    try:
        current = await configuration.value(work, settings.SELLER, on=read.effective_from)
        code = read.seller_code or current
        await _store(work, read.columns() | {"seller_code": code})
        follows = await _next_day(work, code, read.effective_from)
        await work.finish()
    finally:
        await work.close()
    vat = f"VAT number {read.vat_number}" if read.vat_number else "no VAT"
    line = f"From {read.effective_from} the seller is {read.legal_name}, {vat}."
    if follows is None:
        return line
    return f"{line} Another seller follows from {follows}; set that day again to change it."


async def _next_day(read: Reader, seller_code: str, effective_from: date) -> date | None:
    """From when the seller of another day follows this one."""
    later = select(Seller.effective_from).where(
        Seller.seller_code == seller_code, Seller.effective_from > effective_from
    )
    return min(await read.values(later), default=None)


def _read(path: Path) -> _SellerFile:
    try:
        with sys.stdin.buffer if str(path) == "-" else path.open("rb") as file:
            content = file.read(_MOST_BYTES).decode()
        is_json = content.lstrip().startswith("{")
        parsed = json.loads(content) if is_json else tomllib.loads(content)
        return _SellerFile.model_validate(parsed)
    except OSError as error:
        raise _refused(f"{path} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "the file"
        raise _refused(f"{path}: {field}: {first['msg']}.") from None
    except ValueError as error:
        raise _refused(
            f"{path} is neither JSON nor TOML: {' '.join(str(error).split())}."
        ) from None


async def _store(work: Work, values: dict[str, Any]) -> None:
    key = {name: values[name] for name in ("seller_code", "effective_from")}
    known = await work.find(Seller, **key)
    if known is not None and all(getattr(known, name) == new for name, new in values.items()):
        return
    await _must_change_no_document(work, **key)
    if known is None:
        await work.add(Seller(**values))
        return
    seller = await work.lock_by(Seller, **key)
    merge_patch(seller, values)
    await work.save(seller)


async def _must_change_no_document(work: Work, *, seller_code: str, effective_from: date) -> None:
    """Refuse a day that documents were issued on, or that a seller in force follows.

    A seller that is not yet in force stops no earlier one: a wrong day must not shut the books.
    """
    today = local_day(work.now)
    if effective_from > today + _MOST_AHEAD:
        raise _refused(
            f"{effective_from} is more than {_MOST_AHEAD.days} days ahead. Check the year of "
            "`effectiveFrom`."
        )
    live = await work.all(
        select(DocumentSeries)
        .where(DocumentSeries.seller_code == seller_code, DocumentSeries.book == Book.LIVE)
        .with_for_update()
    )
    last = max((series.last_date for series in live if series.last_date), default=None)
    if last is not None and effective_from <= last:
        raise _refused(
            f"Documents were issued until {last}. Choose a later day, so that no issued document "
            "changes."
        )
    deployed = {line["effectiveFrom"] for line in catalogue_seed.deployed()["sellers"]}
    later = select(Seller.effective_from).where(
        Seller.seller_code == seller_code, Seller.effective_from >= effective_from
    )
    for day in await work.values(later):
        if effective_from < day <= today or day.isoformat() in deployed:
            raise _refused(f"Another seller is set from {day}. Choose a later day.")


def _refused(detail: str) -> RuleViolated:
    return RuleViolated(detail, rule="BIL-56")
