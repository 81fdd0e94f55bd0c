"""Versions of settings, policies and integrations, made beside the routes."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import select

from thenga.domains.administration.tables import (
    ConfigurationStatus,
    ConfigurationVersion,
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
from thenga.kernel.host import Host

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
    """An integration without secrets."""
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
    await work.finish()
    return made
