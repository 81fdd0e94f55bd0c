"""Deliveries of Notification, the people they go to, and providers on loopback."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import select

from tests.factories import identity
from tests.factories.identity import Member
from tests.timeline import Clock, Timeline
from thenga import topology
from thenga.domains.identity.public import Decisions
from thenga.domains.identity.tables import UserAccount
from thenga.domains.notification.services import recipients, templates
from thenga.domains.notification.tables import (
    Attempt,
    Delivery,
    DeliveryStatus,
    MessageOutcome,
    Notification,
    Preference,
    ProviderCallback,
    Request,
    RequestStatus,
    Suppression,
    Tenant,
)
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Row
from thenga.kernel.db.work import Work
from thenga.kernel.ports.binding import Bindings
from thenga.kernel.process.host import Host

NOON = datetime(2026, 11, 16, 10, tzinfo=UTC)
FAILED = "billing.payment_failed"
FACTS = {
    "name": "Thandi",
    "amount": "ZAR 499.00",
    "plan": "Starter",
    "standing": "Your access stays as it is.",
    "next": "We try again on Friday.",
}
_ORIGIN = Origin(action="factory", request_id="factory", correlation_id="factory")


def working(host: Host, organization_id: UUID) -> Work:
    return Work(host, "notification", Scope(SYSTEM, organization_id), _ORIGIN)


async def tenant(host: Host, organization_id: UUID, *, sandbox: bool = False) -> None:
    """What Notification knows of an organization, made if it is not there."""
    work = working(host, organization_id)
    if await work.find(Tenant) is None:
        await work.add(Tenant(organization_id=organization_id, sandbox=sandbox))
    await work.finish()


async def reachable(
    host: Host, organization_id: UUID, *, phone: str | None = None, email: str | None = None
) -> Member:
    """A member with a mail address and a phone number."""
    who = await identity.member(host, organization_id, role="owner")
    await move_to(host, who.user_id, phone=phone or number(), email=email)
    return who


def number() -> str:
    """A mobile number that nobody else has."""
    return f"+2782{uuid4().int % 10**7:07}"


async def move_to(
    host: Host, user_id: UUID, *, phone: str | None = None, email: str | None = None
) -> None:
    """Give a person another phone number or address."""
    work = identity.working(host, user_id=user_id)
    account = await work.lock(UserAccount, user_id)
    account.phone, account.email = phone or account.phone, email or account.email
    await work.save(account)
    await work.finish()


async def message(
    host: Host,
    organization_id: UUID,
    user_id: UUID,
    *kinds: str,
    topic_code: str = FAILED,
    facts: dict[str, str] = FACTS,
    expires_in: timedelta = timedelta(days=7),
    at: datetime | None = None,
) -> Notification:
    """A planned message with a queued delivery for each kind of channel."""
    work = working(host, organization_id)
    topic, begins = templates.topics()[topic_code], at or work.now
    asked = await work.add(
        Request(
            organization_id=organization_id,
            topic_code=topic_code,
            category=topic.category,
            lane=topic.lane,
            source_domain="billing",
            audience=[],
            recipients=[],
            facts=facts,
            send_at=begins,
            expires_at=begins + expires_in,
            status=RequestStatus.DISPATCHING,
            errors=[],
        )
    )
    made = await work.add(
        Notification(
            organization_id=organization_id,
            request_id=asked.id,
            recipient_key=str(user_id),
            user_id=user_id,
            topic_code=topic_code,
            category=topic.category,
            template_key=topic.template_key,
            template_version=1,
            expires_at=asked.expires_at,
            outcome=MessageOutcome.PENDING,
        )
    )
    for kind in kinds:
        await work.add(
            Delivery(
                organization_id=organization_id,
                notification_id=made.id,
                request_id=asked.id,
                channel_kind=kind,
                status=DeliveryStatus.QUEUED,
                priority=10 if topic.lane == "security" else 0,
                expires_at=asked.expires_at,
                decisions=[],
                next_check_at=begins,
            )
        )
    await work.finish()
    return made


def with_ports(host: Host) -> Host:
    """The host of a worker: as the tests' own, with every port bound."""
    made = replace(host, bindings=Bindings(), closing=[], told={})
    topology.bind(made, topology.load(topology.DOMAINS), gate=Decisions)
    return made


@dataclass
class Post:
    """Notification of one organization as its worker sees it: with ports and with time."""

    host: Host
    clock: Clock
    organization_id: UUID = field(default_factory=uuid4)
    undone: tuple[str, ...] = ("meter_attempt",)  # needs an account in Billing

    def __post_init__(self) -> None:
        self.worker = with_ports(self.host)
        domains = topology.load(["notification"])
        self.timeline = Timeline(
            *(self.worker, self.clock, domains, self.organization_id), undone=self.undone
        )

    async def settle(self) -> None:
        """Do all that waits or is due."""
        self.worker.clock = self.host.clock
        await self.timeline.settle()

    async def until(self, at: datetime) -> None:
        """Let time pass with all that is due."""

        class Both:
            def set(_, moment: datetime) -> None:
                self.clock.set(moment)
                self.worker.clock = self.host.clock

        self.timeline.clock = Both()
        await self.timeline.until(at)

    async def member(self, **given: Any) -> Member:
        await tenant(self.host, self.organization_id)
        return await reachable(self.host, self.organization_id, **given)

    async def message(self, user_id: UUID, *kinds: str, **given: Any) -> Notification:
        return await message(
            self.host, self.organization_id, user_id, *kinds, at=self.host.now(), **given
        )

    async def all(self, row: type[Row], **columns: Any) -> list[Any]:
        read = Reader(self.host, "notification", Scope(SYSTEM, self.organization_id), _ORIGIN)
        table = row.__table__
        chosen = [table.c[name] == value for name, value in columns.items()]
        try:
            return await read.all(select(row).where(*chosen).order_by(table.c.id))
        finally:
            await read.close()

    async def delivery(self, about: Notification, kind: str) -> Delivery:
        (found,) = await self.all(Delivery, notification_id=about.id, channel_kind=kind)
        assert isinstance(found, Delivery)
        return found

    async def attempts(self, of: Delivery) -> list[Attempt]:
        return sorted(await self.all(Attempt, delivery_id=of.id), key=lambda one: one.number)

    async def events(self, name: str) -> list[dict[str, Any]]:
        """The data of the events of one type that the organization published."""
        text = (
            "SELECT envelope::jsonb -> 'data' AS data FROM notification.outbox "
            "WHERE organization_id = $1 AND mesh_subject LIKE $2 ORDER BY position"
        )
        async with self.host.engines.connection("notification", "notification_system") as link:
            found = await link.fetch(text, self.organization_id, f"%.{name}.%")
        return [one["data"] for one in found]

    async def preference(self, user_id: UUID, topic_code: str, **channels: str) -> None:
        """What a person sets for a topic, or sets anew."""
        work = working(self.host, self.organization_id)
        made = recipients.preference_id(self.organization_id, user_id, topic_code)
        if await work.find(Preference, id=made) is None:
            row = Preference(
                id=made,
                organization_id=self.organization_id,
                user_id=user_id,
                topic_code=topic_code,
                channels=channels,
            )
            await work.add(row)
        else:
            stored = await work.lock(Preference, made)
            stored.channels = channels
            await work.save(stored)
        await work.finish()


async def of_system(host: Host, row: type[Row], **columns: Any) -> list[Any]:
    """Rows of no organization, as the system login sees them."""
    read = Reader(host, "notification", Scope(SYSTEM), _ORIGIN, login="notification_system")
    chosen = [row.__table__.c[name] == value for name, value in columns.items()]
    try:
        return await read.all(select(row).where(*chosen))
    finally:
        await read.close()


async def callbacks(host: Host, provider_message_id: str) -> list[ProviderCallback]:
    return await of_system(host, ProviderCallback, provider_message_id=provider_message_id)


async def suppressed(host: Host, kind: str, address: str) -> bool:
    mark = recipients.address_fingerprint(host, kind, address)  # type: ignore[arg-type]
    return bool(await of_system(host, Suppression, address_fingerprint=mark))
