"""Channels, and what providers report to them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.notification.adapters.provider import Call, Unreadable
from thenga.domains.notification.adapters.senders import REPORTERS, CallbackKeys
from thenga.domains.notification.permissions import Permission
from thenga.domains.notification.services import delivery
from thenga.domains.notification.services.delivery import DeployedChannel, Received
from thenga.domains.notification.tables import Channel
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, Problem
from thenga.kernel.http.bodies import PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import SignedCall, reads, signed
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.process.host import Host

router = make_router("Notification / Channels")


class CallbackForged(Problem):
    """The request is not signed with the provider's current key, or its time is too far from
    ours. Sign the exact bytes you send, with one signature."""

    code, status, title = "notification-callback-forged", 401, "Invalid signature"


class ProviderScheme:
    """The signature scheme of the channel's provider, applied to the raw bytes (NOT-33)."""

    def __init__(self) -> None:
        self._keys: CallbackKeys | None = None

    async def verify(
        self, host: Host, path: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> SignedCall:
        channel = _channel(path["channelId"])
        if channel is None or channel.status_from == "none":
            raise NotFound()
        keys = await self._keys_on(host).of(channel.status_from)
        url = delivery.callback_url(host, channel.id)
        reporter = REPORTERS[channel.status_from]
        call = Call(body, list(headers.items()), url, host.now())
        dedup_key = reporter.verify(call, keys) if keys else None
        if dedup_key is None:
            raise CallbackForged()
        try:
            message_id = reporter.report(body).provider_message_id
        except Unreadable:
            message_id = None
        received = Received(channel.id, dedup_key, message_id, body)
        return SignedCall(None, content=received)

    def _keys_on(self, host: Host) -> CallbackKeys:
        if self._keys is None or self._keys.host is not host:
            self._keys = CallbackKeys(host)
        return self._keys


def _channel(given: str) -> DeployedChannel | None:
    try:
        return delivery.deployed().get(UUID(given))
    except ValueError:
        return None


class CallbackReceipt(View):
    """Confirmation that the callback was stored."""

    received: Annotated[bool, Field(description="Always true.")] = True


class ChannelView(Stored):
    """A channel of the platform."""

    code: Annotated[str, Field(description="Code of the channel.")]
    name: Annotated[str, Field(description="Name of the channel.")]
    channel_kind: Annotated[str, Field(description="Kind of channel: `in_app`, `email` or `sms`.")]
    provider: Annotated[str, Field(description="Provider that sends the messages.")]
    status_from: Annotated[
        str, Field(description="Provider that reports on messages. `none` if there is none.")
    ]
    priority: Annotated[
        int, Field(description="The channel with the highest priority of its kind is used.")
    ]
    status: Annotated[str, Field(description="Status of the channel.")]
    callback_url: Annotated[
        str | None,
        Field(description="Callback address for the provider. Null if it does not report."),
    ]
    created_at: Annotated[datetime, Field(description="Time of its first deployment.")]


@router.get("/notifications/channels")
async def list_channels(
    read: Annotated[Reader, reads(Permission.CHANNEL_READ)],
    page: Annotated[Paged, paged("code")],
) -> PageOf[ChannelView]:
    """List the platform's channels with the callback addresses of their providers."""
    found = await delivery.list_channels(read, page)
    return PageOf[ChannelView].of(found, lambda channel: _view(read, channel))


@router.post(
    "/notifications/channels/{channelId}/callbacks", responses=problems(CallbackForged, NotFound)
)
async def receive_channel_callback(
    channel_id: Annotated[UUID, Path(alias="channelId", description="ID of the channel.")],
    work: Annotated[Work, signed(ProviderScheme())],
) -> CallbackReceipt:
    """Receive a signed report from a provider, at most 256 KiB. It is stored and acknowledged at
    once, and applied afterwards."""
    await delivery.receive_callback(work, work.called)
    return CallbackReceipt()


def _view(read: Reader, channel: Channel) -> ChannelView:
    url = delivery.callback_url(read.host, channel.id)
    reports = channel.status_from != "none"
    return ChannelView.model_validate(channel.__dict__ | {"callback_url": url if reports else None})
