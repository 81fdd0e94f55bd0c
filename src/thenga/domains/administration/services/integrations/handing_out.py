"""What the target domain of an integration gets: settings, and secrets it alone opens (ADM-39)."""

from base64 import b64encode
from collections import defaultdict
from uuid import UUID

from sqlalchemy import or_, select

from thenga.domains.administration import public
from thenga.domains.administration.tables import (
    IntegrationConfiguration,
    IntegrationSecret,
    IntegrationStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among


async def sealed(
    read: Reader, *, target_domain: str, kind: str, environment: str
) -> list[public.SealedIntegration]:
    """The active integrations of a kind, with every secret that is valid now."""
    active = await read.all(
        select(IntegrationConfiguration)
        .where(
            IntegrationConfiguration.target_domain == target_domain,
            IntegrationConfiguration.kind == kind,
            IntegrationConfiguration.environment == environment,
            IntegrationConfiguration.status == IntegrationStatus.ACTIVE,
        )
        .order_by(IntegrationConfiguration.name)
    )
    secrets = await _secrets(read, [one.id for one in active])
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


async def _secrets(read: Reader, ids: list[UUID]) -> dict[UUID, list[IntegrationSecret]]:
    found: dict[UUID, list[IntegrationSecret]] = defaultdict(list)
    if ids:
        valid = or_(
            IntegrationSecret.valid_until.is_(None), IntegrationSecret.valid_until > read.now
        )
        statement = select(IntegrationSecret).where(
            among(IntegrationSecret.integration_id, ids), valid
        )
        order = (IntegrationSecret.name, IntegrationSecret.secret_version.desc())
        for one in await read.all(statement.order_by(*order)):
            found[one.integration_id].append(one)
    return found


def _handed_out(secret: IntegrationSecret) -> public.SealedSecret:
    return public.SealedSecret(
        name=secret.name,
        version=secret.secret_version,
        sealed=b64encode(secret.sealed).decode(),
        aad=secret.bound_to.decode(),
        until=secret.valid_until,
    )
