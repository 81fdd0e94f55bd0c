"""What Identity and a provider of OpenID Connect say to each other (IDN-16)."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

# Only keys that the provider alone has: never `none`, never HMAC, which our own secret could sign.
ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)


@dataclass(frozen=True)
class ProviderDocument:
    """What a provider publishes about itself: its endpoints and its keys."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    token_auth: str  # how it wants to know us: `client_secret_basic` or `client_secret_post`
    keys: list[dict[str, Any]]


@dataclass(frozen=True)
class ProviderSettings:
    """How a provider is asked; the secret is opened for one call only."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    algorithms: tuple[str, ...]
    document: ProviderDocument


@dataclass(frozen=True)
class CodeExchange:
    """A code from the provider, and what proves that we asked for it."""

    provider: ProviderSettings
    code: str = field(repr=False)
    verifier: str = field(repr=False)
    nonce: str = field(repr=False)
    redirect_uri: str
    at: datetime


@dataclass(frozen=True)
class ProviderPerson:
    """Who signed in at the provider; known by issuer and subject, never by the address."""

    issuer: str
    subject: str
    email: str | None
    email_verified: bool
    name: str | None


@dataclass(frozen=True)
class Redeemed:
    """The answer to an exchange: a person, or nobody; `rotated` if the provider has new keys."""

    person: ProviderPerson | None
    rotated: bool = False


class OpenIdClient(Protocol):
    """The way to providers of OpenID Connect; both calls raise `Silence`."""

    async def describe(self, issuer: str) -> ProviderDocument: ...

    async def redeem(self, exchange: CodeExchange) -> Redeemed: ...
