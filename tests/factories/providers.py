"""Identity providers, as Administration hands them out and as Identity keeps them."""

from base64 import b64decode, b64encode
from uuid import UUID, uuid4

from tests.factories.identity import working
from tests.providers.openid import CLIENT_ID, CLIENT_SECRET, jwk
from thenga.domains.administration.public import SealedIntegration, SealedSecret
from thenga.domains.administration.tables import (
    IntegrationConfiguration,
    IntegrationSecret,
    IntegrationStatus,
)
from thenga.domains.identity.services import providers
from thenga.domains.identity.services.providers import catalogue, links
from thenga.domains.identity.tables import ExternalIdentity, IdentityProvider
from thenga.domains.identity.values.openid import ProviderDocument, ProviderPerson
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db import sealed
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

RETURN_TO = "https://app.thenga.example/signed-in?from=test"


def integration(host: Host, issuer: str, *, trusts_email: bool = True) -> SealedIntegration:
    """An active integration with its sealed secret."""
    made = new_id()
    aad = f"administration/integration/{made}/clientSecret/1"
    secret = sealed.seal(
        host, IntegrationSecret, "sealed", CLIENT_SECRET.encode(), bound_to=aad.encode()
    )
    return SealedIntegration(
        id=made,
        kind=catalogue.KIND,
        name=f"Google {made.hex[-12:]}",
        settings={
            "issuer": issuer,
            "clientId": CLIENT_ID,
            "displayName": "Google",
            "scopes": ["openid", "email", "profile"],
            "trustsEmail": trusts_email,
            "algorithms": ["RS256"],
        },
        settings_version=1,
        secrets=[
            SealedSecret(name="clientSecret", version=1, sealed=b64encode(secret).decode(), aad=aad)
        ],
    )


async def stored(host: Host, made: SealedIntegration, status: str) -> None:
    """The rows of an integration in Administration, in this status."""
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    scope = Scope(actor=SYSTEM, platform=True)
    work = Work(host, "administration", scope, origin, login="administration_system")
    if await work.find(IntegrationConfiguration, id=made.id) is not None:
        held = await work.lock(IntegrationConfiguration, made.id)
        held.status = IntegrationStatus(status)
        await work.save(held)
    else:
        await work.add(
            IntegrationConfiguration(
                id=made.id,
                kind=made.kind,
                name=made.name,
                environment="live",
                target_domain="identity",
                settings=made.settings,
                status=IntegrationStatus(status),
                created_by=new_id(),
            )
        )
        (secret,) = made.secrets
        await work.add(
            IntegrationSecret(
                integration_id=made.id,
                name=secret.name,
                secret_version=secret.version,
                bound_to=secret.aad.encode(),
                sealed=b64decode(secret.sealed),
                fingerprint="e5a9-a005-e2a3",
                set_at=work.now,
            )
        )
    await work.finish()


async def provider(
    host: Host, issuer: str = "https://accounts.example.test", *, trusts_email: bool = True
) -> str:
    """A provider that people can sign in with; its code."""
    made = integration(host, issuer, trusts_email=trusts_email)
    document = ProviderDocument(
        authorization_endpoint=f"{issuer}/authorize",
        token_endpoint=f"{issuer}/token",
        jwks_uri=f"{issuer}/keys",
        token_auth="client_secret_basic",
        keys=[jwk(0, "first")],
    )
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    work = Work(host, "identity", Scope(actor=SYSTEM), origin, login="identity_system")
    await providers.record_provider(work, made.id, made, document)
    await work.finish()
    return catalogue.code_of(made.name)


async def linked(host: Host, code: str, user_id: UUID, subject: str | None = None) -> UUID:
    """The link of a person to a provider."""
    work = working(host, user_id=user_id)
    found = await work.find(IdentityProvider, code=code)
    assert found is not None
    person = ProviderPerson(found.issuer, subject or uuid4().hex, None, False, None)
    await links.link(work, user_id, found, person)
    made = await work.find(ExternalIdentity, provider_id=found.id)
    assert made is not None
    await work.finish()
    return made.id
