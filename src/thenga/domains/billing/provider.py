"""Billing's ports, answered in this process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID, uuid5

import sqlalchemy as sa

from thenga.domains.billing import public
from thenga.domains.billing.services import entitlements, usage
from thenga.kernel.access.actors import Actor, ActorKind, Scope
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.sandbox import clock_offset
from thenga.kernel.db.work import Work
from thenga.kernel.errors import ValidationFailed
from thenga.kernel.host import Host
from thenga.kernel.ports.remote import calling

_SERVICES = UUID("019a0000-0000-7000-8000-0000000b1111")
_MOST_FEATURES = 50
_OFFSETS = sa.table(
    "clock_offset",
    sa.column("organization_id", sa.UUID),
    sa.column("ahead", sa.Interval),
    schema="billing",
)
_AHEAD = sa.select(_OFFSETS.c.ahead)


class _Opening:
    """Opens units of work for a domain that asks; it acts as a service, never as a person."""

    def __init__(self, host: Host) -> None:
        self._host = host

    @asynccontextmanager
    async def reading(self, organization_id: UUID) -> AsyncIterator[Reader]:
        scope = Scope(actor=_service(), organization_id=organization_id)
        read = Reader(self._host, "billing", scope, _origin())
        try:
            # Read on the way, because the gate waits for this answer.
            ahead = await read.value(_AHEAD.where(_OFFSETS.c.organization_id == organization_id))
            read.now = read.now_in(ahead or timedelta(0))
            yield read
        finally:
            await read.close()

    @asynccontextmanager
    async def working(self, organization_id: UUID) -> AsyncIterator[Work]:
        work = Work(self._host, "billing", await self._scope(organization_id), _origin())
        work.held_as = HeldAs.SERVICE
        try:
            yield work
            await work.finish()
        finally:
            await work.close()

    async def _scope(self, organization_id: UUID) -> Scope:
        offset = await clock_offset(self._host, "billing", organization_id)
        return Scope(actor=_service(), organization_id=organization_id, clock_offset=offset)


def _service() -> Actor:
    return Actor(kind=ActorKind.SERVICE, id=uuid5(_SERVICES, calling.get().actor))


def _origin() -> Origin:
    request_id = calling.get().request_id or "port"
    return Origin(action="port", request_id=request_id, correlation_id=request_id)


class LocalEntitlements(public.Entitlements):
    """One read of the set, and one of the total where a limit counts (BIL-45)."""

    def __init__(self, host: Host) -> None:
        self._opening = _Opening(host)

    async def signal(
        self, *, organization_id: UUID, feature: str, quantity: int = 1
    ) -> public.EntitlementSignal:
        async with self._opening.reading(organization_id) as read:
            return await entitlements.signal(read, feature, quantity)

    async def signal_many(
        self, *, organization_id: UUID, features: list[str]
    ) -> list[public.EntitlementSignal]:
        _bounded("/features", len(features), _MOST_FEATURES)
        async with self._opening.reading(organization_id) as read:
            return await entitlements.signal_many(read, features)


class LocalUsage(public.Usage):
    """Usage of domains that meter."""

    def __init__(self, host: Host) -> None:
        self._opening = _Opening(host)

    async def record(
        self, *, organization_id: UUID, records: list[public.UsageEntry]
    ) -> public.UsageReceipt:
        _bounded("/records", len(records), usage.MAX_ENTRIES)
        async with self._opening.working(organization_id) as work:
            entries = [
                usage.UsageEntry(e.meter, e.key, e.quantity, e.occurred_at, e.subject, e.operation)
                for e in records
            ]
            return await usage.record_usage(work, entries)

    async def reserve(
        self,
        *,
        organization_id: UUID,
        meter: str,
        quantity: int,
        key: str,
        ttl_seconds: int = 900,
    ) -> public.Reserved:
        ttl = timedelta(seconds=ttl_seconds)
        async with self._opening.working(organization_id) as work:
            made, _ = await usage.reserve_usage(
                work, meter=meter, quantity=quantity, key=key, ttl=ttl
            )
        return public.Reserved(
            key=made.key, meter=made.meter, quantity=made.quantity, expires_at=made.expires_at
        )

    async def settle(
        self, *, organization_id: UUID, key: str, quantity: int
    ) -> public.UsageReceipt:
        async with self._opening.working(organization_id) as work:
            _, booked = await usage.settle_reservation(work, key, quantity)
            return booked


def _bounded(pointer: str, count: int, most: int) -> None:
    if count > most:
        detail = f"At most {most} in one call."
        raise ValidationFailed(errors=[{"pointer": pointer, "code": "too_long", "detail": detail}])
