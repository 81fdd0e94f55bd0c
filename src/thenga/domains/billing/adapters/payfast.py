"""PayFast: MD5 over the string as sent, including empty fields; amounts in rand.

It has no idempotency: without an answer it is only polled, never charged again.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from urllib.parse import quote_plus, unquote_plus

from thenga.domains.billing.adapters.provider import (
    Call,
    Refused,
    Unreadable,
    Verified,
    digest_key,
    part,
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
from thenga.kernel.outside.outbound import Outbound, addresses

_STATES = {
    "COMPLETE": StatedStatus.SUCCEEDED,
    "FAILED": StatedStatus.FAILED,
    "PENDING": StatedStatus.PROCESSING,
    "CANCELLED": StatedStatus.CANCELLED,
}
# Some API versions answer a charge with a boolean, others with text.
_WORDS = {"true": StatedStatus.SUCCEEDED, "false": StatedStatus.FAILED}
_BANK_CODE = re.compile(r"\(([0-9A-Z]{2})\)\s*$")  # `… (43)` at the end is the bank's code
_SIGNATURE = b"&signature="
_MOST_FIELDS = 60
_CURRENCY = "ZAR"  # PayFast's only currency; its messages state none


def encoded(value: str) -> str:
    """Encode like PHP's `urlencode`: a space becomes `+`, hex digits are upper case, `~` is
    encoded."""
    return quote_plus(value, safe="").replace("~", "%7E")


def signature(string: bytes, passphrase: str) -> str:
    """MD5 is the provider's scheme; the validate call makes it safe."""
    if passphrase:
        string += b"&passphrase=" + encoded(passphrase).encode()
    return hashlib.md5(string).hexdigest()  # noqa: S324


def fields_of(raw: bytes) -> dict[str, str] | None:
    """The fields in the order received. None if one appears twice."""
    try:
        pairs = [piece.split("=", 1) for piece in raw.decode("ascii").split("&")]
        found = {unquote_plus(p[0]): unquote_plus(p[1], errors="strict") for p in pairs}
    except (UnicodeDecodeError, IndexError):
        return None
    return found if len(found) == len(pairs) <= _MOST_FIELDS else None


class PayFast:
    """A form on PayFast's page, then a token for ad hoc charges."""

    name = "payfast"
    repeats = False

    def __init__(
        self,
        www: Outbound,
        api: Outbound,
        *,
        page: str,
        merchant_id: str,
        merchant_key: str,
        passphrase: str,
        senders: Sequence[str],
        now: Callable[[], datetime],
    ) -> None:
        self._now, self._senders = now, senders
        self._www, self._api, self._page = www, api, page
        self._merchant_id, self._merchant_key = merchant_id, merchant_key
        self._passphrase = passphrase

    async def start(self, order: ChargeOrder) -> ProviderAnswer:
        """A signed form with a fixed order and no empty fields. The customer's browser sends it."""
        given = {
            "merchant_id": self._merchant_id,
            "merchant_key": self._merchant_key,
            "return_url": order.return_url or "",
            "cancel_url": order.return_url or "",
            "notify_url": order.notify_url,
            "email_address": order.email,
            "m_payment_id": order.reference,
            "amount": _rand(order.amount_minor),
            "item_name": order.description,
            "subscription_type": "2",
        }
        form = {name: value.strip() for name, value in given.items() if value.strip()}
        string = "&".join(f"{name}={encoded(value)}" for name, value in form.items())
        form["signature"] = signature(string.encode(), self._passphrase)
        return ProviderAnswer(action=NextAction("form_post", f"{self._page}/eng/process", form))

    async def charge(self, order: ChargeOrder) -> ProviderAnswer:
        body = {
            "amount": str(order.amount_minor),
            "item_name": order.description,
            "m_payment_id": order.reference,
        }
        path = f"/subscriptions/{quote_plus(order.token or '')}/adhoc"
        reply = await self._api.send("POST", path, headers=self._signed(body), form=body)
        data = part(reply.json, "data")
        if reply.status != 200:
            return ProviderAnswer(fault=str(reply.json.get("status"))[:200])
        state = _WORDS.get(str(data.get("response")).lower())
        if state is None:
            return ProviderAnswer()  # neither accepted nor declined, so poll
        return ProviderAnswer(
            ProviderReport(
                reference=order.reference,
                kind=StatementKind.PAYMENT,
                status=state,
                provider_reference=text(data, "pf_payment_id"),
                amount_minor=order.amount_minor,
                currency=order.currency,
                code=_code(text(data, "message")) if state is StatedStatus.FAILED else None,
            )
        )

    async def fetch(self, order: ChargeOrder) -> ProviderAnswer:
        path = f"/process/query/{quote_plus(order.provider_reference or order.reference)}"
        reply = await self._api.send("GET", path, headers=self._signed({}))
        data = part(reply.json, "data", "response")
        state = _STATES.get(str(data.get("status")))
        if reply.status != 200 or state is None:
            return ProviderAnswer()  # it may know only its own ids, so this proves nothing
        return ProviderAnswer(
            ProviderReport(
                reference=order.reference,
                kind=StatementKind.PAYMENT,
                status=state,
                provider_reference=text(data, "pf_payment_id"),
                amount_minor=whole(data, "amount"),
                currency=_CURRENCY,
                tolerance_minor=1,
            )
        )

    async def refund(self, order: RefundOrder) -> ProviderAnswer:
        body = {"amount": str(order.amount_minor), "reason": order.reason[:100]}
        path = f"/refunds/{quote_plus(order.provider_reference or '')}"
        reply = await self._api.send("POST", path, headers=self._signed(body), form=body)
        if reply.status != 200:
            return ProviderAnswer(fault=str(reply.json.get("status"))[:200])
        return ProviderAnswer(_refunded(order, StatedStatus.SUCCEEDED))

    async def fetch_refund(self, order: RefundOrder) -> ProviderAnswer:
        """PayFast lists refunds by payment only, so ours is matched by amount; a missing one proves
        nothing. The format of this response is unconfirmed."""
        path = f"/refunds/{quote_plus(order.provider_reference or '')}"
        reply = await self._api.send("GET", path, headers=self._signed({}))
        data = part(reply.json, "data", "response")
        state = _STATES.get(str(data.get("status")))
        same = whole(data, "amount") == order.amount_minor
        if reply.status != 200 or state is None or not same:
            return ProviderAnswer()
        return ProviderAnswer(_refunded(order, state))

    def verify(self, call: Call, secrets: Sequence[str]) -> Verified | Refused:
        """The string as received up to `signature`. One rebuilt from its fields could be forged."""
        string, marked, given = call.raw.partition(_SIGNATURE)
        found = fields_of(string)
        if not marked or found is None or not given.isascii():
            return Refused("malformed")
        expected = {secret: signature(string, secret).encode() for secret in secrets}
        used = which_secret(secrets, expected, given)
        if used is None:
            return Refused("signature")
        if found.get("merchant_id") != self._merchant_id:
            return Refused("merchant")
        number, state = text(found, "pf_payment_id"), text(found, "payment_status")
        if number is None or state is None:
            return Verified(digest_key(call.raw), "unknown", used, call.raw)
        return Verified(f"{number}:{state}"[:200], state[:60], used, call.raw)

    def reports(self, content: bytes) -> list[ProviderReport]:
        """The notification states no currency. PayFast pays out in rand only, by contract,
        so the report's currency is ZAR (SEC-68)."""
        found = fields_of(content.partition(_SIGNATURE)[0]) or {}
        state = _STATES.get(found.get("payment_status", ""))
        reference, number = text(found, "m_payment_id"), text(found, "pf_payment_id")
        if state is None or reference is None or number is None or not number.isascii():
            raise Unreadable("the notification cannot be read")
        token = text(found, "token")
        fee = _cents(found.get("amount_fee"))
        return [
            ProviderReport(
                reference=reference,
                kind=StatementKind.PAYMENT,
                status=state,
                provider_reference=number,
                amount_minor=_cents(found.get("amount_gross")),
                currency=_CURRENCY,
                fee_minor=None if fee is None else abs(fee),
                tolerance_minor=1,
                token=MethodToken(token) if token else None,
            )
        ]

    async def confirm(self, content: bytes, *, sender: str | None) -> bool:
        """Send the same string back to PayFast, which must answer `VALID`, and check the sender if
        asked (BIL-38)."""
        if sender is not None and sender not in await addresses(self._senders):
            return False
        string = content.partition(_SIGNATURE)[0]
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        path = "/eng/query/validate"
        reply = await self._www.send("POST", path, headers=headers, content=string)
        return reply.status == 200 and reply.body == b"VALID"

    def _signed(self, body: Mapping[str, str]) -> dict[str, str]:
        """Headers and body together, sorted, including the passphrase."""
        headers = {
            "merchant-id": self._merchant_id,
            "version": "v1",
            "timestamp": self._now().isoformat(timespec="seconds"),
        }
        signed = {**headers, **body, "passphrase": self._passphrase}
        string = "&".join(f"{name}={encoded(signed[name])}" for name in sorted(signed))
        return headers | {"signature": signature(string.encode(), "")}


def _refunded(order: RefundOrder, state: StatedStatus) -> ProviderReport:
    return ProviderReport(
        reference=order.reference,
        kind=StatementKind.REFUND,
        status=StatedStatus.FAILED if state is StatedStatus.CANCELLED else state,
        amount_minor=order.amount_minor,
        currency=order.currency,
        item_reference=order.key,
    )


def _code(message: str | None) -> str | None:
    """The bank's code, which identifies a hard decline (BIL-42), otherwise the text."""
    found = _BANK_CODE.search(message or "")
    return found.group(1) if found else message


def _rand(minor: int) -> str:
    return f"{minor // 100}.{minor % 100:02d}"


def _cents(value: str | None) -> int | None:
    try:
        cents = Decimal(value or "") * 100
    except InvalidOperation:
        return None
    exact = cents.is_finite() and cents == cents.to_integral_value() and abs(cents) < 10**15
    return int(cents) if exact else None
