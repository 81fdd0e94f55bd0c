"""Usage: every accepted attempt is reported to Billing once (NOT-18)."""

from dataclasses import dataclass
from uuid import UUID

from thenga.domains.billing.public import UsageEntry
from thenga.domains.notification.services.delivery import endings
from thenga.domains.notification.tables import Attempt, AttemptOutcome, Delivery
from thenga.kernel.db.reader import Reader
from thenga.kernel.declare.job import Form, job_stub

_METERS = {"email": "notification.email.message", "sms": "notification.sms.segment"}

meter_attempt = job_stub("notification.meter_attempt", form=Form.OUTSIDE, key="{attempt_id}")


@dataclass(frozen=True, slots=True)
class Metered:
    """What Billing is told about an attempt."""

    organization_id: UUID
    entry: UsageEntry


async def usage_of(read: Reader, attempt_id: UUID) -> Metered | None:
    """The usage of an attempt. The platform's own messages cost nobody anything."""
    attempt = await read.get(Attempt, attempt_id)
    delivery = await read.get(Delivery, attempt.delivery_id)
    meter = _METERS.get(delivery.channel_kind)
    if attempt.outcome != AttemptOutcome.ACCEPTED or meter is None:
        return None
    if endings.is_of_platform(read.organization_id):
        return None
    entry = UsageEntry(
        meter=meter,
        key=str(attempt.id),
        quantity=attempt.units,
        occurred_at=attempt.started_at,
    )
    return Metered(read.organization_id, entry)
