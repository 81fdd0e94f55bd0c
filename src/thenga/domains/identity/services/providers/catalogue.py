"""The providers that people can sign in with: copies of Administration's integrations."""

import re
from base64 import b64decode
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from thenga.domains.administration.public import SealedIntegration
from thenga.domains.identity.tables import IdentityProvider
from thenga.domains.identity.values.openid import (
    ALGORITHMS,
    ProviderDocument,
    ProviderSettings,
)
from thenga.kernel.db import sealed
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.errors import Problem
from thenga.kernel.process.host import Host

KIND = "identity.provider"
_SECRET = "clientSecret"  # noqa: S105  # the name of a secret
_LONGEST_CODE = 40

# The catalogue is written by the system login alone.
follow_integration = job_stub(
    "identity.follow_integration", form=Form.OUTSIDE, key="{integration_id}", as_system=True
)


class ProviderUnknown(Problem):
    """There is no active identity provider with this code. Choose another way to sign in."""

    code, status, title = "identity-provider-unknown", 404, "This provider is not available"


class _Settings(BaseModel):
    """The settings of an integration of this kind."""

    model_config = ConfigDict(alias_generator=to_camel)

    issuer: str
    client_id: str
    display_name: str
    scopes: list[str] = ["openid", "email", "profile"]
    trusts_email: bool = False
    algorithms: Annotated[list[str], Field(min_length=1)] = ["RS256"]


async def find_active(read: Reader, code: str) -> IdentityProvider:
    """The provider of this code that people can sign in with now."""
    provider = await read.find(IdentityProvider, code=code)
    if provider is None or not provider.active:
        raise ProviderUnknown()
    return provider


def settings_of(host: Host, provider: IdentityProvider) -> ProviderSettings:
    """How the provider is asked, with its secret opened for one call."""
    return ProviderSettings(
        issuer=provider.issuer,
        client_id=provider.client_id,
        client_secret=sealed.unseal(host, provider, "secret_sealed").decode(),
        algorithms=tuple(provider.algorithms),
        document=ProviderDocument(
            authorization_endpoint=provider.authorization_endpoint,
            token_endpoint=provider.token_endpoint,
            jwks_uri=provider.jwks_uri,
            token_auth=provider.token_auth,
            keys=provider.keys,
        ),
    )


def redirect_uri(host: Host, code: str) -> str:
    """The address that a provider sends browsers back to."""
    return f"{host.settings.base_url}/v1/identity/auth/providers/{code}/callback"


async def record_provider(
    work: Work,
    integration_id: UUID,
    integration: SealedIntegration | None,
    document: ProviderDocument | None,
) -> None:
    """Keep what Administration and the provider say; an integration that is not active stops."""
    known = await work.find(IdentityProvider, id=integration_id)
    if integration is None or document is None:
        if known is not None:
            held = await work.lock(IdentityProvider, integration_id)
            held.active = False
            await work.save(held)
        return
    stated = _columns(integration, document)
    if known is None:
        await work.add(IdentityProvider(id=integration_id, **stated))
        return
    held = await work.lock(IdentityProvider, integration_id)
    for name, value in stated.items():
        setattr(held, name, value)
    await work.save(held)


def _columns(integration: SealedIntegration, document: ProviderDocument) -> dict[str, Any]:
    given = _Settings.model_validate(integration.settings)
    known = [one for one in integration.secrets if one.name == _SECRET]
    newest = max(known, key=lambda one: one.version)
    return {
        "code": code_of(integration.name),
        "display_name": given.display_name,
        "issuer": given.issuer,
        "client_id": given.client_id,
        "bound_to": newest.aad.encode(),
        "secret_sealed": b64decode(newest.sealed),
        "scopes": list(dict.fromkeys(["openid", *given.scopes])),
        "algorithms": [one for one in given.algorithms if one in ALGORITHMS],
        "trusts_email": given.trusts_email,
        "active": True,
        "authorization_endpoint": document.authorization_endpoint,
        "token_endpoint": document.token_endpoint,
        "jwks_uri": document.jwks_uri,
        "token_auth": document.token_auth,
        "keys": document.keys,
    }


def code_of(name: str) -> str:
    """The code in addresses, from the name that operators gave the integration."""
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:_LONGEST_CODE]
