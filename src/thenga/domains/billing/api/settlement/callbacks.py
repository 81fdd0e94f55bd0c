"""Callbacks: webhooks from payment providers, verified by each provider's own scheme and
processed once."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.billing.adapters.provider import Call, Refused
from thenga.domains.billing.adapters.providers import Providers
from thenga.domains.billing.api.common_fields import AllowedMoves, ProviderName
from thenga.domains.billing.api.payments.payments import FROM, TO, Provider, stated
from thenga.domains.billing.lifecycles import ProviderCallbackLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import settlement
from thenga.domains.billing.services.settlement import Received
from thenga.domains.billing.tables import (
    CallbackStatus,
    ProviderCallback,
)
from thenga.domains.billing.values.provider import (
    StatedStatus,
    StatementKind,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import InvalidTransition, NotFound, Problem
from thenga.kernel.http.bodies import PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import SignedCall, reads, signed, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.process.host import Host
from thenga.kernel.values.fields import Day
from thenga.kernel.values.money import Money

router = make_router("Billing / Callback")

CallbackId = Annotated[UUID, Path(alias="callbackId", description="The callback.")]


class SignatureInvalid(Problem):
    """The request is not signed with the provider's current secret. Sign the exact bytes you
    send, with one signature."""

    code, status, title = "billing-signature-invalid", 401, "Invalid signature"


@dataclass(frozen=True, slots=True)
class Turned:
    """A rejected call and the reason that is recorded."""

    provider: str
    content: bytes
    cause: str


class ProviderScheme:
    """The signature scheme of the provider in the path, applied to the raw bytes (BIL-35)."""

    async def verify(
        self, host: Host, path: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> SignedCall:
        name = path["provider"]
        known = Providers(host).known(name)
        if known is None:
            raise NotFound()
        url = f"{host.settings.base_url.rstrip('/')}/v1/billing/providers/{name}/callbacks"
        call = Call(body, list(headers.items()), url, host.now())
        found = known.provider.verify(call, known.secrets)
        if isinstance(found, Refused):
            turned = Turned(name, body, found.cause)
            return SignedCall(None, content=turned, verified=False)
        event = (found.event_key, found.event_type, found.secret_used, found.content)
        return SignedCall(None, content=Received(name, *event))


class ReceivedView(View):
    """Confirmation that the callback was stored."""

    received: Annotated[bool, Field(description="Always true.")] = True


class ReadView(View):
    """What the callback reports, before it is matched with our own records."""

    reference: Annotated[str, Field(description="Our reference of the payment it reports on.")]
    kind: Annotated[StatementKind, Field(description="What the report is about.")]
    status: Annotated[StatedStatus, Field(description="Status the provider reports.")]
    provider_reference: Annotated[
        str | None, Field(description="The provider's reference of the payment.")
    ]
    item_reference: Annotated[
        str | None, Field(description="The provider's reference of the refund or dispute.")
    ]
    amount: Annotated[Money | None, Field(description="Amount the provider states.")]
    fee: Annotated[Money | None, Field(description="Fee the provider keeps.")]
    provider_at: Annotated[
        datetime | None, Field(description="When it happened, by the provider's clock.")
    ]
    code: Annotated[str | None, Field(description="Decline code from the provider.")]
    category: Annotated[
        Literal["soft", "hard", "authentication", "technical"] | None,
        Field(description="Decline category. Null if nothing was declined."),
    ]

    @classmethod
    def of(cls, kept: dict[str, Any]) -> "ReadView":
        sums = {
            "amount": stated(kept["amount_minor"], kept["currency"]),
            "fee": stated(kept["fee_minor"], kept["currency"]),
        }
        return cls.model_validate({**kept, **sums})


class CallbackView(Stored):
    """A verified callback and its result. The raw bytes are never shown."""

    provider: ProviderName
    event_key: Annotated[
        str, Field(description="The provider's event ID. Each event is processed once.")
    ]
    event_type: Annotated[str, Field(description="Event type, as the provider names it.")]
    received_at: Annotated[datetime, Field(description="When it was received.")]
    sha256: Annotated[str, Field(description="SHA-256 of the raw bytes, in hex.")]
    secret_used: Annotated[
        str, Field(description="Secret that verified it: `current`, or `former` during a rotation.")
    ]
    status: Annotated[CallbackStatus, Field(description="Result of processing.")]
    statement: Annotated[
        ReadView | None, Field(description="What the callback reports. Null until it is processed.")
    ]
    organization_id: Annotated[
        UUID | None, Field(description="Organization of the payment. Null until it is matched.")
    ]
    payment_id: Annotated[
        UUID | None, Field(description="Payment it was matched to. Null until it is matched.")
    ]
    note: Annotated[str | None, Field(description="Why it was quarantined or ignored.")]
    allowed_moves: AllowedMoves


@router.post(
    "/billing/providers/{provider}/callbacks", responses=problems(SignatureInvalid, NotFound)
)
async def receive_callback(
    provider: Annotated[
        str, Path(max_length=40, description="Payment provider that sends the callback.")
    ],
    work: Annotated[Work, signed(ProviderScheme())],
) -> ReceivedView:
    """Receive a signed webhook from a payment provider, at most 256 KiB. It is stored and
    acknowledged at once, and processed afterwards."""
    call = work.called
    if isinstance(call, Turned):
        await settlement.reject_callback(
            work, provider=call.provider, content=call.content, cause=call.cause
        )
        raise SignatureInvalid().keeping()
    await settlement.receive_callback(work, call)
    return ReceivedView()


@router.get("/billing/provider-callbacks")
async def list_callbacks(
    read: Annotated[Reader, reads(Permission.CALLBACK_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    provider: Annotated[Provider | None, Query(description="Filter by provider.")] = None,
    status: Annotated[CallbackStatus | None, Query(description="Filter by status.")] = None,
    since: Annotated[Day | None, FROM] = None,
    until: Annotated[Day | None, TO] = None,
) -> PageOf[CallbackView]:
    """List callbacks with their results. Operators use this to find quarantined callbacks."""
    found = await settlement.list_callbacks(
        read, page, provider=provider, status=status, since=since, until=until
    )
    return PageOf[CallbackView].of(found, lambda callback: _view(read, callback))


@router.get("/billing/provider-callbacks/{callbackId}")
async def get_callback(
    callback_id: CallbackId, read: Annotated[Reader, reads(Permission.CALLBACK_READ)]
) -> CallbackView:
    """Get a callback and what it reports."""
    return _view(read, await read.get(ProviderCallback, callback_id))


@router.post(
    "/billing/provider-callbacks/{callbackId}/replay", responses=problems(InvalidTransition)
)
async def replay_callback(
    callback_id: CallbackId, work: Annotated[Work, writes(Permission.CALLBACK_REPLAY)]
) -> CallbackView:
    """Process a quarantined callback again after its cause is fixed."""
    return _view(work, await settlement.replay_callback(work, callback_id))


def _view(read: Reader, callback: ProviderCallback) -> CallbackView:
    values = callback.__dict__ | {
        "sha256": callback.sha256.hex(),
        "statement": callback.statement and ReadView.of(callback.statement),
        "allowed_moves": ProviderCallbackLifecycle.allowed(callback, read.now),
    }
    return CallbackView.model_validate(values)
