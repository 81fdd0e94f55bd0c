"""Requests and messages of Notification, and a worker's side with its ports."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Select, select

from tests.timeline import Clock, Timeline
from thenga import topology
from thenga.domains.identity.public import Decisions
from thenga.domains.notification.provider import LocalRequests
from thenga.domains.notification.public import Recipient
from thenga.domains.notification.tables import (
    Delivery,
    DeliveryStatus,
    MessageOutcome,
    Notification,
    Request,
    RequestStatus,
)
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Row
from thenga.kernel.db.work import Work
from thenga.kernel.ports.binding import Bindings
from thenga.kernel.process.host import Host

TOPIC = "organization.announcement"
FACTS = {"title": "Office closed", "message": "Our office is closed on 16 December."}


def working(host: Host, organization_id: UUID) -> Work:
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    return Work(host, "notification", Scope(SYSTEM, organization_id), origin)


def body(**given: Any) -> dict[str, Any]:
    """A request for all members, the caller included."""
    about = {"domain": "organization", "type": "organization", "id": str(uuid4())}
    audience = [{"kind": "members"}]
    made = {"topicCode": TOPIC, "about": about, "audience": audience, "facts": FACTS}
    return made | {"excludeActor": False} | given


async def request(host: Host, organization_id: UUID, **given: Any) -> Request:
    """A request as it is once it was dispatched; no job waits for it."""
    work = working(host, organization_id)
    fields: dict[str, Any] = {
        "topic_code": TOPIC,
        "category": "operational",
        "lane": "normal",
        "source_domain": "notification",
        "audience": [],
        "recipients": [],
        "facts": FACTS,
        "send_at": work.now,
        "expires_at": work.now + timedelta(days=7),
        "status": RequestStatus.DISPATCHING,
        "errors": [],
    }
    made = await work.add(Request(organization_id=organization_id, **fields | given))
    await work.finish()
    return made


async def message(
    host: Host, organization_id: UUID, user_id: UUID, *, acknowledgement: str = "none", **given: Any
) -> Notification:
    """A message in somebody's inbox."""
    asked = await request(host, organization_id)
    work = working(host, organization_id)
    fields: dict[str, Any] = {
        "request_id": asked.id,
        "recipient_key": str(user_id),
        "user_id": user_id,
        "topic_code": TOPIC,
        "category": "operational",
        "title": "Office closed",
        "body": "Our office is closed on 16 December.",
        "language": "en-ZA",
        "template_key": TOPIC,
        "template_version": 1,
        "expires_at": asked.expires_at,
        "acknowledgement": acknowledgement,
        "outcome": MessageOutcome.REACHED,
    }
    made = await work.add(Notification(organization_id=organization_id, **fields | given))
    await work.add(
        Delivery(
            organization_id=organization_id,
            notification_id=made.id,
            request_id=asked.id,
            channel_kind="in_app",
            status=DeliveryStatus.DELIVERED,
            expires_at=asked.expires_at,
            decisions=[],
        )
    )
    await work.finish()
    return made


@dataclass
class Office:
    """Notification of one organization as its worker sees it: with ports and with time."""

    host: Host
    clock: Clock
    organization_id: UUID = field(default_factory=uuid4)

    def timeline(self, organization_id: UUID | None = None) -> Timeline:
        domains = topology.load(["notification"])
        return Timeline(self.host, self.clock, domains, organization_id or self.organization_id)

    async def work_off(self, organization_id: UUID | None = None) -> None:
        """Do what waits in the queue, such as planning; deliveries that are due stay unsent."""
        timeline = self.timeline(organization_id)
        timeline.undone = ("move_delivery",)
        await timeline.work_off()

    async def accept(self, *recipients: Recipient, **given: Any) -> UUID:
        """What another domain asks for by port; the platform asks if no organization is named."""
        asked: dict[str, Any] = {"key": str(uuid4()), "facts": {}, "sealed_facts": {}} | given
        return UUID(await LocalRequests(self.host).accept(recipients=list(recipients), **asked))

    async def all(self, statement: Select[Any], organization_id: UUID | None = None) -> list[Any]:
        origin = Origin(action="test", request_id="test", correlation_id="test")
        scope = Scope(SYSTEM, organization_id or self.organization_id)
        read = Reader(self.host, "notification", scope, origin)
        try:
            return await read.all(statement)
        finally:
            await read.close()

    async def get(self, row: type[Row], row_id: UUID, organization_id: UUID | None = None) -> Any:
        (found,) = await self.all(select(row).where(row.__table__.c.id == row_id), organization_id)
        return found

    async def deliveries(
        self, request_id: UUID, organization_id: UUID | None = None
    ) -> Sequence[Delivery]:
        statement = select(Delivery).where(Delivery.request_id == request_id)
        return await self.all(statement.order_by(Delivery.channel_kind), organization_id)

    async def events(self, name: str, organization_id: UUID | None = None) -> list[dict[str, Any]]:
        """The data of the events of one type that the organization published."""
        text = (
            "SELECT envelope FROM notification.outbox "
            "WHERE organization_id = $1 AND mesh_subject LIKE $2 ORDER BY position"
        )
        whose = organization_id or self.organization_id
        async with self.host.engines.connection("notification", "notification_system") as link:
            found = await link.fetch(text, whose, f"thenga.notification.{name}.%")
        return [json.loads(one["envelope"])["data"] for one in found]


def with_ports(host: Host) -> Host:
    """The host of a worker: as the tests' own, with every port bound."""
    made = replace(host, bindings=Bindings(), closing=[], told={})
    topology.bind(made, topology.load(topology.DOMAINS), gate=Decisions)
    return made
