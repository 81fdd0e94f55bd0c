"""Versions of settings, applied by the kernel's own job or published as Administration does."""

import json
import time
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from thenga.kernel.access.actors import OPERATOR, SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.configuration import jobs_of
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Event
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.setting import Setting
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


async def change_setting(
    host: Host,
    domain: Domain,
    setting: Setting[Any],
    value: Any,
    *,
    effective_from: datetime = LONG_AGO,
) -> UUID:
    """Publish a version of a setting to its domain; a later one of the same instant replaces it."""
    made = new_id()
    origin = Origin(action="test", request_id="test", correlation_id="test")
    login = f"{domain.name}_system"
    work = Work(host, domain.name, Scope(actor=SYSTEM), origin, login=login)
    try:
        await jobs_of(domain)["apply_setting"].body(
            work,
            config_id=made,
            kind=setting.kind,
            key=setting.key,
            number=time.time_ns() // 1000,
            effective_from=effective_from,
            scope="platform",
            value=json.dumps(value),
        )
        await work.finish()
    finally:
        await work.close()
    return made


async def publish_change(host: Host, event: Event, *, times: int = 1) -> None:
    """Publish an event of Administration through its outbox, in one unit of work each time.

    Its version does not exist, so that a test may publish what Administration itself refuses.
    """
    for _ in range(times):
        origin = Origin(action="test", request_id="test", correlation_id="test")
        scope = Scope(actor=SYSTEM, organization_id=OPERATOR)
        work = Work(host, "administration", scope, origin, login="administration_system")
        try:
            work._versions[event.aggregate_id] = time.time_ns()
            work.publish(event)
            await work.run("SELECT 1")
            await work.finish()
        finally:
            await work.close()
