"""The providers of this deployment, created from its settings. A rotation has two secrets."""

import base64
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from thenga.domains.billing.adapters.payfast import PayFast
from thenga.domains.billing.adapters.paystack import Paystack
from thenga.domains.billing.adapters.provider import PaymentProvider
from thenga.domains.billing.adapters.sandbox import Sandbox
from thenga.domains.billing.adapters.stripe import Stripe
from thenga.domains.billing.values.provider import (
    ProviderAnswer,
)
from thenga.kernel.outside.outbound import Outbound, Silence
from thenga.kernel.process.host import Host

_DOMAIN = "billing"
SANDBOX_URL = "http://127.0.0.1:8017"
PAYFAST_SENDERS = "www.payfast.co.za,sandbox.payfast.co.za,w1w.payfast.co.za,w2w.payfast.co.za"


@dataclass(frozen=True, slots=True)
class Configured:
    """A provider with the secrets that can sign its callbacks, the current one first."""

    provider: PaymentProvider
    secrets: tuple[str, ...]


def sandbox_secret(host: Host) -> str:
    """Both sides of the sandbox are ours, so their secret is derived instead of configured."""
    return "whsec_" + base64.b64encode(host.key("sandbox-provider")).decode()


class Providers:
    """Finds a provider by name. One without a secret is not available."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def of(self, name: str) -> PaymentProvider:
        """The provider of a payment. A removed one is a defect."""
        found = self.known(name)
        if found is None:
            raise LookupError(
                f"{name} is not configured; set THENGA_{name.upper()}_SECRETS_BILLING"
            )
        return found.provider

    def known(self, name: str) -> Configured | None:
        """A provider of this deployment, or None."""
        make = _MAKERS.get(name)
        given = self._setting(f"{name}_secrets")
        if name == "sandbox":
            given = sandbox_secret(self._host)
        if make is None or not given:
            return None
        # Anybody could sign with an empty secret. PayFast allows an empty passphrase.
        parts = [secret.strip() for secret in given.split(",")]
        secrets = tuple(secret for secret in parts if secret or name == "payfast")[:2]
        return Configured(make(self, secrets[0]), secrets) if secrets else None

    def paystack(self, secret: str) -> PaymentProvider:
        return Paystack(self._to("paystack_url", "https://api.paystack.co"), secret)

    def payfast(self, passphrase: str) -> PaymentProvider:
        page = self._setting("payfast_url") or "https://www.payfast.co.za"
        return PayFast(
            Outbound(page),
            self._to("payfast_api_url", "https://api.payfast.co.za"),
            page=page,
            merchant_id=self._setting("payfast_merchant"),
            merchant_key=self._setting("payfast_merchant_key"),
            passphrase=passphrase,
            senders=(self._setting("payfast_senders") or PAYFAST_SENDERS).split(","),
            now=self._host.now,
        )

    def stripe(self, secret: str) -> PaymentProvider:
        key = self._setting("stripe_key")
        return Stripe(self._to("stripe_url", "https://api.stripe.com"), key)

    def sandbox(self, secret: str) -> PaymentProvider:
        return Sandbox(self._to("sandbox_url", SANDBOX_URL))

    def _setting(self, name: str) -> str:
        return self._host.settings.of_domain(name, _DOMAIN)

    def _to(self, name: str, usual: str) -> Outbound:
        return Outbound(self._setting(name) or usual)


_MAKERS: dict[str, Callable[[Providers, str], PaymentProvider]] = {
    "paystack": Providers.paystack,
    "payfast": Providers.payfast,
    "stripe": Providers.stripe,
    "sandbox": Providers.sandbox,
}


async def ask_provider(asking: Awaitable[ProviderAnswer]) -> ProviderAnswer:
    """A provider's answer. A timeout is an empty answer (BIL-32)."""
    try:
        return await asking
    except Silence:
        return ProviderAnswer()
