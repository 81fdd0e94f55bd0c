"""Reservations: a hard limit is exact under any parallelism (BIL-22)."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.billing.lifecycles import ReservationLifecycle
from thenga.domains.billing.public import UsageReceipt
from thenga.domains.billing.services import entitlements, meters, thresholds, usage
from thenga.domains.billing.services import remedies as remedying
from thenga.domains.billing.services import usage_totals as totals
from thenga.domains.billing.services.entitlement_types import Metered
from thenga.domains.billing.services.entitlements import Held
from thenga.domains.billing.services.usage_totals import Moved
from thenga.domains.billing.tables import MeterKind, Reservation, ReservationStatus
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, PlanLimitReached, RuleViolated
from thenga.kernel.lifecycle import not_possible

TTL = timedelta(minutes=15)

# One conditional update: the row is locked by whoever comes first, and each sees the other's.
_TAKE = """
    UPDATE billing.usage_total SET reserved = reserved + $5, updated_at = $1,
        version = version + 1,
        reserved_until = least(coalesce(reserved_until, $7::timestamptz), $7::timestamptz)
    WHERE organization_id = $2 AND meter = $3 AND usage_month = $4
        AND ($6::bigint IS NULL OR quantity + reserved + $5 <= $6)
    RETURNING quantity + reserved AS taken
"""
_GIVE_BACK = """
    UPDATE billing.usage_total SET reserved = reserved - $5, updated_at = $1,
        version = version + 1,
        reserved_until = (SELECT min(expires_at) FROM billing.reservation
            WHERE organization_id = $2 AND meter = $3 AND usage_month = $4 AND status = 'held')
    WHERE organization_id = $2 AND meter = $3 AND usage_month = $4
    RETURNING quantity + reserved AS taken
"""
_LAPSED = """
    UPDATE billing.reservation SET status = 'released', next_check_at = NULL, updated_at = $1,
        version = version + 1
    WHERE organization_id = $2 AND meter = $3 AND usage_month = $4 AND status = 'held'
        AND expires_at <= $1
    RETURNING quantity
"""


async def reserve(
    work: Work, *, meter: str, quantity: int, key: str, ttl: timedelta = TTL
) -> Reservation:
    """Take from what is left, or refuse; the same key again is the same reservation."""
    known = await work.find(Reservation, key=key)
    if known is not None:
        return _same(known, meter, quantity)
    held = await _held(work, meter)
    item = held.set.items.get(meter)
    counted = item.entitlement if item and isinstance(item.entitlement, Metered) else None
    hard = counted is not None and (counted.mode == "hard" or held.set.spend_capped)
    limit = 0 if counted is None else counted.limit if hard else None
    watch = await thresholds.watch(work, held)
    moved = await _take(work, held, meter, quantity, limit, ttl)
    if moved is None:
        raise await _refused(work, meter, quantity)
    made = await work.add(
        Reservation(
            organization_id=work.organization_id,
            meter=meter,
            key=key,
            usage_month=held.usage_month,
            quantity=quantity,
            expires_at=work.now + ttl,
            next_check_at=work.now + ttl,
        )
    )
    await thresholds.look(work, [moved], watch)
    return made


def _same(known: Reservation, meter: str, quantity: int) -> Reservation:
    if (known.meter, known.quantity) != (meter, quantity):
        raise Duplicate(
            f"{known.key} reserves {known.quantity} of {known.meter} already; use another key.",
            existing={"domain": "billing", "type": "reservation", "id": str(known.id)},
        )
    return known


async def _held(work: Work, meter: str) -> Held:
    if await meters.kind_of(work, meter) is not MeterKind.COUNTER:
        raise RuleViolated(
            f"{meter} is not counted by the month; only such usage can be reserved.",
            rule="reservable-meter",
        )
    held = await entitlements.current(work)
    if held is None:
        raise PlanLimitReached(entitlement=meter, limit=0, used=0)
    return held


async def _take(
    work: Work, held: Held, meter: str, quantity: int, limit: int | None, ttl: timedelta
) -> Moved | None:
    await totals.move(work, meter, held.usage_month, 0)  # so that there is a row to update
    here = (work.now, work.organization_id, meter, held.usage_month)
    wanted = (quantity, limit, work.now + ttl)
    taken = await work.query(_TAKE, *here, *wanted)
    if not taken and await _release_lapsed(work, meter, held):
        taken = await work.query(_TAKE, *here, *wanted)
    if not taken:
        return None
    after = int(taken[0]["taken"])
    return Moved(meter, held.usage_month, after - quantity, after)


async def _release_lapsed(work: Work, meter: str, held: Held) -> bool:
    """What lapsed is free at once, whenever the sweep comes."""
    here = (work.now, work.organization_id, meter, held.usage_month)
    lapsed = sum(int(one["quantity"]) for one in await work.query(_LAPSED, *here))
    if lapsed:
        await work.query(_GIVE_BACK, *here, lapsed)
    return lapsed > 0


async def _refused(work: Work, meter: str, quantity: int) -> PlanLimitReached:
    said = await entitlements.signal(work, meter, quantity)
    helps = said.remedy
    return PlanLimitReached(
        f"{said.used or 0} of {said.limit or 0} are used or reserved; {quantity} more do not fit.",
        entitlement=meter,
        limit=said.limit or 0,
        used=said.used or 0,
        remedy=None if helps is None else remedying.shown(helps),
    )


async def settle(work: Work, key: str, quantity: int) -> tuple[Reservation, UsageReceipt]:
    """Book what was really used, up to what was reserved; the rest is free again."""
    row = await work.lock_by(Reservation, key=key)
    if row.status is ReservationStatus.SETTLED:
        return row, usage.receipt([])
    if quantity > row.quantity:
        raise RuleViolated(
            f"{row.quantity} were reserved; report what is above that as usage of its own.",
            rule="settle-within-reserved",
        )
    if row.status is ReservationStatus.RELEASED or row.expires_at <= work.now:
        raise not_possible(
            "This reservation has lapsed and reserves nothing any more; report the usage itself.",
            status=ReservationStatus.RELEASED,
            operation="settle",
            allowed=[],
        )
    ReservationLifecycle.settle(row, at=work.now)
    row.settled_quantity, row.next_check_at = quantity, None
    await work.save(row)
    # Booked before it is freed, so that nobody sees room in between.
    entry = usage.Entry(meter=row.meter, key=key, quantity=quantity, occurred_at=row.created_at)
    booked = await usage.record(work, [entry] if quantity else [])
    await _free(work, row)
    return row, booked


async def lapse(work: Work, reservation_id: UUID) -> None:
    """Fifteen minutes have passed unsettled."""
    row = await work.lock(Reservation, reservation_id)
    if row.status is not ReservationStatus.HELD or row.expires_at > work.now:
        return
    ReservationLifecycle.lapse(row, at=work.now)
    row.next_check_at = None
    await work.save(row)
    await _free(work, row)


async def _free(work: Work, row: Reservation) -> None:
    held = await entitlements.current(work)
    watch = None if held is None else await thresholds.watch(work, held)
    here = (work.now, work.organization_id, row.meter, row.usage_month)
    found = await work.query(_GIVE_BACK, *here, row.quantity)
    after = int(found[0]["taken"])
    moved = Moved(row.meter, row.usage_month, after + row.quantity, after)
    if watch is not None:
        await thresholds.look(work, [moved], watch)
