"""Versions of settings, policies and integrations, made beside the routes."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
from sqlalchemy import select

from thenga.domains.administration.services.integrations.secrets import store_secret
from thenga.domains.administration.tables import (
    ConfigurationStatus,
    ConfigurationVersion,
    Declaration,
    IntegrationConfiguration,
    PolicyConfiguration,
    PolicyKind,
    PolicyStatus,
)
from thenga.kernel.access.actors import OPERATOR, SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Row
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

KEY = "administration.case.reopenDays"  # an own setting that no other test depends on
POLICY = "billing.pause"
POLICY_DOCUMENT = {"maxDays": 90, "maxInAYear": 2, "noticeDays": 3}  # the default


def system(host: Host) -> Work:
    """The system login of Administration."""
    scope = Scope(actor=SYSTEM, organization_id=OPERATOR)
    origin = Origin("factory", "factory", "factory")
    return Work(host, "administration", scope, origin, login="administration_system")


async def rows(host: Host, row: type[Row], **columns: Any) -> list[Any]:
    """Rows of the platform with these values, in the order in which they were made."""
    work = system(host)
    reader = Reader(host, "administration", work._scope, work.origin, login=work._login)
    table = row.__table__
    chosen = [table.c[name] == value for name, value in columns.items()]
    try:
        return list(await reader.all(select(row).where(*chosen).order_by(table.c.id)))
    finally:
        await reader.close()


async def clear(host: Host, table: str, column: str, key: str) -> None:
    """Remove what there is of a key; locked first, because walks run side by side."""
    work = system(host)
    found = await work.query(
        f"SELECT id FROM administration.{table} WHERE {column} = $1 ORDER BY id FOR UPDATE", key
    )
    ids = [one["id"] for one in found]
    await work.run(f"DELETE FROM administration.{table} WHERE id = ANY($1)", ids)
    await work.finish()


async def forget_setting(host: Host, domain: str, key: str) -> None:
    """Remove all versions of a setting, and what its domain applied of them."""
    versions = await rows(host, ConfigurationVersion, key=key)
    await clear(host, "configuration_version", "key", key)
    admin = await asyncpg.connect(host.settings.admin_database.get_secret_value())
    await admin.execute("SET session_replication_role = replica")
    forget = f"DELETE FROM {domain}.setting_value WHERE id = ANY ($1)"
    await admin.execute(forget, [one.id for one in versions])
    await admin.close()


async def declare(host: Host) -> str:
    """A key of its own, for walks that go side by side; no domain checks its values."""
    key = f"administration.k{uuid4().hex}"
    work = system(host)
    await work.add(
        Declaration(
            kind="configuration",
            key=key,
            domains=["administration"],
            schema={"type": "integer"},
            default_value=30,
            schema_hash="0" * 64,
            approval="second_person",
            title="Made by a test",
            retroactive=False,
        )
    )
    await work.finish()
    return key


async def any_key(host: Host, kind: str, table: str, column: str) -> Declaration:
    """A declared key of which nothing waits for a decision."""
    declared = await rows(host, Declaration, kind=kind, status="active")
    real = [one for one in declared if one.title != "Made by a test"]
    chosen = real[uuid4().int % len(real)]
    assert isinstance(chosen, Declaration)
    await clear(host, table, column, chosen.key)
    return chosen


async def version(
    host: Host, *, author: UUID | None = None, key: str = KEY, value: Any = 30, **more: Any
) -> ConfigurationVersion:
    """A version of a setting that waits for approval, the only one of its key."""
    await clear(host, "configuration_version", "key", key)
    work = system(host)
    made = await work.add(
        ConfigurationVersion(
            key=key,
            number=more.pop("number", 1),
            value=value,
            base_version=0,
            effective_from=more.pop("effective_from", work.now + timedelta(days=300)),
            schema_hash="0" * 64,
            status=more.pop("status", ConfigurationStatus.PENDING_APPROVAL),
            created_by=author or uuid4(),
            **more,
        )
    )
    await work.finish()
    return made


async def policy(
    host: Host,
    *,
    author: UUID | None = None,
    key: str = POLICY,
    number: int = 1,
    alone: bool = True,
    **more: Any,
) -> PolicyConfiguration:
    """A submitted policy; unless others are wanted, the only one of its key."""
    if alone:
        await clear(host, "policy_configuration", "policy_key", key)
    work = system(host)
    made = await work.add(
        PolicyConfiguration(
            policy_key=key,
            policy_number=number,
            based_on=number - 1,
            target_domain=more.pop("target_domain", key.split(".")[0]),
            kind=PolicyKind.PARAMETERS,
            document=POLICY_DOCUMENT,
            document_hash="0" * 64,
            effective_from=more.pop("effective_from", work.now),
            status=more.pop("status", PolicyStatus.SUBMITTED),
            created_by=author or uuid4(),
            **more,
        )
    )
    await work.finish()
    return made


async def integration(host: Host, **more: Any) -> IntegrationConfiguration:
    """An integration whose password is set."""
    work = system(host)
    made = await work.add(
        IntegrationConfiguration(
            kind="notification.smtp",
            name=f"relay-{uuid4().hex[:10]}",
            environment="sandbox",
            target_domain="notification",
            settings={
                "host": "smtp.example.test",
                "port": 587,
                "username": "thenga",
                "fromAddress": "hello@example.test",
            },
            created_by=uuid4(),
            **more,
        )
    )
    await store_secret(work, made, "password", uuid4().hex)
    await work.finish()
    return made
