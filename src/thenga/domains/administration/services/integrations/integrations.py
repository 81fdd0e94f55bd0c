"""Integrations as staff create, change, activate and pause them."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
import sqlalchemy as sa
from pydantic import SecretStr
from sqlalchemy import select

from thenga.domains.administration import public
from thenga.domains.administration.lifecycles import IntegrationLifecycle
from thenga.domains.administration.services import actions
from thenga.domains.administration.services.integrations.kinds import KindCode, checked_settings
from thenga.domains.administration.services.integrations.secrets import (
    check_complete,
    check_name,
    store_secret,
    valid_secrets,
)
from thenga.domains.administration.settings import ROTATION_DAYS
from thenga.domains.administration.tables import (
    IntegrationConfiguration,
    IntegrationSecret,
    IntegrationStatus,
)
from thenga.kernel.db import configuration, step_up
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move
from thenga.kernel.errors import Duplicate


async def create(
    work: Work,
    *,
    kind: KindCode,
    name: str,
    environment: public.Environment,
    settings: dict[str, Any],
    secrets: dict[str, SecretStr],
    reason: str,
) -> IntegrationConfiguration:
    """Store settings and seal the secrets of a new integration."""
    await actions.act_for_platform(work)
    stored = checked_settings(kind, settings)
    for secret in secrets:
        check_name(kind, secret)
    integration = IntegrationConfiguration(
        kind=kind.value,
        name=name,
        environment=environment,
        target_domain=kind.value.split(".")[0],
        settings=stored,
        created_by=actions.actor_of(work),
    )
    try:
        await work.add(integration)
    except asyncpg.UniqueViolationError:
        raise Duplicate(
            f"There is already an integration {name!r} of this kind in {environment}.", field="name"
        ) from None
    marks = {
        f"/secrets/{secret}": await store_secret(
            work, integration, secret, value.get_secret_value()
        )
        for secret, value in sorted(secrets.items())
    }
    await _publish(work, integration)
    await actions.record(work, integration, reason=reason, sealed=marks)
    return integration


async def change_settings(
    work: Work, integration_id: UUID, *, settings: dict[str, Any], reason: str
) -> IntegrationConfiguration:
    """Merge settings; null removes one. The target domain learns of the new version."""
    await actions.act_for_platform(work)
    integration = await work.lock(IntegrationConfiguration, integration_id)
    before = actions.shown(integration)
    merged = integration.settings | settings
    kept = {name: value for name, value in merged.items() if value is not None}
    stored = checked_settings(KindCode(integration.kind), kept)
    if stored != integration.settings:
        integration.settings = stored
        integration.settings_version += 1
        await work.save(integration)
        await _publish(work, integration)
        await actions.record(work, integration, reason=reason, before=before)
    return integration


async def set_secret(
    work: Work,
    integration_id: UUID,
    name: str,
    *,
    value: SecretStr,
    grace_hours: int,
    reason: str,
) -> IntegrationConfiguration:
    """Set or rotate a secret. The version before it stays valid during the grace."""
    await actions.act_for_platform(work)
    integration = await work.lock(IntegrationConfiguration, integration_id)
    before = actions.shown(integration)
    grace = timedelta(hours=grace_hours)
    mark = await store_secret(work, integration, name, value.get_secret_value(), grace=grace)
    await work.touch(integration)
    await _publish(work, integration)
    marks = {f"/secrets/{name}": mark}
    await actions.record(work, integration, reason=reason, before=before, sealed=marks)
    return integration


async def activate(work: Work, integration_id: UUID, *, reason: str) -> IntegrationConfiguration:
    """Hand the integration to its domain. It needs a fresh proof and all required secrets."""
    step_up.demand(work)
    return await _move(work, integration_id, IntegrationLifecycle.activate, reason)


async def pause(work: Work, integration_id: UUID, *, reason: str) -> IntegrationConfiguration:
    """Stop using the integration; it asks for no proof, because it makes things safer (ADM-4)."""
    return await _move(work, integration_id, IntegrationLifecycle.pause, reason)


async def list_integrations(
    read: Reader,
    paged: Paged,
    *,
    kind: KindCode | None,
    target_domain: str | None,
    environment: public.Environment | None,
    status: IntegrationStatus | None,
    rotation_due: bool | None,
) -> Slice[IntegrationConfiguration]:
    """Integrations of every kind."""
    row, secret = IntegrationConfiguration, IntegrationSecret
    statement = where_given(
        select(row),
        (row.kind, kind and kind.value),
        (row.target_domain, target_domain),
        (row.environment, environment),
        (row.status, status),
    )
    if rotation_due is not None:
        latest = read.now - await rotation_period(read)
        old = sa.exists().where(
            secret.integration_id == row.id, secret.valid_until.is_(None), secret.set_at <= latest
        )
        statement = statement.where(old if rotation_due else ~old)
    return await read.page(statement, paged)


async def rotation_period(read: Reader) -> timedelta:
    """After how long a secret must be replaced."""
    days = await configuration.value(read, ROTATION_DAYS)
    return timedelta(days=days)


async def _move(
    work: Work, integration_id: UUID, move: Move, reason: str
) -> IntegrationConfiguration:
    await actions.act_for_platform(work)
    integration = await work.lock(IntegrationConfiguration, integration_id)
    before = actions.shown(integration)
    if move(integration, at=work.now):
        if move is IntegrationLifecycle.activate:
            await check_complete(work, integration)
        await work.save(integration)
        await _publish(work, integration)
        await actions.record(work, integration, reason=reason, before=before)
    return integration


async def _publish(work: Work, integration: IntegrationConfiguration) -> None:
    secrets = (await valid_secrets(work, [integration.id]))[integration.id]
    newest = {one.name: one.secret_version for one in reversed(secrets)}
    work.publish(
        public.IntegrationConfigurationChanged(
            integration_id=integration.id,
            kind=integration.kind,
            target_domain=integration.target_domain,
            environment="live" if integration.environment == "live" else "sandbox",
            status=integration.status.value,
            settings_version=integration.settings_version,
            secrets=[
                public.SecretVersion(name=name, version=version)
                for name, version in sorted(newest.items())
            ],
        )
    )
