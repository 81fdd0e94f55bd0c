"""Billing's ports, answered in this process."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.billing import public
from thenga.domains.billing.services import entitlements, usage
from thenga.kernel.errors import ValidationFailed
from thenga.kernel.ports.local import Answering
from thenga.kernel.process.host import Host

_MOST_FEATURES = 50


class LocalEntitlements(public.Entitlements):
    """One read of the set, and one of the total if there is a limit (BIL-45)."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Entitlements)

    async def signal(
        self, *, organization_id: UUID, feature: str, quantity: int = 1
    ) -> public.EntitlementSignal:
        async with self._answering.reading(organization_id) as read:
            return await entitlements.signal(read, feature, quantity)

    async def signal_many(
        self, *, organization_id: UUID, features: list[str]
    ) -> list[public.EntitlementSignal]:
        _bounded("/features", len(features), _MOST_FEATURES)
        async with self._answering.reading(organization_id) as read:
            return await entitlements.signal_many(read, features)


class LocalUsage(public.Usage):
    """Records usage for other domains."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Usage)

    async def record(
        self, *, organization_id: UUID, records: list[public.UsageEntry]
    ) -> public.UsageReceipt:
        _bounded("/records", len(records), usage.MAX_ENTRIES)
        async with self._answering.working(organization_id) as work:
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
        async with self._answering.working(organization_id) as work:
            made, _ = await usage.reserve_usage(
                work, meter=meter, quantity=quantity, key=key, ttl=ttl
            )
        return public.Reserved(
            key=made.key, meter=made.meter, quantity=made.quantity, expires_at=made.expires_at
        )

    async def settle(
        self, *, organization_id: UUID, key: str, quantity: int
    ) -> public.UsageReceipt:
        async with self._answering.working(organization_id) as work:
            _, booked = await usage.settle_reservation(work, key, quantity)
            return booked


def _bounded(pointer: str, count: int, most: int) -> None:
    if count > most:
        detail = f"At most {most} in one call."
        raise ValidationFailed(errors=[{"pointer": pointer, "code": "too_long", "detail": detail}])
