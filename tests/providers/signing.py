"""Callbacks as the providers make and sign them; written anew, not with the code under test."""

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import quote_plus

PAYSTACK_KEY = "sk_test_demo_0001"
PASSPHRASE = "jt7NOE43FZPn"
STRIPE_SECRET = "whsec_test_secret"
JSON = "application/json"


@dataclass(frozen=True)
class Sent:
    """One call: where it goes, what it says, and under which headers."""

    provider: str
    body: bytes
    headers: tuple[tuple[str, str], ...]

    @property
    def path(self) -> str:
        return f"/billing/providers/{self.provider}/callbacks"

    def saying(self, body: bytes) -> "Sent":
        return replace(self, body=body)


def paystack(event: str, data: dict[str, Any], key: str = PAYSTACK_KEY) -> Sent:
    body = json.dumps({"event": event, "data": data}, separators=(",", ":")).encode()
    return paystack_raw(body, key)


def paystack_raw(body: bytes, key: str = PAYSTACK_KEY) -> Sent:
    """Whatever bytes, signed as Paystack does."""
    signature = hmac.new(key.encode(), body, hashlib.sha512).hexdigest()
    return Sent("paystack", body, (("x-paystack-signature", signature), ("content-type", JSON)))


def payfast(fields: dict[str, str], passphrase: str = PASSPHRASE) -> Sent:
    told = "&".join(f"{name}={quote_plus(value)}" for name, value in fields.items())
    string = f"{told}&passphrase={passphrase}".encode()
    signature = hashlib.md5(string).hexdigest()  # noqa: S324  # the provider's scheme
    body = f"{told}&signature={signature}".encode()
    return Sent("payfast", body, (("content-type", "application/x-www-form-urlencoded"),))


def itn(reference: str, status: str, number: str, gross: str, **more: str) -> dict[str, str]:
    """The fields of a notification in PayFast's own order."""
    return {
        "m_payment_id": reference,
        "pf_payment_id": number,
        "payment_status": status,
        "item_name": "Thenga",
        "item_description": "",
        "amount_gross": gross,
        "amount_fee": "-11.48",
        "amount_net": "487.52",
        "merchant_id": "10000100",
        **more,
    }


def stripe(event: dict[str, Any], at: datetime, secret: str = STRIPE_SECRET) -> Sent:
    body = json.dumps(event, separators=(",", ":")).encode()
    stamp = str(int(at.timestamp()))
    made = hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    header = f"t={stamp},v1={made},v0=ignored"
    return Sent("stripe", body, (("stripe-signature", header), ("content-type", JSON)))


def sandbox(event: dict[str, Any], at: datetime, secret: str) -> Sent:
    body = json.dumps(event, separators=(",", ":")).encode()
    stamp = str(int(at.timestamp()))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    message = f"{event['id']}.{stamp}.".encode() + body
    made = base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode()
    headers = {
        "webhook-id": event["id"],
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1,{made}",
        "content-type": JSON,
    }
    return Sent("sandbox", body, tuple(headers.items()))
