"""Stripe: `t=,v1=` HMAC-SHA256 with the full `whsec_` text, 300 seconds.

Off by default, because Stripe does not offer accounts to South African merchants directly.
"""

import hashlib
import hmac
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from thenga.domains.billing.adapters.provider import (
    TOLERANCE_SECONDS,
    Call,
    Refused,
    Unreadable,
    Verified,
    digest_key,
    last_day,
    listed,
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

_INTENTS = {
    "succeeded": StatedStatus.SUCCEEDED,
    "processing": StatedStatus.PROCESSING,
    "canceled": StatedStatus.CANCELLED,
}
_EVENTS = {
    "payment_intent.succeeded": StatedStatus.SUCCEEDED,
    "payment_intent.processing": StatedStatus.PROCESSING,
    "payment_intent.canceled": StatedStatus.CANCELLED,
    "payment_intent.payment_failed": StatedStatus.FAILED,
}
_REFUNDS = {
    "succeeded": StatedStatus.SUCCEEDED,
    "failed": StatedStatus.FAILED,
    "pending": StatedStatus.PROCESSING,
}
_DISPUTES = {"won": StatedStatus.WON, "lost": StatedStatus.LOST}
_HARD = ("lost_card", "stolen_card", "pickup_card", "restricted_card", "revocation_of")


class Stripe:
    """Payment intents in cents. Charging again with the same key is the same charge."""

    name = "stripe"
    repeats = True

    def __init__(self, outbound: Outbound, secret: str) -> None:
        self._outbound = outbound
        self._headers = {"Authorization": f"Bearer {secret}"}

    async def start(self, order: ChargeOrder) -> ProviderAnswer:
        form = {
            "mode": "payment",
            "client_reference_id": order.reference,
            "success_url": order.return_url or order.notify_url,
            "line_items[0][quantity]": "1",
            "line_items[0][price_data][currency]": order.currency.lower(),
            "line_items[0][price_data][unit_amount]": str(order.amount_minor),
            "line_items[0][price_data][product_data][name]": order.description,
            "payment_intent_data[metadata][reference]": order.reference,
            "payment_intent_data[setup_future_usage]": "off_session",
            "customer_creation": "always",
        }
        reply = await self._post("/v1/checkout/sessions", form, f"start-{order.reference}")
        url = text(reply.json, "url")
        if reply.status != 200 or url is None:
            return ProviderAnswer(fault=_error_text(reply))
        return ProviderAnswer(action=NextAction("redirect", url))

    async def charge(self, order: ChargeOrder) -> ProviderAnswer:
        customer, _, method = (order.token or "").partition(":")
        form = {
            "amount": str(order.amount_minor),
            "currency": order.currency.lower(),
            "customer": customer,
            "payment_method": method,
            "off_session": "true",
            "confirm": "true",
            "metadata[reference]": order.reference,
        }
        reply = await self._post("/v1/payment_intents", form, order.key)
        error = part(reply.json, "error")
        if reply.status == 402:
            return ProviderAnswer(
                _of_intent(part(error, "payment_intent"), StatedStatus.FAILED, error)
            )
        if reply.status != 200:
            return ProviderAnswer(fault=_error_text(reply))
        return ProviderAnswer(_of_intent(reply.json, None, {}))

    async def fetch(self, order: ChargeOrder) -> ProviderAnswer:
        if order.provider_reference is not None:
            path = f"/v1/payment_intents/{quote(order.provider_reference)}"
            reply = await self._outbound.send("GET", path, headers=self._headers)
            return (
                ProviderAnswer(_of_intent(reply.json, None, {}))
                if reply.status == 200
                else ProviderAnswer()
            )
        asked = quote(f"metadata['reference']:'{order.reference}'")
        path = f"/v1/payment_intents/search?query={asked}"
        reply = await self._outbound.send("GET", path, headers=self._headers)
        found = reply.json.get("data")
        if reply.status != 200 or not isinstance(found, list):
            return ProviderAnswer()
        stated = [report for item in found if (report := _of_intent(item, None, {})) is not None]
        return ProviderAnswer(stated[0]) if stated else ProviderAnswer(unknown_reference=not found)

    async def refund(self, order: RefundOrder) -> ProviderAnswer:
        form = {
            "payment_intent": order.provider_reference or "",
            "amount": str(order.amount_minor),
            "metadata[reference]": order.reference,
            "metadata[refund]": order.key,
        }
        reply = await self._post("/v1/refunds", form, order.key)
        if reply.status != 200:
            return ProviderAnswer(fault=_error_text(reply))
        return ProviderAnswer(_of_refund(reply.json, order.reference))

    async def fetch_refund(self, order: RefundOrder) -> ProviderAnswer:
        """Idempotency keys expire after a day, so the refunds of the payment are listed."""
        if order.provider_reference is None:
            return ProviderAnswer()
        path = f"/v1/refunds?payment_intent={quote(order.provider_reference)}&limit=100"
        reply = await self._outbound.send("GET", path, headers=self._headers)
        found = listed(reply)
        if found is None:
            return ProviderAnswer()
        ours = next((item for item in found if _is_ours(item, order)), None)
        return (
            ProviderAnswer(unknown_reference=True)
            if ours is None
            else ProviderAnswer(_of_refund(ours, order.reference))
        )

    def verify(self, call: Call, secrets: Sequence[str]) -> Verified | Refused:
        header = call.header("stripe-signature")
        if header is None:
            return Refused("no single signature")
        parts = [piece.strip().partition("=") for piece in header.split(",")]
        times = [value for name, _, value in parts if name == "t"]
        given = [value.encode() for name, _, value in parts if name == "v1"]
        if len(times) != 1 or not times[0].isdigit() or len(times[0]) > 12:
            return Refused("malformed")
        if abs(call.now.timestamp() - int(times[0])) > TOLERANCE_SECONDS:
            return Refused("too old")
        signed = times[0].encode() + b"." + call.raw
        expected = {
            secret: hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest().encode()
            for secret in secrets
        }
        # All signatures are compared: during a rotation there are two.
        fits = [used for signature in given if (used := which_secret(secrets, expected, signature))]
        if not fits:
            return Refused("signature")
        found = read_object(call.raw) or {}
        key, kind = text(found, "id") or digest_key(call.raw), text(found, "type")
        return Verified(key, kind or "unknown", fits[0], call.raw)

    def reports(self, content: bytes) -> list[ProviderReport]:
        found = read_object(content) or {}
        kind, data = text(found, "type"), part(found, "data", "object")
        if kind is None:
            raise Unreadable("no type")
        if kind in _EVENTS:
            error = part(data, "last_payment_error")
            return readable(_of_intent(data, _EVENTS[kind], error), kind)
        if kind in ("refund.created", "refund.updated", "refund.failed"):
            return readable(_of_refund(data, None), kind)
        if kind in ("charge.dispute.created", "charge.dispute.closed"):
            return readable(_of_dispute(data), kind)
        return []

    async def confirm(self, content: bytes, *, sender: str | None) -> bool:
        return True

    async def _post(self, path: str, form: dict[str, str], key: str) -> Reply:
        headers = self._headers | {"Idempotency-Key": key}
        return await self._outbound.send("POST", path, headers=headers, form=form)


def _error_text(reply: Reply) -> str:
    return str(part(reply.json, "error").get("message"))[:200]


def _of_intent(
    intent: Any, known: StatedStatus | None, error: dict[str, Any]
) -> ProviderReport | None:
    if not isinstance(intent, dict):
        return None
    state = known or _INTENTS.get(str(intent.get("status")))
    reference = text(part(intent, "metadata"), "reference")
    if state is None or reference is None:
        return None
    amount = "amount_received" if state is StatedStatus.SUCCEEDED else "amount"
    return ProviderReport(
        reference=reference,
        kind=StatementKind.PAYMENT,
        status=state,
        provider_reference=text(intent, "id"),
        amount_minor=whole(intent, amount),
        currency=(text(intent, "currency") or "").upper() or None,
        provider_at=_instant(whole(intent, "created")),
        code=text(error, "decline_code") or text(error, "code"),
        category=_category(error) if state is StatedStatus.FAILED else None,
        token=_token(intent),
    )


def _instant(seconds: int | None) -> datetime | None:
    """An instant in the years 2000 to 2199. None if it is not one."""
    known = seconds is not None and 946_684_800 <= seconds < 7_258_118_400
    return datetime.fromtimestamp(seconds, UTC) if known and seconds is not None else None


def _category(error: dict[str, Any]) -> str:
    code = f"{error.get('decline_code')} {error.get('code')}"
    if any(word in code for word in _HARD):
        return "hard"
    return "authentication" if "authentication_required" in code else "soft"


def _token(intent: dict[str, Any]) -> MethodToken | None:
    customer, method = text(intent, "customer"), text(intent, "payment_method")
    expanded = part(intent, "payment_method")
    method = method or text(expanded, "id")
    if customer is None or method is None:
        return None
    card = part(expanded, "card")
    return MethodToken(
        token=f"{customer}:{method}",
        brand=text(card, "brand"),
        last4=text(card, "last4"),
        expires_on=last_day(card),
    )


def _is_ours(refund: dict[str, Any], order: RefundOrder) -> bool:
    number = text(refund, "id")
    named = number is not None and number == order.refund_reference
    return named or part(refund, "metadata").get("refund") == order.key


def _of_refund(data: dict[str, Any], known: str | None) -> ProviderReport | None:
    state = _REFUNDS.get(str(data.get("status")))
    reference = known or text(part(data, "metadata"), "reference")
    if state is None or reference is None:
        return None
    return ProviderReport(
        reference=reference,
        kind=StatementKind.REFUND,
        status=state,
        amount_minor=whole(data, "amount"),
        currency=(text(data, "currency") or "").upper() or None,
        item_reference=text(data, "id"),
    )


def _of_dispute(data: dict[str, Any]) -> ProviderReport | None:
    reference = text(part(data, "metadata"), "reference")
    state = _DISPUTES.get(str(data.get("status")), StatedStatus.OPEN)
    if reference is None:
        return None
    return ProviderReport(
        reference=reference,
        kind=StatementKind.DISPUTE,
        status=state,
        amount_minor=whole(data, "amount"),
        currency=(text(data, "currency") or "").upper() or None,
        item_reference=text(data, "id"),
    )
