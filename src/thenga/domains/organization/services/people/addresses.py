"""Addresses: where the company is registered, works and takes its post."""

import re
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement

from thenga.domains.organization import public
from thenga.domains.organization.services import records, reference_data
from thenga.domains.organization.services.people import primaries
from thenga.domains.organization.tables import Address
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated
from thenga.kernel.values.calendar import local_day

SORTS: dict[str, ColumnElement[Any] | None] = {"createdAt": None}
_HOME = "ZA"
_ON_THE_GROUND = ("physical", "branch", "operating")
_POSTAL_CODE = re.compile("[0-9]{4}")
_BOX = re.compile(r"\b(?:p\.? ?o\.? ?box|posbus|private bag)\b", re.IGNORECASE)


async def add_address(work: Work, *, fields: dict[str, Any]) -> Address:
    """Record an address."""
    address = Address(organization_id=work.organization_id, **fields)
    await _check(work, address, local_day(work.now))
    if address.primary:
        await primaries.in_turn(work, Address)
        await _take_mark(work, address)
    given = await records.add(work, address)
    work.publish(_changed(address, "added", given))
    return address


async def list_addresses(
    read: Reader,
    paged: Paged,
    *,
    kind: str | None,
    province: str | None,
    municipality_code: str | None,
    primary: bool | None,
    archived: bool,
) -> Slice[Address]:
    """The addresses of the organization."""
    statement = records.kept(Address, archived=archived)
    if kind is not None:
        statement = statement.where(Address.kind == kind)
    if province is not None:
        statement = statement.where(Address.province == province)
    if municipality_code is not None:
        statement = statement.where(Address.municipality_code == municipality_code)
    if primary is not None:
        statement = statement.where(Address.primary == primary)
    return await read.page(statement, paged, SORTS[paged.sort])


async def change_address(work: Work, address_id: UUID, *, fields: dict[str, Any]) -> Address:
    """Change the fields named; the rest stays."""
    if fields.get("primary") or "kind" in fields:
        await primaries.in_turn(work, Address)
    address = await work.lock(Address, address_id)
    records.not_archived(address)
    for name, value in fields.items():
        setattr(address, name, value)
    await _check(work, address, local_day(work.now))
    if address.primary:
        await _take_mark(work, address)
    changed = await records.save(work, address)
    if changed:
        work.publish(_changed(address, "updated", changed))
    return address


async def archive_address(work: Work, address_id: UUID) -> None:
    """Take it out of the lists, and the mark from it; the record stays readable."""
    address = await work.lock(Address, address_id)
    address.primary = False
    changed = await records.archive(work, address)
    if changed:
        work.publish(_changed(address, "archived", changed))


def address_warnings(address: Address) -> list[dict[str, str]]:
    """What is odd about an address and yet recorded (ORG-18)."""
    lines = f"{address.line1} {address.line2 or ''}"
    if address.kind == "postal" or _BOX.search(lines) is None:
        return []
    detail = "A post office box is no place that somebody can visit."
    return [{"code": "po_box_as_place", "detail": detail}]


async def _check(read: Reader, address: Address, today: date) -> None:
    """What an address in South Africa must say (ORG-18)."""
    records.in_order(address.valid_from, address.valid_to)
    if address.country != _HOME:
        return
    if address.kind in _ON_THE_GROUND and not (address.province and address.municipality_code):
        raise RuleViolated(
            f"A {address.kind} address in South Africa names its province and municipality.",
            rule="ORG-18",
        )
    if address.postal_code is not None and _POSTAL_CODE.fullmatch(address.postal_code) is None:
        raise RuleViolated("A South African postal code has four digits.", rule="ORG-18")
    if address.municipality_code is not None:
        await reference_data.check_municipality(
            read, address.municipality_code, province=address.province, on=today
        )


async def _take_mark(work: Work, address: Address) -> None:
    taken = await primaries.take_from(work, address, Address)
    if taken is not None:
        work.publish(_changed(taken[0], "updated", taken[1]))


def _changed(address: Address, change: str, fields: list[str]) -> public.AddressChanged:
    return public.AddressChanged(
        organization_id=address.organization_id,
        record_id=address.id,
        record_version=address.version,
        change=change,
        changed_fields=fields,
    )
