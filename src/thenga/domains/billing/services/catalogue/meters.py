"""The catalogue of meters."""

from collections.abc import Mapping

from sqlalchemy import select

from thenga.domains.billing.tables import Meter, MeterKind
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given


async def list_meters(read: Reader, paged: Paged, *, kind: MeterKind | None) -> Slice[Meter]:
    """All meters, or those of one kind."""
    statement = select(Meter)
    statement = where_given(statement, (Meter.kind, kind))
    return await read.page(statement, paged)


async def meter_kind(read: Reader, key: str) -> MeterKind | None:
    """The kind of a meter. None if there is no such meter."""
    found = await read.find(Meter, key=key)
    return None if found is None else found.kind


async def meter_kinds(read: Reader) -> Mapping[str, MeterKind]:
    """The kind of each meter, by key."""
    return {meter.key: meter.kind for meter in await read.all(select(Meter))}
