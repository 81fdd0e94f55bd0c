"""Deliveries of a message with their attempts, as people see them."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select

from thenga.domains.identity import public as identity
from thenga.domains.notification.permissions import Permission
from thenga.domains.notification.tables import Attempt, Delivery, Notification
from thenga.kernel.access.actors import ActorKind
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.errors import Forbidden


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
    notification = await read.get(Notification, notification_id)
    is_own = notification.user_id is not None and notification.user_id == read.actor.id
    if not is_own:
        await _demand_history(read, notification_id)
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
    return DeliveriesOf(is_own, items)


async def _demand_history(read: Reader, notification_id: UUID) -> None:
    actor = read.actor
    assert actor.id is not None  # noqa: S101  # the entrance has let somebody in
    decided = await read.port(identity.Decisions).check(
        actor=identity.ActorRef(
            type="user" if actor.kind is ActorKind.USER else "api_key",
            id=actor.id,
            session_id=actor.session_id,
        ),
        organization_id=read.organization_id,
        action=Permission.HISTORY_READ,
        resource=identity.ResourceRef(type="notification", id=str(notification_id)),
        channel="http",
        request_id=read.origin.request_id,
    )
    if decided.decision != "allow":
        raise Forbidden("This message is not yours.")
