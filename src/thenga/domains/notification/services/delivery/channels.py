"""The platform's channels, seeded from content/channels.json at deployment."""

from functools import cache
from pathlib import Path
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, TypeAdapter
from sqlalchemy import select

from thenga.domains.notification.services.templates import ChannelKind
from thenga.domains.notification.tables import Channel
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

_FILE = Path(__file__).parents[2] / "content" / "channels.json"
_SENDER = "no-reply@thenga.example"


class DeployedChannel(BaseModel):
    """One channel of the file. Its ID is part of the callback address, so it never changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: UUID
    code: str
    name: str
    channel_kind: ChannelKind
    provider: Literal["internal", "smtp", "twilio"]
    status_from: Literal["none", "mailgun", "twilio"]
    priority: int


@cache
def deployed() -> dict[UUID, DeployedChannel]:
    """The platform's channels by ID."""
    found = TypeAdapter(list[DeployedChannel]).validate_json(_FILE.read_bytes())
    return {one.id: one for one in found}


async def seed(work: Work) -> None:
    """Store the channels of the file, as the system login. A second run changes nothing."""
    for one in deployed().values():
        if await work.find(Channel, id=one.id) is None:
            await work.add(Channel(**one.model_dump()))
            continue
        channel = await work.lock(Channel, one.id)
        merge_patch(channel, one.model_dump(exclude={"id"}))
        await work.save(channel)


async def list_channels(read: Reader, paged: Paged) -> Slice[Channel]:
    """The platform's channels, for operators."""
    return await read.page(select(Channel), paged)


async def channel_for(read: Reader, kind: ChannelKind) -> Channel | None:
    """The channel to send on: the active one with the highest priority."""
    active = select(Channel).where(Channel.channel_kind == kind, Channel.status == "active")
    found = await read.all(active.order_by(Channel.priority.desc(), Channel.code), limit=1)
    return found[0] if found else None


def callback_url(host: Host, channel_id: UUID) -> str:
    """Where a provider reports to. It is configured, never taken from a request (NOT-33)."""
    base = host.settings.base_url.rstrip("/")
    return f"{base}/v1/notifications/channels/{channel_id}/callbacks"


def sender_address(host: Host) -> str:
    """The address that mail comes from."""
    return host.settings.of_domain("sender_address", "notification") or _SENDER
