"""What the target domain of an integration gets: settings, and secrets it alone opens (ADM-39)."""

from base64 import b64encode

from sqlalchemy import select

from thenga.domains.administration import public
from thenga.domains.administration.services.integrations.secrets import valid_secrets
from thenga.domains.administration.tables import (
    IntegrationConfiguration,
    IntegrationSecret,
    IntegrationStatus,
)
from thenga.kernel.db.reader import Reader


async def sealed(
    read: Reader, *, target_domain: str, kind: str, environment: str
) -> list[public.SealedIntegration]:
    """The active integrations of a kind, with every secret that is valid now."""
    row = IntegrationConfiguration
    active = await read.all(
        select(row)
        .where(
            row.target_domain == target_domain,
            row.kind == kind,
            row.environment == environment,
            row.status == IntegrationStatus.ACTIVE,
        )
        .order_by(row.name)
    )
    secrets = await valid_secrets(read, [one.id for one in active])
    return [
        public.SealedIntegration(
            id=one.id,
            kind=one.kind,
            name=one.name,
            settings=one.settings,
            settings_version=one.settings_version,
            secrets=[_handed_out(secret) for secret in secrets[one.id]],
        )
        for one in active
    ]


def _handed_out(secret: IntegrationSecret) -> public.SealedSecret:
    return public.SealedSecret(
        name=secret.name,
        version=secret.secret_version,
        sealed=b64encode(secret.sealed).decode(),
        aad=secret.bound_to.decode(),
        until=secret.valid_until,
    )
