"""Paystack: HMAC-SHA512 of the raw body with the API key; amounts in cents."""

import hashlib
import hmac
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from thenga.domains.billing.adapters.provider import (
    Call,
    Refused,
    Unreadable,
    Verified,
    digest_key,
    instant,
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

_CHARGED = {
    "success": StatedStatus.SUCCEEDED,
    "failed": StatedStatus.FAILED,
    "pending": StatedStatus.PROCESSING,
    "processing": StatedStatus.PROCESSING,
    "queued": StatedStatus.PROCESSING,
}
_REFUNDED = {
    "refund.processed": StatedStatus.SUCCEEDED,
    "refund.failed": StatedStatus.FAILED,
    "refund.pending": StatedStatus.PROCESSING,
    "refund.processing": StatedStatus.PROCESSING,
}
_REFUND_STATES = {
    "processed": StatedStatus.SUCCEEDED,
    "failed": StatedStatus.FAILED,
    "pending": StatedStatus.PROCESSING,
    "processing": StatedStatus.PROCESSING,
}
_RESOLVED = {"merchant-accepted": StatedStatus.LOST, "declined": StatedStatus.WON}
# Decline reasons are texts; these mean that the card must not be charged again (BIL-42).
_HARD_WORDS = ("stolen", "lost", "pick up", "pickup", "closed", "restricted", "revoked")


class Paystack:
    """Charges in cents. Declines of later charges have no documented event, so responses count."""

    name = "paystack"
    repeats = True

    def __init__(self, outbound: Outbound, secret: str) -> None:
        self._outbound = outbound
        self._headers = {"Authorization": f"Bearer {secret}"}

    async def start(self, order: ChargeOrder) -> ProviderAnswer:
        body = self._ordered(order)
        if order.return_url is not None:
            body["callback_url"] = order.return_url
        reply = await self._post("/transaction/initialize", body)
        url = text(part(reply.json, "data"), "authorization_url")
        if "duplicate" in _message(reply).lower():
            return ProviderAnswer()  # the page exists, but its address was lost
        if reply.status != 200 or url is None:
            return ProviderAnswer(fault=_message(reply))
        return ProviderAnswer(action=NextAction("redirect", url))

    async def charge(self, order: ChargeOrder) -> ProviderAnswer:
        body = self._ordered(order) | {"authorization_code": order.token}
        reply = await self._post("/transaction/charge_authorization", body)
        if reply.status == 200:
            return _charged(part(reply.json, "data"))
        if "duplicate" in _message(reply).lower():
            return await self.fetch(order)
        return ProviderAnswer(fault=_message(reply))

    async def fetch(self, order: ChargeOrder) -> ProviderAnswer:
        path = f"/transaction/verify/{quote(order.reference)}"
        reply = await self._outbound.send("GET", path, headers=self._headers)
        if reply.status == 200:
            return _charged(part(reply.json, "data"))
        unknown_reference = reply.status == 404 or "not found" in _message(reply).lower()
        return ProviderAnswer(unknown_reference=unknown_reference)

    async def refund(self, order: RefundOrder) -> ProviderAnswer:
        body = {
            "transaction": order.reference,
            "amount": order.amount_minor,
            "currency": order.currency,
            "merchant_note": order.key,
        }
        reply = await self._post("/refund", body)
        if reply.status != 200:
            return ProviderAnswer(fault=_message(reply))
        return ProviderAnswer(_of_refund(part(reply.json, "data"), order))

    async def fetch_refund(self, order: RefundOrder) -> ProviderAnswer:
        """Paystack stores no key of ours, so our refund is found by its note."""
        if order.provider_reference is None:
            return ProviderAnswer()
        path = f"/refund?transaction={quote(order.provider_reference)}&perPage=100"
        reply = await self._outbound.send("GET", path, headers=self._headers)
        found = listed(reply)
        if found is None:
            return ProviderAnswer()
        ours = next((item for item in found if _is_ours(item, order)), None)
        return (
            ProviderAnswer(unknown_reference=True)
            if ours is None
            else ProviderAnswer(_of_refund(ours, order))
        )

    def verify(self, call: Call, secrets: Sequence[str]) -> Verified | Refused:
        given = call.header("x-paystack-signature")
        if given is None:
            return Refused("no single signature")
        expected = {
            secret: hmac.new(secret.encode(), call.raw, hashlib.sha512).hexdigest().encode()
            for secret in secrets
        }
        used = which_secret(secrets, expected, given.encode())
        if used is None:
            return Refused("signature")
        found = read_object(call.raw) or {}
        event = text(found, "event") or "unknown"
        number = text(part(found, "data"), "id") or digest_key(call.raw)
        return Verified(f"{event}:{number}", event, used, call.raw)

    def reports(self, content: bytes) -> list[ProviderReport]:
        found = read_object(content) or {}
        event, data = text(found, "event"), part(found, "data")
        if event is None:
            raise Unreadable("no event")
        if event == "charge.success":
            return readable(_stated(data), event)
        if event in _REFUNDED:
            return readable(_refunded(data, _REFUNDED[event]), event)
        if event in ("charge.dispute.create", "charge.dispute.resolve"):
            return readable(_disputed(event, data), event)
        return []

    async def confirm(self, content: bytes, *, sender: str | None) -> bool:
        return True

    def _ordered(self, order: ChargeOrder) -> dict[str, Any]:
        return {
            "email": order.email,
            "amount": order.amount_minor,
            "currency": order.currency,
            "reference": order.reference,
        }

    async def _post(self, path: str, body: dict[str, Any]) -> Reply:
        return await self._outbound.send("POST", path, headers=self._headers, json=body)


def _message(reply: Reply) -> str:
    return str(reply.json.get("message"))[:200]


def _charged(data: dict[str, Any]) -> ProviderAnswer:
    """A status that is unknown, or before the customer has paid, decides nothing."""
    return ProviderAnswer(_stated(data))


def _stated(data: dict[str, Any]) -> ProviderReport | None:
    state, reference = _CHARGED.get(str(data.get("status"))), text(data, "reference")
    if state is None or reference is None:
        return None
    failed = state is StatedStatus.FAILED
    words = text(data, "gateway_response")
    return ProviderReport(
        reference=reference,
        kind=StatementKind.PAYMENT,
        status=state,
        provider_reference=text(data, "id"),
        amount_minor=whole(data, "amount"),
        currency=text(data, "currency"),
        fee_minor=whole(data, "fees"),
        provider_at=instant(data, "paid_at") or instant(data, "created_at"),
        code=words if failed else None,
        category=_category(words) if failed else None,
        token=_token(part(data, "authorization")),
    )


def _category(words: str | None) -> str:
    said = (words or "").lower()
    if any(word in said for word in _HARD_WORDS):
        return "hard"
    return "authentication" if "authenticat" in said else "soft"


def _token(authorization: dict[str, Any]) -> MethodToken | None:
    code = text(authorization, "authorization_code")
    if code is None or authorization.get("reusable") is not True:
        return None
    return MethodToken(
        token=code,
        kind="bank" if authorization.get("channel") == "bank" else "card",
        brand=text(authorization, "brand") or text(authorization, "card_type"),
        last4=text(authorization, "last4"),
        expires_on=last_day(authorization),
    )


def _is_ours(data: dict[str, Any], order: RefundOrder) -> bool:
    number = text(data, "id")
    named = number is not None and number == order.refund_reference
    return named or data.get("merchant_note") == order.key


def _of_refund(data: dict[str, Any], order: RefundOrder) -> ProviderReport | None:
    """An unknown status decides nothing: the refund may still be paid."""
    state = _REFUND_STATES.get(str(data.get("status")))
    if state is None:
        return None
    return ProviderReport(
        reference=order.reference,
        kind=StatementKind.REFUND,
        status=state,
        amount_minor=order.amount_minor,
        currency=order.currency,
        item_reference=text(data, "id"),
    )


def _refunded(data: dict[str, Any], state: StatedStatus) -> ProviderReport | None:
    inner = part(data, "transaction")
    reference = text(data, "transaction_reference") or text(inner, "reference")
    if reference is None:
        return None
    return ProviderReport(
        reference=reference,
        kind=StatementKind.REFUND,
        status=state,
        amount_minor=whole(data, "amount"),
        currency=text(data, "currency"),
        item_reference=text(data, "id"),
        item_alias=text(data, "refund_reference"),
    )


def _disputed(event: str, data: dict[str, Any]) -> ProviderReport | None:
    disputed = part(data, "transaction")
    reference = text(disputed, "reference")
    state = StatedStatus.OPEN if event == "charge.dispute.create" else None
    if event == "charge.dispute.resolve":
        state = _RESOLVED.get(str(data.get("resolution")))
    if state is None or reference is None:
        return None
    return ProviderReport(
        reference=reference,
        kind=StatementKind.DISPUTE,
        status=state,
        # Without its own amount the whole payment, also included, is disputed.
        amount_minor=whole(data, "refund_amount") or whole(disputed, "amount"),
        currency=text(data, "currency") or text(disputed, "currency"),
        item_reference=text(data, "id"),
    )
