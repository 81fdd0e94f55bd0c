"""What machines and vehicles share: papers that time will end, and the watch over them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Date, func, literal_column

from thenga.domains.organization import public
from thenga.domains.organization.services import records
from thenga.domains.organization.services.assets import expiries
from thenga.domains.organization.services.assets.expiries import Expiry
from thenga.domains.organization.tables import Address, Asset
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated
from thenga.kernel.values.calendar import local_day

R = TypeVar("R", bound=Asset)

# What has no date comes last when sorted by date. (The driver takes 9999-12-31 for infinity.)
_NEVER = literal_column("DATE '2999-12-31'", Date)


async def add(work: Work, row: Asset, papers: Sequence[Expiry]) -> list[str]:
    """Record a new one and watch its papers; the wire names of what was given."""
    await _check(work, row)
    _plan(row, papers, work.now)
    return await records.add(work, row)


async def change(
    work: Work, row: R, fields: Mapping[str, Any], papers: Callable[[R], list[Expiry]]
) -> list[str]:
    """Set the fields of a locked one that differ; the wire names of what changed.

    Only other papers are planned anew: a step that is due is told before the next is planned.
    """
    records.not_archived(row)
    before = papers(row)
    records.put_record(row, fields)
    await _check(work, row)
    if papers(row) != before:
        _plan(row, papers(row), work.now)
    return await records.save(work, row)


async def archive(work: Work, row: Asset) -> list[str]:
    """Take it out of the lists, and nothing more is told of its papers."""
    row.next_check_at = None
    return await records.archive(work, row)


def by_next_expiry(row: type[Asset]) -> ColumnElement[Any]:
    """The order of a list by what ends first."""
    return func.coalesce(row.next_expiry, _NEVER)


def told(row: Asset, change: str, fields: list[str]) -> dict[str, Any]:
    """What events about machines and vehicles say of them."""
    return records.change_event(row, change, fields) | {"status": row.__dict__["status"]}


def _plan(row: Asset, papers: Sequence[Expiry], now: datetime) -> None:
    """Note which paper ends next and when something is to be told of it."""
    row.next_expiry = expiries.next_expiry(papers, local_day(now))
    row.next_check_at = expiries.next_step(papers, now)


async def tell_due(work: Work, row: Asset, papers: Sequence[Expiry]) -> None:
    """Tell the step that is due, the earliest first, and plan the next one (ORG-22)."""
    due = row.next_check_at
    if due is None or due > work.now:
        return
    row.next_check_at = expiries.next_step(papers, due)
    await work.save(row)
    for paper, days_left in _at(papers, due):
        work.publish(
            public.ExpiryApproaching(
                organization_id=row.organization_id,
                record_type=str(row.__table__.name),
                record_id=row.id,
                kind=paper.kind,
                on=paper.on,
                days_left=days_left,
                due_at=due,
                time_zone=expiries.ZONE.key,
            )
        )


async def _check(work: Work, row: Asset) -> None:
    """What must hold of every machine and vehicle."""
    if row.year is not None and row.year > local_day(work.now).year + 1:
        # Next year's models are sold this year; later ones are a typing mistake.
        raise RuleViolated("The year of make is at most next year.", rule="asset-year")
    if row.location_address_id is not None:
        await work.get(Address, row.location_address_id)  # another company's is not there either


def _at(papers: Iterable[Expiry], due: datetime) -> list[tuple[Expiry, int]]:
    return [(one, left) for one in papers for at, left in expiries.steps(one) if at == due]


def soonest_expiry(today: date, papers: Iterable[Expiry]) -> dict[str, expiries.ExpiryState]:
    """The state of each kind of paper; of several the one that ends first."""
    found: dict[str, Expiry] = {}
    for one in papers:
        if one.kind not in found or one.on < found[one.kind].on:
            found[one.kind] = one
    return {kind: expiries.state_on(one, today) for kind, one in found.items()}
