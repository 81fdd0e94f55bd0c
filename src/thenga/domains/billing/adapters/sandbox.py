"""The adapter of the sandbox provider, which sandbox organizations pay with.

Callbacks follow Standard Webhooks: base64 HMAC-SHA256 over `id.timestamp.body`.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence
from datetime import date
from typing import Any
from urllib.parse import quote

from thenga.domains.billing.adapters.provider import (
    TOLERANCE_SECONDS,
    Call,
    Refused,
    Unreadable,
    Verified,
    instant,
    part,
    read_object,
    readable,
    text,
    which_secret,
    whole,
)
from thenga.domains.billing.values.provider import (
    ChargeOrder,
    MethodToken,
    NextAction,
    ProviderAnswer,
    ProviderReport,
    RefundOrder,
    StatedStatus,
    StatementKind,
)
from thenga.kernel.outside.outbound import Outbound, Reply

_CATEGORIES = ("soft", "hard", "authentication", "technical")
_TYPES: dict[str, tuple[StatementKind, StatedStatus]] = {
    "payment.processing": (StatementKind.PAYMENT, StatedStatus.PROCESSING),
    "payment.failed": (StatementKind.PAYMENT, StatedStatus.FAILED),
    "payment.cancelled": (StatementKind.PAYMENT, StatedStatus.CANCELLED),
    "payment.succeeded": (StatementKind.PAYMENT, StatedStatus.SUCCEEDED),
    "refund.processing": (StatementKind.REFUND, StatedStatus.PROCESSING),
    "refund.failed": (StatementKind.REFUND, StatedStatus.FAILED),
    "refund.succeeded": (StatementKind.REFUND, StatedStatus.SUCCEEDED),
    "dispute.opened": (StatementKind.DISPUTE, StatedStatus.OPEN),
    "dispute.won": (StatementKind.DISPUTE, StatedStatus.WON),
    "dispute.lost": (StatementKind.DISPUTE, StatedStatus.LOST),
}


def signed(secret: str, event_id: str, timestamp: str, body: bytes) -> str:
    """The signature of Standard Webhooks. The secret is base64 after `whsec_`."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    message = f"{event_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, message, hashlib.sha256)).decode()


class Sandbox:
    """The token decides what happens. Order keys are idempotent."""

    name = "sandbox"
    repeats = True

    def __init__(self, outbound: Outbound) -> None:
        self._outbound = outbound

    async def start(self, order: ChargeOrder) -> ProviderAnswer:
        reply = await self._post("/checkouts", order)
        url = text(reply.json, "url")
        if reply.status != 200 or url is None:
            return ProviderAnswer(fault=_error_text(reply))
        return ProviderAnswer(action=NextAction("redirect", url))

    async def charge(self, order: ChargeOrder) -> ProviderAnswer:
        reply = await self._post("/charges", order)
        return _answered(reply)

    async def fetch(self, order: ChargeOrder) -> ProviderAnswer:
        reply = await self._outbound.send("GET", f"/payments/{quote(order.reference)}")
        return ProviderAnswer(unknown_reference=True) if reply.status == 404 else _answered(reply)

    async def refund(self, order: RefundOrder) -> ProviderAnswer:
        body = {
            "key": order.key,
            "reference": order.reference,
            "amount": order.amount_minor,
            "currency": order.currency,
        }
        return _answered(await self._outbound.send("POST", "/refunds", json=body))

    async def fetch_refund(self, order: RefundOrder) -> ProviderAnswer:
        path = f"/refunds/{quote(order.reference)}/{quote(order.key)}"
        reply = await self._outbound.send("GET", path)
        return ProviderAnswer(unknown_reference=True) if reply.status == 404 else _answered(reply)

    def verify(self, call: Call, secrets: Sequence[str]) -> Verified | Refused:
        event_id, at = call.header("webhook-id"), call.header("webhook-timestamp")
        header = call.header("webhook-signature")
        if event_id is None or at is None or header is None:
            return Refused("no single signature")
        if not (at.isdigit() and len(at) <= 12 and 0 < len(event_id) <= 200):
            return Refused("malformed")
        if abs(call.now.timestamp() - int(at)) > TOLERANCE_SECONDS:
            return Refused("too old")
        try:
            expected = {
                secret: signed(secret, event_id, at, call.raw).encode() for secret in secrets
            }
        except binascii.Error:
            return Refused("secret")
        given = [signature.encode() for signature in header.split(" ")]
        fits = [used for signature in given if (used := which_secret(secrets, expected, signature))]
        if not fits:
            return Refused("signature")
        kind = text(read_object(call.raw) or {}, "type")
        return Verified(event_id, kind or "unknown", fits[0], call.raw)

    def reports(self, content: bytes) -> list[ProviderReport]:
        found = read_object(content) or {}
        kind = text(found, "type")
        if kind is None:
            raise Unreadable("no type")
        return readable(_stated(found), kind) if kind in _TYPES else []

    async def confirm(self, content: bytes, *, sender: str | None) -> bool:
        return True

    async def _post(self, path: str, order: ChargeOrder) -> Reply:
        body = {
            "key": order.key,
            "reference": order.reference,
            "amount": order.amount_minor,
            "currency": order.currency,
            "token": order.token,
            "notifyUrl": order.notify_url,
            "returnUrl": order.return_url,
        }
        return await self._outbound.send("POST", path, json=body)


def _error_text(reply: Reply) -> str:
    return str(reply.json.get("message"))[:200]


def _answered(reply: Reply) -> ProviderAnswer:
    if reply.status != 200:
        return ProviderAnswer(fault=_error_text(reply))
    return ProviderAnswer(_stated(reply.json))


def _stated(found: dict[str, Any]) -> ProviderReport | None:
    """An event, or a response in the form of one."""
    meant, data = _TYPES.get(str(found.get("type"))), part(found, "data")
    reference = text(data, "reference")
    if meant is None or reference is None:
        return None
    kind, state = meant
    return ProviderReport(
        reference=reference,
        kind=kind,
        status=state,
        provider_reference=text(data, "paymentId"),
        amount_minor=whole(data, "amount"),
        currency=text(data, "currency"),
        fee_minor=whole(data, "fee"),
        provider_at=instant(found, "at"),
        item_reference=text(data, "itemId"),
        code=text(data, "code"),
        category=_category(text(data, "category")),
        token=_token(part(data, "method")),
    )


def _category(named: str | None) -> str | None:
    return named if named in _CATEGORIES else None


def _token(method: dict[str, Any]) -> MethodToken | None:
    token = text(method, "token")
    if token is None:
        return None
    return MethodToken(
        token=token,
        brand=text(method, "brand"),
        last4=text(method, "last4"),
        expires_on=_day(method.get("expiresOn")),
    )


def _day(written: object) -> date | None:
    try:
        found = date.fromisoformat(str(written))
    except ValueError:
        return None
    return found if 2000 <= found.year < 2200 else None
