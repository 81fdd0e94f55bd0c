"""Deliveries of a message with their attempts, as people see them."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select

from thenga.domains.notification.services import requests
from thenga.domains.notification.tables import Attempt, Delivery
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among


@dataclass(frozen=True, slots=True)
class Delivered:
    """One delivery with its attempts, oldest first."""

    delivery: Delivery
    attempts: list[Attempt]


@dataclass(frozen=True, slots=True)
class DeliveriesOf:
    """The deliveries of a message. Its recipient is not shown what providers wrote."""

    is_own: bool
    items: list[Delivered]


async def deliveries_of(read: Reader, notification_id: UUID) -> DeliveriesOf:
    """How a message was delivered, for its recipient or a reader of the history (NOT-42)."""
    message = await requests.open_message(read, notification_id)
    deliveries = await read.all(
        select(Delivery)
        .where(
            Delivery.organization_id == read.organization_id,
            Delivery.notification_id == notification_id,
        )
        .order_by(Delivery.created_at, Delivery.id)
    )
    attempts = await read.all(
        select(Attempt)
        .where(
            Attempt.organization_id == read.organization_id,
            among(Attempt.delivery_id, [one.id for one in deliveries]),
        )
        .order_by(Attempt.number)
    )
    items = [
        Delivered(one, [other for other in attempts if other.delivery_id == one.id])
        for one in deliveries
    ]
    return DeliveriesOf(requests.is_recipient(read, message), items)
