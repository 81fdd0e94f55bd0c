"""Reservations: hard limits are exact under concurrency (BIL-22)."""

from datetime import date, datetime, timedelta
from uuid import UUID

from thenga.domains.billing.lifecycles import ReservationLifecycle
from thenga.domains.billing.public import UsageReceipt
from thenga.domains.billing.services import catalogue, entitlements, metering, pricing
from thenga.domains.billing.services.catalogue import Metered
from thenga.domains.billing.services.entitlements import CurrentSet
from thenga.domains.billing.services.metering import Moved
from thenga.domains.billing.services.usage import limit_watch, recording
from thenga.domains.billing.tables import Access, MeterKind, Reservation, ReservationStatus
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import Duplicate, PlanLimitReached, RuleViolated

TTL = timedelta(minutes=15)
_REDUCED = (Access.READ_ONLY, Access.NONE)

# The lock order: the key, reservations by id, totals by month.
_ALONE = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"
# One conditional update: the row lock makes concurrent requests see each other's quantity.
_TAKE = """
    UPDATE billing.usage_total SET reserved = reserved + $5, updated_at = $1,
        version = version + 1,
        reserved_until = least(coalesce(reserved_until, $7::timestamptz), $7::timestamptz)
    WHERE organization_id = $2 AND meter = $3 AND usage_month = $4
        AND quantity::numeric + reserved + $5 <= $6::bigint
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
    WITH lapsed AS (
        SELECT id FROM billing.reservation
        WHERE organization_id = $2 AND meter = $3 AND status = 'held' AND expires_at <= $1
        ORDER BY id FOR UPDATE
    ), released AS (
        UPDATE billing.reservation AS known SET status = 'released', next_check_at = NULL,
            updated_at = $1, version = version + 1
        FROM lapsed WHERE known.organization_id = $2 AND known.id = lapsed.id
        RETURNING known.usage_month, known.quantity
    )
    SELECT usage_month, sum(quantity)::bigint AS quantity FROM released
    GROUP BY usage_month ORDER BY usage_month
"""


async def reserve_usage(
    work: Work, *, meter: str, quantity: int, key: str, ttl: timedelta = TTL
) -> tuple[Reservation, bool]:
    """Reserve a quantity or refuse, and return False if the key already holds it.

    An expired key is reserved again or refused.
    """
    held = await _current_set(work, meter)
    watch = await limit_watch.watch(work, held)
    await work.run(_ALONE, f"{work.organization_id}:{key}")
    known = await work.find(Reservation, key=key)
    moves: list[Moved] = []
    if known is not None:
        _check_same(known, meter, quantity)
        if not _is_over(known, work.now):
            return known, False
        moves += await _release_lapsed(work, meter)
    if held.set.access in _REDUCED:
        raise await _refused(work, meter, quantity)
    limit = await _limit(work, held, meter)
    moves += await _reserve(work, held, meter, quantity, limit, ttl)
    if known is None:
        made = await work.add(_new(work, held, meter, quantity, key, ttl))
    else:
        made = await _reserve_again(work, known, held, ttl)
    await limit_watch.publish_crossings(work, moves, watch)
    return made, True


def _check_same(known: Reservation, meter: str, quantity: int) -> None:
    if (known.meter, known.quantity) != (meter, quantity):
        raise Duplicate(
            f"The key {known.key} already reserves {known.quantity} of {known.meter}. Use another "
            "key.",
            existing={"domain": "billing", "type": "reservation", "id": str(known.id)},
        )


def _is_over(row: Reservation, now: datetime) -> bool:
    """Whether it expired without being settled, before the job has run."""
    lapsed = row.status is ReservationStatus.HELD and row.expires_at <= now
    return lapsed or row.status is ReservationStatus.RELEASED


async def _limit(work: Work, held: CurrentSet, meter: str) -> int | None:
    """The effective limit: a hard limit, or what the spend cap allows above a soft one."""
    item = held.set.items.get(meter)
    counted = item.entitlement if item and isinstance(item.entitlement, Metered) else None
    if counted is None:
        return 0
    if counted.mode == "hard" or counted.limit is None:
        return counted.limit
    left = await entitlements.remaining_spend_cap(work, held)
    if left is None or not counted.overage_unit_price:
        return None
    used = await metering.usage_now(work, meter, held.usage_month, None)
    more = pricing.units_affordable(left, counted.overage_unit_price)
    return max(counted.limit, used.taken) + more


def _new(
    work: Work, held: CurrentSet, meter: str, quantity: int, key: str, ttl: timedelta
) -> Reservation:
    return Reservation(
        organization_id=work.organization_id,
        meter=meter,
        key=key,
        usage_month=held.usage_month,
        quantity=quantity,
        expires_at=work.now + ttl,
        next_check_at=work.now + ttl,
    )


async def _reserve_again(
    work: Work, known: Reservation, held: CurrentSet, ttl: timedelta
) -> Reservation:
    row = await work.lock(Reservation, known.id)
    ReservationLifecycle.reserve(row, at=work.now)
    row.usage_month = held.usage_month
    row.expires_at = row.next_check_at = work.now + ttl
    return await work.save(row)


async def _current_set(work: Work, meter: str) -> CurrentSet:
    if await catalogue.meter_kind(work, meter) is not MeterKind.COUNTER:
        raise RuleViolated(
            f"{meter} is not a monthly counter, so it cannot be reserved. Use a meter of kind "
            "`counter`.",
            rule="reservable-meter",
        )
    held = await entitlements.current_set(work)
    if held is None:
        raise PlanLimitReached(entitlement=meter, limit=0, used=0)
    return held


async def _reserve(
    work: Work, held: CurrentSet, meter: str, quantity: int, limit: int | None, ttl: timedelta
) -> list[Moved]:
    """Release expired reservations and reserve the quantity, or refuse."""
    await metering.ensure_total(work, meter, held.usage_month)
    here = (work.now, work.organization_id, meter, held.usage_month)
    most = metering.MOST if limit is None else min(limit, metering.MOST)
    wanted = (quantity, most, work.now + ttl)
    moves: list[Moved] = []
    taken = await work.query(_TAKE, *here, *wanted)
    if not taken:
        moves = await _release_lapsed(work, meter)  # or a job did that held the lock
        taken = await work.query(_TAKE, *here, *wanted)
    if not taken:
        raise await _refused(work, meter, quantity)
    after = int(taken[0]["taken"])
    return [*moves, Moved(meter, held.usage_month, after - quantity, after)]


async def _release_lapsed(work: Work, meter: str) -> list[Moved]:
    """Release expired reservations now, before the job does."""
    lapsed = await work.query(_LAPSED, work.now, work.organization_id, meter)
    return [await _release(work, meter, row["usage_month"], row["quantity"]) for row in lapsed]


async def _release(work: Work, meter: str, month: date, quantity: int) -> Moved:
    here = (work.now, work.organization_id, meter, month)
    found = await work.query(_GIVE_BACK, *here, quantity)
    after = int(found[0]["taken"])
    return Moved(meter, month, after + quantity, after)


async def _refused(work: Work, meter: str, quantity: int) -> PlanLimitReached:
    said = await entitlements.signal(work, meter, quantity)
    helps = said.remedy
    why = (
        f"{said.used or 0} of {said.limit or 0} are used or reserved, so {quantity} more exceed "
        "the limit. `remedy` says what would help."
    )
    if said.access in _REDUCED:
        why = (
            "This organization has read-only access now. `remedy` says how to restore full access."
        )
    return PlanLimitReached(
        why,
        entitlement=meter,
        limit=said.limit or 0,
        used=said.used or 0,
        remedy=None if helps is None else entitlements.serialize_remedy(helps),
    )


async def settle_reservation(
    work: Work, key: str, quantity: int
) -> tuple[Reservation, UsageReceipt]:
    """Record the actual usage, up to the reserved quantity, and release the remainder."""
    row = await work.lock_by(Reservation, key=key)
    if row.status is ReservationStatus.SETTLED:
        return row, recording.receipt([])
    if quantity > row.quantity:
        raise RuleViolated(
            f"Only {row.quantity} were reserved. Settle that, and record the rest as separate "
            "usage.",
            rule="settle-within-reserved",
        )
    if row.status is ReservationStatus.RELEASED or row.expires_at <= work.now:
        raise not_possible(
            "This reservation has expired. Record the usage with `POST /billing/usage` instead.",
            status=ReservationStatus.RELEASED,
            operation="settle",
            allowed=[],
        )
    held_at = row.updated_at
    ReservationLifecycle.settle(row, at=work.now)
    row.settled_quantity, row.next_check_at = quantity, None
    await work.save(row)
    # Recorded before it is released, so that no other request sees room in between.
    entry = recording.UsageEntry(meter=row.meter, key=key, quantity=quantity, occurred_at=held_at)
    booked = await recording.record_usage(work, [entry] if quantity else [])
    await _free(work, row)
    return row, booked


async def expire_reservation(work: Work, reservation_id: UUID) -> None:
    """Release a reservation that was not settled within 15 minutes."""
    row = await work.lock(Reservation, reservation_id)
    if row.status is not ReservationStatus.HELD or row.expires_at > work.now:
        return
    ReservationLifecycle.lapse(row, at=work.now)
    row.next_check_at = None
    await work.save(row)
    await _free(work, row)


async def _free(work: Work, row: Reservation) -> None:
    held = await entitlements.current_set(work)
    watch = None if held is None else await limit_watch.watch(work, held)
    moved = await _release(work, row.meter, row.usage_month, row.quantity)
    if watch is not None:
        await limit_watch.publish_crossings(work, [moved], watch)
