"""Integration configurations: settings and secrets of providers. Secrets are never shown."""

from datetime import datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query
from pydantic import AfterValidator, Field, SecretStr

from thenga.domains.administration.api.configuration import DomainName
from thenga.domains.administration.api.documents import JsonDocument
from thenga.domains.administration.lifecycles import IntegrationLifecycle
from thenga.domains.administration.permissions import Permission
from thenga.domains.administration.public import Environment
from thenga.domains.administration.schemas.reasons import Reasoned
from thenga.domains.administration.services import integrations
from thenga.domains.administration.services.integrations import (
    KindCode,
    SecretMissing,
    SecretUnknown,
    SettingsInvalid,
)
from thenga.domains.administration.tables import (
    IntegrationConfiguration,
    IntegrationSecret,
    IntegrationStatus,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove, By
from thenga.kernel.errors import Duplicate, InvalidTransition, StepUpRequired
from thenga.kernel.http.bodies import PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import matching, text, whole

router = make_router("Administration / Integration")


def _is_text(value: SecretStr) -> SecretStr:
    try:
        value.get_secret_value().encode()
    except UnicodeEncodeError:
        raise ValueError("Use valid Unicode text.") from None
    return value


IntegrationId = Annotated[UUID, Path(alias="integrationId", description="ID of the integration.")]
SecretName = Annotated[str, matching("^[a-z][A-Za-z]{1,39}$", 40)]
SecretText = Annotated[
    SecretStr, Field(min_length=1, max_length=16 * 1024), AfterValidator(_is_text)
]
_CLOSED = {"additionalProperties": False}  # no other names than those of the pattern
Settings = Annotated[
    dict[SecretName, JsonDocument], Field(max_length=20, json_schema_extra=_CLOSED)
]


class CreateIntegration(Reasoned):
    """Settings and secrets of a provider."""

    kind: Annotated[KindCode, Field(description="Kind of integration.")]
    name: Annotated[str, text(1, 80), Field(description="Name, unique in its environment.")]
    environment: Annotated[Environment, Field(description="Environment in which it is used.")]
    settings: Annotated[Settings, Field(description="Settings of this kind of integration.")]
    secrets: Annotated[
        dict[SecretName, SecretText],
        Field(
            max_length=10,
            description="Secrets by name. They are encrypted and never shown.",
            json_schema_extra=_CLOSED,
        ),
    ] = {}


class ChangeIntegration(Reasoned):
    """Settings to change. Omitted settings stay unchanged; null removes a setting."""

    settings: Annotated[Settings, Field(description="Settings to change.")]


class SetSecret(Reasoned):
    """A new value of a secret."""

    value: Annotated[SecretText, Field(description="The secret. It is encrypted and never shown.")]
    grace_hours: Annotated[
        int,
        whole(0, 720),
        Field(description="Hours for which the previous value stays valid."),
    ] = 24


class SecretView(View):
    """A secret, without its value."""

    name: Annotated[str, Field(description="Name of the secret.")]
    secret_version: Annotated[int, Field(description="Number of the value in use.")]
    fingerprint: Annotated[str, Field(description="Fingerprint, which changes with the value.")]
    set_at: Annotated[datetime, Field(description="When it was set.")]
    age_days: Annotated[int, Field(description="Days since it was set.")]
    rotate_by: Annotated[datetime, Field(description="When it must be replaced.")]
    previous_until: Annotated[
        datetime | None, Field(description="Time until which the previous value is also valid.")
    ]


class IntegrationView(Stored):
    """An integration with a provider."""

    kind: Annotated[KindCode, Field(description="Kind of integration.")]
    name: Annotated[str, Field(description="Name of the integration.")]
    environment: Annotated[Environment, Field(description="Environment in which it is used.")]
    target_domain: Annotated[str, Field(description="Domain that uses it.")]
    settings: Annotated[dict[str, Any], Field(description="Settings.")]
    settings_version: Annotated[int, Field(description="Increases when settings change.")]
    secrets: Annotated[list[SecretView], Field(description="Secrets that are set, by name.")]
    status: Annotated[IntegrationStatus, Field(description="Status of the integration.")]
    created_by: Annotated[UUID, Field(description="Person who created it.")]
    allowed_moves: Annotated[
        list[AllowedMove],
        Field(description="Operations that are possible now, and why the others are not."),
    ]

    @classmethod
    def of(
        cls,
        integration: IntegrationConfiguration,
        secrets: list[IntegrationSecret],
        *,
        period: timedelta,
        now: datetime,
    ) -> "IntegrationView":
        current = [one for one in secrets if one.valid_until is None]
        former = {one.name: one.valid_until for one in secrets if one.valid_until is not None}
        return cls.shown(
            integration.__dict__
            | {
                "kind": KindCode(integration.kind),
                "secrets": [
                    SecretView(
                        name=one.name,
                        secret_version=one.secret_version,
                        fingerprint=one.fingerprint,
                        set_at=one.set_at,
                        age_days=(now - one.set_at).days,
                        rotate_by=one.set_at + period,
                        previous_until=former.get(one.name),
                    )
                    for one in current
                ],
                "allowed_moves": IntegrationLifecycle.allowed(integration, now, by=By.STAFF),
            }
        )


@router.get("/administration/integration-configurations")
async def list_integration_configurations(
    read: Annotated[Reader, reads(Permission.INTEGRATION_CONFIGURATION_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    kind: Annotated[KindCode | None, Query(description="Filter by kind.")] = None,
    target_domain: Annotated[
        DomainName | None, Query(alias="targetDomain", description="Filter by domain.")
    ] = None,
    environment: Annotated[Environment | None, Query(description="Filter by environment.")] = None,
    status: Annotated[IntegrationStatus | None, Query(description="Filter by status.")] = None,
    rotation_due: Annotated[
        bool | None,
        Query(alias="rotationDue", description="Filter by whether a secret is due for rotation."),
    ] = None,
) -> PageOf[IntegrationView]:
    """List integrations, newest first. Secrets show only their fingerprint, version and age."""
    found = await integrations.list_integrations(
        read,
        page,
        kind=kind,
        target_domain=target_domain,
        environment=environment,
        status=status,
        rotation_due=rotation_due,
    )
    secrets = await integrations.valid_secrets(read, [one.id for one in found.items])
    period = await integrations.rotation_period(read)
    return PageOf[IntegrationView].of(
        found,
        lambda one: IntegrationView.of(one, secrets[one.id], period=period, now=read.now),
    )


@router.get("/administration/integration-configurations/{integrationId}")
async def get_integration_configuration(
    integration_id: IntegrationId,
    read: Annotated[Reader, reads(Permission.INTEGRATION_CONFIGURATION_READ)],
) -> IntegrationView:
    """Get an integration. Its secrets cannot be read back."""
    return await _view(read, await read.get(IntegrationConfiguration, integration_id))


@router.post(
    "/administration/integration-configurations",
    status_code=201,
    responses=problems(Duplicate, SettingsInvalid, SecretUnknown),
)
async def create_integration_configuration(
    body: CreateIntegration,
    work: Annotated[Work, writes(Permission.INTEGRATION_CONFIGURATION_CREATE)],
) -> IntegrationView:
    """Create an integration. It is used once it is activated.

    Requires recent identity verification. Secrets are encrypted at once and never shown again.
    """
    made = await integrations.create(
        work,
        kind=body.kind,
        name=body.name,
        environment=body.environment,
        settings=body.settings,
        secrets=body.secrets,
        reason=body.reason,
    )
    return await _view(work, made)


@router.patch(
    "/administration/integration-configurations/{integrationId}",
    responses=problems(SettingsInvalid),
)
async def change_integration_configuration(
    integration_id: IntegrationId,
    body: ChangeIntegration,
    work: Annotated[Work, writes(Permission.INTEGRATION_CONFIGURATION_UPDATE)],
) -> IntegrationView:
    """Change settings of an integration. Secrets do not change."""
    changed = await integrations.change_settings(
        work, integration_id, settings=body.settings, reason=body.reason
    )
    return await _view(work, changed)


@router.put(
    "/administration/integration-configurations/{integrationId}/secrets/{name}",
    responses=problems(SecretUnknown),
)
async def replace_integration_secret(
    integration_id: IntegrationId,
    name: Annotated[SecretName, Path(description="Name of the secret.")],
    body: SetSecret,
    work: Annotated[Work, writes(Permission.INTEGRATION_CONFIGURATION_SET_SECRET)],
) -> IntegrationView:
    """Set or rotate a secret.

    Requires recent identity verification. The previous value stays valid for `graceHours`, so
    that nothing fails while the provider switches over.
    """
    changed = await integrations.set_secret(
        work,
        integration_id,
        name,
        value=body.value,
        grace_hours=body.grace_hours,
        reason=body.reason,
    )
    return await _view(work, changed)


@router.post(
    "/administration/integration-configurations/{integrationId}/activate",
    responses=problems(SecretMissing, InvalidTransition, StepUpRequired),
)
async def activate_integration_configuration(
    integration_id: IntegrationId,
    body: Reasoned,
    work: Annotated[Work, writes(Permission.INTEGRATION_CONFIGURATION_OPERATE)],
) -> IntegrationView:
    """Activate an integration with all required secrets. Requires recent identity verification."""
    changed = await integrations.activate(work, integration_id, reason=body.reason)
    return await _view(work, changed)


@router.post(
    "/administration/integration-configurations/{integrationId}/pause",
    responses=problems(InvalidTransition),
)
async def pause_integration_configuration(
    integration_id: IntegrationId,
    body: Reasoned,
    work: Annotated[Work, writes(Permission.INTEGRATION_CONFIGURATION_OPERATE)],
) -> IntegrationView:
    """Pause an integration. Its domain stops using it; its secrets are kept."""
    changed = await integrations.pause(work, integration_id, reason=body.reason)
    return await _view(work, changed)


async def _view(read: Reader, integration: IntegrationConfiguration) -> IntegrationView:
    secrets = (await integrations.valid_secrets(read, [integration.id]))[integration.id]
    period = await integrations.rotation_period(read)
    return IntegrationView.of(integration, secrets, period=period, now=read.now)
