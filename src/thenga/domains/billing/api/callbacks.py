"""Callbacks: what payment providers tell us, verified by their own scheme, each taken once."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.billing.adapters.provider import Call, Refused
from thenga.domains.billing.adapters.providers import Providers
from thenga.domains.billing.api.payments import FROM, TO, Provider, stated
from thenga.domains.billing.lifecycles import ProviderCallbackLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import settlement
from thenga.domains.billing.services.settlement import Received
from thenga.domains.billing.tables import (
    CallbackStatus,
    ProviderCallback,
    StatedStatus,
    StatementKind,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import InvalidTransition, NotFound, Problem
from thenga.kernel.host import Host
from thenga.kernel.http.bodies import PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import SignedCall, reads, signed, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day
from thenga.kernel.values.money import Money

router = make_router("Billing / Callback")

CallbackId = Annotated[UUID, Path(alias="callbackId")]


class SignatureInvalid(Problem):
    """The call does not carry the provider's signature. Sign the bytes as they are sent, with the
    present secret, and send one signature."""

    code, status, title = "billing-signature-invalid", 401, "The signature is not right"


@dataclass(frozen=True, slots=True)
class Turned:
    """A call that is turned away, with the reason that is kept."""

    provider: str
    content: bytes
    cause: str


class ProviderScheme:
    """The scheme of the provider that the path names, on the raw bytes (BIL-35)."""

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
        told = (name, found.event_key, found.event_type, found.secret_used, found.content)
        return SignedCall(None, content=Received(*told))


class ReceivedView(View):
    received: bool = True


class ReadView(View):
    """What a callback was read to say, before anybody looked whether it fits our own record."""

    reference: Annotated[str, Field(description="Ours, of the payment that it speaks of.")]
    kind: StatementKind
    status: StatedStatus
    provider_reference: str | None
    item_reference: Annotated[
        str | None, Field(description="The provider's number of the refund or dispute.")
    ]
    amount: Annotated[Money | None, Field(description="As the provider states it.")]
    fee: Annotated[Money | None, Field(description="What the provider keeps of it.")]
    provider_at: Annotated[datetime | None, Field(description="By the provider's clock.")]
    code: Annotated[str | None, Field(description="Why it failed, as the provider writes it.")]
    category: Literal["soft", "hard", "authentication", "technical"] | None

    @classmethod
    def of(cls, kept: dict[str, Any]) -> "ReadView":
        sums = {
            "amount": stated(kept["amount_minor"], kept["currency"]),
            "fee": stated(kept["fee_minor"], kept["currency"]),
        }
        return cls.model_validate({**kept, **sums})


class CallbackView(Stored):
    """A verified callback and what it did; its bytes are shown to nobody."""

    provider: str
    event_key: Annotated[str, Field(description="The provider's own; taken once.")]
    event_type: str
    received_at: datetime
    sha256: Annotated[str, Field(description="Of the bytes as they came.")]
    secret_used: Annotated[str, Field(description="`current`, or `former` while one rotates.")]
    status: CallbackStatus
    statement: Annotated[ReadView | None, Field(description="Null until it is worked on.")]
    organization_id: UUID | None
    payment_id: UUID | None
    note: str | None
    allowed_moves: list[AllowedMove]


@router.post(
    "/billing/providers/{provider}/callbacks", responses=problems(SignatureInvalid, NotFound)
)
async def receive_callback(
    provider: Annotated[str, Path(max_length=40)],
    work: Annotated[Work, signed(ProviderScheme())],
) -> ReceivedView:
    """For payment providers: their message as they sign it, at most 256 KiB. It is kept and
    answered at once; what it means is worked out afterwards."""
    call = work.called
    if isinstance(call, Turned):
        await settlement.reject_callback(
            work, provider=call.provider, content=call.content, cause=call.cause
        )
        raise SignatureInvalid().keeping()
    await settlement.receive_callback(work, call)
    return ReceivedView()


@router.get("/billing/provider-callbacks")
async def list_provider_callbacks(
    read: Annotated[Reader, reads(Permission.CALLBACK_READ)],
    page: Annotated[Paged, paged("createdAt")],
    provider: Provider | None = None,
    status: CallbackStatus | None = None,
    since: Annotated[Day | None, FROM] = None,
    until: Annotated[Day | None, TO] = None,
) -> PageOf[CallbackView]:
    """What providers told, for operators: what was set aside, and why."""
    found = await settlement.list_callbacks(
        read, page, provider=provider, status=status, since=since, until=until
    )
    return PageOf[CallbackView].of(found, lambda callback: _view(read, callback))


@router.get("/billing/provider-callbacks/{callbackId}")
async def get_provider_callback(
    callback_id: CallbackId, read: Annotated[Reader, reads(Permission.CALLBACK_READ)]
) -> CallbackView:
    """One callback with what was read in it."""
    return _view(read, await read.get(ProviderCallback, callback_id))


@router.post(
    "/billing/provider-callbacks/{callbackId}/replay", responses=problems(InvalidTransition)
)
async def replay_provider_callback(
    callback_id: CallbackId, work: Annotated[Work, writes(Permission.CALLBACK_REPLAY)]
) -> CallbackView:
    """Have a callback worked on again that was set aside, once its cause is gone."""
    return _view(work, await settlement.replay_callback(work, callback_id))


def _view(read: Reader, callback: ProviderCallback) -> CallbackView:
    values = callback.__dict__ | {
        "sha256": callback.sha256.hex(),
        "statement": callback.statement and ReadView.of(callback.statement),
        "allowed_moves": ProviderCallbackLifecycle.allowed(callback, read.now),
    }
    return CallbackView.model_validate(values)
